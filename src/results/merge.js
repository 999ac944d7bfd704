/** Snapshots of several shards -> one, histograms added bucket for bucket. */
import { figures, sumHistograms } from '../histogram.js';

/** @typedef {import('../load/recording/recorder.js').Snapshot} Snapshot */
/** @typedef {import('../load/recording/recorder.js').OperationSnapshot} OperationSnapshot */
/** @typedef {import('../load/recording/recorder.js').SecondRow} SecondRow */
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
 * @returns {{operations: MergedOperation[], lag: Histogram, unlagged: Histogram}}
 */
export function mergeSnapshots(snapshots) {
  const operations = snapshots[0].operations.map((_, i) =>
    mergeOperation(snapshots.map(({ operations }) => operations[i])),
  );
  return {
    operations,
    lag: sumHistograms(snapshots.map(({ lag }) => lag)),
    unlagged: sumHistograms(snapshots.map(({ unlagged }) => unlagged)),
  };
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
      notes: [...new Set(parts.flatMap(({ verification }) => verification.notes))],
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
    firstHalf: {
      count: total(parts.map(({ firstHalf }) => firstHalf.count)),
      responseMs: total(parts.map(({ firstHalf }) => firstHalf.responseMs)),
    },
    successesAfter: total(parts.map(({ successesAfter }) => successesAfter)),
  };
}

/**
 * @param {import('../load/recording/recorder.js').OutcomeSnapshot[]} parts
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
 * @returns {Omit<SecondRow, 'response'>}
 */
export function mergeSeconds(rows) {
  const parts = rows.flatMap(({ response }) => response ?? []);
  return {
    second: rows[0].second,
    succeeded: total(rows.map(({ succeeded }) => succeeded)),
    failed: total(rows.map(({ failed }) => failed)),
    failures: sumRecords(rows.map(({ failures }) => failures)),
    ...figuresOf(rows, parts),
  };
}

/**
 * The largest value is known exactly, a histogram only has its bucket.
 *
 * @param {SecondRow[]} rows
 * @param {string[]} histograms
 */
function figuresOf(rows, histograms) {
  if (rows.length === 1) return { p50: rows[0].p50, p99: rows[0].p99, max: rows[0].max };
  if (histograms.length === 0) return { p50: null, p99: null, max: null };
  const max = Math.max(...rows.map((row) => row.max ?? 0));
  const { p50, p99 } = figures(sumHistograms(histograms));
  return { p50: Math.min(Number(p50), max), p99: Math.min(Number(p99), max), max };
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
