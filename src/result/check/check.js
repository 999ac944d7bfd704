/**
 * Checks the bookkeeping of a Result, after every run and before trusting a file: counts, rates, shares, outcomes,
 * times and histograms agree; operations, stages and seconds each add up to the whole, histograms bucket for
 * bucket. For files it also checks the load, the histograms of seconds, and the merge block of a part.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../common/json.js';
import { sumArrays, total } from '../../common/sums.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { createSchedule } from '../../plan/schedule.js';
import { shareOf } from '../../plan/shard-part.js';
import { countErrors, errorRateOf } from '../build.js';
import { SERIES } from '../latency.js';
import { stagesOfPart } from '../parts/merge-block.js';
import {
  checkEqual,
  checkHistogram,
  checkLatencies,
  checkSums,
  isAbove,
  isAscending,
} from './check-latency.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { OperationBlock, Result, TimelineRow } from '../schema.js' */

/** Outcomes of requests that were not sent, and their totals. */
const UNSENT = Object.freeze({ dropped: 'dropped', never_sent: 'neverSentDue' });

const COUNTS = /** @type {const} */ (['sent', 'succeeded', 'failed']);

/** Standard deviations of a random number of arrivals. */
const POISSON_SPREAD = 7;

/** Rates differ at most by rounding. */
const ROUNDING_SHARE = 1e-6;

/** @param {Result} result @param {{isFile?: boolean}} [options] `isFile`: also the checks for files */
export function checkResult(result, { isFile = false } = {}) {
  return [
    ...checkCells(result, result.windowSeconds),
    ...checkTimeline(result),
    ...checkStages(result),
    ...(isFile ? [...checkLoad(result), ...checkSeconds(result), ...checkMergeBlock(result)] : []),
  ];
}

/**
 * The load as it ran is the planned one, and in an open loop it determines the number of requests.
 * @param {Result} result @returns {Generator<string, void>}
 */
function* checkLoad({ plan, load, shard, merged, stages, totals: { planned } }) {
  const of = plan.load;
  // Older files lack it.
  if (!isRecord(of)) return;
  for (const [key, value] of Object.entries(load))
    if (Object.hasOwn(of, key) && !isDeepStrictEqual(of[key], value))
      yield `load.${key} is ${JSON.stringify(value)}, but plan.load.${key} is ${JSON.stringify(of[key])}`;
  if (load.model === 'open' && load.ratePerSecond === null) return yield 'load.model is open, without a rate';
  // The schedule of stages is not read from files, and a merged result may lack parts.
  const isWhole = merged === undefined || merged.length === merged[0]?.of;
  if (load.model === 'closed' || stages !== undefined || !isWhole) return;
  const { count, firstMeasured } = createSchedule({
    .../** @type {LoadPlan} */ (/** @type {unknown} */ (load)),
    ...{ arrivals: 'constant', stages: null },
  });
  const expected = shareOf(count, shard ?? null) - shareOf(firstMeasured, shard ?? null);
  const spread = load.arrivals === 'constant' ? 0 : POISSON_SPREAD * Math.sqrt(expected + 1);
  if (Math.abs(planned - expected) > spread)
    yield `the load has ${expected} requests, but totals.planned is ${planned}`;
}

/**
 * The whole, or a stage, and its operations.
 * @param {OperationBlock & {operations: Record<string, OperationBlock>}} cells
 * @param {number | undefined} windowSeconds undefined: from an older version; there, its operations share it
 */
function* checkCells({ operations, ...whole }, windowSeconds) {
  yield* checkBlock(whole, windowSeconds);
  for (const [name, block] of Object.entries(operations))
    yield* within(`operation ${name}: `, checkBlock(block, block.windowSeconds ?? windowSeconds));
  yield* checkParts('operations', Object.values(operations), whole);
}

/** @param {string} where @param {Iterable<string>} problems */
function* within(where, problems) {
  for (const problem of problems) yield where + problem;
}

/** @param {OperationBlock} block @param {number | undefined} windowSeconds */
function* checkBlock(block, windowSeconds) {
  const { sent, neverSentDue } = block.totals;
  yield* checkTotals(block, windowSeconds);
  yield* checkOutcomes(block);
  yield* checkLatencies(block.latencyMs, sent + neverSentDue, sent, 'latencyMs');
  for (const [name, { count, latencyMs }] of Object.entries(block.outcomeDetails)) {
    const response = name === 'dropped' ? 0 : count;
    const own = Object.hasOwn(UNSENT, name) ? 0 : count;
    yield* checkLatencies(latencyMs, response, own, `outcomeDetails.${name}.latencyMs`);
  }
  const details = Object.values(block.outcomeDetails).map(({ latencyMs }) => latencyMs);
  yield* checkSums(block.latencyMs, details, 'outcomeDetails');
  yield* checkVerification(block);
}

