/** Merged tallies -> the block of totals, rates, latencies and outcomes of a run, a stage or an operation. */
import { sumHistograms } from '../common/histogram.js';
import { maxOf, sumArrays, sumRecords, total } from '../common/sums.js';
import { PHASES } from '../engine/recording/tally.js';
import { doubtfulOf } from '../verdict/observed.js';
import { proportionLowerBound, proportionUpperBound } from '../verdict/statistics.js';
import { barsOf, buildLatency, SERIES, timesOf } from './latency.js';
import { ratesOf, successesPerSecond, sumOf } from './rates.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally } from '../engine/recording/tally.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { RunFacts } from './rates.js' */
/** @import { LatencyBlock, OperationBlock } from './schema.js' */

/** @typedef {ReturnType<typeof measure>} Measured */

/** The sums behind a block and the verdicts on requirements. @param {CellTally[]} operations @param {RunFacts} facts */
export function measure(operations, facts) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const countSent = (/** @type {boolean} */ success) =>
    total(outcomes.map(([name, one]) => (name !== 'never_sent' && one.success === success ? one.count : 0)));
  const counts = {
    succeeded: countSent(true),
    failed: countSent(false),
    dropped: sumOf(operations, 'dropped'),
    neverSentDue: sumOf(operations, 'neverSentDue'),
    rested: sumOf(operations, 'rested'),
  };
  const errors = countErrors(counts);
  const doubtful = operations.flatMap((operation) =>
    doubtfulOf(operation, facts).flatMap((name) => operation.outcomes[name] ?? []),
  );
  // Of the whole run: they may be those of another operation or stage.
  const unsent = Math.min(counts.dropped + counts.neverSentDue, facts.toolErrors ?? 0);
  const toolErrors = Math.min(errors, sumOf(doubtful, 'count') + unsent);
  const due = outcomes.map(([, outcome]) => outcome);
  const all = timesOf(due);
  const certain = doubtful.length === 0 ? all : timesOf(due.filter((one) => !doubtful.includes(one)));
  const rates = ratesOf(operations, facts, {
    succeeded: counts.succeeded,
    errors: errors - toolErrors,
    toolErrors,
    all,
  });
  return { operations, facts, outcomes, counts, errors, toolErrors, all, certain, ...rates };
}

/** @param {Parameters<typeof measure>} measured @returns {OperationBlock} of the whole run, a stage or an operation */
export function buildBlock(...measured) {
  const { operations, facts, outcomes, counts, errors, toolErrors, all, windowMs, ...rates } = measure(
    ...measured,
  );
  const { succeeded, failed, dropped } = counts;
  const { planned, neverSent, meanings } = facts;
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
      peakOneSecond: maxOf(successesPerSecond(operations), 0),
      bar: rates.rateBar,
      ...(handshakes > 0 && windowMs > 0 ? { handshakesPerSecond: (handshakes / windowMs) * 1000 } : {}),
    },
    latencyMs: {
      ...latenciesOf((series) => ({
        ...buildLatency(all[series].reported),
        ...barsOf(all[series], facts.timeoutMs),
      })),
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
export function buildView({ operations, facts, outcomes, ...measured }, load, measurementValid) {
  const timesWhere = (/** @type {(name: string, success: boolean) => boolean} */ isIncluded) =>
    timesOf(outcomes.flatMap(([name, outcome]) => (isIncluded(name, outcome.success) ? outcome : [])));
  const isLevel = load.stages === null && load.rampUpMs <= load.warmupMs;
  return {
    ...measured,
    ...measured.counts,
    ...(isLevel ? {} : { offeredAs: 'mean' }),
    series: timesWhere((_, success) => success),
    checked: timesWhere((name, success) => success && name !== 'unchecked'),
    unchecked: total(operations.map(({ verification }) => verification.unchecked)),
    ...{ model: load.model, arrivals: load.arrivals, timeoutMs: facts.timeoutMs, measurementValid },
  };
}

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
  return {
    low,
    high: proportionUpperBound(count, due),
    ...(toolErrors > 0 ? { tool: toolErrors / due } : {}),
  };
}
