/**
 * The highest rate at which every requirement is met: coarse steps up or down by two, then bisection, then a longer confirmation at the
 * answer. Independent of how a level is measured.
 */
import { bisect } from '../bisect.js';

/** @import { Bracket } from '../bisect.js' */

/**
 * `not proven`: more samples would have decided; `not offered`: the generator could not offer the level, which shows nothing about the
 * target
 * @typedef {'met' | 'not met' | 'not proven' | 'not offered'} StepVerdict
 */
/** @typedef {'coarse' | 'bisection' | 'confirmation'} Phase */
/**
 * @typedef {object} Judged
 * @property {StepVerdict} verdict
 * @property {string} reason a sentence
 * @property {boolean} [isClear] not at the edge: a second run would agree
 * @property {boolean} [isStarved] `not proven`: in so short a time the level could hardly have been proven. Nothing speaks against it, so
 *   higher levels, where samples come sooner, are tried first
 */
/** @typedef {{level: number, phase: Phase, attempt: number} & Judged} Step `attempt` at this level in this phase, from 1 */
/** @typedef {'bracketed' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why it ended */
/** @template {Judged} J @typedef {(level: number, phase: Phase, attempt: number) => Promise<J>} MeasureLevel */
/**
 * `tolerance`: the bracket is narrow enough when its ends are at most this share apart, e.g. 0.02; `isStopped`: the user has ended it
 * @typedef {{start: number, lowest: number, highest: number, tolerance: number, measure: MeasureLevel<Judged>,
 *   isStopped?: () => boolean}} SearchOptions
 */

/** A confirmation that fails is tried again lower, this often, by so many tolerances: the more have failed, the further. */
const STEPS_DOWN = [1, 1, 2, 2, 4, 0];

/**
 * At the edge chance decides, and anywhere a single disturbance can: this many failures count; this many steps without a proof, each
 * longer, as a small share of errors needs many requests to show; and this many that other programs on the machine may have disturbed.
 */
const LOOKS = Object.freeze({ failed: 2, unproven: 3, unoffered: 3 });
const CONFIRMING = Object.freeze({ failed: 1, unproven: 2, unoffered: 3 });

/** A failed level counts more than a lower one that could not be offered, if it is at most this share above the answer. */
const STILL_NEAR = 0.05;

/** A generator that could not offer so many levels in a row, and none before, is no better at lower ones. */
const UNOFFERED_LEVELS = 2;

/** @template {Judged} J @param {{measure: MeasureLevel<J>, isStopped?: () => boolean}} options */
export function createLooks({ measure, isStopped = () => false }) {
  /** In order. @type {({level: number, phase: Phase, attempt: number} & J)[]} */
  const steps = [];
  return {
    ...{ steps, isStopped },
    /**
     * Measures a level until it passes, until its verdict is clear, or until enough steps have not passed.
     * @param {number} level @param {Phase} phase @param {typeof LOOKS | typeof CONFIRMING} [limits]
     * @returns {Promise<J>} of the last step
     */
    async look(level, phase, limits = LOOKS) {
      let [failed, unproven, unoffered] = [0, 0, 0];
      for (;;) {
        const attempt = failed + unproven + unoffered + 1;
        const judged = await measure(level, phase, attempt);
        // An interrupted step decides nothing.
        if (isStopped()) return judged;
        steps.push({ level, phase, attempt, ...judged });
        if (isPassing(judged) || judged.isClear) return judged;
        if (judged.verdict === 'not offered') unoffered++;
        else if (judged.verdict === 'not proven') unproven++;
        else failed++;
        const isEnough = failed >= limits.failed || failed + unproven >= limits.unproven;
        if (isEnough || unoffered >= limits.unoffered) return judged;
      }
    },
  };
}

/**
 * @param {SearchOptions} options
 * @returns {Promise<{level: number | null, why: Why, steps: Step[]}>} `level`: the highest that was confirmed; null: none was
 */
export async function findHighest(options) {
  const { lowest, highest, tolerance, start } = options;
  const { steps, isStopped, look } = createLooks(options);
  const round = (/** @type {number} */ level) => Math.min(highest, Math.max(lowest, tidy(level)));
  /** @type {Bracket} */
  const bracket = { passed: null, failed: null };
  /** @type {Parameters<typeof bisect>[1]} */
  const range = {
    ...{ lowest, highest, round },
    isClose: (passed, failed) => failed / passed <= 1 + tolerance,
  };
  const isBracketed = () => bracket.passed !== null && bracket.failed !== null;
  await bisect(bracket, range, {
    first: round(start),
    passes: async (level) => isPassing(await look(level, isBracketed() ? 'bisection' : 'coarse')),
    isStopped: () => isStopped() || (bracket.passed === null && offersNothing(steps, UNOFFERED_LEVELS)),
  });
  /** @param {Why} why */
  const withoutAnswer = (why) => ({ level: null, why: isStopped() ? 'interrupted' : why, steps });
  if (bracket.passed === null) return withoutAnswer(offersNothing(steps) ? 'generator' : 'lowest');
  let level = bracket.passed;
  for (const down of STEPS_DOWN) {
    if (isStopped()) break;
    const judged = await look(level, 'confirmation', CONFIRMING);
    if (!isStopped() && judged.verdict === 'met') return { level, why: whyEnded(steps, level), steps };
    const lower = round(level * (1 - down * tolerance));
    // Lower down the same time brings fewer samples still.
    if (lacksSamples(judged) || lower >= level) break;
    level = lower;
  }
  return withoutAnswer('unconfirmed');
}

/** @param {readonly Step[]} steps @param {number} [levels] at least @returns {boolean} whether the last levels could not be offered */
function offersNothing(steps, levels = 1) {
  const last = lastOfEach(steps).slice(-UNOFFERED_LEVELS);
  return last.length >= levels && last.every(({ verdict }) => verdict === 'not offered');
}

/** @template {{level: number}} T @param {readonly T[]} steps @returns {T[]} the last of each level */
export const lastOfEach = (steps) => [...new Map(steps.map((step) => [step.level, step])).values()];

/** @param {readonly Step[]} steps @param {number} level confirmed @returns {Why} */
function whyEnded(steps, level) {
  const above = lowestAbove(steps, level);
  if (above === null) return 'highest';
  return above.verdict === 'not offered' ? 'generator' : 'bracketed';
}

/**
 * @param {readonly Pick<Step, 'level' | 'verdict' | 'isStarved'>[]} steps @param {number} level
 * @returns {{level: number, verdict: StepVerdict} | null} the lowest above it that did not pass when it was last tried; where that
 *   could not be offered, the lowest that failed, if it is hardly higher
 */
export function lowestAbove(steps, level) {
  const above = lastOfEach(steps)
    .filter((step) => step.level > level && !isPassing(step))
    .sort((a, b) => a.level - b.level);
  if (above.length === 0) return null;
  const failed = above.find(({ verdict }) => verdict !== 'not offered');
  const lowest = failed !== undefined && failed.level <= (1 + STILL_NEAR) * level ? failed : above[0];
  return { level: lowest.level, verdict: lowest.verdict };
}

/** To three significant digits: another measurement would not confirm more. @param {number} level */
const tidy = (level) => Number(level.toPrecision(3));

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged */
export function lacksSamples({ verdict, isStarved = false }) {
  return verdict === 'not proven' && isStarved;
}

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged @returns {boolean} whether nothing speaks against it */
export function isPassing(judged) {
  return judged.verdict === 'met' || lacksSamples(judged);
}