/** @param {OperationBlock} block @param {number | undefined} windowSeconds */
function* checkTotals({ totals, rates, errorShare, errorShareBar, latencyMs }, windowSeconds) {
  const { perSecond, perHour, handshakesPerSecond = 0 } = rates;
  const { planned, sent, succeeded, failed, dropped, neverSent, neverSentDue } = totals;
  yield* checkEqual('sent + dropped + neverSent', sent + dropped + neverSent, 'planned', planned);
  yield* checkEqual('succeeded + failed', succeeded + failed, 'sent', sent);
  yield* checkEqual('failed + dropped + neverSentDue', countErrors(totals), 'errors', totals.errors);
  yield* checkEqual('errors / (succeeded + errors)', errorRateOf(totals), 'errorShare', errorShare);
  if (neverSentDue > neverSent) yield `neverSentDue (${neverSentDue}) is more than neverSent (${neverSent})`;
  const isNear = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) <= ROUNDING_SHARE * b;
  if (!isNear(perSecond * 3600, perHour))
    yield `rates.perHour (${perHour}) is not 3600 times rates.perSecond (${perSecond})`;
  yield* checkBar('rates.bar', rates.bar, perSecond);
  yield* checkBar('errorShareBar', errorShareBar, errorShare);
  if (windowSeconds === undefined) return;
  const expected = windowSeconds > 0 ? succeeded / windowSeconds : 0;
  // If all succeeded in time, it is the offered rate: the window may hold one arrival more or fewer.
  const isOffered =
    totals.errors === 0 && Math.abs(perSecond * windowSeconds - succeeded) <= 1 + ROUNDING_SHARE * succeeded;
  if (!isOffered && !isNear(perSecond, expected))
    yield `rates.perSecond is ${perSecond}, but ${succeeded} successes in ${windowSeconds} s are ${expected}/s`;
  const handshakes = windowSeconds > 0 ? (latencyMs.tls?.count ?? 0) / windowSeconds : 0;
  if (!isNear(handshakesPerSecond, handshakes))
    yield `rates.handshakesPerSecond is ${handshakesPerSecond}, but latencyMs.tls means ${handshakes}/s`;
}

/** @param {string} place @param {{low: number, high: number | null} | undefined} bar @param {number | null} value */
function* checkBar(place, bar, value) {
  if (bar === undefined || value === null) return;
  const [low, high] = [
    bar.low * (1 - ROUNDING_SHARE),
    (bar.high ?? Number.POSITIVE_INFINITY) * (1 + ROUNDING_SHARE),
  ];
  if (low > value || value > high)
    yield `${place} (${bar.low} to ${bar.high ?? 'no limit'}) does not contain ${value}`;
}

/** @param {OperationBlock} block */
function* checkOutcomes({ totals, outcomes, outcomeDetails: details }) {
  const sent = Object.entries(outcomes).map(([name, count]) => (Object.hasOwn(UNSENT, name) ? 0 : count));
  const succeeded = Object.values(details).map(({ success, count }) => (success ? count : 0));
  yield* checkEqual('the number of outcomes of sent requests', total(sent), 'sent', totals.sent);
  yield* checkEqual('the number of successful outcomes', total(succeeded), 'succeeded', totals.succeeded);
  for (const [name, key] of Object.entries(UNSENT))
    if (Object.hasOwn(outcomes, name)) yield* checkEqual(`outcome ${name}`, outcomes[name], key, totals[key]);
  for (const name of new Set([...Object.keys(outcomes), ...Object.keys(details)]))
    yield* checkEqual(
      `outcomes.${name}`,
      outcomes[name],
      `outcomeDetails.${name}.count`,
      details[name]?.count,
    );
}

