/**
 * The highest rate at which every requirement is met. Coarse steps up (or down) by two, then bisection, then a run of its own at the
 * answer that must bear it out. Knows nothing of how a level is measured.
 */
import { bisect } from '../bisect.js';

/** @import { Bracket } from '../bisect.js' */

/**
 * @typedef {'met' | 'not met' | 'not proven' | 'not offered'} StepVerdict `not proven`: more samples would have decided; `not
 *   offered`: the generator could not offer it, which shows nothing of the target
 */
/** @typedef {'coarse' | 'bisection' | 'confirmation'} Phase */
/**
 * @typedef {object} Judged
 * @property {StepVerdict} verdict
 * @property {string} reason a sentence
 * @property {boolean} [isClear] not at the edge: a second run would agree
 * @property {boolean} [isStarved] `not proven`: in so short a time the level could not have been proven, or only by luck.
 *   Then nothing speaks against it, and higher levels, where samples come sooner, are tried before it is asked again
 */
/** @typedef {{level: number, phase: Phase, attempt: number} & Judged} Step `attempt` at this level in this phase, from 1 */
/** @typedef {'bracketed' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why it ended */
/**
 * @typedef {object} Found
 * @property {number | null} level the highest that was confirmed; null: none was
 * @property {Why} why
 * @property {Step[]} steps in order
 */
/**
 * @typedef {object} SearchOptions
 * @property {number} start
 * @property {number} lowest
 * @property {number} highest
 * @property {number} tolerance the bracket is narrow enough when its ends are at most this share apart, e.g. 0.02
 * @property {(level: number, phase: Phase, attempt: number) => Promise<Judged>} measure
 * @property {() => boolean} [isStopped] the user has ended it
 */

/** A confirmation that fails is tried again a step lower, so often. */
const CONFIRMATIONS = 6;

/** So much lower, in tolerances: the further, the more have failed. */
const STEPS_DOWN = [1, 1, 2, 2, 4];

/** At the edge chance decides, and anywhere a single disturbance can: what has failed is tried so often before it counts. */
export const ATTEMPTS = 2;

/** A step that proves nothing is repeated so often, each time longer: a small share of errors takes many requests to show. */
const LOOKS = 3;

/** What the generator could not offer is its own matter, and often that of what else runs on its machine just then. */
export const OFFERS = 3;

/** A failed level counts more than a lower one that could not be offered, if it is at most so much above the answer. */
const STILL_NEAR = 0.05;

/** A generator that can offer so many levels one after the other, and none before, is no better lower down. */
const UNOFFERED_LEVELS = 2;

/** @param {SearchOptions} options @returns {Promise<Found>} */
export async function findHighest(options) {
  const search = createSearch(options);
  const { steps, isStopped } = search;
  const { lowest, highest, tolerance } = options;
  /** @type {Bracket} */
  const bracket = { passed: null, failed: null };
  const range = {
    ...{ lowest, highest, round: search.rounded },
    isClose: (/** @type {number} */ passed, /** @type {number} */ failed) => failed / passed <= 1 + tolerance,
  };
  await bisect(bracket, range, {
    first: search.rounded(options.start),
    passes: (level, isBracketed) => search.passes(level, isBracketed ? 'bisection' : 'coarse'),
    isStopped: () => isStopped() || (bracket.passed === null && offersNothing(steps, UNOFFERED_LEVELS)),
  });
  if (isStopped()) return { level: null, why: 'interrupted', steps };
  if (bracket.passed === null) {
    return { level: null, why: offersNothing(steps) ? 'generator' : 'lowest', steps };
  }
  const level = await confirm(search, bracket.passed, options);
  if (isStopped() && level === null) return { level, why: 'interrupted', steps };
  return { level, why: level === null ? 'unconfirmed' : whyEnded(steps, level), steps };
}

