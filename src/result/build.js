/** Merged tallies -> the block of totals, rates, latencies and outcomes of a run, a stage or an operation. */
import { meanOf, sumHistograms } from '../common/histogram.js';
import { maxOf, sumArrays, sumRecords, total } from '../common/sums.js';
import { plannedOf } from '../engine/recording/tally.js';
import { rateBar } from '../verdict/bars.js';
import { proportionLowerBound, proportionUpperBound } from '../verdict/statistics.js';
import { barsOf, buildLatency, SERIES } from './latency.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { OperationBlock } from './schema.js' */

/**
 * @typedef {object} OwnFacts Facts that neither the tallies nor the engine have
 * @property {Record<string, string>} units of responses, by operation: `certificates`
 * @property {Record<string, string>} meanings by outcome: a sentence
 * @property {number} [toolErrors] upper bound of the errors that the tool or its machine caused
 * @property {number} [slowdown] of all operations, which share the connections
 * @property {boolean} [allOnTime] of an unfinished run: no backlog, nothing dropped, and only successes so far
 * @property {number} [startMs] of a stage, from the start of the measured phase
 * @property {number} [carriedOver] successes of the previous stage that came after its end
 */
/** @typedef {WindowFacts & OwnFacts} RunFacts */
/** @typedef {ReturnType<typeof measure>} Measured */

/**
 * The sums behind a block and the verdicts on requirements.
 * @param {CellTally[]} operations @param {RunFacts} facts
 * @param {number} [windowMs] for rates; the run's or stage's, so that the rates of its operations add up
 */
export function measure(operations, facts, windowMs = rateWindowMs(operations, facts)) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const countSent = (/** @type {boolean} */ success) =>
    total(outcomes.map(([name, one]) => (name !== 'never_sent' && one.success === success ? one.count : 0)));
  const counts = {
    succeeded: countSent(true),
    failed: countSent(false),
    dropped: sumOf(operations, 'dropped'),
    neverSentDue: sumOf(operations, 'neverSentDue'),
  };
  const { succeeded } = counts;
  const errors = countErrors(counts);
  const all = timesOf(outcomes.map(([, outcome]) => outcome));
  const { planned } = plannedOf(operations, facts);
  const isOpen = facts.model === 'open';
  const isConstant = facts.arrivals === 'constant';
  const isEnded = facts.allOnTime === undefined;
  // Open loop: every planned arrival succeeded, and there was no backlog at the end.
  const isDone = succeeded === planned && rateWindowMs(operations, facts) === facts.windowMs;
  const allOnTime = isOpen && (facts.allOnTime ?? isDone);
  const ratePerSecond = windowMs > 0 ? (succeeded / windowMs) * 1000 : 0;
  const completed = fullSeconds(operations, facts);
  const offeredPerSecond =
    isOpen && isConstant && isEnded && facts.windowMs > 0 ? (planned / facts.windowMs) * 1000 : null;
  const bar = rateBar({
    ...{ perSecond: ratePerSecond, ...completed, offeredPerSecond, succeeded },
    errors: Math.max(0, errors - (facts.toolErrors ?? 0)),
    isServed: isConstant && allOnTime,
    slowdown: facts.slowdown ?? slowdownOf(operations, facts, all),
  });
  const rates = { ratePerSecond, offeredPerSecond, rateBar: bar };
  return { operations, facts, outcomes, counts, errors, all, allOnTime, ...rates };
}

/** @param {Parameters<typeof measure>} measured @returns {OperationBlock} of the whole run, a stage or an operation */
export function buildBlock(...measured) {
  const { operations, facts, outcomes, counts, errors, all, ratePerSecond, rateBar } = measure(...measured);
  const { succeeded, failed, dropped } = counts;
  const { planned, neverSent, toolErrors, meanings } = facts;
  const errorShare = errorRateOf(counts);
  return {
    totals: { planned, sent: succeeded + failed, ...counts, neverSent, errors },
    errorShare,
    ...(errorShare === null ? {} : { errorShareBar: shareBar(errors, succeeded + errors, toolErrors) }),
    rates: {
      perSecond: ratePerSecond,
      perHour: ratePerSecond * 3600,
      peakOneSecond: successesPerSecond(operations).reduce((a, b) => Math.max(a, b), 0),
      bar: rateBar,
    },
    latencyMs: latenciesOf((series) => ({ ...buildLatency(all[series].reported), ...barsOf(all[series]) })),
    outcomes: {
      ...sumRecords(outcomes.map(([name, { count }]) => ({ [name]: count }))),
      ...(dropped > 0 ? { dropped } : {}),
    },
    outcomeDetails: buildDetails(outcomes, dropped, meanings),
    verification: buildVerification(operations),
  };
}

