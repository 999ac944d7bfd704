/** Bisection, for every search: from a start by factors of two to a level that passes and one that fails, then between them. */

/** @typedef {{passed: number | null, failed: number | null}} Bracket the highest level that passed, the lowest above it that failed */
/**
 * @typedef {object} Range
 * @property {number} lowest
 * @property {number} highest
 * @property {(level: number) => number} round
 * @property {(passed: number, failed: number) => boolean} isClose ends the bisection
 * @property {number} [near] a doubled or halved level within this factor of the end of the range becomes that end
 */

/** @param {Bracket} bracket with a known level @param {Range} range @returns {number | null} next level; null: the search is over */
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
 * @param {Bracket} bracket is narrowed
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
