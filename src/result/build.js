/** Merged tally -> Result: totals, rates, latencies and outcomes of the whole and of each operation. */
import { encodeHistogram, meanOf, sumHistograms, valueAtRank, valueAtShare } from '../common/histogram.js';
import { sumArrays, sumRecords, total } from '../common/sums.js';
import { plannedOf } from '../engine/recording/tally.js';
import { barsOf } from '../verdict/bars.js';
import { rateBar } from '../verdict/rate-bar.js';
import { countErrors, errorBar, shareOfErrors } from './errors.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Times } from '../verdict/bars.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { LatencyBlock, LatencyBlocks, OperationBlock, TimelineRow } from './schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {'response' | 'service' | 'sendLag'} Series */
/**
 * @typedef {object} OwnFacts what neither the tallies nor the engine know
 * @property {Record<string, string>} units of responses, by operation: `certificates`
 * @property {Record<string, string>} meanings by outcome: a sentence
 * @property {number} [ownLosses] errors that are the tool's or its machine's, not the target's, at most
 * @property {number} [slowdown] of one of several operations: that of all of them, as they share the connections
 * @property {boolean} [allOnTime] of a run that goes on: all that could have succeeded by now did
 * @property {number} [startMs] of a stage: when it began, from the start of the measured part
 * @property {number} [carriedOver] of a stage: successes of the one before that came after its end
 */
/** @typedef {WindowFacts & OwnFacts} RunFacts */

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/**
 * The block that the whole and each operation have.
 *
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {number} [windowMs] that rates are reckoned over: that of the whole, so that the rates of operations add up to its rate
 * @returns {OperationBlock}
 */
export function buildBlock(operations, facts, windowMs = rateWindowMs(operations, facts)) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const sentOutcomes = outcomes.filter(([name]) => name !== 'never_sent');
  const count = (/** @type {boolean} */ success) =>
    total(
      sentOutcomes.filter(([, outcome]) => outcome.success === success).map(([, outcome]) => outcome.count),
    );
  const [succeeded, failed] = [count(true), count(false)];
  const dropped = total(operations.map((operation) => operation.dropped));
  const neverSentDue = total(operations.map((operation) => operation.neverSentDue));
  const sent = succeeded + failed;
  const counts = { succeeded, failed, dropped, neverSentDue };
  const times = timesOf(outcomes.map(([, outcome]) => outcome));
  const errorShare = shareOfErrors(counts);
  return {
    totals: {
      planned: facts.planned,
      sent,
      ...counts,
      neverSent: facts.neverSent,
      errors: countErrors(counts),
    },
    errorShare,
    ...(errorShare === null ? {} : { errorShareBar: errorBar(counts, facts.ownLosses) }),
    rates: buildRates(operations, facts, { windowMs, counts, times }),
    latencyMs: buildLatencies(times, true),
    outcomes: {
      ...sumRecords(outcomes.map(([name, outcome]) => ({ [name]: outcome.count }))),
      ...(dropped > 0 ? { dropped } : {}),
    },
    outcomeDetails: buildDetails(outcomes, dropped, facts.meanings),
    verification: buildVerification(operations),
  };
}

/**
 * One operation of all: requests are assigned to several operations at random, so the arrivals of each are Poisson.
 *
 * @param {CellTally[]} all of the run, or of a stage
 * @param {RunFacts} facts of all
 * @returns {(operation: CellTally) => RunFacts}
 */
export function factsOfEach(all, facts) {
  if (all.length === 1) return () => facts;
  const slowdown = slowdownOf(all, facts, timesOf(all.flatMap(({ outcomes }) => Object.values(outcomes))));
  return (operation) => ({ ...facts, ...plannedOf([operation], facts), arrivals: 'poisson', slowdown });
}

/** @typedef {{succeeded: number, failed: number, dropped: number, neverSentDue: number}} Counts */

/**
 * Successes over time: the measured part, or until the last success where that came later than ordinary responses do
 * (rateWindowMs).
 *
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {object} found
 * @param {number} found.windowMs
 * @param {Counts} found.counts
 * @param {Record<Series, Times>} found.times
 */
function buildRates(operations, facts, { windowMs, counts, times }) {
  const { succeeded } = counts;
  const perSecond = windowMs > 0 ? (succeeded / windowMs) * 1000 : 0;
  const seconds = sumArrays(operations.map(({ perSecond: counts }) => counts.succeeded));
  const bar = rateBar({
    perSecond,
    succeeded,
    errors: Math.max(0, countErrors(counts) - (facts.ownLosses ?? 0)),
    completedPerSecond: fullSeconds(operations, facts),
    offeredPerSecond: offeredOf(operations, facts),
    isServed: facts.arrivals === 'constant' && isServed(operations, facts, succeeded),
    slowdown: facts.slowdown ?? slowdownOf(operations, facts, times),
  });
  return {
    perSecond,
    perHour: perSecond * 3600,
    peakOneSecond: seconds.reduce((a, b) => Math.max(a, b), 0),
    bar,
  };
}

