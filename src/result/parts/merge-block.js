/** Tallies -> the merge block in the result of a part of a plan, and back (see merge-results.js). */
import { createHistogram, decodeHistogram, encodeHistogram, sumHistograms } from '../../common/histogram.js';
import { emptyTimes, PHASES } from '../../engine/recording/tally.js';
import { SERIES } from '../latency.js';

/** @import { SecondRow } from '../../engine/recording/seconds.js' */
/** @import { CellTally, OutcomeTally, Tally } from '../../engine/recording/tally.js' */
/** @import { RunFacts } from '../rates.js' */
/** @import { MergeBlock, OperationBlock, Result } from '../schema.js' */
/** @import { Distribution } from '../../common/histogram.js' */

/** @typedef {Omit<MergeBlock['watch'], 'lag' | 'readLate' | 'machine'> & Record<'lag' | 'readLate', Distribution>} Watched */

/**
 * @param {object} part @param {CellTally[]} part.cells all of the first stage, then all of the next
 * @param {readonly unknown[]} part.stages of the plan; none: it has no stages
 * @param {Pick<RunFacts, 'endedMs' | 'windowMs'>} part.facts @param {Watched} part.watched
 * @param {MergeBlock['watch']['machine']} part.machine
 * @param {Pick<SecondRow, 'lag' | 'lagMax'>[]} part.seconds `lagMax`: more exact than a bucket
 * @returns {MergeBlock}
 */
export function mergeBlockOf({ cells, stages, facts: { endedMs, windowMs }, watched, machine, seconds }) {
  const inStage = (/** @type {number} */ index) => {
    const own = cells
      .filter(({ stage }) => stage === index)
      .map(({ name, warmup, perSecond, lastSuccessMs, successTimes, successesAfter, outcomes }) => [
        name,
        { warmup, perSecond, lastSuccessMs, successTimes, successesAfter, own: ownOf(outcomes) },
      ]);
    return Object.fromEntries(own);
  };
  const lags = seconds.map(({ lag, lagMax }) =>
    lag === null ? null : { histogram: lag, max: lagMax ?? decodeHistogram(lag).maxValue / 1000 },
  );
  const [lag, readLate] = [watched.lag, watched.readLate].map(encodeHistogram);
  const watch = { ...watched, lag, readLate, machine };
  const operations =
    stages.length === 0
      ? { operations: inStage(0) }
      : { operations: {}, stages: stages.map((_, i) => inStage(i)) };
  return { endedMs, windowMs, ...operations, lags, watch };
}

/**
 * @param {Pick<Result, 'operations' | 'stages'>} result of a part @param {Pick<MergeBlock, 'operations' | 'stages'>} merge
 * @returns {{path: string, blocks: Record<string, OperationBlock>, own: MergeBlock['operations']}[]} by stage; one without stages
 */
export function stagesOfPart({ operations, stages }, merge) {
  if (stages === undefined) return [{ path: 'operations', blocks: operations, own: merge.operations }];
  return stages.map(({ operations: blocks }, i) => {
    return { path: `stages.${i}`, blocks, own: merge.stages?.[i] ?? {} };
  });
}

/** @param {CellTally['outcomes']} outcomes */
function ownOf(outcomes) {
  const own = Object.entries(outcomes).map(([name, { latency }]) => {
    const [response, service] = [latency.ownResponse, latency.ownService].map((own) =>
      encodeHistogram(sumHistograms([own])),
    );
    return [name, { response, service }];
  });
  return Object.fromEntries(own);
}

/** @param {Result} result of a part @param {MergeBlock} merge @returns {Tally<string>} its histograms are text */
export function tallyOf(result, merge) {
  const { watch } = merge;
  const cells = stagesOfPart(result, merge).flatMap(({ blocks, own }, stage) =>
    Object.entries(blocks).map(([name, { totals, verification, outcomeDetails }]) => ({
      name,
      stage,
      outcomes: outcomesOf(outcomeDetails, own[name].own ?? {}),
      verification: { ...verification, notes: verification.notes ?? [] },
      ...{ dropped: totals.dropped, neverSentDue: totals.neverSentDue, rested: totals.rested ?? 0 },
      ...{ planned: totals.planned, neverSent: totals.neverSent },
      successTimes: emptyTimes(),
      ...own[name],
    })),
  );
  return {
    cells,
    lag: watch.lag,
    readLate: watch.readLate ?? zeros(0),
    displaced: watch.displaced ?? { second: 0, tenth: 0 },
  };
}

/**
 * @param {OperationBlock['outcomeDetails']} outcomeDetails
 * @param {Record<string, {response: string, service: string}>} own by outcome; older versions have none
 * @returns {Record<string, OutcomeTally<string>>} without dropped arrivals, as from a recorder
 */
function outcomesOf(outcomeDetails, own) {
  const recorded = Object.entries(outcomeDetails).filter(([name]) => name !== 'dropped');
  const outcomes = recorded.map(([name, { success, count, latencyMs }]) => {
    const latency = Object.fromEntries(
      [...SERIES, ...PHASES].map((series) => [series, latencyMs[series]?.histogram ?? zeros(0)]),
    );
    const { response, service } = Object.hasOwn(own, name)
      ? own[name]
      : { response: zeros(latencyMs.response.count), service: zeros(latencyMs.service.count) };
    return [name, { success, count, latency: { ...latency, ownResponse: response, ownService: service } }];
  });
  return Object.fromEntries(outcomes);
}

/** @param {number} count @returns {string} an encoded histogram of this many zeros */
function zeros(count) {
  const histogram = createHistogram();
  if (count > 0) histogram.recordValueWithCount(0, count);
  return encodeHistogram(histogram);
}

/** @param {Result} result of a part @param {MergeBlock} merge @returns {SecondRow[]} */
export function secondsOf({ timeline }, { lags }) {
  return timeline.map(({ due, sent, failures = {}, histogram = null, histogramSeconds = 1, ...row }) => {
    const { max: lagMax = null, histogram: lag = null } = lags[row.second] ?? {};
    const { p90 = null, lag99 = null } = row;
    return { ...row, failures, p90, lag99, lagMax, histogram, histogramSeconds, lag };
  });
}
