/** Plans the step that measures a level: long enough for its requirements, with enough connections. */
import { hash32 } from '../../common/random.js';
import { MAX_POOL } from '../../operations/revoke.js';
import { METRICS } from '../../plan/requirements.js';
import { samplesToProve } from '../../verdict/statistics.js';
import { CONFIRMATION } from './search-options.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { SearchStep } from '../../result/search/search-schema.js' */
/** @import { Phase } from './search.js' */
/** @import { RequestedSearch, SearchSettings } from './search-options.js' */

/** Max length of a first step, even if its percentile needs more samples, and of a confirmation. */
const [LONGEST_STEP_MS, LONGEST_CONFIRMATION_MS] = [60_000, 600_000];

/** A single miss must not prevent a proof: plan SAMPLE_FACTOR times the minimum; MIN_SHARE of that is enough. */
const [SAMPLE_FACTOR, MIN_SHARE] = [2, 0.9];

/** A step that was too close to call is repeated, this many times as long. */
const LONGER = 3;

/** Random arrivals stay within this many standard errors of the planned rate. */
const STANDARD_ERRORS = 4;

/** Certificates to revoke: per expected request, and minimum. */
const [POOL_PER_REQUEST, MIN_POOL] = [1.5, 100];

/** A rate requirement needs several one-second samples. */
const MIN_FOR_RATE_MS = 6000;

/** Little's law with headroom: in flight = SPARE x rate x time. Connections are load too, hence the limit. */
const [SPARE, MAX_CONNECTIONS] = [1.5, 512];

/** Assumed if no requirement limits the latency. */
const DEFAULT_RESPONSE_MS = 1000;

/** Keeps the seeds of steps apart from those of --repeat runs. */
const STEP_STREAM = 310;

/** @typedef {Pick<SearchStep, 'level' | 'phase' | 'verdict' | 'requests' | 'seconds'>} Measured */

/**
 * @param {Plan} plan @param {SearchSettings} settings
 * @param {{level: number, phase: Phase, number: number}} step `number` from 1
 * @param {readonly Measured[]} before @returns {Plan}
 */
export function planOfStep(plan, settings, { level, phase, number }, before) {
  const { of, fitConnections } = settings;
  const { load } = plan;
  const previous = before.findLast((step) => step.level === level);
  const perSecond = of === 'rate' ? level : previous === undefined ? null : rateOf(previous);
  const undecided = countUndecided(plan, before, { level, phase });
  const durationMs = stepMs(plan, settings, { perSecond, phase, undecided });
  // Each step has its own random gaps and order; without randomness one preparation serves all steps.
  const seed = isPreparedOnce(plan) ? load.seed : hash32(load.seed, number, STEP_STREAM);
  const common = { ...load, seed, durationMs, requests: null };
  if (of === 'rate') {
    const concurrency = fitConnections ? connectionsFor(plan, level) : load.concurrency;
    return { ...plan, load: { ...common, model: 'open', ratePerSecond: level, concurrency } };
  }
  const threads = Math.min(load.threads, level);
  const likely = likelyAt(before, level);
  return {
    ...(likely === null ? plan : withPool(plan, (likely * (durationMs + load.warmupMs)) / 1000)),
    load: { ...common, model: 'closed', ratePerSecond: null, concurrency: level, threads },
  };
}

/** What no step exceeds, whatever the search finds. @param {Pick<Plan, 'load'>} plan @param {RequestedSearch} search */
export const mostAsked = ({ load }, { of, highest }) => ({
  model: /** @type {'open' | 'closed'} */ (of === 'rate' ? 'open' : 'closed'),
  ratePerSecond: of === 'rate' ? highest : 0,
  concurrency: of === 'rate' ? Math.max(load.concurrency, MAX_CONNECTIONS) : highest,
  durationMs: Math.max(CONFIRMATION * Number(load.durationMs), LONGEST_CONFIRMATION_MS),
});

/** @param {Pick<Measured, 'requests' | 'seconds'>} step @returns {number} requests a second that it sent */
const rateOf = ({ requests, seconds }) => requests / seconds;

/**
 * @param {readonly Pick<Measured, 'level' | 'requests' | 'seconds'>[]} steps @param {number} level
 * @returns {number | null} upper estimate of requests/s at that level: its last rate; else a bound from other
 *   levels, as throughput grows at most in proportion to requests in flight. Null: no steps yet
 */
export function likelyAt(steps, level) {
  const previous = steps.findLast((step) => step.level === level);
  if (previous !== undefined) return rateOf(previous);
  if (steps.length === 0) return null;
  return Math.min(...steps.map((step) => rateOf(step) * Math.max(1, level / step.level)));
}

/**
 * Counts the last steps that were too close to call: with few requests, a miss may be chance.
 * @param {Plan} plan @param {readonly Measured[]} steps @param {{level: number, phase: Phase}} next
 */
function countUndecided(plan, steps, { level, phase }) {
  const last = steps.slice(steps.findLastIndex((step) => step.level !== level || step.phase !== phase) + 1);
  const isFew = (/** @type {Measured} */ { requests }) => requests < enoughRequests(plan, phase);
  return last.filter((step) => step.verdict === 'not proven' || (step.verdict === 'not met' && isFew(step)))
    .length;
}

/** @param {{operation: string}} entry */
const isRevoke = ({ operation }) => operation === 'revoke';
/** @param {Pick<Plan, 'operation' | 'options' | 'mix'>} plan */
const revokeOf = ({ operation, options, mix }) => (mix ?? [{ operation, options }]).find(isRevoke);

