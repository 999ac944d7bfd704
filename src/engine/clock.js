/**
 * One monotonic clock for all threads of a process: milliseconds, with fractions, since an instant that the
 * whole run agreed on. `performance.now()` counts from another origin in every thread, `process.hrtime` does
 * not.
 */

/** @typedef {() => number} Clock milliseconds since the agreed instant */

const NS_PER_S = 1_000_000_000n;
/** With a longer wait a timer fires at once. */
export const LONGEST_TIMER_MS = 0x7fff_ffff;

/**
 * Reads `process.hrtime()`, which compiled code calls without garbage: `performance.now()` makes a number on
 * the heap, `hrtime.bigint()` a BigInt, and a spinning sender reads its clock some hundred thousand times a
 * second.
 * @param {bigint} originNs `process.hrtime.bigint()` at the agreed instant; may lie in the future
 * @returns {Clock}
 */
export function createClock(originNs) {
  const originSeconds = Number(originNs / NS_PER_S);
  const originNanoseconds = Number(originNs % NS_PER_S);
  return () => {
    const [seconds, nanoseconds] = process.hrtime();
    return (seconds - originSeconds) * 1e3 + (nanoseconds - originNanoseconds) / 1e6;
  };
}
