/**
 * A plan with requirements -> the highest rate at which all of them are met (or, in a closed loop, the most requests in flight), by
 * running it again and again at other levels.
 */
import { usageError } from '../errors.js';
import { formatCount, formatRate } from '../units.js';
import { TOOL_VERSION } from '../version.js';
import { findHighest } from './search.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./search.js').Step} Step */
/**
 * @typedef {object} Measured a step, and what was seen at it
 * @property {number} level
 * @property {Step['phase']} phase
 * @property {Step['verdict']} verdict
 * @property {string} reason
 * @property {number} seconds
 * @property {number} requests
 * @property {number} perSecond successes
 * @property {number | null} p50Ms response time
 * @property {number | null} p99Ms
 * @property {number} errorShare
 */
/**
 * @typedef {object} Search
 * @property {'vault-pki-load/search/1'} schema
 * @property {{version: string}} tool
 * @property {string} name of the plan
 * @property {'rate' | 'concurrency'} of what it searched
 * @property {string[]} requirements
 * @property {{url: string, product: string | null, version: string | null} | null} target
 * @property {number | null} level the highest that was confirmed
 * @property {number | null} above the lowest above it at which a requirement was not met: the answer lies below
 * @property {import('./search.js').Found['why']} why it ended
 * @property {Measured[]} steps in order
 * @property {Result | null} confirmation the run that bears the answer out
 */
/**
 * @typedef {object} SearchSettings
 * @property {'rate' | 'concurrency'} of
 * @property {number} start
 * @property {number} highest
 * @property {number} stepMs a step takes at least so long
 * @property {number} confirmMs the confirmation, at least
 * @property {number} recoverMs pause between steps
 */

export const SEARCH_SCHEMA_ID = 'vault-pki-load/search/1';

/** Below that nobody needs to search. */
const LOWEST_RATE = 0.1;

/** The ends of what is left are at most this apart: about what two runs of the same plan differ by. */
const TOLERANCE = 0.02;

/** A step takes at most so long, however many samples its percentile needs. */
const LONGEST_STEP_MS = 60_000;

/** A percentile is not judged on fewer samples than this times what could prove it at all. */
const SAMPLES = 2;

/** Reasons against a measurement that are the generator's own: the target may have done better. */
const OWN_REASONS = new Set([
  'send_lag',
  'read_lag',
  'tool_saturated',
  'cpu_starved',
  'machine_saturated',
  'dropped_late',
  'local_limits',
  'mostly_unchecked',
  'bookkeeping',
  'nothing_measured',
]);

/** Reasons that say that the target cannot keep up: percentiles then tell the length of the run. */
const OVERLOAD_REASONS = new Set(['backlog_growing', 'sends_short_of_plan']);

/**
 * @param {Plan} plan
 * @param {SearchSettings} settings
 * @param {object} context
 * @param {(plan: Plan) => Promise<Result>} context.runOnce
 * @param {(ms: number) => Promise<void>} context.pause
 * @param {(text: string) => void} context.say a sentence for each step
 * @param {() => boolean} context.isStopped
 * @returns {Promise<Search>}
 */
export async function findMax(plan, settings, { runOnce, pause, say, isStopped }) {
  checkPlan(plan);
  const { of, start, highest, recoverMs } = settings;
  /** @type {Measured[]} */
  const steps = [];
  /** @type {Result | null} */
  let last = null;
  const { level, above, why } = await findHighest({
    start,
    lowest: of === 'rate' ? Math.min(LOWEST_RATE, start) : 1,
    highest,
    tolerance: TOLERANCE,
    whole: of === 'concurrency',
    isStopped,
    async measure(at, phase) {
      if (steps.length > 0) await pause(recoverMs);
      const result = await runOnce(planAt(plan, at, phase, settings));
      last = result;
      const judged = judgeStep(result, phase);
      steps.push({ level: at, phase, ...judged, ...figuresOf(result) });
      say(`${levelText(of, at)}: ${judged.verdict}. ${judged.reason}`);
      return judged;
    },
  });
  const found = /** @type {Result | null} */ (last);
  return {
    schema: SEARCH_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    name: plan.operation,
    of,
    requirements: plan.requirements.map(({ text }) => text),
    target: found === null ? null : found.target,
    level,
    above,
    why,
    steps,
    confirmation: level === null ? null : found,
  };
}

