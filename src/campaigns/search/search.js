/**
 * Finds the highest rate that meets every requirement: doubles or halves it, bisects, and confirms the answer
 * with a longer step. The caller measures the levels.
 */
import { bisect } from '../bisect.js';

/** @import { Bracket } from '../bisect.js' */

/**
 * `not proven`: too few samples for a verdict; `not offered`: the generator could not offer the level, which
 * shows nothing about the target
 * @typedef {'met' | 'not met' | 'not proven' | 'not offered'} StepVerdict
 */
/** @typedef {'coarse' | 'bisection' | 'confirmation'} Phase */
/**
 * @typedef {object} Judged
 * @property {StepVerdict} verdict
 * @property {string} reason a sentence
 * @property {boolean} [isClear] not a close call: a second run would agree
 * @property {boolean} [isStarved] `not proven`: the step was too short to prove the level. It counts as
 *   passing, so the search tries higher levels first, which give more samples
 */
/** @typedef {{level: number, phase: Phase, attempt: number} & Judged} Step `attempt` at this level in this phase, from 1 */
/**
 * @typedef {'bracketed' | 'highest' | 'generator' | 'lowest' | 'unconfirmed' | 'interrupted'} Why the search
 * ended
 */
/** @template {Judged} J @typedef {(level: number, phase: Phase, attempt: number) => Promise<J>} MeasureLevel */
/**
 * `tolerance`: max relative width of the final bracket, e.g. 0.02; `isStopped`: the user interrupted the
 * search
 * @typedef {{start: number, lowest: number, highest: number, tolerance: number, measure: MeasureLevel<Judged>,
 *   isStopped?: () => boolean}} SearchOptions
 */

/** After each failed confirmation the search retries this many tolerances lower. */
const STEPS_DOWN = [1, 1, 2, 2, 4, 0];

/**
 * Limits per level: a level fails after `failed` failures, as one may be chance or a disturbance; after
 * `unproven` steps that failed or proved nothing, each longer than the last; or after `unoffered` steps that
 * the generator could not offer.
 */
const LOOKS = Object.freeze({ failed: 2, unproven: 3, unoffered: 3 });
const CONFIRMING = Object.freeze({ failed: 1, unproven: 2, unoffered: 3 });

/**
 * A failed level within this share above the answer takes precedence over a lower one that was not offered.
 */
const STILL_NEAR = 0.05;

/** If the generator cannot offer this many levels in a row, and no level passed, the search ends. */
const UNOFFERED_LEVELS = 2;

/** @template {Judged} J @param {{measure: MeasureLevel<J>, isStopped?: () => boolean}} options */
export function createLooks({ measure, isStopped = () => false }) {
  /** In order. @type {({level: number, phase: Phase, attempt: number} & J)[]} */
  const steps = [];
  return {
    ...{ steps, isStopped },
    /**
     * Measures a level until it passes, its verdict is clear, or a limit is reached.
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
 * @returns {Promise<{level: number | null, why: Why, steps: Step[]}>} `level`: highest confirmed; null: none
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
    // A lower level gives even fewer samples in the same time.
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

/** @template {{level: number}} T @param {readonly T[]} steps @returns {T[]} last step of each level */
export const lastOfEach = (steps) => [...new Map(steps.map((step) => [step.level, step])).values()];

/** @param {readonly Step[]} steps @param {number} level confirmed @returns {Why} */
function whyEnded(steps, level) {
  const above = lowestAbove(steps, level);
  if (above === null) return 'highest';
  return above.verdict === 'not offered' ? 'generator' : 'bracketed';
}

/**
 * @param {readonly Pick<Step, 'level' | 'verdict' | 'isStarved'>[]} steps @param {number} level
 * @returns {{level: number, verdict: StepVerdict} | null} lowest level above that did not pass its last step;
 *   if it was
 *   not offered, the lowest failed one instead, if within STILL_NEAR
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

/** Three significant digits: more would not be reproducible. @param {number} level */
const tidy = (level) => Number(level.toPrecision(3));

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged */
export function lacksSamples({ verdict, isStarved = false }) {
  return verdict === 'not proven' && isStarved;
}

/** @param {Pick<Judged, 'verdict' | 'isStarved'>} judged @returns {boolean} */
export function isPassing(judged) {
  return judged.verdict === 'met' || lacksSamples(judged);
}
