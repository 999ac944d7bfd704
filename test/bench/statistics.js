/** Statistics of the benches. */

/** @param {number[]} values at least one @returns {number} */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {(number | null)[]} values @returns {number | null} null if none is a number */
export function medianOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/**
 * @param {(number | null)[]} values a figure of each run
 * @returns {number | null} null if half of the runs or more lack it
 */
export function medianOfMost(values) {
  const known = values.filter((value) => value !== null);
  return 2 * known.length > values.length ? median(known) : null;
}

/** @param {ArrayLike<number>} values @returns {number} */
export function mean(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/**
 * By nearest rank: the smallest value that at least `share` of the values do not exceed.
 * @param {Float64Array} sorted at least one, ascending
 * @param {number} share 0..1
 */
export function quantile(sorted, share) {
  const rank = Math.ceil(share * sorted.length - 1e-9);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1];
}