/** @param {OperationBlock} block */
function* checkVerification({ verification, outcomes, totals: { succeeded } }) {
  const { checked, passed, sampled, unchecked, failures } = verification;
  const failed = total(Object.values(failures));
  yield* checkEqual('the sum of verification.passed and its failures', passed + failed, 'checked', checked);
  for (const [rule, count] of Object.entries(failures))
    yield* checkEqual(`verification.failures.${rule}`, count, `outcomes.${rule}`, outcomes[rule]);
  if ((outcomes.unchecked ?? 0) > unchecked)
    yield `outcome unchecked is ${outcomes.unchecked}, but verification.unchecked is ${unchecked}`;
  if (passed + unchecked > succeeded)
    yield `verification has ${passed} passed and ${unchecked} unchecked, but only ${succeeded} succeeded`;
  if (sampled !== unchecked > 0)
    yield `verification.sampled is ${sampled}, but verification.unchecked is ${unchecked}`;
}

/** @param {Result} result */
function* checkStages({ stages, operations, ...whole }) {
  if (stages === undefined) return;
  for (const stage of stages) {
    yield* within(`stage ${stage.name}: `, checkCells(stage, stage.windowSeconds));
    const [own, all] = [stage.operations, operations].map((one) => Object.keys(one).sort().join());
    if (own !== all) yield `stage ${stage.name}: its operations differ from those of the run`;
  }
  yield* checkParts('stages', stages, whole);
  for (const [name, operation] of Object.entries(operations)) {
    const blocks = stages.flatMap(({ operations: own }) => (Object.hasOwn(own, name) ? own[name] : []));
    yield* within(`operation ${name}: `, checkParts('stages', blocks, operation));
  }
}

/**
 * @param {string} name of the parts @param {readonly OperationBlock[]} blocks @param {OperationBlock} whole
 * @returns {Generator<string, void>}
 */
function* checkParts(name, blocks, whole) {
  if (blocks.length === 0) return yield `there are no ${name}`;
  const parts = blocks.map(countsOf);
  for (const [key, count] of Object.entries(countsOf(whole)))
    yield* checkEqual(
      `the sum of ${key} over the ${name}`,
      total(parts.map((part) => part[key] ?? 0)),
      key,
      count,
    );
  // A single block is the whole, which has its own check.
  const latencies = blocks.map(({ latencyMs }) => latencyMs);
  if (blocks.length > 1) yield* checkSums(whole.latencyMs, latencies, `the ${name}`);
}

/** @param {OperationBlock} block @returns {Record<string, number>} counts that add up, by path */
function countsOf({ totals, outcomes, latencyMs, verification: { checked, passed, unchecked } }) {
  const latencies = Object.fromEntries(SERIES.map((key) => [`${key}.count`, latencyMs[key].count]));
  const counts = { totals, outcomes, verification: { checked, passed, unchecked }, latencyMs: latencies };
  const all = Object.entries(counts).flatMap(([name, own]) =>
    Object.entries(own).map(([key, count]) => [`${name}.${key}`, count]),
  );
  return Object.fromEntries(all.filter(([, count]) => typeof count === 'number'));
}

/** @param {Result} result */
function* checkTimeline({ timeline, totals, rates, latencyMs, windowSeconds, unfinished }) {
  const longest = Number(latencyMs.response.max);
  const due = total(timeline.map((row) => row.due ?? 0));
  if (due > totals.planned)
    yield `the timeline has ${due} arrivals due, but only ${totals.planned} were planned`;
  for (const key of COUNTS) {
    const sum = total(timeline.map((row) => row[key]));
    yield* checkEqual(`the timeline's ${key}`, sum, `totals.${key}`, totals[key]);
  }
  for (const [at, row] of timeline.entries()) yield* checkRow(row, at);
  const { peakOneSecond: peak } = rates;
  if (peak > totals.succeeded || peak * timeline.length < totals.succeeded)
    yield `rates.peakOneSecond is ${peak}, which is impossible with ${totals.succeeded} successes in ${timeline.length} seconds`;
  const slowest = maxOf(timeline);
  if (isAbove(slowest, longest))
    yield `the timeline's maximum is ${slowest}, but latencyMs.response.max is ${longest}`;
  if (windowSeconds === undefined || unfinished) return;
  // Nothing is due after the window of an open loop, and a closed loop's ends no earlier than its last success.
  const last = timeline.findLast(({ succeeded }) => succeeded > 0)?.second ?? 0;
  if (isAbove(last * 1000, windowSeconds * 1000 + longest))
    yield `windowSeconds is ${windowSeconds}, but second ${last} had a success, and no response took longer than ${longest} ms`;
}

/** @param {TimelineRow[]} rows */
const maxOf = (rows) => rows.reduce((highest, { max }) => Math.max(highest, max ?? 0), 0);

