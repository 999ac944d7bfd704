/**
 * One monotonic clock for all threads of a process: milliseconds, fractions included, since an instant that the
 * whole run agreed on. `performance.now()` counts from another origin in every thread, `process.hrtime` does not.
 */

/**
 * @typedef {() => number} Clock milliseconds since the agreed instant
 */

/** Of so many readings of both clocks, the one that took the least time is believed. */
const READINGS = 16;

/**
 * @param {bigint} originNs value of `process.hrtime.bigint()` at the agreed instant; may lie in the future
 * @returns {Clock}
 */
export function createClock(originNs) {
  let narrowest = Number.POSITIVE_INFINITY;
  let offset = 0;
  for (let i = 0; i < READINGS; i++) {
    const before = performance.now();
    const hrtime = process.hrtime.bigint();
    const after = performance.now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    offset = Number(hrtime - originNs) / 1e6 - (before + after) / 2;
  }
  return () => performance.now() + offset;
}