/**
 * What the next request waits for is a response that was read: in a closed loop, and where a backlog waits for connections.
 * By Little's law the rate is then requests in flight / time, and the tool's lateness is in that time.
 *
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {Record<Series, Times>} times
 */
function slowdownOf(operations, facts, times) {
  const isBacklog =
    operations.some(({ neverSentDue }) => neverSentDue > 0) ||
    rateWindowMs(operations, facts) > facts.windowMs;
  if (facts.model === 'open' && !isBacklog) return 1;
  const { reported, own } = facts.model === 'closed' ? times.response : times.service;
  if (reported.totalCount === 0) return 1;
  const least = meanOf(own);
  return least > 0 ? Math.max(1, meanOf(reported) / least) : Number.POSITIVE_INFINITY;
}

/**
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @returns {number | null} constant arrivals per second that were planned; null in a closed loop, and while the run goes on
 */
function offeredOf(operations, facts) {
  const { model, arrivals, windowMs, allOnTime } = facts;
  if (model === 'closed' || arrivals !== 'constant' || allOnTime !== undefined || windowMs <= 0) return null;
  return (plannedOf(operations, facts).planned / windowMs) * 1000;
}

/**
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {number} succeeded
 * @returns {boolean} open loop: every planned arrival succeeded, and there was no backlog at the end
 */
function isServed(operations, facts, succeeded) {
  if (facts.model === 'closed') return false;
  return (
    facts.allOnTime ??
    (succeeded === plannedOf(operations, facts).planned && rateWindowMs(operations, facts) === facts.windowMs)
  );
}

/**
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @returns {number[]} successes in each full second of the measured part, or of a stage
 */
function fullSeconds(operations, { startMs = 0, windowMs }) {
  const first = Math.ceil(startMs / 1000);
  const length = Math.max(0, Math.floor((startMs + windowMs) / 1000) - first);
  const succeeded = sumArrays(operations.map(({ perSecond }) => perSecond.succeeded));
  return Array.from({ length }, (_, second) => succeeded[first + second] ?? 0);
}

/**
 * In a closed loop: until the last success, at least the planned time; but where a stage has handed on no more to the next than it
 * had taken over from the one before (two are let pass), it has done all its own work in its time. In an open loop the last requests are due just
 * before the end and are answered after it, which is no lack of throughput as long as those are no more than are always
 * under way: by Little's law rate x mean response time, taken from the first half; twice that, and two, are let pass.
 * More means that a backlog was worked off, and that time counts. With r requests offered to a capacity of c for a time T,
 * (r - c)T are left at the end, and (r - c)T/2 are let pass: a constant overload never passes.
 *
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @returns {number} ms
 */
export function rateWindowMs(operations, { model, windowMs, interrupted, carriedOver = 0 }) {
  const lastSuccess = Math.max(0, ...operations.map(({ lastSuccessMs }) => lastSuccessMs));
  const hasBacklog = operations.some(({ neverSentDue }) => neverSentDue > 0);
  if (lastSuccess <= windowMs || interrupted || hasBacklog) return Math.max(windowMs, lastSuccess);
  const after = total(operations.map(({ successesAfter }) => successesAfter));
  if (model === 'closed') return carriedOver > 0 && after <= carriedOver + 2 ? windowMs : lastSuccess;
  const perMs = total(
    operations.map(({ perSecond, pace }) =>
      pace === undefined ? total(perSecond.succeeded) / windowMs : pace.count / pace.ms,
    ),
  );
  const first = total(operations.map(({ firstHalf }) => firstHalf.count));
  const mean = first === 0 ? 0 : total(operations.map(({ firstHalf }) => firstHalf.responseMs)) / first;
  return after <= 2 + 2 * perMs * mean ? windowMs : lastSuccess;
}

/** @param {OutcomeTally[]} outcomes @returns {Record<Series, Times>} */
function timesOf(outcomes) {
  const sum = (/** @type {keyof OutcomeTally['latency']} */ series) =>
    sumHistograms(outcomes.map(({ latency }) => latency[series]));
  const sendLag = sum('sendLag');
  return {
    response: { reported: sum('response'), own: sum('ownResponse') },
    service: { reported: sum('service'), own: sum('ownService') },
    // It is the tool's, all of it.
    sendLag: { reported: sendLag, own: sendLag },
  };
}

/** @param {Record<Series, Times>} times @param {boolean} hasBars @returns {LatencyBlocks} */
function buildLatencies(times, hasBars) {
  const [response, service, sendLag] = SERIES.map((series) => {
    const bars = hasBars ? barsOf(times[series]) : undefined;
    return { ...buildLatency(times[series].reported), ...(bars === undefined ? {} : { bars }) };
  });
  return { response, service, sendLag };
}

