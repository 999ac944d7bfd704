/**
 * The fewest requests in flight that reach the peak throughput. Twice as many each time until more no longer helps, a requirement
 * is not met, or there may be no more; then bisection, then a run of its own at the answer. Knows nothing of how a level is measured.
 */
import { bisect } from '../bisect.js';
import { ATTEMPTS, isPassing, lacksSamples, lowestAbove, OFFERS } from './search.js';

/** @import { Phase } from './search.js' */

/** @typedef {import('./search.js').Judged & {perSecond: number, succeeded: number}} Judged `perSecond`: successes; `succeeded`: of them, in all */
/** @typedef {{level: number, phase: Phase, attempt: number} & Judged} Step */
/** @typedef {'flat' | 'requirement' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why it ended */
/**
 * @typedef {object} Found
 * @property {number | null} level in flight; null: none was confirmed
 * @property {number | null} peakPerSecond the highest throughput of a step, be it short, in which every requirement was met
 * @property {Why} why `flat`: more did not help; `requirement`: more would have broken one
 * @property {Step[]} steps in order
 */
/**
 * @typedef {object} PeakOptions
 * @property {number} start
 * @property {number} highest
 * @property {(level: number, phase: Phase, attempt: number) => Promise<Judged>} measure
 * @property {() => boolean} [isStopped] the user has ended it
 */

/** A level within this share of the highest throughput is at the peak: two runs of one plan differ by about as much. */
const AT_PEAK = 0.05;

/** Twice as many in flight that bring less than this more do not help; so often in a row, and the search turns back. */
const GAIN = 0.05;
const FLAT = 2;

/** The answer is known to so many parts of itself. */
const FINE = 0.1;

/** So many levels are confirmed, one after the other, until one is the answer. */
const CONFIRMATIONS = 4;

/** A confirmation may be so much below the peak, which is the best of several. */
const CONFIRMED = 2 * AT_PEAK;

/** And so many standard errors of the difference: on a slow target a short step counts so few answers that the best one is luck. */
const SURE = 2;

/** @param {PeakOptions} options @returns {Promise<Found>} */
export async function findPeak({ start, highest, measure, isStopped = () => false }) {
  /** @type {Step[]} */
  const steps = [];
  const found = (/** @type {number | null} */ level, /** @type {Why} */ why) => {
    const met = steps.filter(({ verdict }) => verdict === 'met');
    const peakPerSecond = met.length === 0 ? null : Math.max(...met.map(({ perSecond }) => perSecond));
    return { level, peakPerSecond, why: isStopped() ? /** @type {Why} */ ('interrupted') : why, steps };
  };
  /** @param {number} level @param {Phase} phase @returns {Promise<Judged>} */
  async function look(level, phase) {
    for (let attempt = 1; ; attempt++) {
      const judged = await measure(level, phase, attempt);
      if (isStopped()) return judged;
      steps.push({ level, phase, attempt, ...judged });
      const most = judged.verdict === 'not offered' ? OFFERS : ATTEMPTS;
      if (isPassing(judged) || judged.isClear || attempt >= most) return judged;
    }
  }
  const ended = await climb(start, highest, look, isStopped);
  if (isStopped() || ended.low === null) return found(null, ended.why);
  if (ended.high !== null) await narrow(ended.low, ended.high, look, isStopped);
  if (isStopped()) return found(null, ended.why);
  const why = ended.high === null ? ended.why : whyNoMore(steps, mostOf(steps));
  /** More in flight broke a requirement in a run that should confirm them, fewer were too slow there. */
  let [tooMany, tooFew] = [Number.POSITIVE_INFINITY, 0];
  /** @type {{level: number, judged: Judged}[]} by level: each more than the one before */
  const confirmed = [];
  /** @type {number | null} */
  let level = await leastAtPeak(steps, look, isStopped);
  for (let i = 0; i < CONFIRMATIONS && level !== null && !isStopped(); i++) {
    const judged = await look(level, 'confirmation');
    if (isStopped()) break;
    const isMet = judged.verdict === 'met';
    // More in flight bring hardly more a second.
    if (lacksSamples(judged)) break;
    if (isMet) confirmed.push({ level, judged });
    else tooMany = level;
    // A level met everything, but was slower than a short step with more in flight: if those turn out too many, it is the answer.
    const answer = confirmed.find(
      (one) => one.level < tooMany && bearsOut(one.judged, below(steps, tooMany)),
    );
    if (answer !== undefined)
      return found(answer.level, tooMany === Number.POSITIVE_INFINITY ? why : whyNoMore(steps, answer.level));
    if (isMet) tooFew = level;
    level = fewestAtPeak(below(byLevel(steps), tooMany).filter((step) => step.level > tooFew));
  }
  return found(null, 'unconfirmed');
}

/**
 * @param {number} start
 * @param {number} highest
 * @param {(level: number, phase: Phase) => Promise<Judged>} look
 * @param {() => boolean} isStopped
 * @returns {Promise<{low: number | null, high: number | null, why: Why}>} `high`: what did not pass
 */
