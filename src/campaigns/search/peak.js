/**
 * Finds the fewest requests in flight that reach the peak throughput. Doubles them until throughput stops
 * growing, a requirement is not met or the limit is reached; then bisects, and confirms the answer with a
 * longer step. The caller measures the levels.
 */
import { bisect } from '../bisect.js';
import { createLooks, isPassing, lacksSamples, lastOfEach, lowestAbove } from './search.js';

/** @import { Judged as Verdict, MeasureLevel, Step as AnyStep } from './search.js' */

/**
 * @typedef {Verdict & {perSecond: number, succeeded: number}} Judged `perSecond`: successes; `succeeded`:
 * their total
 */
/** @typedef {AnyStep & Judged} Step */
/**
 * Why the search ended. `flat`: more in flight did not help; `requirement`: more in flight missed a
 * requirement.
 * @typedef {'flat' | 'requirement' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why
 */
/** @typedef {ReturnType<typeof createLooks<Judged>>} Looks */

/**
 * A level within this share of the highest throughput is at the peak: two runs of a plan differ by about as
 * much.
 */
const AT_PEAK = 0.05;

/** A doubling that gains less than GAIN is flat; FLAT of them in a row end the climb. */
const GAIN = 0.05;
const FLAT = 2;

/** Precision of the answer, as a share of it. */
const FINE = 0.1;

/** Max confirmations to try. */
const CONFIRMATIONS = 4;

/** A confirmation may be this much below the peak, which is the best of several steps. */
const CONFIRMED = 2 * AT_PEAK;

/**
 * Plus this many standard errors of the difference: with few responses per step, the best step may be luck.
 */
const SURE = 2;

/**
 * @param {{start: number, highest: number, measure: MeasureLevel<Judged>, isStopped?: () => boolean}} options
 *   levels: requests in flight
 * @returns {Promise<{level: number | null, peakPerSecond: number | null, why: Why, steps: Step[]}>} `level`:
 *   null: none confirmed; `peakPerSecond`: highest throughput of any step that met every requirement
 */
export async function findPeak({ start, highest, measure, isStopped }) {
  const looks = createLooks({ measure, isStopped });
  const { level, why } = await search(start, highest, looks);
  const { steps } = looks;
  const met = steps.flatMap(({ verdict, perSecond }) => (verdict === 'met' ? [perSecond] : []));
  const peakPerSecond = met.length === 0 ? null : Math.max(...met);
  return { level, peakPerSecond, why: looks.isStopped() ? 'interrupted' : why, steps };
}

/** @typedef {{level: number | null, why: Why}} Found */

/** @param {number} start @param {number} highest @param {Looks} looks @returns {Promise<Found>} */
async function search(start, highest, looks) {
  const { steps, look, isStopped } = looks;
  const { low, high, why } = await climb(start, highest, looks);
  if (low !== null && high !== null) {
    // Find the most in flight that pass.
    const range = { lowest: low, highest: high, round: Math.round, isClose };
    const passes = async (/** @type {number} */ level) => isPassing(await look(level, 'bisection'));
    await bisect({ passed: low, failed: high }, range, { passes, isStopped });
  }
  if (isStopped() || low === null) return { level: null, why };
  const most = Math.max(...passing(steps).map(({ level }) => level));
  return confirmPeak(looks, high === null ? why : whyNoMore(steps, most));
}

/**
 * @param {number} start @param {number} highest @param {Looks} looks
 * @returns {Promise<{low: number | null, high: number | null, why: Why}>} `high`: a level that did not pass
 */
async function climb(start, highest, { look, isStopped }) {
  let level = Math.min(start, highest);
  /** @type {number | null} */
  let low = null;
  let [best, flat] = [0, 0];
  for (;;) {
    const judged = await look(level, 'coarse');
    const { verdict, perSecond } = judged;
    if (isStopped()) return { low, high: null, why: 'interrupted' };
    if (isPassing(judged)) {
      low = level;
      flat = perSecond < (1 + GAIN) * best ? flat + 1 : 0;
      best = Math.max(best, perSecond);
      if (flat >= FLAT) return { low, high: null, why: 'flat' };
      if (level >= highest) return { low, high: null, why: flat > 0 ? 'flat' : 'highest' };
      level = Math.min(highest, level * 2);
    } else {
      const why = verdict === 'not offered' ? 'generator' : low === null ? 'lowest' : 'requirement';
      if (low !== null || level === 1) return { low, high: level, why };
      // The start is too high: restart at 1.
      level = 1;
    }
  }
}

