/** A level -> the plan of the step that measures it: as long as its requirements need, with connections enough. */

import { hash32 } from '../../common/random.js';
import { MOST_POOL } from '../../operations/revoke.js';
import { samplesToProve } from '../../verdict/statistics.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Phase } from './search.js' */

/**
 * @typedef {object} SearchSettings
 * @property {'rate' | 'concurrency'} of
 * @property {number} start requests a second, or in flight
 * @property {number} highest
 * @property {number} stepMs a step takes at least so long
 * @property {number} confirmMs the confirmation, at least
 * @property {number} recoverMs between steps, at least
 * @property {boolean} fitConnections raise the plan's concurrency with the rate
 */

/** A step takes at most so long at first, however many samples its percentile needs; the confirmation, which must prove it, longer. */
const LONGEST_STEP_MS = 60_000;
const LONGEST_CONFIRMATION_MS = 600_000;

/** With just as many samples as could prove it, not one may miss: a percentile well within its limit would often not be proven. */
const SAMPLES = 2;

/** Random arrivals are sometimes fewer than were counted on. */
const ALMOST = 0.9;

/** A step that was too close to call is repeated for so much longer. */
const LONGER = 3;

/** A rate that chance offers is within so many standard errors of the one that is meant. */
const STANDARD_ERRORS = 4;

/** What a step uses up is made ready for so many times as many requests as are likely, and for some in any case. */
const READY = 1.5;
const LEAST_READY = 100;

/** A rate is judged second by second. */
const LEAST_FOR_RATE_MS = 6000;

/** Little's law, with room to spare: in flight = rate x time. More connections would be a load of their own. */
const SPARE = 1.5;
const MOST_CONNECTIONS = 512;

/** Where no requirement limits the response time. */
const USUAL_PATIENCE_MS = 1000;

/** Keeps the seeds of steps apart from those of runs of --repeat. */
const STEP_STREAM = 310;

/** The operation whose --pool is used up. */
const USED_UP_BY = 'revoke';

/**
 * @param {Plan} plan
 * @param {SearchSettings} settings
 * @param {object} step
 * @param {number} step.level
 * @param {Phase} step.phase
 * @param {number} step.looks so often in a row it was too close to call
 * @param {number | null} [step.seenPerSecond] requests that a closed loop has sent at that level a second; null: unknown
 * @param {number | null} [step.likelyPerSecond] that it will send there at most
 * @param {number} step.number from 1
 * @returns {Plan}
 */
export function planOfStep(plan, settings, step) {
  const { level, phase, looks, seenPerSecond = null, likelyPerSecond = null, number } = step;
  const { of, fitConnections } = settings;
  const { load } = plan;
  const perSecond = of === 'rate' ? level : seenPerSecond;
  const durationMs = stepMs(plan, settings, { perSecond, phase, looks });
  // With other gaps and orders each time no step repeats another's luck; without randomness one preparation serves all.
  const seed = isShared(plan) ? load.seed : hash32(load.seed, number, STEP_STREAM);
  const common = { ...load, seed, durationMs, requests: null };
  if (of === 'concurrency') {
    const seconds = (durationMs + load.warmupMs) / 1000;
    return {
      ...(likelyPerSecond === null ? plan : withReady(plan, likelyPerSecond * seconds)),
      load: {
        ...common,
        model: 'closed',
        ratePerSecond: null,
        concurrency: level,
        threads: Math.min(load.threads, level),
      },
    };
  }
  const concurrency = fitConnections ? connectionsFor(plan, level) : load.concurrency;
  return { ...plan, load: { ...common, model: 'open', ratePerSecond: level, concurrency } };
}

/**
 * @param {readonly {level: number, requests: number, seconds: number}[]} steps of a closed loop
 * @param {number} level
 * @returns {number | null} requests a second that it will send at that level at most: as many as it last sent there; else, as more in flight
 *   bring no less, and twice as many at most twice as much, what the other levels allow. Null: there was no step
 */
export function likelyAt(steps, level) {
  const perSecond = (/** @type {typeof steps[number]} */ { requests, seconds }) => requests / seconds;
  const seen = steps.findLast((step) => step.level === level);
  if (seen !== undefined) return perSecond(seen);
  if (steps.length === 0) return null;
  return Math.min(...steps.map((step) => perSecond(step) * Math.max(1, level / step.level)));
}

/**
 * @param {Plan} plan
 * @param {number} requests likely
 * @returns {Plan} with enough prepared items for each request, unless the user gave a number
 */
function withReady({ mix, ...plan }, requests) {
  /** @template {{operation: string, options: Readonly<Record<string, any>>}} T @param {T} one @param {number} share @returns {T} */
  const ready = (one, share) => {
    if (one.operation !== USED_UP_BY || one.options.pool !== null) return one;
    const pool = Math.min(MOST_POOL, Math.max(LEAST_READY, Math.ceil(READY * share * requests)));
    return { ...one, options: { ...one.options, pool } };
  };
  if (mix === null) return { ...ready(plan, 1), mix };
  return { ...plan, mix: mix.map((entry) => ready(entry, shareOf(mix, entry.name))) };
}

/**
 * @param {Plan} asked of the search
 * @param {Plan} step of one of its steps
 * @returns {string | null} what to do where that step runs out of certificates to revoke; null: the next one will have more
 */
