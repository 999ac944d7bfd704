/** Finds the highest rate that meets every requirement: doubles or halves it, bisects, and confirms it with a longer step. */
import { isPassing, lacksSamples, lastOfEach, lowestAbove, whyEnded } from '../../result/search/explain.js';
import { bisect } from '../bisect.js';

/** @import { Search, SearchStep } from '../../result/search/search-schema.js' */
/** @import { Bracket, Range } from '../bisect.js' */

/** @typedef {SearchStep['phase']} Phase */
/** @typedef {Search['why']} Why */
/**
 * `isClear`: a second run would agree; `isStarved`: not proven, as the step was too short: it counts as
 * passing, so that the search tries higher levels first, which give more samples
 * @typedef {Pick<SearchStep, 'verdict' | 'reason'> & {isClear?: boolean, isStarved?: boolean}} Judged
 */
/** @typedef {Judged & {perSecond: number, succeeded: number}} Measured `perSecond`, `succeeded`: successes only */
/** @typedef {Pick<SearchStep, 'level' | 'phase' | 'attempt'> & Measured} Step */
/** @typedef {ReturnType<typeof createTries>} Tries */
/** @typedef {{level: number | null, why: Why}} Found `level`: the confirmed one; null: none */

/** Max width of the final bracket: two runs of the same plan differ by about as much. */
export const TOLERANCE = 0.02;

/** After each failed confirmation the search retries this many tolerances lower. */
const STEPS_DOWN = [1, 1, 2, 2, 4, 0];

/**
 * A level fails after `failed` failures, as one may be chance; after `unproven` steps that failed or proved
 * nothing, each longer than the last; or after `unoffered` steps that the tool could not offer.
 */
const LIMITS = Object.freeze({ failed: 2, unproven: 3, unoffered: 3 });
const CONFIRMING = Object.freeze({ failed: 1, unproven: 2, unoffered: 3 });

/** By chance, a level that is a little too high passes one in twenty confirmations: after a failed one, it takes this many in a row. */
const PASSES = 2;

/** @param {Step} step */
const isRefuted = ({ phase, verdict }) =>
  phase === 'confirmation' && (verdict === 'not met' || verdict === 'not proven');

/** If the tool cannot offer this many levels in a row, and no level passed, the search ends. */
const UNOFFERED_LEVELS = 2;

/** @param {{measure: (level: number, phase: Phase, attempt: number) => Promise<Measured>, isStopped?: () => boolean}} options */
export function createTries({ measure, isStopped = () => false }) {
  /** @type {Step[]} */
  const steps = [];
  return {
    ...{ steps, isStopped },
    /** @param {Why} why @returns {Found} */
    withoutAnswer: (why) => ({ level: null, why: isStopped() ? 'interrupted' : why }),
    /**
     * Measures a level until it passes, its verdict is clear, or a limit is reached. Returns the last step.
     * @param {number} level @param {Phase} phase @param {typeof LIMITS | typeof CONFIRMING} [limits]
     */
    async tryLevel(level, phase, limits = LIMITS) {
      let [passed, failed, unproven, unoffered] = [0, 0, 0, 0];
      for (let attempt = 1; ; attempt++) {
        const passes = phase === 'confirmation' && steps.some(isRefuted) ? PASSES : 1;
        const step = await measure(level, phase, attempt);
        // An interrupted step has no verdict.
        if (isStopped()) return step;
        steps.push({ level, phase, attempt, ...step });
        if (step.isClear || lacksSamples(step)) return step;
        passed = step.verdict === 'met' ? passed + 1 : 0;
        if (passed === passes) return step;
        if (passed > 0) continue;
        if (step.verdict === 'not offered') unoffered++;
        else if (step.verdict === 'not proven') unproven++;
        else failed++;
        const isEnough = failed >= limits.failed || failed + unproven >= limits.unproven;
        if (isEnough || unoffered >= limits.unoffered) return step;
      }
    },
  };
}

/** @param {{start: number, lowest: number, highest: number}} rates @param {Tries} tries */
export async function findHighest({ start, lowest, highest }, { steps, isStopped, tryLevel, withoutAnswer }) {
  // More than three significant digits would not be reproducible.
  const round = (/** @type {number} */ level) =>
    Math.min(highest, Math.max(lowest, Number(level.toPrecision(3))));
  /** @type {Bracket} */
  const bracket = { passed: null, failed: null };
  /** @type {Range} */
  const range = { lowest, highest, round, isClose: (passed, failed) => failed / passed <= 1 + TOLERANCE };
  const isBracketed = () => bracket.passed !== null && bracket.failed !== null;
  await bisect(bracket, range, {
    first: round(start),
    passes: async (level) => isPassing(await tryLevel(level, isBracketed() ? 'bisection' : 'coarse')),
    isStopped: () => isStopped() || (bracket.passed === null && offersNothing(steps, UNOFFERED_LEVELS)),
  });
  if (bracket.passed === null) return withoutAnswer(offersNothing(steps) ? 'generator' : 'lowest');
  let level = bracket.passed;
  for (const down of STEPS_DOWN) {
    if (isStopped()) break;
    const step = await tryLevel(level, 'confirmation', CONFIRMING);
    if (!isStopped() && step.verdict === 'met') return { level, why: whyEnded(lowestAbove(steps, level)) };
    const lower = round(level * (1 - down * TOLERANCE));
    // A lower level gives even fewer samples in the same time.
    if (lacksSamples(step) || lower >= level) break;
    level = lower;
  }
  return withoutAnswer('unconfirmed');
}

/** @param {readonly Step[]} steps @param {number} [levels] at least @returns {boolean} whether the last levels could not be offered */
function offersNothing(steps, levels = 1) {
  const last = lastOfEach(steps).slice(-UNOFFERED_LEVELS);
  return last.length >= levels && last.every(({ verdict }) => verdict === 'not offered');
}