/** @param {Looks} looks @param {Why} why the climb ended @returns {Promise<Found>} */
async function confirmPeak(looks, why) {
  const { steps, look, isStopped } = looks;
  /** The lowest level that missed a requirement in a confirmation, and the highest that was too slow. */
  let [tooMany, tooFew] = [Number.POSITIVE_INFINITY, 0];
  /** @type {{level: number, judged: Judged}[]} by level, ascending */
  const confirmed = [];
  let level = /** @type {number | null} */ (await fewestByBisection(looks));
  for (let i = 0; i < CONFIRMATIONS && level !== null && !isStopped(); i++) {
    const judged = await look(level, 'confirmation');
    // More in flight would hardly give more samples.
    if (isStopped() || lacksSamples(judged)) break;
    if (judged.verdict === 'met') confirmed.push({ level, judged });
    else tooMany = level;
    // A confirmed level slower than a step with more in flight becomes the answer if that step's level fails.
    const found = confirmed.find(
      (one) => one.level < tooMany && isAsFast(one.judged, below(steps, tooMany)),
    )?.level;
    if (found !== undefined)
      return { level: found, why: Number.isFinite(tooMany) ? whyNoMore(steps, found) : why };
    if (judged.verdict === 'met') tooFew = level;
    level = fewestAtPeak(below(passing(steps), tooMany).filter((step) => step.level > tooFew));
  }
  return { level: null, why: 'unconfirmed' };
}

/** @param {Looks} looks @returns {Promise<number>} the fewest in flight that reach the peak */
async function fewestByBisection({ steps, look, isStopped }) {
  for (;;) {
    const reached = passing(steps);
    const level = Number(fewestAtPeak(reached));
    const lower = reached.findLast((step) => step.level < level)?.level ?? null;
    if (lower === null || level - lower <= Math.max(1, FINE * level) || isStopped()) return level;
    const middle = Math.min(level - 1, Math.max(lower + 1, Math.round(Math.sqrt(lower * level))));
    // A level that fails between two passing levels was disturbed: keep the previous bracket.
    if (!isPassing(await look(middle, 'bisection'))) return level;
  }
}

/** @param {number} low @param {number} high */
const isClose = (low, high) => high - low <= Math.max(1, FINE * low);

/** @param {readonly Step[]} steps one above the level failed @param {number} level @returns {Why} */
function whyNoMore(steps, level) {
  return lowestAbove(steps, level)?.verdict === 'not offered' ? 'generator' : 'requirement';
}

/**
 * @param {readonly Step[]} steps passing, by level @returns {number | null} fewest in flight at the peak;
 * null: no steps
 */
function fewestAtPeak(steps) {
  const peak = Math.max(...steps.map(({ perSecond }) => perSecond));
  return steps.find(({ perSecond }) => perSecond >= (1 - AT_PEAK) * peak)?.level ?? null;
}

/** @param {readonly Step[]} steps @param {number} level */
const below = (steps, level) => steps.filter((step) => step.level < level);

/** @param {readonly Step[]} steps @returns {Step[]} last step of each level, if it passed, by level */
function passing(steps) {
  return lastOfEach(steps)
    .filter(isPassing)
    .sort((a, b) => a.level - b.level);
}

/**
 * Checks whether the confirmation reached the peak of the shorter steps. A count n varies by about sqrt(n)
 * (Poisson), so a rate has a standard error of rate / sqrt(n), and a difference sqrt(a^2 + b^2).
 * @param {Judged} confirmed @param {readonly Step[]} steps
 */
function isAsFast(confirmed, steps) {
  const errorOf = (/** @type {Judged} */ { perSecond, succeeded }) =>
    perSecond / Math.sqrt(Math.max(1, succeeded));
  return steps
    .filter((step) => isPassing(step) && step.phase !== 'confirmation')
    .every((step) => {
      const error = Math.hypot(errorOf(step), errorOf(confirmed));
      return confirmed.perSecond >= (1 - CONFIRMED) * step.perSecond - SURE * error;
    });
}