/** @param {Measured} measured @param {LoadPlan} load @param {boolean} measurementValid @returns {RunView} */
export function buildView({ operations, facts, outcomes, errors, ...measured }, load, measurementValid) {
  const timesWhere = (/** @type {(name: string, success: boolean) => boolean} */ isIncluded) =>
    timesOf(outcomes.flatMap(([name, outcome]) => (isIncluded(name, outcome.success) ? outcome : [])));
  const isConstant = load.stages === null && load.rampUpMs <= load.warmupMs;
  return {
    ...measured,
    ...measured.counts,
    ...(isConstant ? { offeredPerSecond: load.ratePerSecond } : { offeredAs: 'mean' }),
    series: timesWhere((_, success) => success),
    checked: timesWhere((name, success) => success && name !== 'unchecked'),
    toolErrors: Math.min(errors, facts.toolErrors ?? 0),
    unchecked: total(operations.map(({ verification }) => verification.unchecked)),
    ...{ model: load.model, arrivals: load.arrivals, measurementValid },
  };
}

/**
 * Requests are assigned to several operations at random, so the arrivals of each are Poisson.
 * @param {CellTally[]} all of the run, or of a stage @param {RunFacts} facts of all
 * @returns {(operation: CellTally) => RunFacts}
 */
export function factsOfEach(all, facts) {
  if (all.length === 1) return () => facts;
  const slowdown = slowdownOf(all, facts, timesOf(all.flatMap(({ outcomes }) => Object.values(outcomes))));
  return (operation) => ({ ...facts, ...plannedOf([operation], facts), arrivals: 'poisson', slowdown });
}

/**
 * In a closed loop, or with a backlog, the next request waits until a response is read. By Little's law the rate
 * is then requests in flight / response time, which includes the tool's lateness.
 * @param {CellTally[]} operations @param {RunFacts} facts @param {ReturnType<typeof timesOf>} times
 */
function slowdownOf(operations, facts, times) {
  const isClosed = facts.model === 'closed';
  const hasBacklog =
    sumOf(operations, 'neverSentDue') > 0 || rateWindowMs(operations, facts) > facts.windowMs;
  const { reported, target } = isClosed ? times.response : times.service;
  if ((!isClosed && !hasBacklog) || reported.totalCount === 0) return 1;
  const targetMean = meanOf(target);
  return targetMean > 0 ? Math.max(1, meanOf(reported) / targetMean) : Number.POSITIVE_INFINITY;
}

/** @param {CellTally[]} operations @param {RunFacts} facts in full seconds; the plan may be far longer than the run */
function fullSeconds(operations, { startMs = 0, windowMs }) {
  const first = Math.ceil(startMs / 1000);
  const fullSeconds = Math.max(0, Math.floor((startMs + windowMs) / 1000) - first);
  const completedPerSecond = successesPerSecond(operations).slice(first, first + fullSeconds);
  return { fullSeconds, completedPerSecond };
}

/**
 * The time over which rates are computed. Closed loop: its length (engine/window.js), or until the last success if that
 * is later; for a stage the planned time, if it passes on at most two more requests than it took over. Open loop: the planned time; if
 * there is a backlog at its end, also the time to clear it. By Little's law, rate x mean response time (of the first half)
 * requests are always in flight; more than twice that, plus two, is a backlog. At a rate r, a capacity c leaves (r - c)T
 * requests after a time T, of which (r - c)T/2 count as normal. Slow responses or an early stall would let more count as
 * normal, so a target that did not reach the offered rate even in the best half of the time has a backlog, too.
 * @param {CellTally[]} operations @param {RunFacts} facts @returns {number} ms
 */
export function rateWindowMs(operations, { model, windowMs, interrupted, carriedOver = 0 }) {
  const lastSuccess = maxOf(
    operations.map((one) => one.lastSuccessMs),
    0,
  );
  const hasBacklog = sumOf(operations, 'neverSentDue') > 0;
  if (lastSuccess <= windowMs || interrupted || hasBacklog) return Math.max(windowMs, lastSuccess);
  const after = sumOf(operations, 'successesAfter');
  if (model === 'closed') return carriedOver > 0 && after <= carriedOver + 2 ? windowMs : lastSuccess;
  const paces = operations.map(
    ({ perSecond, pace = { count: total(perSecond.succeeded), ms: windowMs } }) => pace.count / pace.ms,
  );
  const halves = operations.map(({ firstHalf }) => firstHalf);
  const mean = sumOf(halves, 'responseMs') / Math.max(1, sumOf(halves, 'count'));
  const succeeded = successesPerSecond(operations);
  const isNormal = after <= Math.min(2, total(succeeded) / 20) + 2 * total(paces) * mean;
  return isNormal && keptUp(succeeded, windowMs, after) ? windowMs : lastSuccess;
}

