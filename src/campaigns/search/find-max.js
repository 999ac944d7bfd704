/** Finds the highest rate that meets all requirements or, in a closed loop, the fewest requests in flight at the peak. */
import { rejectIf, usageError } from '../../common/errors.js';
import { formatCount } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { USED_UP } from '../../operations/revoke.js';
import { METRICS } from '../../plan/requirements.js';
import { errorRateOf } from '../../result/build.js';
import { invalidReasonOf } from '../../result/document.js';
import { explain, findBracket } from '../../result/search/explain.js';
import { TOKEN_ENDED } from '../../verdict/observed.js';
import { findPeak } from './peak.js';
import { createTries, findHighest, TOLERANCE } from './search.js';
import { canGrowPool, enoughRequests, isJudgedAt, planOfStep } from './step-plan.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Search, SearchStep } from '../../result/search/search-schema.js' */
/** @import { Judged, Phase, Why } from './search.js' */
/** @import { SearchSettings } from './search-options.js' */
/** @import { CutShort, RecoveryEnd, StepEnd } from './steps.js' */

/** @typedef {{number: number, level: number, phase: Phase, attempt: number}} StepPosition `number` from 1 */
/**
 * `runStep` resolves to null if stopped before the run; `onStep` is awaited after each step
 * @typedef {{runStep: (plan: Plan, position: StepPosition) => Promise<StepEnd | null>, isStopped?: () => boolean,
 *   onStep?: (soFar: Search, step: SearchStep) => Promise<void>, command?: string}} SearchContext
 */

const LOWEST_RATE = 0.1;

/** @param {Plan} plan @param {SearchSettings} settings @param {SearchContext} context @throws {PkiLoadError} before the first step */
export async function findMax(plan, settings, { runStep, onStep, isStopped = () => false, command = '' }) {
  checkSearchable(plan, settings);
  const startedAt = new Date();
  const startedMs = performance.now();
  /** @type {SearchStep[]} */
  const steps = [];
  /** @type {Result | null} */
  let last = null;
  /** Confirmations that met every requirement, by level. @type {Map<number, Result>} */
  const confirmations = new Map();
  const { of, start, highest, stepMs, confirmMs } = settings;

  /** @param {number | null} level confirmed @param {Why} why @returns {Search} */
  function documentOf(level, why) {
    const confirmation = (level === null ? null : confirmations.get(level)) ?? null;
    const met = steps.filter(({ verdict }) => verdict === 'met');
    const { requirements, load, ...rest } = plan;
    /** @type {Omit<Search, 'explanation'>} */
    const document = {
      schema: 'vault-pki-load/search/1',
      tool: { version: TOOL_VERSION },
      name: plan.operation,
      startedAt: startedAt.toISOString(),
      durationSeconds: (performance.now() - startedMs) / 1000,
      command,
      ...(why === 'going on' ? { unfinished: true } : {}),
      interrupted: why === 'interrupted',
      plan: { ...rest, load },
      target: last?.target ?? null,
      searched: of,
      settings: {
        ...{ start, highest, stepSeconds: stepMs / 1000 },
        ...{ confirmationSeconds: confirmMs / 1000, tolerance: TOLERANCE },
      },
      requirements: requirements.map(({ text, operation, limit, metric }, i) => ({
        text,
        ...(operation === undefined ? {} : { operation }),
        limit,
        unit: METRICS[metric].unit,
        // The search did not judge this requirement; the confirmation shows whether it is met.
        ...(level !== null && confirmation?.requirements[i].verdict !== 'met' ? { beyond: true } : {}),
      })),
      answer: met.findLast((step) => step.level === level && step.phase === 'confirmation') ?? null,
      ...findBracket(of, steps, level),
      ...{ why, steps: [...steps], confirmation },
    };
    return { ...document, explanation: explain(document) };
  }

  /** @param {number} level @param {Phase} phase @param {number} attempt */
  async function measure(level, phase, attempt) {
    const enough = enoughRequests(plan, phase);
    const number = steps.length + 1;
    const stepPlan = planOfStep(plan, settings, { level, phase, number }, steps);
    const ended = await runStep(stepPlan, { number, level, phase, attempt });
    if (ended !== null) last = ended.result;
    // An interrupted step has no verdict.
    if (ended === null || isStopped())
      return { verdict: /** @type {const} */ ('not offered'), reason: '', perSecond: 0, succeeded: 0 };
    const { result, recovery, cutShort = null } = ended;
    const judged = judgeStep(result, {
      ...{ of, enough, cutShort, canGrow: canGrowPool(plan, stepPlan) },
      isJudged: (i) => isJudgedAt(plan.requirements[i], stepPlan, of, level),
    });
    if (phase === 'confirmation' && judged.verdict === 'met') confirmations.set(level, result);
    const { verdict, reason, isStarved = false } = judged;
    const step = {
      ...{ level, phase, attempt, verdict, reason, isStarved },
      ...figuresOf(result, recovery, cutShort !== null),
    };
    steps.push(step);
    await onStep?.(documentOf(null, 'going on'), step);
    return { ...judged, perSecond: result.rates.perSecond, succeeded: result.totals.succeeded };
  }

  const levels = { lowest: Math.min(LOWEST_RATE, start), start: Math.min(start, highest), highest };
  const found = await (of === 'rate' ? findHighest : findPeak)(levels, createTries({ measure, isStopped }));
  return documentOf(found.level, found.why);
}

