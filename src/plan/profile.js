/**
 * A rate over time, in straight lines: how many arrivals are expected by when, and when so many are. Pure arithmetic: no
 * clock, nothing added up step by step while a run goes on.
 */

/**
 * @typedef {object} Segment a straight line
 * @property {number} durationMs above zero; Infinity in the last one
 * @property {number} fromPerSecond rate at its start, zero or more
 * @property {number} toPerSecond rate at its end; the same where it never ends
 */
/**
 * @typedef {object} Profile
 * @property {number} endMs where the last segment ends
 * @property {(ms: number) => number} expected arrivals before `ms`; those of the whole from the end on
 * @property {(arrivals: number) => number} timeOf when so many are expected: where nothing is due for a while, the end of
 *   that while. Infinity where there never are so many
 * @property {(ms: number) => number} ratePerSecond at `ms`, of the later segment where two meet; 0 from the end on
 */
/** @typedef {{startMs: number, endMs: number, before: number, rate: number, slope: number}} Part rates per ms, `slope` per ms² */

/** @param {readonly Segment[]} segments at least one @returns {Profile} */
export function createProfile(segments) {
  const parts = partsOf(segments);
  const starts = parts.map(({ startMs }) => startMs);
  const counts = parts.map(({ before }) => before);
  const last = parts[parts.length - 1];
  const total = last.before + arrivalsIn(last, last.endMs - last.startMs);
  /** Index of the last search: the next is near it. */
  let near = 0;

  /**
   * @param {readonly number[]} bounds ascending
   * @param {number} value at least the first bound
   * @returns {Part} the last one whose bound is at most `value`
   */
  function partAt(bounds, value) {
    const isThere = bounds[near] <= value && !(bounds[near + 1] <= value);
    if (!isThere) near = lastUpTo(bounds, value);
    return parts[near];
  }

  return {
    endMs: last.endMs,
    expected(ms) {
      if (ms <= 0) return 0;
      if (ms >= last.endMs) return total;
      const part = partAt(starts, ms);
      return part.before + arrivalsIn(part, ms - part.startMs);
    },
    timeOf(arrivals) {
      if (arrivals > total) return Number.POSITIVE_INFINITY;
      const part = partAt(counts, Math.max(0, arrivals));
      return timeIn(part, Math.max(0, arrivals) - part.before);
    },
    ratePerSecond(ms) {
      if (ms < 0 || ms >= last.endMs) return 0;
      const { startMs, rate, slope } = partAt(starts, ms);
      return (rate + slope * (ms - startMs)) * 1000;
    },
  };
}

/** @param {readonly Segment[]} segments @returns {Part[]} */
function partsOf(segments) {
  /** @type {Part[]} */
  const parts = [];
  let [startMs, before] = [0, 0];
  for (const { durationMs, fromPerSecond, toPerSecond } of segments) {
    const [from, to] = [fromPerSecond / 1000, toPerSecond / 1000];
    const slope = Number.isFinite(durationMs) ? (to - from) / durationMs : 0;
    const part = { startMs, endMs: startMs + durationMs, before, rate: from, slope };
    parts.push(part);
    startMs = part.endMs;
    before += Number.isFinite(durationMs) ? ((from + to) / 2) * durationMs : 0;
  }
  return parts;
}

/** @param {Part} part @param {number} ms since its start */
function arrivalsIn({ rate, slope }, ms) {
  if (ms === Number.POSITIVE_INFINITY) return rate > 0 ? ms : 0;
  return (rate + (slope * ms) / 2) * ms;
}

/**
 * Of a = r t + s t²/2 the smaller solution, in the form that loses no digits where s is small: 2a / (r + sqrt(r² + 2 s a)).
 *
 * @param {Part} part
 * @param {number} arrivals since its start
 * @returns {number} ms; at most its end: rounding must not carry it into the next
 */
function timeIn({ startMs, endMs, rate, slope }, arrivals) {
  if (rate === 0 && slope === 0) return endMs;
  if (arrivals === 0) return startMs;
  if (slope === 0) return Math.min(startMs + arrivals / rate, endMs);
  const root = Math.sqrt(Math.max(0, rate * rate + 2 * slope * arrivals));
  return Math.min(startMs + (2 * arrivals) / (rate + root), endMs);
}

/**
 * @param {readonly number[]} bounds ascending
 * @param {number} value at least the first
 * @returns {number} index of the last that is at most `value`
 */
function lastUpTo(bounds, value) {
  let [low, high] = [0, bounds.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bounds[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
