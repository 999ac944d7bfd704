/** Shared by all searches: doubles or halves the level until one passes and one fails, then bisects. */

/** @typedef {{passed: number | null, failed: number | null}} Bracket highest passing, lowest failing level */
/**
 * @typedef {object} Range
 * @property {number} lowest
 * @property {number} highest
 * @property {(level: number) => number} round
 * @property {(passed: number, failed: number) => boolean} isClose ends the bisection
 * @property {number} [near] a doubled or halved level within this factor of a range end snaps to that end
 */

/**
 * @param {Bracket} bracket at least one set @param {Range} range @returns {number | null} null: search is
 * over
 */
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
 * @param {Bracket} bracket narrowed in place
 * @param {Range} range
 * @param {object} how
 * @param {number | null} [how.first] level to try first
 * @param {(level: number) => Promise<boolean>} how.passes
 * @param {() => boolean} how.isStopped
 */
export async function bisect(bracket, range, { first = nextLevel(bracket, range), passes, isStopped }) {
  for (let level = first; level !== null && !isStopped(); level = nextLevel(bracket, range))
    bracket[(await passes(level)) ? 'passed' : 'failed'] = level;
}