async function climb(start, highest, look, isStopped) {
  let level = Math.min(start, highest);
  /** @type {number | null} */
  let low = null;
  let [best, flat] = [0, 0];
  for (;;) {
    const judged = await look(level, 'coarse');
    const { verdict, perSecond } = judged;
    if (isStopped()) return { low, high: null, why: 'interrupted' };
    if (!isPassing(judged)) {
      const why = verdict === 'not offered' ? 'generator' : low === null ? 'lowest' : 'requirement';
      if (low !== null || level === 1) return { low, high: level, why };
      // A start that is too high: from the bottom up, then.
      level = 1;
      continue;
    }
    low = level;
    flat = perSecond < (1 + GAIN) * best ? flat + 1 : 0;
    best = Math.max(best, perSecond);
    if (flat >= FLAT) return { low, high: null, why: 'flat' };
    if (level >= highest) return { low, high: null, why: flat > 0 ? 'flat' : 'highest' };
    level = Math.min(highest, level * 2);
  }
}

/**
 * The most in flight that pass.
 *
 * @param {number} passed
 * @param {number} failed
 * @param {(level: number, phase: Phase) => Promise<Judged>} look
 * @param {() => boolean} isStopped
 */
function narrow(passed, failed, look, isStopped) {
  const range = { lowest: passed, highest: failed, round: Math.round, isClose };
  const passes = async (/** @type {number} */ level) => isPassing(await look(level, 'bisection'));
  return bisect({ passed, failed }, range, { passes, isStopped });
}

/** @param {number} low @param {number} high */
function isClose(low, high) {
  return high - low <= Math.max(1, FINE * low);
}

/**
 * @param {readonly Step[]} steps of which one failed above the level
 * @param {number} level
 * @returns {Why} of the lowest that failed: between two doublings it may be another matter than at the upper one
 */
function whyNoMore(steps, level) {
  return lowestAbove(steps, level)?.verdict === 'not offered' ? 'generator' : 'requirement';
}

/** @param {readonly Step[]} steps @returns {number} in flight, that passed */
function mostOf(steps) {
  return Math.max(...byLevel(steps).flatMap((step) => (isPassing(step) ? step.level : [])));
}

/**
 * @param {Step[]} steps is added to
 * @param {(level: number, phase: Phase) => Promise<Judged>} look
 * @param {() => boolean} isStopped
 * @returns {Promise<number>} the fewest in flight that reach the peak
 */
async function leastAtPeak(steps, look, isStopped) {
  for (;;) {
    const reached = byLevel(steps).filter(isPassing);
    const level = Number(fewestAtPeak(reached));
    const lower = reached.findLast((step) => step.level < level)?.level ?? null;
    if (lower === null || level - lower <= Math.max(1, FINE * level) || isStopped()) return level;
    const middle = await look(middleOf(lower, level), 'bisection');
    // A middle that fails between two that pass was disturbed: the previous bracket stays.
    if (!isPassing(middle)) return level;
  }
}

/**
 * @param {readonly Step[]} steps by level
 * @returns {number | null} of those that passed, the fewest in flight that reach their peak; null: none passed
 */
function fewestAtPeak(steps) {
  const least = (1 - AT_PEAK) * peakOf(steps);
  return steps.find((step) => isPassing(step) && step.perSecond >= least)?.level ?? null;
}

/** @param {readonly Step[]} steps @param {number} level */
function below(steps, level) {
  return steps.filter((step) => step.level < level);
}

/** @param {readonly Step[]} steps */
function peakOf(steps) {
  return Math.max(...steps.filter(isPassing).map(({ perSecond }) => perSecond));
}

/**
 * Did the confirmation reach the peak that shorter steps had shown? The number of responses in a given time varies by about its square
 * root (Poisson), so that a rate known by n of them has a standard error of rate / sqrt(n); that of a difference is the root of both
 * squared and summed.
 *
 * @param {Judged} confirmed
 * @param {readonly Step[]} steps
 */
function bearsOut(confirmed, steps) {
  const errorOf = (/** @type {Judged} */ { perSecond, succeeded }) =>
    perSecond / Math.sqrt(Math.max(1, succeeded));
  return steps
    .filter((step) => isPassing(step) && step.phase !== 'confirmation')
    .every((step) => {
      const error = Math.hypot(errorOf(step), errorOf(confirmed));
      return confirmed.perSecond >= (1 - CONFIRMED) * step.perSecond - SURE * error;
    });
}

/** @param {readonly Step[]} steps @returns {Step[]} the last of each level, ascending */
function byLevel(steps) {
  return [...new Map(steps.map((step) => [step.level, step])).values()].sort((a, b) => a.level - b.level);
}

/** @param {number} low @param {number} high @returns {number} between them, in factors */
function middleOf(low, high) {
  return Math.min(high - 1, Math.max(low + 1, Math.round(Math.sqrt(low * high))));
}