/** @param {number[]} succeeded per second, also after the end @param {number} windowMs @param {number} after responses after it */
function keptUp(succeeded, windowMs, after) {
  const half = Math.floor(windowMs / 2000);
  const offered = (total(succeeded) * half * 1000) / windowMs;
  let [sum, most] = [0, 0];
  for (const [i, count] of succeeded.entries()) {
    sum += count - (succeeded[i - half] ?? 0);
    most = Math.max(most, sum);
  }
  // Those in flight at either end vary by chance.
  return half === 0 || most >= offered - 2 - Math.sqrt(after);
}

/** @template {string} Key @param {readonly Record<Key, number>[]} of @param {Key} key */
const sumOf = (of, key) => total(of.map((one) => one[key]));

/** @param {CellTally[]} operations */
const successesPerSecond = (operations) => sumArrays(operations.map(({ perSecond }) => perSecond.succeeded));

/** @template T @param {(series: typeof SERIES[number]) => T} of */
const latenciesOf = (of) => ({ response: of('response'), service: of('service'), sendLag: of('sendLag') });

/** @param {OutcomeTally[]} outcomes */
function timesOf(outcomes) {
  const sum = (/** @type {keyof OutcomeTally['latency']} */ series) =>
    sumHistograms(outcomes.map(({ latency }) => latency[series]));
  const sendLag = sum('sendLag');
  return {
    response: { reported: sum('response'), target: sum('ownResponse') },
    service: { reported: sum('service'), target: sum('ownService') },
    // All of the send lag is the tool's.
    sendLag: { reported: sendLag, target: sendLag },
  };
}

/** @param {[string, OutcomeTally][]} outcomes @param {number} dropped @param {Record<string, string>} meanings */
function buildDetails(outcomes, dropped, meanings) {
  const names = new Set(outcomes.map(([name]) => name));
  const details = [...names, ...(dropped > 0 ? ['dropped'] : [])].map((name) => {
    const own = outcomes.flatMap(([other, outcome]) => (other === name ? outcome : []));
    const success = own[0]?.success ?? false;
    const meaning = !success && own.length > 0 && Object.hasOwn(meanings, name);
    const times = timesOf(own);
    return [
      name,
      {
        ...{ count: own.length > 0 ? sumOf(own, 'count') : dropped, success },
        ...(meaning ? { meaning: meanings[name] } : {}),
        latencyMs: latenciesOf((series) => buildLatency(times[series].reported)),
      },
    ];
  });
  return Object.fromEntries(details);
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

/** A second without responses. */
const EMPTY_SECOND = Object.freeze({
  ...{ succeeded: 0, failed: 0, failures: {}, histogram: null, histogramSeconds: 1 },
  ...{ p50: null, p90: null, p99: null, max: null, lag99: null },
});

/**
 * @param {CellTally[]} operations @param {Second[]} seconds in order
 * @param {((seconds: number) => number[]) | null} [dueIn] planned arrivals per second; null: closed loop
 */
export function buildTimeline(operations, seconds, dueIn = null) {
  const sent = sumArrays(operations.map(({ perSecond }) => perSecond.sent));
  const length = Math.max(sent.length, seconds.length);
  const due = dueIn?.(length);
  return Array.from({ length }, (_, second) => {
    const { succeeded, failed, failures, p50, p90, p99, max, lag99, histogram, histogramSeconds } =
      seconds[second] ?? EMPTY_SECOND;
    return {
      second,
      ...(due === undefined ? {} : { due: due[second] ?? 0 }),
      sent: sent[second] ?? 0,
      ...{ succeeded, failed, failures, p50, p90, p99, max, lag99, histogram },
      ...(histogramSeconds > 1 ? { histogramSeconds } : {}),
    };
  });
}

/** @typedef {Record<'failed' | 'dropped' | 'neverSentDue', number>} ErrorCounts of due requests */

/** @param {ErrorCounts} counts */
export const countErrors = ({ failed, dropped, neverSentDue }) => failed + dropped + neverSentDue;

/** @param {ErrorCounts & {succeeded: number}} counts @returns {number | null} 0 to 1; null if nothing was due */
export function errorRateOf(counts) {
  const errors = countErrors(counts);
  const due = counts.succeeded + errors;
  return due === 0 ? null : errors / due;
}

/**
 * @param {number} count @param {number} due at least one
 * @param {number} [toolErrors] part of `count` that the tool or its machine may have caused; the lower end excludes it
 */
export function shareBar(count, due, toolErrors = 0) {
  const low = proportionLowerBound(Math.max(0, count - toolErrors), due);
  return { low, high: proportionUpperBound(count, due) };
}