/** @param {Plan} plan */
function checkPlan({ requirements, load }) {
  if (requirements.length === 0) {
    throw usageError(
      'nothing_required',
      'There is no requirement, so every rate would do.',
      "Say what must be met, e.g. --require 'p99<200ms' --require 'errors<0.1%'.",
    );
  }
  if (load.stages !== null) {
    throw usageError(
      'contradiction',
      'The plan has stages, but a search looks for one level.',
      'Leave the stages out.',
    );
  }
}

/**
 * @param {Plan} plan
 * @param {number} level
 * @param {Step['phase']} phase
 * @param {SearchSettings} settings
 * @returns {Plan}
 */
export function planAt(plan, level, phase, { of, stepMs, confirmMs }) {
  const leastMs = phase === 'confirmation' ? confirmMs : stepMs;
  const perSecond = of === 'rate' ? level : null;
  const neededMs = perSecond === null ? 0 : (samplesFor(plan.requirements) / perSecond) * 1000;
  const durationMs = Math.min(Math.max(leastMs, neededMs), Math.max(leastMs, LONGEST_STEP_MS));
  const own =
    of === 'rate'
      ? { model: /** @type {const} */ ('open'), ratePerSecond: level }
      : { model: /** @type {const} */ ('closed'), ratePerSecond: null, concurrency: level };
  return { ...plan, load: { ...plan.load, ...own, durationMs, requests: null } };
}

/**
 * @param {Plan['requirements']} requirements
 * @returns {number} with fewer requests some of them could not be told from chance: n > ln 0.05 / ln q, all of them good
 */
function samplesFor(requirements) {
  const needed = requirements.map(({ metric, quantile = 0, limit }) => {
    const share = metric === 'percentile' ? quantile : metric === 'errors' && limit > 0 ? 1 - limit : 0;
    return share > 0 ? Math.log(0.05) / Math.log(share) : 100;
  });
  return SAMPLES * Math.max(...needed);
}

/**
 * @param {Result} result
 * @param {Step['phase']} phase
 * @returns {Pick<Step, 'verdict' | 'reason'>}
 */
export function judgeStep({ requirements, measurement }, phase) {
  const overload = measurement.reasons.find(({ code }) => OVERLOAD_REASONS.has(code));
  if (overload !== undefined) return { verdict: 'not met', reason: overload.text };
  const own = measurement.reasons.find(({ code }) => OWN_REASONS.has(code));
  if (measurement.verdict === 'invalid') {
    return {
      verdict: 'not offered',
      reason: (own ?? measurement.reasons[0])?.text ?? 'The measurement is invalid.',
    };
  }
  const missed = requirements.find(({ verdict }) => verdict === 'not met');
  if (missed !== undefined) return { verdict: 'not met', reason: `${missed.text}: ${missed.reason}` };
  const unproven = requirements.find(({ verdict }) => verdict === 'not proven');
  if (unproven !== undefined && phase === 'confirmation') {
    return { verdict: 'not met', reason: `${unproven.text} is not proven: ${unproven.reason}` };
  }
  return { verdict: 'met', reason: requirements.map(({ text, reason }) => `${text}: ${reason}`).join(' ') };
}

/** @param {Result} result */
function figuresOf({ durationSeconds, totals, rates, latencyMs: { response } }) {
  const { sent, succeeded, failed, dropped, neverSentDue } = totals;
  const errors = failed + dropped + neverSentDue;
  return {
    seconds: durationSeconds,
    requests: sent,
    perSecond: rates.perSecond,
    p50Ms: response.p50,
    p99Ms: response.p99,
    errorShare: succeeded + errors === 0 ? 0 : errors / (succeeded + errors),
  };
}

/**
 * @param {SearchSettings['of']} of
 * @param {number} level
 */
export function levelText(of, level) {
  return of === 'rate' ? formatRate(level) : `${formatCount(level)} in flight`;
}