export function poolRemedy({ operation, options, mix }, step) {
  const revokes = (mix ?? [{ operation, options }]).find((one) => one.operation === USED_UP_BY);
  if (revokes === undefined) return null;
  if (Number(revokes.options.pool) < MOST_POOL && revokes.options.pool !== null) return 'Raise --pool.';
  const ready = (step.mix ?? [step]).find((one) => one.operation === USED_UP_BY)?.options.pool ?? 0;
  // An open loop knows how many it needs.
  const isMost = ready >= MOST_POOL || step.load.model === 'open';
  return isMost ? 'There may be no more of them: shorten --duration.' : null;
}

/**
 * One preparation serves all steps, whose requests and duration are not known yet.
 *
 * @param {Plan} plan of a step
 * @returns {Plan} to prepare by
 */
export function planOfAll({ load, ...plan }) {
  const unknown = { ratePerSecond: null, durationMs: null, requests: null };
  return { ...plan, load: { ...load, ...unknown, model: 'closed' } };
}

/**
 * Can one preparation serve all steps? Poisson gaps need a seed for each step, and the prepared items follow from the seed; what
 * `revoke` prepares is used up.
 *
 * @param {Plan} plan
 */
export function isShared({ operation, mix, load }) {
  const names = mix === null ? [operation] : mix.map((entry) => entry.operation);
  return load.arrivals === 'constant' && !names.includes(USED_UP_BY);
}

/**
 * @param {Plan} plan
 * @param {SearchSettings} settings
 * @param {{perSecond: number | null, phase: Phase, looks: number}} step
 */
function stepMs(plan, { stepMs: shortMs, confirmMs }, { perSecond, phase, looks }) {
  const isConfirmation = phase === 'confirmation';
  const hasRate = plan.requirements.some(({ metric }) => metric === 'rate');
  const leastMs = Math.max(isConfirmation ? confirmMs : shortMs, hasRate ? LEAST_FOR_RATE_MS : 0);
  const longer = LONGER ** looks;
  const longestMs = Math.max(leastMs, isConfirmation ? LONGEST_CONFIRMATION_MS : LONGEST_STEP_MS * longer);
  const isKnown = perSecond !== null && plan.requirements.length > 0;
  const neededMs = isKnown ? (SAMPLES * leastRequests(plan) * 1000) / perSecond : 0;
  return Math.round(Math.min(Math.max(leastMs, neededMs) * longer, longestMs));
}

/**
 * @param {Plan} plan
 * @returns {number} with fewer requests, all of them good, some requirement could not be separated from chance
 */
function leastRequests({ requirements, mix }) {
  const needed = requirements.map(({ metric, quantile = 0, comparator, limit, operation }) => {
    const share = metric === 'percentile' ? (comparator[0] === '<' ? 1 - quantile : quantile) : limit;
    const own = metric === 'percentile' || (metric === 'errors' && limit > 0) ? samplesToProve(share) : 1;
    return own / shareOf(mix, operation);
  });
  return Math.ceil(Math.max(100, ...needed));
}

/**
 * @param {Plan} plan
 * @param {Phase} phase
 * @returns {number} with fewer requests `not proven` is nothing against a level: a single miss could be the reason
 */
export function enoughRequests(plan, phase) {
  return leastRequests(plan) * (phase === 'confirmation' ? 1 : SAMPLES * ALMOST);
}

/**
 * Can it be judged at that level? Where less is offered than the rate that is required, be it by chance, that is a matter of higher
 * levels; a closed loop offers no rate, so there the confirmed level is judged.
 *
 * @param {{metric: string, limit: number, operation?: string}} requirement
 * @param {{mix: Plan['mix'], load: Pick<Plan['load'], 'arrivals' | 'durationMs'>}} step
 * @param {SearchSettings['of']} of
 * @param {number} level of all operations
 */
export function isJudgedAt({ metric, limit, operation }, { mix, load }, of, level) {
  if (metric !== 'rate') return true;
  if (of !== 'rate') return false;
  const offered = level * shareOf(mix, operation);
  const isByChance = load.arrivals === 'poisson' || (mix !== null && operation !== undefined);
  const requests = (offered * Number(load.durationMs)) / 1000;
  return limit <= offered * (isByChance ? 1 - STANDARD_ERRORS / Math.sqrt(Math.max(1, requests)) : 1);
}

/** @param {Plan['mix']} mix @param {string | undefined} operation @returns {number} of the requests */
function shareOf(mix, operation) {
  if (mix === null || operation === undefined) return 1;
  const all = mix.reduce((sum, { weight }) => sum + weight, 0);
  const own = mix.find(({ name }) => name === operation)?.weight ?? all;
  return own / all;
}

/**
 * @param {Plan} plan
 * @param {number} level
 * @returns {number} a power of two, so that neighbouring levels have the same
 */
function connectionsFor({ requirements, load }, level) {
  const limits = requirements
    .filter(
      ({ metric, comparator }) => ['percentile', 'mean', 'max'].includes(metric) && comparator[0] === '<',
    )
    .map(({ limit }) => limit);
  const patienceMs = limits.length === 0 ? USUAL_PATIENCE_MS : Math.max(...limits);
  const needed = (SPARE * level * patienceMs) / 1000;
  const fitting = needed <= load.concurrency ? load.concurrency : 2 ** Math.ceil(Math.log2(needed));
  return Math.max(load.concurrency, Math.min(fitting, MOST_CONNECTIONS));
}
