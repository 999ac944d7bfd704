/**
 * A plan with requirements -> the highest rate at which all of them are met; or, in a closed loop, the fewest requests in flight that
 * reach the peak throughput. The caller runs the steps.
 */
import { usageError } from '../../common/errors.js';
import { TOOL_VERSION } from '../../common/version.js';
import { USED_UP } from '../../operations/revoke.js';
import { invalidReasonOf, SEARCH_SCHEMA_ID } from '../../result/document.js';
import { explain } from '../../result/search/explain.js';
import { findPeak } from './peak.js';
import { findHighest, lowestAbove } from './search.js';
import { enoughRequests, isJudgedAt, likelyAt, planOfStep, poolRemedy } from './step-plan.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Search, SearchStep } from '../../result/search/search-schema.js' */
/** @import { Judged, Phase } from './search.js' */
/** @import { SearchSettings } from './step-plan.js' */
/** @import { RecoveryEnd, StepEnd } from './steps.js' */

/** @typedef {{number: number, level: number, phase: Phase, attempt: number}} StepPlace `number` from 1 */
/**
 * @typedef {object} SearchContext
 * @property {(plan: Plan, place: StepPlace) => Promise<StepEnd | null>} runStep null: it was stopped before it began
 * @property {(soFar: Search, step: SearchStep) => Promise<void>} [onStep] after each; the search goes on when it resolves
 * @property {() => boolean} [isStopped]
 * @property {string} [command]
 */

/** The final bracket is at most this wide: about as much as two runs of the same plan differ. */
const TOLERANCE = 0.02;

const LOWEST_RATE = 0.1;

/**
 * @param {Plan} plan
 * @param {SearchSettings} settings
 * @param {SearchContext} context
 * @returns {Promise<Search>}
 * @throws {PkiLoadError} where the plan cannot be searched, or the first step could not begin
 */
export async function findMax(plan, settings, { runStep, onStep, isStopped = () => false, command = '' }) {
  checkSearchable(plan, settings);
  const startedAt = new Date();
  const begun = performance.now();
  /** @type {SearchStep[]} */
  const steps = [];
  /** @type {Result | null} */
  let last = null;
  /** By level, of those that were met. @type {Map<number, Result>} */
  const confirmations = new Map();
  const { of, start, highest } = settings;

  /** @param {{level: number | null, why: Search['why'], peakPerSecond?: number | null}} found */
  const documentOf = ({ level, why, peakPerSecond = null }) =>
    searchDocument({
      ...{ plan, settings, command, steps, last },
      confirmation: level === null ? null : (confirmations.get(level) ?? null),
      ...{ level, why, peakPerSecond, startedAt, durationSeconds: (performance.now() - begun) / 1000 },
    });

  /** @param {number} level @param {Phase} phase @param {number} attempt */
  async function measure(level, phase, attempt) {
    const enough = enoughRequests(plan, phase);
    const looks = looksBefore(steps, { level, phase, enough });
    const number = steps.length + 1;
    const seen = steps.findLast((step) => step.level === level);
    const seenPerSecond = seen === undefined ? null : seen.requests / seen.seconds;
    const likelyPerSecond = likelyAt(steps, level);
    const asked = { level, phase, looks, seenPerSecond, likelyPerSecond, number };
    const stepPlan = planOfStep(plan, settings, asked);
    const ended = await runStep(stepPlan, { number, level, phase, attempt });
    if (ended !== null) last = ended.result;
    // An interrupted step decides nothing.
    if (ended === null || isStopped())
      return { verdict: /** @type {const} */ ('not offered'), reason: '', perSecond: 0, succeeded: 0 };
    const { result, recovery, cutShort = null } = ended;
    const isAsked = (/** @type {number} */ i) => isJudgedAt(plan.requirements[i], stepPlan, of, level);
    const judged = judgeStep(result, {
      of,
      enough,
      isAsked,
      cutShort,
      poolRemedy: poolRemedy(plan, stepPlan),
    });
    if (phase === 'confirmation' && judged.verdict === 'met') confirmations.set(level, result);
    const step = { level, phase, attempt, ...wordsOf(judged), ...figuresOf(result, recovery) };
    steps.push(step);
    await onStep?.(documentOf({ level: null, why: 'going on' }), step);
    return { ...judged, perSecond: result.rates.perSecond, succeeded: result.totals.succeeded };
  }

  const common = { start: Math.min(start, highest), highest, measure, isStopped };
  const found =
    of === 'rate'
      ? await findHighest({ ...common, lowest: Math.min(LOWEST_RATE, start), tolerance: TOLERANCE })
      : await findPeak(common);
  return documentOf(found);
}

