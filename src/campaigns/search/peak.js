/**
 * The fewest requests in flight that reach the peak throughput: doubling until more no longer helps, a requirement is not met, or the
 * limit is reached; then bisection, then a longer confirmation at the answer. Independent of how a level is measured.
 */
import { bisect } from '../bisect.js';
import { createLooks, isPassing, lacksSamples, lastOfEach, lowestAbove } from './search.js';

/** @import { Judged as Verdict, MeasureLevel, Step as AnyStep } from './search.js' */

/** @typedef {Verdict & {perSecond: number, succeeded: number}} Judged `perSecond`: successes; `succeeded`: of them, in all */
/** @typedef {AnyStep & Judged} Step */
/**
 * Why it ended. `flat`: more did not help; `requirement`: more would have broken one.
 * @typedef {'flat' | 'requirement' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why
 */
/** @typedef {ReturnType<typeof createLooks<Judged>>} Looks */

/** A level within this share of the highest throughput is at the peak: two runs of one plan differ by about as much. */
const AT_PEAK = 0.05;

/** Doublings that bring less than this more do not help; this many in a row end the climb. */
const GAIN = 0.05;
const FLAT = 2;

/** Precision of the answer, as a share of it. */
const FINE = 0.1;

/** Levels that are confirmed, one after the other, until one is the answer. */
const CONFIRMATIONS = 4;

/** A confirmation may be this much below the peak, which is the best of several steps. */
const CONFIRMED = 2 * AT_PEAK;

/** And this many standard errors of the difference: on a slow target a short step has so few responses that the best one is luck. */
const SURE = 2;

/**
 * @param {{start: number, highest: number, measure: MeasureLevel<Judged>, isStopped?: () => boolean}} options levels are in flight
 * @returns {Promise<{level: number | null, peakPerSecond: number | null, why: Why, steps: Step[]}>} `level`: null: none was confirmed;
 *   `peakPerSecond`: the highest throughput of a step, also a short one, that met every requirement
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
    // The most in flight that pass.
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
      // The start is too high: begin at the bottom.
      level = 1;
    }
  }
}

/** @param {Looks} looks @param {Why} why the climb ended @returns {Promise<Found>} */
async function confirmPeak(looks, why) {
  const { steps, look, isStopped } = looks;
  /** More in flight broke a requirement in a confirmation; with fewer one was too slow. */
  let [tooMany, tooFew] = [Number.POSITIVE_INFINITY, 0];
  /** @type {{level: number, judged: Judged}[]} by level, ascending */
  const confirmed = [];
  let level = /** @type {number | null} */ (await fewestByBisection(looks));
  for (let i = 0; i < CONFIRMATIONS && level !== null && !isStopped(); i++) {
    const judged = await look(level, 'confirmation');
    // With more in flight there would be hardly more samples.
    if (isStopped() || lacksSamples(judged)) break;
    if (judged.verdict === 'met') confirmed.push({ level, judged });
    else tooMany = level;
    // A level that met everything, but was slower than a short step with more in flight, is the answer if those turn out too many.
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
    // A middle that fails between two that pass was disturbed: the previous bracket stays.
    if (!isPassing(await look(middle, 'bisection'))) return level;
  }
}

/** @param {number} low @param {number} high */
const isClose = (low, high) => high - low <= Math.max(1, FINE * low);

/** @param {readonly Step[]} steps of which one failed above the level @param {number} level @returns {Why} of the lowest that failed */
function whyNoMore(steps, level) {
  return lowestAbove(steps, level)?.verdict === 'not offered' ? 'generator' : 'requirement';
}

/** @param {readonly Step[]} steps that passed, by level @returns {number | null} the fewest in flight at their peak; null: no steps */
function fewestAtPeak(steps) {
  const peak = Math.max(...steps.map(({ perSecond }) => perSecond));
  return steps.find(({ perSecond }) => perSecond >= (1 - AT_PEAK) * peak)?.level ?? null;
}

/** @param {readonly Step[]} steps @param {number} level */
const below = (steps, level) => steps.filter((step) => step.level < level);

/** @param {readonly Step[]} steps @returns {Step[]} the last of each level, where it passed, ascending */
function passing(steps) {
  return lastOfEach(steps)
    .filter(isPassing)
    .sort((a, b) => a.level - b.level);
}

/**
 * Did the confirmation reach the peak of the shorter steps? The number of responses in a given time varies by about its square root
 * (Poisson): a rate from n of them has a standard error of rate / sqrt(n); that of a difference is the root of both squared and summed.
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
