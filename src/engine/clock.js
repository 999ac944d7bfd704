/**
 * One monotonic clock for all threads of a process: fractional milliseconds since a common origin.
 * `performance.now()` has a different origin in every thread; `process.hrtime` does not.
 */

/** @typedef {() => number} Clock milliseconds since the common origin */

const NS_PER_S = 1_000_000_000n;
/**
 * A spinning sender reads its clock some 100,000 times a second. Unlike `performance.now()` and
 * `hrtime.bigint()`, `process.hrtime()` allocates nothing in compiled code.
 * @param {bigint} originNs `process.hrtime.bigint()` at the common origin; may be in the future
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