/**
 * @param {readonly SearchStep[]} steps
 * @param {{level: number, phase: Phase, enough: number}} next `enough`: with fewer requests a few that miss may be
 *   chance
 * @returns {number} how often in a row it was too close to call, but for those looks that could not be offered
 */
function looksBefore(steps, { level, phase, enough }) {
  const last = steps.findLastIndex((step) => step.level !== level || step.phase !== phase);
  return steps
    .slice(last + 1)
    .filter(
      ({ verdict, requests }) => verdict === 'not proven' || (verdict === 'not met' && requests < enough),
    ).length;
}

/** @param {Plan} plan @param {SearchSettings} settings */
export function checkSearchable({ requirements, load }, { of }) {
  const flag = of === 'rate' ? '--find-max-rate' : '--max-concurrency';
  if (of === 'rate' && requirements.length === 0) {
    throw usageError(
      'nothing_required',
      `${flag} looks for the highest rate at which every requirement is met, but there is none.`,
      "Say what must be met, e.g. --require 'p99<200ms' --require 'errors<0.1%'.",
    );
  }
  /** @type {[boolean, string, string][]} */
  const refused = [
    [load.stages !== null, 'the plan has stages, whose rate changes', 'Leave the stages out.'],
    [
      requirements.some(({ stage }) => stage !== undefined),
      'a requirement is about a stage',
      'Leave it out.',
    ],
    [
      load.requests !== null,
      '--requests ends each step',
      'Use --duration: each step takes at least so long.',
    ],
    [
      load.shard !== null,
      '--shard sends a part only',
      'Search on one machine, with --threads where one thread will not do.',
    ],
    [load.startAt !== null, '--start-at is the time of one run', 'Leave it out.'],
    [
      load.rampUpMs > 0,
      '--ramp-up changes the rate within a step',
      'Use --warmup to let the target get up to speed in each step.',
    ],
    [
      of === 'rate' && load.overflow === 'drop',
      '--overflow drop has no backlog to tell overload by',
      'Leave it out.',
    ],
  ];
  const culprit = refused.find(([applies]) => applies);
  if (culprit === undefined) return;
  throw usageError('contradiction', `${flag} measures one level at a time, but ${culprit[1]}.`, culprit[2]);
}

/**
 * @param {object} parts
 * @param {Plan} parts.plan
 * @param {SearchSettings} parts.settings
 * @param {string} parts.command
 * @param {SearchStep[]} parts.steps
 * @param {Result | null} parts.last
 * @param {Result | null} parts.confirmation
 * @param {number | null} parts.level
 * @param {Search['why']} parts.why
 * @param {number | null} parts.peakPerSecond
 * @param {Date} parts.startedAt
 * @param {number} parts.durationSeconds
 * @returns {Search}
 */
function searchDocument({ plan, settings, command, steps, last, confirmation, level, why, ...rest }) {
  const { of, start, highest, stepMs, confirmMs } = settings;
  const { startedAt, durationSeconds, peakPerSecond } = rest;
  const answer = steps.findLast(
    (step) => step.level === level && step.phase === 'confirmation' && step.verdict === 'met',
  );
  const met = steps.filter(({ verdict }) => verdict === 'met').map((step) => step.level);
  const highestMet = met.length === 0 ? null : Math.max(...met);
  const above = lowestAbove(steps, level ?? highestMet ?? 0);
  const { requirements, load, ...of_ } = plan;
  // A level that was not judged: the confirming run shows whether it passes.
  const isBeyond = (/** @type {number} */ i) =>
    level !== null && confirmation?.requirements[i].verdict !== 'met';
  /** @type {Omit<Search, 'explanation'>} */
  const document = {
    schema: SEARCH_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    name: plan.operation,
    startedAt: startedAt.toISOString(),
    durationSeconds,
    command,
    ...(why === 'going on' ? { unfinished: true } : {}),
    interrupted: why === 'interrupted',
    plan: { ...of_, load: { ...load } },
    target: last?.target ?? null,
    searched: of,
    settings: {
      ...{ start, highest, stepSeconds: stepMs / 1000, confirmationSeconds: confirmMs / 1000 },
      tolerance: TOLERANCE,
    },
    requirements: requirements.map((requirement, i) => describeRequirement(requirement, isBeyond(i))),
    answer: answer ?? null,
    bracket: { confirmed: level, highestMet, above },
    peakPerSecond,
    why,
    steps: [...steps],
    confirmation,
  };
  return { ...document, explanation: explain(document) };
}

/**
 * @param {Plan['requirements'][number]} requirement
 * @param {boolean} beyond
 * @returns {Search['requirements'][number]}
 */
