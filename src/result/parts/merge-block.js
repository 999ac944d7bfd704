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
 * @param {object} part @param {CellTally[]} part.operations
 * @param {Pick<RunFacts, 'endedMs' | 'windowMs'>} part.facts @param {Watched} part.watched
 * @param {MergeBlock['watch']['machine']} part.machine
 * @param {Pick<SecondRow, 'lag' | 'lagMax'>[]} part.seconds `lagMax`: more exact than a bucket
 * @returns {MergeBlock}
 */
export function mergeBlockOf({ operations, facts: { endedMs, windowMs }, watched, machine, seconds }) {
  const own = operations.map(
    ({ name, warmup, perSecond, lastSuccessMs, successTimes, successesAfter, outcomes }) => [
      name,
      { warmup, perSecond, lastSuccessMs, successTimes, successesAfter, own: ownOf(outcomes) },
    ],
  );
  const lags = seconds.map(({ lag, lagMax }) =>
    lag === null ? null : { histogram: lag, max: lagMax ?? decodeHistogram(lag).maxValue / 1000 },
  );
  const [lag, readLate] = [watched.lag, watched.readLate].map(encodeHistogram);
  const watch = { ...watched, lag, readLate, machine };
  return { endedMs, windowMs, operations: Object.fromEntries(own), lags, watch };
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
export function tallyOf(result, { operations, watch }) {
  return {
    cells: Object.entries(result.operations).map(([name, block]) => ({
      name,
      stage: 0,
      outcomes: outcomesOf(block, operations[name].own ?? {}),
      verification: { ...block.verification, notes: block.verification.notes ?? [] },
      dropped: block.totals.dropped,
      neverSentDue: block.totals.neverSentDue,
      successTimes: emptyTimes(),
      ...operations[name],
    })),
    lag: watch.lag,
    readLate: watch.readLate ?? zeros(0),
    displaced: watch.displaced ?? { second: 0, tenth: 0 },
  };
}

/**
 * @param {OperationBlock} block
 * @param {Record<string, {response: string, service: string}>} own by outcome; older versions have none
 * @returns {Record<string, OutcomeTally<string>>} without dropped arrivals, as from a recorder
 */
function outcomesOf({ outcomeDetails }, own) {
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