/** Adds enough certificates, if the user did not set --pool. @param {Plan} plan @param {number} requests */
function withPool({ mix, ...plan }, requests) {
  /** @template {{operation: string, options: Readonly<Record<string, any>>}} T @param {T} entry @param {number} share @returns {T} */
  const withEnough = (entry, share) => {
    if (!isRevoke(entry) || entry.options.pool !== null) return entry;
    const pool = Math.min(MAX_POOL, Math.max(MIN_POOL, Math.ceil(POOL_PER_REQUEST * share * requests)));
    return { ...entry, options: { ...entry.options, pool } };
  };
  if (mix === null) return { ...withEnough(plan, 1), mix };
  return { ...plan, mix: mix.map((entry) => withEnough(entry, shareOf(mix, entry.name))) };
}

/** Whether the next step issues more certificates to revoke. @param {Plan} plan @param {Plan} step */
export const canGrowPool = (plan, step) =>
  step.load.model === 'closed' &&
  revokeOf(plan)?.options.pool === null &&
  Number(revokeOf(step)?.options.pool) < MAX_POOL;

/** @param {Plan} plan of a step @returns {Plan} to prepare all steps, without rate, duration or requests */
export function planOfAll({ load, ...plan }) {
  const unknown = { ratePerSecond: null, durationMs: null, requests: null };
  return { ...plan, load: { ...load, ...unknown, model: 'closed' } };
}

/** False if the step's seed matters (Poisson gaps) or items are used up (`revoke`). @param {Plan} plan */
export const isPreparedOnce = (plan) => plan.load.arrivals === 'constant' && revokeOf(plan) === undefined;

/** @param {Plan} plan @param {SearchSettings} settings @param {{perSecond: number | null, phase: Phase, undecided: number}} step */
function stepMs(plan, { stepMs: shortMs, confirmMs }, { perSecond, phase, undecided }) {
  const isConfirmation = phase === 'confirmation';
  const hasRate = plan.requirements.some(({ metric }) => metric === 'rate');
  const minMs = Math.max(isConfirmation ? confirmMs : shortMs, hasRate ? MIN_FOR_RATE_MS : 0);
  const longer = LONGER ** undecided;
  const maxMs = Math.max(minMs, isConfirmation ? LONGEST_CONFIRMATION_MS : LONGEST_STEP_MS * longer);
  const isKnown = perSecond !== null && plan.requirements.length > 0;
  const neededMs = isKnown ? (SAMPLE_FACTOR * minRequests(plan) * 1000) / perSecond : 0;
  return Math.round(Math.min(Math.max(minMs, neededMs) * longer, maxMs));
}

/** @param {Plan} plan @returns {number} the fewest successful requests that can prove every requirement */
function minRequests({ requirements, mix, load }) {
  const needed = requirements.map(({ metric, quantile = 0, comparator, limit, operation }) => {
    const isShare = METRICS[metric].unit === 'fraction';
    // The bar of a mean allows for requests, not seen, that take the whole time limit.
    const most = metric === 'mean' ? limit / load.timeoutMs : 1 - quantile;
    const share = isShare ? limit : comparator[0] === '<' ? most : quantile;
    return (share > 0 && share < 1 ? samplesToProve(share) : 1) / shareOf(mix, operation);
  });
  return Math.ceil(Math.max(100, ...needed));
}

/** @param {Plan} plan @param {Phase} phase @returns {number} with fewer requests `not proven` may come from a single miss */
export function enoughRequests(plan, phase) {
  return minRequests(plan) * (phase === 'confirmation' ? 1 : SAMPLE_FACTOR * MIN_SHARE);
}

/**
 * Whether the level can show the requirement. A level that may offer less than the required rate cannot. A
 * closed loop offers no rate, so a rate requirement is judged only at the confirmed level.
 * @param {{metric: string, limit: number, operation?: string}} requirement
 * @param {{mix: Plan['mix'], load: Pick<Plan['load'], 'arrivals' | 'durationMs'>}} step
 * @param {SearchSettings['of']} of @param {number} level of all operations
 */
export function isJudgedAt({ metric, limit, operation }, { mix, load }, of, level) {
  if (metric !== 'rate') return true;
  if (of !== 'rate') return false;
  const offered = level * shareOf(mix, operation);
  const isByChance = load.arrivals === 'poisson' || (mix !== null && operation !== undefined);
  const requests = (offered * Number(load.durationMs)) / 1000;
  return limit <= offered * (isByChance ? 1 - STANDARD_ERRORS / Math.sqrt(Math.max(1, requests)) : 1);
}

/** @param {Plan['mix']} mix @param {string | undefined} operation @returns {number} share of all requests */
function shareOf(mix, operation) {
  if (mix === null || operation === undefined) return 1;
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  return (mix.find(({ name }) => name === operation)?.weight ?? total) / total;
}

/** @param {Plan} plan @param {number} level @returns {number} a power of two: neighbouring levels share it */
function connectionsFor({ requirements, load }, level) {
  const limitsLatency = (/** @type {Plan['requirements'][number]} */ { metric, comparator }) =>
    ['percentile', 'mean', 'max'].includes(metric) && comparator[0] === '<';
  const limits = requirements.filter(limitsLatency).map(({ limit }) => limit);
  const responseMs = limits.length === 0 ? DEFAULT_RESPONSE_MS : Math.max(...limits);
  const needed = (SPARE * level * responseMs) / 1000;
  const fitting = needed <= load.concurrency ? load.concurrency : 2 ** Math.ceil(Math.log2(needed));
  return Math.max(load.concurrency, Math.min(fitting, MAX_CONNECTIONS));
}
