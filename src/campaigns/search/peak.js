/**
 * Finds the fewest requests in flight that reach the peak throughput. Doubles them until throughput stops
 * growing, a requirement is not met or the limit is reached; then bisects, and confirms with a longer step.
 */
import { isPassing, lacksSamples, lastOfEach, lowestAbove } from '../../result/search/explain.js';
import { bisect } from '../bisect.js';

/** @import { Found, Tries, Measured, Step, Why } from './search.js' */

/** A level this near to the highest throughput is at the peak: two runs of a plan differ by about as much. */
const AT_PEAK = 0.05;

/** A doubling that gains less than GAIN is flat; FLAT of them in a row end the climb. */
const [GAIN, FLAT] = [0.05, 2];

/** `PRECISION`: of the result, as a fraction. */
const [PRECISION, MAX_CONFIRMATIONS] = [0.1, 4];

/**
 * A confirmation may be MAX_SHORTFALL below the peak, the best of several steps, plus MAX_ERRORS standard errors of
 * the difference: with few responses per step, the best step may be luck.
 */
const [MAX_SHORTFALL, MAX_ERRORS] = [2 * AT_PEAK, 2];

/** @param {{start: number, highest: number}} levels @param {Tries} tries @returns {Promise<Found>} */
export async function findPeak({ start, highest }, tries) {
  const { steps, tryLevel, isStopped, withoutAnswer } = tries;
  const { low, high, why } = await climb(start, highest, tries);
  if (low === null) return withoutAnswer(why);
  if (high === null) return confirmPeak(tries, why);
  // Find the highest level that passes.
  const range = { lowest: low, highest: high, round: Math.round, isClose };
  const passes = async (/** @type {number} */ level) => isPassing(await tryLevel(level, 'bisection'));
  await bisect({ passed: low, failed: high }, range, { passes, isStopped });
  return confirmPeak(tries, whyNoMore(steps, Math.max(...passing(steps).map(({ level }) => level))));
}

/**
 * @param {number} level to start at @param {number} highest @param {Tries} tries
 * @returns {Promise<{low: number | null, high: number | null, why: Why}>} `high`: a level that did not pass
 */
async function climb(level, highest, { tryLevel, isStopped }) {
  /** @type {number | null} */
  let low = null;
  let [best, flat] = [0, 0];
  for (;;) {
    const step = await tryLevel(level, 'coarse');
    if (isStopped()) return { low, high: null, why: 'interrupted' };
    if (isPassing(step)) {
      low = level;
      flat = step.perSecond < (1 + GAIN) * best ? flat + 1 : 0;
      best = Math.max(best, step.perSecond);
      if (flat >= FLAT || level >= highest) return { low, high: null, why: flat > 0 ? 'flat' : 'highest' };
      level = Math.min(highest, level * 2);
    } else if (low !== null || level === 1) {
      const why = low === null ? 'lowest' : 'requirement';
      return { low, high: level, why: step.verdict === 'not offered' ? 'generator' : why };
    } else level = 1; // The start is too high.
  }
}

/** @param {Tries} tries @param {Why} why the climb ended @returns {Promise<Found>} */
async function confirmPeak(tries, why) {
  const { steps, tryLevel, isStopped, withoutAnswer } = tries;
  /** The lowest level that did not meet a requirement in a confirmation, and the highest that was too slow. */
  let [tooMany, tooFew] = [Number.POSITIVE_INFINITY, 0];
  /** By level, ascending. @type {(Measured & {level: number})[]} */
  const confirmed = [];
  let level = /** @type {number | null} */ (await fewestByBisection(tries));
  for (let i = 0; i < MAX_CONFIRMATIONS && level !== null && !isStopped(); i++) {
    const step = await tryLevel(level, 'confirmation');
    // More in flight would hardly give more samples.
    if (isStopped() || lacksSamples(step)) break;
    const isMet = step.verdict === 'met';
    if (isMet) confirmed.push({ ...step, level });
    else tooMany = level;
    // A confirmed level slower than a step with more in flight becomes the answer if that step's level fails.
    const found = confirmed.find((step) => step.level < tooMany && isAsFast(step, below(steps, tooMany)));
    if (found !== undefined)
      return { level: found.level, why: Number.isFinite(tooMany) ? whyNoMore(steps, found.level) : why };
    if (isMet) tooFew = level;
    level = fewestAtPeak(below(passing(steps), tooMany).filter((step) => step.level > tooFew));
  }
  return withoutAnswer('unconfirmed');
}

/** @param {Tries} tries @returns {Promise<number>} the fewest in flight that reach the peak */
async function fewestByBisection({ steps, tryLevel, isStopped }) {
  for (;;) {
    const reached = passing(steps);
    const level = Number(fewestAtPeak(reached));
    const lower = reached.findLast((step) => step.level < level)?.level ?? null;
    if (lower === null || level - lower <= Math.max(1, PRECISION * level) || isStopped()) return level;
    const middle = Math.min(level - 1, Math.max(lower + 1, Math.round(Math.sqrt(lower * level))));
    // A level that fails between two passing levels was disturbed: keep the previous bracket.
    if (!isPassing(await tryLevel(middle, 'bisection'))) return level;
  }
}

/** @param {number} low @param {number} high */
const isClose = (low, high) => high - low <= Math.max(1, PRECISION * low);

/** @param {readonly Step[]} steps one above the level failed @param {number} level @returns {Why} */
const whyNoMore = (steps, level) =>
  lowestAbove(steps, level)?.verdict === 'not offered' ? 'generator' : 'requirement';

/** @param {readonly Step[]} steps passing, by level @returns {number | null} the fewest at the peak */
function fewestAtPeak(steps) {
  const peak = Math.max(...steps.map(({ perSecond }) => perSecond));
  return steps.find(({ perSecond }) => perSecond >= (1 - AT_PEAK) * peak)?.level ?? null;
}

/** @param {readonly Step[]} steps @param {number} level */
const below = (steps, level) => steps.filter((step) => step.level < level);

/** @param {readonly Step[]} steps @returns {Step[]} the last step of each level, if it passed, by level */
const passing = (steps) =>
  lastOfEach(steps)
    .filter(isPassing)
    .sort((a, b) => a.level - b.level);

/**
 * Whether the confirmation reached the peak of the shorter steps. A count n varies by sqrt(n) (Poisson), so a
 * rate has a standard error of rate / sqrt(n), and a difference sqrt(a^2 + b^2).
 * @param {Measured} confirmed @param {readonly Step[]} steps
 */
function isAsFast(confirmed, steps) {
  const errorOf = (/** @type {Measured} */ step) => step.perSecond / Math.sqrt(Math.max(1, step.succeeded));
  return steps
    .filter((step) => isPassing(step) && step.phase !== 'confirmation')
    .every((step) => {
      const error = Math.hypot(errorOf(step), errorOf(confirmed));
      return confirmed.perSecond >= (1 - MAX_SHORTFALL) * step.perSecond - MAX_ERRORS * error;
    });
}
