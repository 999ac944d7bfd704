/** Merged tally -> Result: totals, rates, latencies and outcomes of the whole and of each operation. */
import { meanOf, sumHistograms } from '../common/histogram.js';
import { sumArrays, sumRecords, total } from '../common/sums.js';
import { plannedOf } from '../engine/recording/tally.js';
import { barsOf, rateBar } from '../verdict/bars.js';
import { proportionLowerBound, proportionUpperBound } from '../verdict/statistics.js';
import { buildLatency, SERIES } from './latency.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Times } from '../verdict/bars.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { LatencyBlocks, OperationBlock, TimelineRow } from './schema.js' */

export { buildLatency };

/** @typedef {Record<typeof SERIES[number], Times>} TimesBySeries */
/**
 * @typedef {object} OwnFacts neither in the tallies nor known to the engine
 * @property {Record<string, string>} units of responses, by operation: `certificates`
 * @property {Record<string, string>} meanings by outcome: a sentence
 * @property {number} [ownLosses] errors that are the tool's or its machine's, not the target's, at most
 * @property {number} [slowdown] of one of several operations: that of all of them, as they share the connections
 * @property {boolean} [allOnTime] of a run that goes on: all that could have succeeded by now did
 * @property {number} [startMs] of a stage: when it began, from the start of the measured part
 * @property {number} [carriedOver] of a stage: successes of the one before that came after its end
 */
/** @typedef {WindowFacts & OwnFacts} RunFacts */

/**
 * The block that the whole and each operation have.
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {number} [windowMs] that rates are reckoned over: that of the whole, so that the rates of operations add up to its rate
 * @returns {OperationBlock}
 */
export function buildBlock(operations, facts, windowMs = rateWindowMs(operations, facts)) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const countSent = (/** @type {boolean} */ success) =>
    total(outcomes.map(([name, one]) => (name !== 'never_sent' && one.success === success ? one.count : 0)));
  const counts = {
    succeeded: countSent(true),
    failed: countSent(false),
    dropped: sumOf(operations, 'dropped'),
    neverSentDue: sumOf(operations, 'neverSentDue'),
  };
  const { succeeded, failed, dropped } = counts;
  const { planned, neverSent, ownLosses = 0, meanings } = facts;
  const times = timesOf(outcomes.map(([, outcome]) => outcome));
  const errors = countErrors(counts);
  const errorShare = shareOfErrors(counts);
  const perSecond = windowMs > 0 ? (succeeded / windowMs) * 1000 : 0;
  const bar = rateBar({
    perSecond,
    succeeded,
    errors: Math.max(0, errors - ownLosses),
    completedPerSecond: fullSeconds(operations, facts),
    offeredPerSecond: offeredOf(operations, facts),
    isServed: facts.arrivals === 'constant' && isServed(operations, facts, succeeded),
    slowdown: facts.slowdown ?? slowdownOf(operations, facts, times),
  });
  return {
    totals: { planned, sent: succeeded + failed, ...counts, neverSent, errors },
    errorShare,
    ...(errorShare === null ? {} : { errorShareBar: errorBar(counts, ownLosses) }),
    rates: {
      perSecond,
      perHour: perSecond * 3600,
      peakOneSecond: successesPerSecond(operations).reduce((a, b) => Math.max(a, b), 0),
      bar,
    },
    latencyMs: buildLatencies(times, true),
    outcomes: {
      ...sumRecords(outcomes.map(([name, { count }]) => ({ [name]: count }))),
      ...(dropped > 0 ? { dropped } : {}),
    },
    outcomeDetails: buildDetails(outcomes, dropped, meanings),
    verification: buildVerification(operations),
  };
}

/**
 * One operation of all: requests are assigned to several operations at random, so the arrivals of each are Poisson.
 * @param {CellTally[]} all of the run, or of a stage
 * @param {RunFacts} facts of all
 * @returns {(operation: CellTally) => RunFacts}
 */
export function factsOfEach(all, facts) {
  if (all.length === 1) return () => facts;
  const slowdown = slowdownOf(all, facts, timesOf(all.flatMap(({ outcomes }) => Object.values(outcomes))));
  return (operation) => ({ ...facts, ...plannedOf([operation], facts), arrivals: 'poisson', slowdown });
}

/**
 * The next request waits until a response was read: in a closed loop, and where a backlog waits for connections. By Little's
 * law the rate is then requests in flight / time, and the tool's lateness is in that time.
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @param {TimesBySeries} times
 */
function slowdownOf(operations, facts, times) {
  const isClosed = facts.model === 'closed';
  const hasBacklog =
    sumOf(operations, 'neverSentDue') > 0 || rateWindowMs(operations, facts) > facts.windowMs;
  const { reported, own } = isClosed ? times.response : times.service;
  if ((!isClosed && !hasBacklog) || reported.totalCount === 0) return 1;
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
  const { model, windowMs, allOnTime } = facts;
  const isDone = () =>
    succeeded === plannedOf(operations, facts).planned && rateWindowMs(operations, facts) === windowMs;
  return model === 'open' && (allOnTime ?? isDone());
}

/**
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @returns {number[]} successes in each full second of the measured part, or of a stage
 */
function fullSeconds(operations, { startMs = 0, windowMs }) {
  const first = Math.ceil(startMs / 1000);
  const length = Math.max(0, Math.floor((startMs + windowMs) / 1000) - first);
  const succeeded = successesPerSecond(operations);
  return Array.from({ length }, (_, second) => succeeded[first + second] ?? 0);
}

