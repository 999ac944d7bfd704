/** What is said of many times: how many, and nearest-rank percentiles. */

/**
 * @typedef {object} Quantiles milliseconds; null where nothing was seen
 * @property {number} count
 * @property {number | null} p50
 * @property {number | null} p99 with fewer than 100 it is the largest
 * @property {number | null} max
 */

/**
 * @param {Float64Array} values milliseconds, in any order
 * @returns {Quantiles}
 */
export function quantilesOf(values) {
  const sorted = values.slice().sort();
  const at = (/** @type {number} */ share) =>
    sorted.length === 0 ? null : toMicros(sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * @param {number} ms
 * @returns {number} ms, to the nearest microsecond
 */
export function toMicros(ms) {
  return Math.round(ms * 1000) / 1000;
}