/** @param {Plan} plan @param {Pick<SearchSettings, 'of'>} settings */
export function checkSearchable({ operation, requirements, load }, { of }) {
  const flag = of === 'rate' ? '--find-max-rate' : '--max-concurrency';
  if (of === 'rate' && requirements.length === 0) {
    const name = JSON.stringify(operation);
    const message = `${flag} searches for the highest rate that meets every requirement, but ${name} has no requirement on a whole run.`;
    const remedy = "Add requirements, e.g. --require 'p99<200ms' --require 'errors<0.1%'.";
    throw usageError('nothing_required', message, remedy);
  }
  if (of === 'rate' && requirements.every(({ metric }) => metric === 'rate')) {
    const message = `${flag} needs a requirement on errors or times: a target that refuses most requests may still reach a rate.`;
    throw usageError('nothing_required', message, "Add e.g. --require 'errors<0.1%' --require 'p99<200ms'.");
  }
  const isStaged = requirements.some(({ stage }) => stage !== undefined);
  /** @type {[isWrong: boolean, problem: string, remedy: string][]} */
  const rules = [
    [load.stages !== null, 'the plan has stages, whose rate changes', 'Leave the stages out.'],
    [isStaged, 'a requirement applies to a stage', 'Leave it out.'],
    [load.requests !== null, '--requests ends each step', 'Use --duration, the minimum of each step.'],
    [load.shard !== null, '--shard sends only a part', 'Search on one machine, with more --threads.'],
    [load.startAt !== null, '--start-at sets the time of a single run', 'Leave it out.'],
    [load.rampUpMs > 0, '--ramp-up changes the rate within a step', 'Use --warmup.'],
    [of === 'rate' && load.overflow === 'drop', '--overflow drop hides a backlog', 'Leave it out.'],
  ];
  const sentence = (/** @type {string} */ problem) => `${flag} measures one level at a time, but ${problem}.`;
  for (const [isWrong, problem, remedy] of rules) rejectIf(isWrong, sentence(problem), remedy);
}

/** @param {Result} result @param {RecoveryEnd} recovery @param {boolean} isCutShort requests that the end of the step left unsent are not errors */
function figuresOf({ totals, latencyMs: { response }, ...result }, { waitedMs, recovered }, isCutShort) {
  return {
    startedAt: result.startedAt,
    seconds: result.durationSeconds,
    connections: result.load.concurrency,
    requests: totals.sent,
    perSecond: result.rates.perSecond,
    ...{ p50Ms: response.p50, p99Ms: response.p99, maxMs: response.max },
    errorShare: isCutShort ? errorRateOf({ ...totals, neverSentDue: 0 }) : result.errorShare,
    measurement: result.measurement.verdict,
    recovery: { seconds: waitedMs / 1000, recovered },
  };
}

/** Code of a remark: the target cannot keep up, so percentiles depend on the length of the run. */
const OVERLOAD = 'backlog_growing';

/** A sender thread is saturated if it is busy for this share of the time. */
const SATURATED = 0.9;

const NOTHING_LEFT =
  'There were more requests than certificates: revoking one again shows nothing about the target. Shorten --duration, or raise --pool.';

/**
 * `enough`: with fewer requests `not proven` shows nothing; `isJudged`: whether the level can show requirement i;
 * `cutShort`: why the step ended early; `canGrow`: the next step has more certificates to revoke
 * @param {Result} result
 * @param {{of: 'rate' | 'concurrency', enough: number, isJudged?: (requirement: number) => boolean,
 *   cutShort?: CutShort | null, canGrow?: boolean}} step
 * @returns {Judged}
 */
export function judgeStep(result, { of, enough, isJudged = () => true, cutShort = null, canGrow = true }) {
  const { measurement, totals, verification } = result;
  if (verification.notes?.includes(USED_UP))
    return { verdict: 'not offered', reason: NOTHING_LEFT, isClear: !canGrow };
  const fault = invalidReasonOf(measurement);
  if (fault !== undefined && (cutShort === null || fault.code !== 'nothing_measured'))
    return { verdict: 'not offered', reason: fault.text };
  const busy = measurement.observed?.cpu.senderBusyShare ?? 0;
  if (of === 'concurrency' && busy >= SATURATED) {
    const reason = `A sender thread was busy for ${Math.floor(busy * 100)} % of the time: this is the tool's limit, not the target's.`;
    return { verdict: 'not offered', reason };
  }
  // Refusals of a token that has ended are no proof against the target.
  if (cutShort !== null && !verification.notes?.includes(TOKEN_ENDED))
    return { verdict: 'not met', reason: cutShort.why, isClear: cutShort.isClear };
  const overload = measurement.reasons.find(({ code }) => code === OVERLOAD);
  if (overload !== undefined) {
    const isFull = (measurement.observed?.backlogShare ?? 0) >= 0.5;
    const inUse = isFull
      ? ` Most of the time no connection was free (--concurrency ${formatCount(result.load.concurrency)}).`
      : '';
    return { verdict: 'not met', reason: `${overload.text}${inUse}`, isClear: true };
  }
  const judged = result.requirements.filter((_, i) => isJudged(i));
  const clause = (/** @type {Result['requirements'][number]} */ { text, reason }) => `${text}: ${reason}`;
  const missed = judged.find(({ verdict }) => verdict === 'not met');
  if (missed !== undefined) return { verdict: 'not met', reason: clause(missed) };
  const unproven = judged.filter(({ verdict }) => verdict === 'not proven');
  if (unproven.length === 0) return { verdict: 'met', reason: judged.map(clause).join(' ') };
  // Longer steps do not prove it.
  const rested = unproven.find(({ doubt }) => doubt === 'rested');
  if (rested !== undefined) return { verdict: 'not met', reason: clause(rested) };
  const undecided = unproven.find(({ doubt }) => doubt !== 'tool' && doubt !== 'unchecked');
  // Only the tool prevents a verdict.
  if (undecided === undefined) return { verdict: 'not offered', reason: clause(unproven[0]) };
  return { verdict: 'not proven', reason: clause(undecided), isStarved: totals.sent < enough };
}