/**
 * In a closed loop: until the last success, at least the planned time; but where a stage has handed on no more to the next than it
 * had taken over from the one before (two are let pass), it has done all its own work in its time. In an open loop the last requests are due just
 * before the end and are answered after it, which is no lack of throughput as long as those are no more than are always
 * under way: by Little's law rate x mean response time, taken from the first half; twice that, and two, are let pass.
 * More means that a backlog was worked off, and that time counts. With r requests offered to a capacity of c for a time T,
 * (r - c)T are left at the end, and (r - c)T/2 are let pass: a constant overload never passes.
 * @param {CellTally[]} operations
 * @param {RunFacts} facts
 * @returns {number} ms
 */
export function rateWindowMs(operations, { model, windowMs, interrupted, carriedOver = 0 }) {
  const lastSuccess = Math.max(0, ...operations.map(({ lastSuccessMs }) => lastSuccessMs));
  const hasBacklog = sumOf(operations, 'neverSentDue') > 0;
  if (lastSuccess <= windowMs || interrupted || hasBacklog) return Math.max(windowMs, lastSuccess);
  const after = sumOf(operations, 'successesAfter');
  if (model === 'closed') return carriedOver > 0 && after <= carriedOver + 2 ? windowMs : lastSuccess;
  const paces = operations.map(
    ({ perSecond, pace = { count: total(perSecond.succeeded), ms: windowMs } }) => pace.count / pace.ms,
  );
  const halves = operations.map(({ firstHalf }) => firstHalf);
  const mean = sumOf(halves, 'responseMs') / Math.max(1, sumOf(halves, 'count'));
  return after <= 2 + 2 * total(paces) * mean ? windowMs : lastSuccess;
}

/** @template {string} Key @param {readonly Record<Key, number>[]} of @param {Key} key */
function sumOf(of, key) {
  return total(of.map((one) => one[key]));
}

/** @param {CellTally[]} operations */
function successesPerSecond(operations) {
  return sumArrays(operations.map(({ perSecond }) => perSecond.succeeded));
}

/** @param {OutcomeTally[]} outcomes @returns {TimesBySeries} */
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

/** @param {TimesBySeries} times @param {boolean} hasBars @returns {LatencyBlocks} */
function buildLatencies(times, hasBars) {
  const [response, service, sendLag] = SERIES.map((series) => {
    const bars = hasBars ? barsOf(times[series]) : undefined;
    return { ...buildLatency(times[series].reported), ...(bars === undefined ? {} : { bars }) };
  });
  return { response, service, sendLag };
}

/**
 * @param {[string, OutcomeTally][]} outcomes
 * @param {number} dropped
 * @param {Record<string, string>} meanings
 * @returns {OperationBlock['outcomeDetails']}
 */
function buildDetails(outcomes, dropped, meanings) {
  const details = [...new Set(outcomes.map(([name]) => name))].map((name) => {
    const own = outcomes.filter(([other]) => other === name).map(([, outcome]) => outcome);
    const [{ success }] = own;
    const meaning = !success && Object.hasOwn(meanings, name) ? { meaning: meanings[name] } : {};
    const latencyMs = buildLatencies(timesOf(own), false);
    return [name, { count: sumOf(own, 'count'), success, ...meaning, latencyMs }];
  });
  const none = { count: dropped, success: false, latencyMs: buildLatencies(timesOf([]), false) };
  return Object.fromEntries([...details, ...(dropped > 0 ? [['dropped', none]] : [])]);
}

/** @param {CellTally[]} operations @returns {OperationBlock['verification']} */
function buildVerification(operations) {
  const parts = operations.map(({ verification }) => verification);
  const unchecked = sumOf(parts, 'unchecked');
  return {
    checked: sumOf(parts, 'checked'),
    passed: sumOf(parts, 'passed'),
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
 * The basis that requirements are judged on.
 * @param {CellTally[]} operations
 * @param {OperationBlock} block
 * @param {RunFacts} facts
 * @param {LoadPlan} load
 * @param {boolean} measurementValid
 * @returns {RunView}
 */
export function buildView(operations, block, facts, load, measurementValid) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const timesWhere = (/** @type {(name: string, success: boolean) => boolean} */ isMeant) =>
    timesOf(outcomes.flatMap(([name, outcome]) => (isMeant(name, outcome.success) ? outcome : [])));
  const { succeeded, failed, dropped, neverSentDue } = block.totals;
  const isLevel = load.stages === null && load.rampUpMs <= load.warmupMs;
  return {
    series: timesWhere((_, success) => success),
    checked: timesWhere((name, success) => success && name !== 'unchecked'),
    all: timesWhere(() => true),
    succeeded,
    failed,
    dropped,
    neverSentDue,
    ratePerSecond: block.rates.perSecond,
    ownLosses: Math.min(block.totals.errors, facts.ownLosses ?? 0),
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

/**
 * An error is a request that was due and had no good response, because it failed, was dropped, or was never sent.
 * @typedef {{failed: number, dropped: number, neverSentDue: number}} Unanswered
 */

/** @param {Unanswered} counts */
export function countErrors({ failed, dropped, neverSentDue }) {
  return failed + dropped + neverSentDue;
}

/** @param {Unanswered & {succeeded: number}} counts @returns {number | null} 0 to 1, of those that were due; null where none was */
export function shareOfErrors(counts) {
  const errors = countErrors(counts);
  const due = counts.succeeded + errors;
  return due === 0 ? null : errors / due;
}

/**
 * @param {Unanswered & {succeeded: number}} counts at least one was due
 * @param {number} [ownLosses] errors that may be the tool's or its machine's: left out of the lower end
 * @returns {{low: number, high: number}} of the share of errors, 0 to 1
 */
export function errorBar(counts, ownLosses = 0) {
  const errors = countErrors(counts);
  const due = counts.succeeded + errors;
  return {
    low: proportionLowerBound(Math.max(0, errors - ownLosses), due),
    high: proportionUpperBound(errors, due),
  };
}
