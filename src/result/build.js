/** Merged tallies -> the block of totals, rates, latencies and outcomes of a run, a stage or an operation. */
import { meanOf, sumHistograms } from '../common/histogram.js';
import { maxOf, sumArrays, sumRecords, total } from '../common/sums.js';
import { PHASES, plannedOf } from '../engine/recording/tally.js';
import { MIN_CLUMP, rateBar } from '../verdict/bars.js';
import { lineThrough, proportionLowerBound, proportionUpperBound } from '../verdict/statistics.js';
import { barsOf, buildLatency, SERIES } from './latency.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { LatencyBlock, OperationBlock } from './schema.js' */

/**
 * @typedef {object} OwnFacts Facts that neither the tallies nor the engine have
 * @property {Record<string, string>} units of responses, by operation: `certificates`
 * @property {Record<string, string>} meanings by outcome: a sentence
 * @property {number} [toolErrors] upper bound of the errors that the tool or its machine caused
 * @property {number} [slowdown] of all operations, which share the connections
 * @property {number} [idle] likewise, see idleOf
 * @property {number | null} [concurrency] of a closed loop; null: it varies
 * @property {boolean} [allOnTime] of an unfinished run: no backlog, nothing dropped, and only successes so far
 * @property {number} [startMs] of a stage, from the start of the measured phase
 * @property {number} [carriedOver] successes of the previous stage that came after its end
 */
/** @typedef {WindowFacts & OwnFacts} RunFacts */
/** @typedef {ReturnType<typeof measure>} Measured */

/**
 * The sums behind a block and the verdicts on requirements.
 * @param {CellTally[]} operations @param {RunFacts} facts
 */
export function measure(operations, facts) {
  const windowMs = rateWindowMs(operations, facts);
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
  const isDone = isOpen && succeeded === planned && succeeded > 0 && keptUp(operations, facts) === true;
  const allOnTime = isOpen && (facts.allOnTime ?? isDone);
  const offeredPerSecond = isOpen && isConstant && isEnded ? (facts.offeredPerSecond ?? null) : null;
  const inWindow = windowMs > 0 ? (succeeded / windowMs) * 1000 : 0;
  // The window may hold one constant arrival more or fewer than the rate implies.
  const ratePerSecond = (isDone ? offeredPerSecond : null) ?? inWindow;
  const bar = rateBar({
    ...{ perSecond: ratePerSecond, ...fullSeconds(operations, facts, windowMs), offeredPerSecond, succeeded },
    ...possibleRates(operations, facts, { ratePerSecond, windowMs, succeeded }),
    errors: Math.max(0, errors - (facts.toolErrors ?? 0)),
    isServed: isConstant && allOnTime,
    // By Little's law, the mean number in flight: responses may come in clumps of as many.
    clump: Math.max(MIN_CLUMP, (inWindow * meanOf(all.response.reported)) / 1000),
    slowdown: facts.slowdown ?? slowdownOf(operations, facts, all),
  });
  const rates = { ratePerSecond, offeredPerSecond, rateBar: bar, windowMs };
  return { operations, facts, outcomes, counts, errors, all, allOnTime, ...rates };
}

