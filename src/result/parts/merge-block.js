/** What a part of a plan writes into its result so that `merge` can take the parts for the shards of one run: see merge-results.js. */
import { createHistogram, decodeHistogram, encodeHistogram } from '../../common/histogram.js';

/** @import { SecondRow } from '../../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally, Tally } from '../../engine/recording/tally.js' */
/** @import { RunFacts } from '../build.js' */
/** @import { OperationBlock, Result } from '../schema.js' */
/** @import { MergeBlock } from './merge-block-schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * @typedef {Omit<MergeBlock['watch'], 'lag' | 'readLate' | 'machine'> & Record<'lag' | 'readLate', Histogram>} Watched
 */

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/**
 * @param {object} part
 * @param {CellTally[]} part.operations
 * @param {Pick<RunFacts, 'endedMs' | 'windowMs'>} part.facts
 * @param {Watched} part.watched
 * @param {MergeBlock['watch']['machine']} part.machine
 * @param {(string | null)[]} part.lagPerSecond encoded: the send lags of requests done in each second; null: none was
 * @param {(number | null | undefined)[]} [part.lagMaxPerSecond] ms, the longest of them, where a bucket is not exact enough
 * @returns {MergeBlock} plain
 */
export function mergeBlockOf({ operations, facts, watched, machine, lagPerSecond, lagMaxPerSecond = [] }) {
  return {
    endedMs: facts.endedMs,
    windowMs: facts.windowMs,
    operations: Object.fromEntries(
      operations.map(({ name, warmup, perSecond, lastSuccessMs, firstHalf, successesAfter, outcomes }) => [
        name,
        { warmup, perSecond, lastSuccessMs, firstHalf, successesAfter, own: ownOf(outcomes) },
      ]),
    ),
    lags: lagPerSecond.map((histogram, second) =>
      histogram === null ? null : { histogram, max: lagMaxPerSecond[second] ?? topOf(histogram) },
    ),
    watch: watchOf(watched, machine),
  };
}

/** @param {string} histogram not empty @returns {number} ms: the upper end of its last bucket */
function topOf(histogram) {
  return decodeHistogram(histogram).maxValue / 1000;
}

/** @param {CellTally['outcomes']} outcomes */
function ownOf(outcomes) {
  return Object.fromEntries(
    Object.entries(outcomes).map(
      ([
        name,
        {
          latency: { ownResponse, ownService },
        },
      ]) => [name, { response: encodeHistogram(ownResponse), service: encodeHistogram(ownService) }],
    ),
  );
}

/** @param {Watched} watched @param {MergeBlock['watch']['machine']} machine @returns {MergeBlock['watch']} */
function watchOf({ lag, readLate, gc, backlog, ...rest }, machine) {
  const { busyShare, spinShare, runQueueShare, droppedLate, displaced, forgone, leftWhileFree, dialled } =
    rest;
  return {
    lag: encodeHistogram(lag),
    readLate: encodeHistogram(readLate),
    gc,
    busyShare,
    spinShare,
    runQueueShare,
    droppedLate,
    displaced,
    forgone,
    leftWhileFree,
    dialled,
    backlog,
    machine,
  };
}

/**
 * The way back: what the recorders of a part handed in at the end.
 *
 * @param {Result} result of a part
 * @param {MergeBlock} merge its merge block
 * @returns {Tally<string>} its histograms are text
 */
export function tallyOf(result, merge) {
  return {
    operations: Object.entries(result.operations).map(([name, block]) => ({
      name,
      stage: 0,
      outcomes: outcomesOf(block, merge.operations[name].own ?? {}),
      verification: { ...block.verification, notes: block.verification.notes ?? [] },
      dropped: block.totals.dropped,
      neverSentDue: block.totals.neverSentDue,
      ...merge.operations[name],
    })),
    lag: merge.watch.lag,
    readLate: merge.watch.readLate ?? encodeHistogram(createHistogram()),
    displaced: merge.watch.displaced ?? { second: 0, tenth: 0 },
  };
}

/**
 * @param {OperationBlock} block
 * @param {Record<string, {response: string, service: string}>} own by outcome; zeros where an older version recorded none
 * @returns {Record<string, OutcomeTally<string>>} dropped arrivals are no outcome to a recorder
 */
function outcomesOf({ outcomeDetails }, own) {
  const recorded = Object.entries(outcomeDetails).filter(([name]) => name !== 'dropped');
  const empty = encodeHistogram(createHistogram());
  return Object.fromEntries(
    recorded.map(([name, { success, count, latencyMs }]) => {
      const latency = SERIES.map((series) => [series, latencyMs[series].histogram ?? empty]);
      latency.push(
        ['ownResponse', own[name]?.response ?? zeros(latencyMs.response.count)],
        ['ownService', own[name]?.service ?? zeros(latencyMs.service.count)],
      );
      return [name, { success, count, latency: Object.fromEntries(latency) }];
    }),
  );
}

/** @param {number} count @returns {string} an encoded histogram of so many zeros */
function zeros(count) {
  const histogram = createHistogram();
  if (count > 0) histogram.recordValueWithCount(0, count);
  return encodeHistogram(histogram);
}

/**
 * The way back, second by second.
 *
 * @param {Result} result of a part
 * @param {MergeBlock} merge its merge block
 * @returns {SecondRow[]}
 */
export function secondsOf({ timeline }, { lags }) {
  return timeline.map((row) => {
    const lag = lags[row.second] ?? null;
    return {
      second: row.second,
      succeeded: row.succeeded,
      failed: row.failed,
      failures: row.failures ?? {},
      p50: row.p50,
      p90: row.p90 ?? null,
      p99: row.p99,
      max: row.max,
      lag99: row.lag99 ?? null,
      lagMax: lag === null ? null : lag.max,
      histogram: row.histogram ?? null,
      histogramSeconds: row.histogramSeconds ?? 1,
      lag: lag === null ? null : lag.histogram,
    };
  });
}