/** @param {Histogram} histogram @returns {LatencyBlock} ms */
export function buildLatency(histogram) {
  const count = histogram.totalCount;
  if (count === 0) {
    return {
      count,
      min: null,
      mean: null,
      p50: null,
      p90: null,
      p95: null,
      p99: null,
      p999: null,
      max: null,
      histogram: null,
    };
  }
  const at = (/** @type {number} */ share) => valueAtShare(histogram, share);
  return {
    count,
    min: Math.min(valueAtRank(histogram, 1), histogram.maxValue / 1000),
    mean: meanOf(histogram),
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    max: histogram.maxValue / 1000,
    histogram: encodeHistogram(histogram),
  };
}

/**
 * @param {[string, OutcomeTally][]} outcomes
 * @param {number} dropped
 * @param {Record<string, string>} meanings
 * @returns {OperationBlock['outcomeDetails']}
 */
function buildDetails(outcomes, dropped, meanings) {
  /** @type {OperationBlock['outcomeDetails']} */
  const details = {};
  for (const name of new Set(outcomes.map(([name]) => name))) {
    const own = outcomes.filter(([other]) => other === name).map(([, outcome]) => outcome);
    details[name] = {
      count: total(own.map(({ count }) => count)),
      success: own[0].success,
      ...(!own[0].success && Object.hasOwn(meanings, name) ? { meaning: meanings[name] } : {}),
      latencyMs: buildLatencies(timesOf(own), false),
    };
  }
  if (dropped > 0)
    details.dropped = { count: dropped, success: false, latencyMs: buildLatencies(timesOf([]), false) };
  return details;
}

/** @param {CellTally[]} operations */
function buildVerification(operations) {
  const parts = operations.map(({ verification }) => verification);
  const unchecked = total(parts.map((part) => part.unchecked));
  return {
    checked: total(parts.map(({ checked }) => checked)),
    passed: total(parts.map(({ passed }) => passed)),
    sampled: unchecked > 0,
    unchecked,
    failures: sumRecords(parts.map(({ failures }) => failures)),
    notes: [...new Set(parts.flatMap(({ notes }) => notes))],
  };
}

/**
 * @param {CellTally[]} operations
 * @param {Second[]} seconds in order
 * @param {((seconds: number) => number[]) | null} [dueIn] arrivals planned in each of so many seconds; null: a closed loop
 *   plans none
 * @returns {TimelineRow[]}
 */
export function buildTimeline(operations, seconds, dueIn = null) {
  const sent = sumArrays(operations.map(({ perSecond }) => perSecond.sent));
  const length = Math.max(sent.length, seconds.length);
  const due = dueIn?.(length);
  return Array.from({ length }, (_, second) => {
    const row = seconds[second];
    return {
      second,
      ...(due === undefined ? {} : { due: due[second] ?? 0 }),
      sent: sent[second] ?? 0,
      succeeded: row?.succeeded ?? 0,
      failed: row?.failed ?? 0,
      failures: row?.failures ?? {},
      p50: row?.p50 ?? null,
      p90: row?.p90 ?? null,
      p99: row?.p99 ?? null,
      max: row?.max ?? null,
      lag99: row?.lag99 ?? null,
      histogram: row?.histogram ?? null,
      ...((row?.histogramSeconds ?? 1) > 1 ? { histogramSeconds: row.histogramSeconds } : {}),
    };
  });
}

/**
 * What requirements are judged on.
 *
 * @param {CellTally[]} operations
 * @param {OperationBlock} block
 * @param {RunFacts} facts
 * @param {LoadPlan} load
 * @param {boolean} measurementValid
 * @returns {RunView}
 */
export function buildView(operations, block, facts, load, measurementValid) {
  const named = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const outcomes = named.map(([, outcome]) => outcome);
  const { succeeded, failed, dropped, neverSentDue = 0 } = block.totals;
  const isLevel = load.stages === null && load.rampUpMs <= load.warmupMs;
  return {
    series: timesOf(outcomes.filter(({ success }) => success)),
    checked: timesOf(
      named.flatMap(([name, outcome]) => (outcome.success && name !== 'unchecked' ? outcome : [])),
    ),
    all: timesOf(outcomes),
    succeeded,
    failed,
    dropped,
    neverSentDue,
    ratePerSecond: block.rates.perSecond,
    ownLosses: Math.min(failed + dropped + neverSentDue, facts.ownLosses ?? 0),
    rateBar: /** @type {NonNullable<typeof block.rates.bar>} */ (block.rates.bar),
    completedPerSecond: fullSeconds(operations, facts),
    model: load.model,
    offeredPerSecond: isLevel ? load.ratePerSecond : offeredOf(operations, facts),
    ...(isLevel ? {} : { offeredAs: /** @type {const} */ ('mean') }),
    arrivals: load.arrivals,
    allOnTime: isServed(operations, facts, succeeded),
    unchecked: block.verification.unchecked,
    measurementValid,
  };
}