/** @param {Parameters<typeof measure>} measured @returns {OperationBlock} of the whole run, a stage or an operation */
export function buildBlock(...measured) {
  const { operations, facts, outcomes, counts, errors, all, windowMs, ...rates } = measure(...measured);
  const { succeeded, failed, dropped } = counts;
  const { planned, neverSent, toolErrors, meanings } = facts;
  const errorShare = errorRateOf(counts);
  const phases = phasesOf(outcomes.map(([, outcome]) => outcome));
  const handshakes = phases.tls?.count ?? 0;
  return {
    totals: { planned, sent: succeeded + failed, ...counts, neverSent, errors },
    errorShare,
    windowSeconds: windowMs / 1000,
    ...(errorShare === null ? {} : { errorShareBar: shareBar(errors, succeeded + errors, toolErrors) }),
    rates: {
      perSecond: rates.ratePerSecond,
      perHour: rates.ratePerSecond * 3600,
      peakOneSecond: successesPerSecond(operations).reduce((a, b) => Math.max(a, b), 0),
      bar: rates.rateBar,
      ...(handshakes > 0 && windowMs > 0 ? { handshakesPerSecond: (handshakes / windowMs) * 1000 } : {}),
    },
    latencyMs: {
      ...latenciesOf((series) => ({ ...buildLatency(all[series].reported), ...barsOf(all[series]) })),
      ...phases,
    },
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
  const isLevel = load.stages === null && load.rampUpMs <= load.warmupMs;
  return {
    ...measured,
    ...measured.counts,
    ...(isLevel ? {} : { offeredAs: 'mean' }),
    series: timesWhere((_, success) => success),
    checked: timesWhere((name, success) => success && name !== 'unchecked'),
    toolErrors: Math.min(errors, facts.toolErrors ?? 0),
    unchecked: total(operations.map(({ verification }) => verification.unchecked)),
    ...{ model: load.model, arrivals: load.arrivals, timeoutMs: load.timeoutMs, measurementValid },
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
  const idle = idleOf(all, facts, rateWindowMs(all, facts));
  return (operation) => ({ ...facts, ...plannedOf([operation], facts), arrivals: 'poisson', slowdown, idle });
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

/**
 * In full seconds; the plan may be far longer than the run.
 * @param {CellTally[]} operations @param {RunFacts} facts @param {number} windowMs of the rate
 */
function fullSeconds(operations, { startMs = 0 }, windowMs) {
  const first = Math.ceil(startMs / 1000);
  const fullSeconds = Math.max(0, Math.floor((startMs + windowMs) / 1000) - first);
  const completedPerSecond = successesPerSecond(operations).slice(first, first + fullSeconds);
  return { fullSeconds, completedPerSecond };
}

/**
 * The time over which rates are computed. Closed loop: its length (engine/window.js), or until the last success if that
 * is later; for a stage the planned time, if it passes on at most two more requests than it took over. Open loop: the
 * planned time; unless the target kept up, also the time until the last success.
 * @param {CellTally[]} operations @param {RunFacts} facts @returns {number} ms
 */
export function rateWindowMs(operations, facts) {
  const { model, windowMs, carriedOver = 0, interrupted } = facts;
  const lastSuccesses = operations.map(({ lastSuccessMs }) => lastSuccessMs);
  const until = maxOf(lastSuccesses, windowMs);
  if (model === 'open') return keptUp(operations, facts) ? windowMs : until;
  const isPassedOn = carriedOver > 0 && sumOf(operations, 'successesAfter') <= carriedOver + 2;
  return isPassedOn && !interrupted ? windowMs : until;
}

/** The growth of the delay per time that counts as none, and the late responses that do: at most two. */
const [MAX_GROWTH, STRAGGLERS] = [0.01, 2];
/** With a larger share of responses after the planned end, the run was too short for its delay to show anything. */
const MAX_AFTER = 1 / 3;

/**
 * Did an open loop's target keep up? If all was done by the planned end, it did. Otherwise it did if the delay did not
 * grow, and no more requests were in flight at the end than by Little's law: rate x delay, here twice that plus two.
 * @param {CellTally[]} operations @param {RunFacts} facts
 * @returns {boolean | null} null: the responses are too few or too uneven to show it
 */
function keptUp(operations, { windowMs, interrupted }) {
  if (sumOf(operations, 'neverSentDue') > 0) return false;
  if (operations.every(({ lastSuccessMs }) => lastSuccessMs <= windowMs)) return true;
  if (interrupted) return false;
  const after = sumOf(operations, 'successesAfter');
  if (after <= Math.min(STRAGGLERS, total(successesPerSecond(operations)) / 100)) return true;
  const growth = growthOf(operations);
  if (growth.isShown) return false;
  const isLong = after <= MAX_AFTER * total(successesPerSecond(operations));
  // The first requests fill a queue that is served after the end: if a target refuses others, that is not its rate.
  return growth.isExcluded && isLong && after <= growth.most && !hasFailures(operations) ? true : null;
}

/** @param {CellTally[]} operations */
const hasFailures = (operations) =>
  operations.some(
    ({ dropped, outcomes }) => dropped > 0 || Object.values(outcomes).some(({ success }) => !success),
  );

/**
 * A rate may count the requests in flight at its end in several ways. `least`: not those done after the planned end, but
 * for as many as a stage took over. `most`, by Little's law: in a closed loop, if all connections had been in use
 * until its end; in an open loop, without the first delay, or within the plan if the target may have kept up.
 * @param {CellTally[]} operations @param {RunFacts} facts
 * @param {{ratePerSecond: number, windowMs: number, succeeded: number}} rate
 */
function possibleRates(operations, facts, { ratePerSecond, windowMs, succeeded }) {
  const isKeepingUp = facts.model === 'open' && keptUp(operations, facts);
  if (isKeepingUp === true || windowMs === 0) return {};
  const after = Math.max(0, sumOf(operations, 'successesAfter') - (facts.carriedOver ?? 0));
  const over = (/** @type {number} */ count, /** @type {number} */ ms) =>
    ms > 0 ? (count / ms) * 1000 : ratePerSecond;
  const least = Math.min(ratePerSecond, over(succeeded - after, facts.windowMs));
  const { delayMs } = growthOf(operations);
  const openMs = isKeepingUp === null ? facts.windowMs : Math.max(windowMs - delayMs, windowMs / 10);
  const most =
    facts.model === 'open'
      ? over(succeeded, openMs)
      : ratePerSecond * (facts.idle ?? idleOf(operations, facts, windowMs));
  return { least, most: Math.max(ratePerSecond, most) };
}

/**
 * The factor by which a closed loop would have been faster if all its connections had been in use until its end.
 * @param {CellTally[]} operations @param {RunFacts} facts @param {number} windowMs of the rate
 */
function idleOf(operations, { concurrency = null }, windowMs) {
  const { reported } = timesOf(operations.flatMap(({ outcomes }) => Object.values(outcomes))).response;
  const usedMs = reported.totalCount * meanOf(reported);
  return concurrency === null || !(usedMs > 0) ? 1 : Math.max(1, (concurrency * windowMs) / usedMs);
}

/**
 * The delay is the time from when the n-th request was due to when the n-th success was done, whichever request that
 * was: a target that serves a share 1/(1 + g) of the offered rate lets it grow by g per time, in whatever order it serves.
 * @param {CellTally[]} operations
 * @returns {{delayMs: number, isShown: boolean, isExcluded: boolean, most: number}} `delayMs`: at first; `most`: in
 *   flight without a backlog
 */
export function growthOf(operations) {
  const [due, done] = /** @type {const} */ (['due', 'done']).map((key) => {
    const parts = operations.map(({ successTimes }) => successTimes[key]);
    const sumMs = sumArrays(parts.map((part) => part.sumMs));
    const counts = sumArrays(parts.map(({ count }) => count));
    return rankTimes(counts.flatMap((weight, i) => (weight > 0 ? { weight, ms: sumMs[i] / weight } : [])));
  });
  const dueAt = through(due);
  const points = done.map(({ weight, rank, ms }) => ({ weight, x: dueAt(rank), y: ms - dueAt(rank) }));
  const { slope, at } = lineThrough(points);
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const sent = total(done.map(({ weight }) => weight));
  const delayMs = Math.max(0, at(first));
  const inFlight = last > first ? (sent / (last - first)) * delayMs : Infinity;
  return {
    ...{ delayMs, isShown: slope.low > MAX_GROWTH, isExcluded: slope.high <= MAX_GROWTH },
    most: STRAGGLERS + 2 * inFlight,
  };
}

/** @param {{weight: number, ms: number}[]} groups of requests: their number and mean time @returns in order, with the mean rank */
function rankTimes(groups) {
  let before = 0;
  return groups
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ weight, ms }) => {
      before += weight;
      return { weight, ms, rank: before - weight / 2 };
    });
}

