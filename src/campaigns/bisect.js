/** Shared by all searches: doubles or halves the level until one passes and one fails, then bisects. */

/** @typedef {{passed: number | null, failed: number | null}} Bracket highest passing, lowest failing level */
/**
 * `isClose` ends the bisection; `near`: a level within this factor of a limit of the range becomes that limit
 * @typedef {{lowest: number, highest: number, round: (level: number) => number,
 *   isClose: (passed: number, failed: number) => boolean, near?: number}} Range
 */

/** @param {Bracket} bracket not empty @param {Range} range @returns {number | null} null: done */
function nextLevel({ passed, failed }, { lowest, highest, round, isClose, near = 1 }) {
  if (failed === null) {
    const double = round(2 * Number(passed));
    return Number(passed) >= highest ? null : double * near < highest ? double : highest;
  }
  if (passed === null) {
    const half = round(failed / 2);
    return failed <= lowest ? null : half > lowest * near ? half : lowest;
  }
  if (isClose(passed, failed)) return null;
  const middle = round(Math.sqrt(passed * failed));
  return middle > passed && middle < failed ? middle : null;
}

/**
 * @param {Bracket} bracket narrowed in place @param {Range} range
 * @param {{first?: number | null, passes: (level: number) => Promise<boolean>, isStopped: () => boolean}} options
 *   `first`: the level to try first
 */
export async function bisect(bracket, range, { first = nextLevel(bracket, range), passes, isStopped }) {
  for (let level = first; level !== null && !isStopped(); level = nextLevel(bracket, range))
    bracket[(await passes(level)) ? 'passed' : 'failed'] = level;
}