/** @param {TimelineRow} row @param {number} at */
function* checkRow(row, at) {
  const { second, failed, failures, p50, p90 = p50, p99, max, lag99, histogram } = row;
  const done = countDone([row]);
  const fits = (/** @type {unknown} */ value) => value === undefined || (value === null) === (done === 0);
  const figures = [p50, p90, p99, max];
  yield* checkEqual(`timeline.${at}.second`, second, 'its position', at);
  if (!figures.every(fits) || !isAscending(figures))
    yield `second ${second} of the timeline has ${done} responses with p50 ${p50}, p99 ${p99}, max ${max}`;
  if (!(fits(histogram) || second >= FINE_SECONDS) || !(fits(lag99) || lag99 === null))
    yield `second ${second} of the timeline has ${done} responses, which does not fit its histogram or its send lag`;
  if (failures === undefined) return;
  const sum = total(Object.values(failures));
  yield* checkEqual(`the sum of the failures in second ${second}`, sum, 'its failed count', failed);
}

/** @param {Pick<Result, 'timeline'>} result */
export function* checkSeconds({ timeline }) {
  /** The first second that no histogram so far covers. */
  let next = 0;
  for (const [at, { histogram, histogramSeconds = 1, p50, p90, p99 }] of timeline.entries()) {
    if (histogram === null || histogram === undefined) continue;
    const name = `timeline.${at}.histogram`;
    const start = at + 1 - histogramSeconds;
    if (start < next || start > at) yield `${name} cannot cover ${histogramSeconds} seconds`;
    else {
      yield* checkCovered(timeline.slice(next, start));
      const rows = timeline.slice(start, at + 1);
      const figures = rows.length > 1 ? {} : { p50, p90, p99 };
      yield* checkHistogram(name, histogram, countDone(rows), { max: maxOf(rows), ...figures });
    }
    next = at + 1;
  }
  yield* checkCovered(timeline.slice(next));
}

/** @param {TimelineRow[]} rows not covered by a histogram; older files lack the key */
function* checkCovered(rows) {
  const found = rows.find((row) => row.histogram === null && countDone([row]) > 0);
  if (found !== undefined) yield `the responses of second ${found.second} are in no histogram`;
}

/** @param {readonly (TimelineRow | undefined)[]} rows */
const countDone = (rows) => total(rows.map((row) => (row?.succeeded ?? 0) + (row?.failed ?? 0)));

/** Compares it with the figures. @param {Pick<Result, 'merge' | 'timeline' | 'operations' | 'stages' | 'totals'>} result */
export function* checkMergeBlock({ merge, timeline, operations, stages: ofStages, totals: { sent } }) {
  if (merge === undefined) return;
  const stages = stagesOfPart({ operations, stages: ofStages }, merge);
  const all = stages.flatMap(({ own }) => Object.values(own));
  for (const key of COUNTS) {
    const perSecond = sumArrays([...all.map(({ perSecond }) => perSecond[key]), timeline.map(() => 0)]);
    const second = perSecond.findIndex((count, at) => count !== (timeline[at]?.[key] ?? 0));
    if (second >= 0)
      yield `merge has ${perSecond[second]} ${key} in second ${second}, but the timeline ${timeline[second]?.[key] ?? 0}`;
  }
  for (const key of /** @type {const} */ (['lag', 'readLate'])) {
    const text = merge.watch[key];
    if (text !== undefined) yield* checkHistogram(`merge.watch.${key}`, text, sent);
  }
  for (const stage of stages) yield* checkOwnTimes(stage);
  // A single part with one thread has no lags.
  for (const [second, lag] of merge.lags.entries()) {
    const done = countDone([timeline[second]]);
    if (lag !== null)
      yield* checkHistogram(`merge.lags.${second}.histogram`, lag.histogram, done, { max: lag.max });
  }
}

/** The target's own times in a stage, or in a run without stages. @param {ReturnType<typeof stagesOfPart>[number]} stage */
function* checkOwnTimes({ path, blocks, own }) {
  for (const [name, block] of Object.entries(own)) {
    if (!Object.hasOwn(blocks, name)) {
      yield `merge has an operation ${name}, which was not measured`;
      continue;
    }
    const details = new Map(Object.entries(blocks[name].outcomeDetails));
    for (const [outcome, histograms] of Object.entries(block.own ?? {}))
      for (const series of /** @type {const} */ (['response', 'service'])) {
        const count = details.get(outcome)?.latencyMs[series].count ?? 0;
        yield* checkHistogram(`merge.${path}.${name}.own.${outcome}.${series}`, histograms[series], count);
      }
  }
}
