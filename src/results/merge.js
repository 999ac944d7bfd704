/** Snapshots of several shards -> one, histograms added bucket for bucket. */
import { createHistogram, decodeHistogram, sumHistograms } from '../histogram.js';

/** @typedef {import('../load/recorder.js').Snapshot} Snapshot */
/** @typedef {import('../load/recorder.js').OperationSnapshot} OperationSnapshot */
/** @typedef {import('../load/recorder.js').SecondRow} SecondRow */
/** @typedef {import('../histogram.js').Histogram} Histogram */
/**
 * @typedef {object} MergedOutcome
 * @property {boolean} success
 * @property {number} count
 * @property {Record<'response' | 'service' | 'sendLag', Histogram>} latency
 */
/** @typedef {Omit<OperationSnapshot, 'outcomes'> & {outcomes: Record<string, MergedOutcome>}} MergedOperation */

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/**
 * @param {Snapshot[]} snapshots of the same plan, at least one
 * @returns {{operations: MergedOperation[], lag: Histogram}}
 */
export function mergeSnapshots(snapshots) {
  const operations = snapshots[0].operations.map((_, i) =>
    mergeOperation(snapshots.map(({ operations }) => operations[i])),
  );
  return { operations, lag: sumHistograms(snapshots.map(({ lag }) => lag)) };
}

/**
 * @param {OperationSnapshot[]} parts
 * @returns {MergedOperation}
 */
function mergeOperation(parts) {
  const names = [...new Set(parts.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  const outcomes = names.map((name) => [
    name,
    mergeOutcome(parts.flatMap((part) => part.outcomes[name] ?? [])),
  ]);
  return {
    name: parts[0].name,
    outcomes: Object.fromEntries(outcomes),
    verification: {
      checked: total(parts.map(({ verification }) => verification.checked)),
      passed: total(parts.map(({ verification }) => verification.passed)),
      unchecked: total(parts.map(({ verification }) => verification.unchecked)),
      failures: sumRecords(parts.map(({ verification }) => verification.failures)),
    },
    dropped: total(parts.map(({ dropped }) => dropped)),
    neverSentDue: total(parts.map(({ neverSentDue }) => neverSentDue)),
    warmup: total(parts.map(({ warmup }) => warmup)),
    perSecond: {
      sent: sumArrays(parts.map(({ perSecond }) => perSecond.sent)),
      succeeded: sumArrays(parts.map(({ perSecond }) => perSecond.succeeded)),
      failed: sumArrays(parts.map(({ perSecond }) => perSecond.failed)),
    },
    lastSuccessMs: Math.max(...parts.map(({ lastSuccessMs }) => lastSuccessMs)),
    firstHalfMaxMs: Math.max(...parts.map(({ firstHalfMaxMs }) => firstHalfMaxMs)),
  };
}

/**
 * @param {import('../load/recorder.js').OutcomeSnapshot[]} parts
 * @returns {MergedOutcome}
 */
function mergeOutcome(parts) {
  const latency = SERIES.map((series) => [series, sumHistograms(parts.map((part) => part.latency[series]))]);
  return {
    success: parts[0].success,
    count: total(parts.map(({ count }) => count)),
    latency: Object.fromEntries(latency),
  };
}

/**
 * @param {SecondRow[]} rows the same second of every shard
 * @returns {{second: number, succeeded: number, failed: number, failures: Record<string, number>, response: Histogram}}
 */
export function mergeSeconds(rows) {
  const parts = rows.flatMap(({ response }) => (response === null ? [] : response));
  return {
    second: rows[0].second,
    succeeded: total(rows.map(({ succeeded }) => succeeded)),
    failed: total(rows.map(({ failed }) => failed)),
    failures: sumRecords(rows.map(({ failures }) => failures)),
    response:
      parts.length === 0
        ? createHistogram()
        : parts.length === 1
          ? decodeHistogram(parts[0])
          : sumHistograms(parts),
  };
}

/** @param {number[]} values */
export function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * @param {Record<string, number>[]} records
 * @returns {Record<string, number>}
 */
export function sumRecords(records) {
  /** @type {Record<string, number>} */
  const sum = {};
  for (const record of records) {
    for (const [name, count] of Object.entries(record)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/**
 * @param {number[][]} arrays of different lengths
 * @returns {number[]}
 */
export function sumArrays(arrays) {
  const length = Math.max(0, ...arrays.map((array) => array.length));
  return Array.from({ length }, (_, i) => total(arrays.map((array) => array[i] ?? 0)));
}