/** @param {SearchOptions} options */
function createSearch({ lowest, highest, measure, isStopped = () => false }) {
  /** @type {Step[]} */
  const steps = [];
  /** @param {number} level @param {Phase} phase @param {number} attempt */
  async function tryOnce(level, phase, attempt) {
    const judged = await measure(level, phase, attempt);
    // An interrupted step decides nothing.
    if (!isStopped()) steps.push({ level, phase, attempt, ...judged });
    return judged;
  }
  return {
    steps,
    isStopped,
    /** @param {number} level */
    rounded: (level) => Math.min(highest, Math.max(lowest, tidy(level))),
    tryOnce,
    /** @param {number} level @param {Phase} phase @returns {Promise<boolean>} whether to go on higher */
    async passes(level, phase) {
      let [failed, unproven, unoffered] = [0, 0, 0];
      const isOpen = () => failed < ATTEMPTS && failed + unproven < LOOKS && unoffered < OFFERS;
      while (isOpen() && !isStopped()) {
        const attempt = failed + unproven + unoffered + 1;
        const judged = await tryOnce(level, phase, attempt);
        if (isPassing(judged)) return true;
        const { verdict, isClear = false } = judged;
        if (isClear) return false;
        if (verdict === 'not offered') unoffered++;
        else if (verdict === 'not proven') unproven++;
        else failed++;
      }
      return false;
    },
  };
}

/** @typedef {ReturnType<typeof createSearch>} Search */

/**
 * @param {readonly Step[]} steps
 * @param {number} [levels] that count
 * @returns {boolean} whether the last of them could not be offered
 */
function offersNothing(steps, levels = 1) {
  const last = [...new Map(steps.map(({ level, verdict }) => [level, verdict])).values()].slice(
    -UNOFFERED_LEVELS,
  );
  return last.length >= levels && last.every((verdict) => verdict === 'not offered');
}

/**
 * Not proven is not enough here.
 *
 * @param {Search} search
 * @param {number} low
 * @param {SearchOptions} options
 * @returns {Promise<number | null>}
 */
async function confirm({ tryOnce, rounded, isStopped }, low, { lowest, tolerance }) {
  /**
   * @param {number} at
   * @returns {Promise<Judged>} repeats a step that was too close to call, for longer, and one that could not be offered;
   *   what has failed is not
   */
  async function confirmOnce(at) {
    let [unproven, unoffered] = [0, 0];
    for (;;) {
      const judged = await tryOnce(at, 'confirmation', unproven + unoffered + 1);
      if (judged.verdict === 'not offered') unoffered++;
      else if (judged.verdict === 'not proven' && !lacksSamples(judged)) unproven++;
      else return judged;
      if (judged.isClear || unoffered === OFFERS || unproven === ATTEMPTS || isStopped()) return judged;
    }
  }
  let level = low;
  for (let i = 0; i < CONFIRMATIONS && !isStopped(); i++) {
    const judged = await confirmOnce(level);
    if (judged.verdict === 'met') return level;
    // Lower down as much time brings fewer samples still.
    if (lacksSamples(judged)) return null;
    const lower = rounded(level * (1 - (STEPS_DOWN[i] ?? 1) * tolerance));
    if (lower >= level || level <= lowest) return null;
    level = lower;
  }
  return null;
}

/** @param {readonly Step[]} steps @param {number} level confirmed @returns {Why} */
function whyEnded(steps, level) {
  const above = lowestAbove(steps, level);
  if (above === null) return 'highest';
  return above.verdict === 'not offered' ? 'generator' : 'bracketed';
}

/**
 * @param {readonly Pick<Step, 'level' | 'verdict' | 'isStarved'>[]} steps
 * @param {number} level
 * @returns {{level: number, verdict: StepVerdict} | null} the lowest above it that did not pass when it was last tried; where that
 *   could not be offered, the lowest that failed, if it is hardly higher
 */
export function lowestAbove(steps, level) {
  const last = new Map(steps.map((step) => [step.level, step]));
  const above = [...last.values()]
    .filter((step) => step.level > level && !isPassing(step))
    .sort((a, b) => a.level - b.level);
  if (above.length === 0) return null;
  const failed = above.find(({ verdict }) => verdict !== 'not offered');
  const told = failed !== undefined && failed.level <= (1 + STILL_NEAR) * level ? failed : above[0];
  return { level: told.level, verdict: told.verdict };
}

/** @param {number} level @returns {number} three significant digits: more would not be borne out by another measurement */
function tidy(level) {
  return Number(level.toPrecision(3));
}

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged */
export function lacksSamples({ verdict, isStarved = false }) {
  return verdict === 'not proven' && isStarved;
}

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged @returns {boolean} whether nothing speaks against it */
export function isPassing(judged) {
  return judged.verdict === 'met' || lacksSamples(judged);
}