function describeRequirement({ text, operation, limit, metric }, beyond) {
  return {
    text,
    ...(operation === undefined ? {} : { operation }),
    limit,
    unit: unitOf(metric),
    ...(beyond ? { beyond: true } : {}),
  };
}

/** @param {Plan['requirements'][number]['metric']} metric @returns {Search['requirements'][number]['unit']} */
function unitOf(metric) {
  if (metric === 'rate') return '/s';
  return metric === 'errors' ? 'fraction' : 'ms';
}

/** @param {Judged} judged */
function wordsOf({ verdict, reason, isStarved = false }) {
  return { verdict, reason, isStarved };
}

/** @param {Result} result @param {RecoveryEnd} recovery */
function figuresOf(
  { startedAt, load, totals, rates, errorShare, latencyMs, measurement, durationSeconds },
  recovery,
) {
  const { response } = latencyMs;
  return {
    startedAt,
    seconds: durationSeconds,
    connections: load.concurrency,
    requests: totals.sent,
    perSecond: rates.perSecond,
    p50Ms: response.p50,
    p99Ms: response.p99,
    maxMs: response.max,
    errorShare,
    measurement: measurement.verdict,
    recovery: { seconds: recovery.waitedMs / 1000, recovered: recovery.recovered },
  };
}

/** The target cannot keep up: the percentiles depend on the length of the run, whatever is required. */
const OVERLOAD = 'backlog_growing';

/** A sender thread that was busy for this share of the time had none left. */
const SATURATED = 0.9;

const NOTHING_LEFT =
  'There were more requests than certificates (--pool): those about certificates that were revoked already say nothing of the target.';

/**
 * @param {Result} result
 * @param {object} step
 * @param {'rate' | 'concurrency'} step.of
 * @param {number} step.enough with fewer requests `not proven` shows nothing
 * @param {(requirement: number) => boolean} [step.isAsked] by its place: can it be judged at that level at all?
 * @param {string | null} [step.cutShort] why it was ended before its time
 * @param {string | null} [step.poolRemedy] what to do where there were more requests than certificates to revoke, if the next step will
 *   have no more of them; null: it will
 * @returns {Judged}
 */
export function judgeStep(result, { of, enough, isAsked = () => true, cutShort = null, poolRemedy = null }) {
  const { measurement, totals, verification } = result;
  if (verification.notes?.includes(USED_UP)) return usedUp(poolRemedy);
  const fault = invalidReasonOf(measurement);
  if (fault !== undefined && (cutShort === null || fault.code !== 'nothing_measured'))
    return { verdict: 'not offered', reason: fault.text };
  const limit = of === 'concurrency' ? ownLimit(measurement) : undefined;
  if (limit !== undefined) return { verdict: 'not offered', reason: limit };
  if (cutShort !== null) return { verdict: 'not met', reason: cutShort, isClear: true };
  const overload = measurement.reasons.find(({ code }) => code === OVERLOAD);
  if (overload !== undefined) return { verdict: 'not met', reason: overload.text, isClear: true };
  const asked = result.requirements.filter((_, i) => isAsked(i));
  const said = (/** @type {Result['requirements'][number]} */ { text, reason }) => `${text}: ${reason}`;
  const missed = asked.find(({ verdict }) => verdict === 'not met');
  if (missed !== undefined) return { verdict: 'not met', reason: said(missed) };
  const unproven = asked.filter(({ verdict }) => verdict === 'not proven');
  if (unproven.length === 0) return { verdict: 'met', reason: asked.map(said).join(' ') };
  const undecided = unproven.find(({ doubt }) => doubt !== 'tool' && doubt !== 'unchecked');
  // Only the tool keeps it from being decided.
  if (undecided === undefined) return { verdict: 'not offered', reason: said(unproven[0]) };
  return { verdict: 'not proven', reason: said(undecided), isStarved: totals.sent < enough };
}

/**
 * @param {Result['measurement']} measurement of a closed loop
 * @returns {string | undefined} the throughput may be the tool's own
 */
function ownLimit({ observed }) {
  const busy = observed?.cpu.senderBusyShare ?? 0;
  if (busy < SATURATED) return undefined;
  return `A sender thread was busy for ${Math.floor(busy * 100)} % of the time: the throughput is the tool's limit, not the target's.`;
}

/** @param {string | null} remedy @returns {Judged} */
function usedUp(remedy) {
  const reason = `${NOTHING_LEFT} ${remedy ?? 'Raise --pool.'}`;
  return { verdict: 'not offered', reason, isClear: remedy !== null };
}