/** @param {{rank: number, ms: number}[]} points in order @returns {(rank: number) => number} lines between them, and beyond */
function through(points) {
  return (rank) => {
    const after = points.findIndex((point) => point.rank >= rank);
    const i = Math.max(1, after === -1 ? points.length - 1 : after);
    const [a, b] = [points[i - 1], points[i]];
    return b === undefined ? a.ms : a.ms + ((rank - a.rank) / (b.rank - a.rank)) * (b.ms - a.ms);
  };
}

/** @template {string} Key @param {readonly Record<Key, number>[]} of @param {Key} key */
const sumOf = (of, key) => total(of.map((one) => one[key]));

/** @param {CellTally[]} operations */
const successesPerSecond = (operations) => sumArrays(operations.map(({ perSecond }) => perSecond.succeeded));

/** @template T @param {(series: typeof SERIES[number]) => T} of */
const latenciesOf = (of) => ({ response: of('response'), service: of('service'), sendLag: of('sendLag') });

/** @param {OutcomeTally[]} outcomes @returns {Partial<Record<typeof PHASES[number], LatencyBlock>>} those that any request had */
function phasesOf(outcomes) {
  const blocks = PHASES.map((phase) => {
    const block = buildLatency(sumHistograms(outcomes.map(({ latency }) => latency[phase])));
    return [phase, block.count === 0 ? undefined : block];
  });
  return Object.fromEntries(blocks.filter(([, block]) => block !== undefined));
}

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
        latencyMs: { ...latenciesOf((series) => buildLatency(times[series].reported)), ...phasesOf(own) },
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
