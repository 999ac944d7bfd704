/** Snapshots of several shards -> one, histograms added bucket for bucket. */
import { encodeHistogram, sumHistograms, valueAtShare } from '../../common/histogram.js';

/** @typedef {import('./recorder.js').Snapshot} Snapshot */
/** @typedef {import('./recorder.js').OperationSnapshot} OperationSnapshot */
/** @typedef {import('./recorder.js').SecondRow} SecondRow */
/** @typedef {import('../../common/histogram.js').Histogram} Histogram */
/**
 * @typedef {object} MergedOutcome
 * @property {boolean} success
 * @property {number} count
 * @property {Record<'response' | 'service' | 'sendLag' | 'ownResponse' | 'ownService', Histogram>} latency
 */
/**
 * @typedef {Omit<OperationSnapshot, 'outcomes'> & {outcomes: Record<string, MergedOutcome>} & Planned} MergedOperation
 */
/**
 * @typedef {object} Planned where the plan has several operations or stages
 * @property {number} [planned] requests of this operation in this stage
 * @property {number} [neverSent] of those, as the senders counted them
 * @property {{count: number, ms: number}} [pace] successes in the last stage, and its length: the rate at which the run ended
 */
/** @typedef {SecondRow} Second of all shards */

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag', 'ownResponse', 'ownService']);

/** Of a second in which nothing was done. */
const NO_FIGURES = Object.freeze({
  p50: null,
  p90: null,
  p99: null,
  max: null,
  lag99: null,
  lagMax: null,
  histogram: null,
  histogramSeconds: 1,
  lag: null,
});

/**
 * @param {Snapshot[]} snapshots of the same plan, at least one
 * @returns {{operations: MergedOperation[], lag: Histogram, readLate: Histogram, displaced: Snapshot['displaced']}}
 */
export function mergeSnapshots(snapshots) {
  const operations = snapshots[0].operations.map((_, i) =>
    mergeOperation(snapshots.map(({ operations }) => operations[i])),
  );
  return {
    operations,
    lag: sumHistograms(snapshots.map(({ lag }) => lag)),
    readLate: sumHistograms(snapshots.map(({ readLate }) => readLate)),
    displaced: {
      second: total(snapshots.map(({ displaced }) => displaced.second)),
      tenth: total(snapshots.map(({ displaced }) => displaced.tenth)),
    },
  };
}

/**
 * Each operation over all stages. What is always under way is told by the last of them (see rateWindowMs): those before it count
 * as far as some of theirs came after the end of all.
 *
 * @param {MergedOperation[]} cells all of the first stage, then all of the next
 * @param {readonly {startMs: number, endMs: number}[]} spans of the stages
 * @returns {MergedOperation[]}
 */
export function foldStages(cells, spans) {
  if (spans.length < 2) return cells;
  const { startMs, endMs } = spans[spans.length - 1];
  const names = [...new Set(cells.map(({ name }) => name))];
  return names.map((name) => {
    const own = cells.filter((cell) => cell.name === name);
    const { firstHalf, perSecond } = own[own.length - 1];
    const late = own.filter(({ lastSuccessMs }) => lastSuccessMs > endMs);
    return {
      ...mergeOperation(own),
      stage: 0,
      firstHalf,
      successesAfter: total(late.map(({ successesAfter }) => successesAfter)),
      pace: { count: total(perSecond.succeeded), ms: endMs - startMs },
    };
  });
}

/**
 * @param {MergedOperation[]} cells
 * @param {readonly number[] | null} planned of each; null: a closed loop plans as many as there was time for
 * @param {readonly number[]} left of each: neither sent nor dropped
 * @returns {MergedOperation[]} the same where there is only one: what the run says of itself is true of it
 */
export function withPlanned(cells, planned, left) {
  if (cells.length === 1) return cells;
  return cells.map((cell, i) => ({
    ...cell,
    planned: planned?.[i] ?? settledOf(cell) + left[i],
    neverSent: left[i],
  }));
}

/** @param {MergedOperation} operation @returns {number} requests that were sent or dropped */
export function settledOf({ outcomes, dropped }) {
  const sent = Object.entries(outcomes).filter(([name]) => name !== 'never_sent');
  return dropped + total(sent.map(([, { count }]) => count));
}

/**
 * @param {MergedOperation[]} operations
 * @param {{planned: number, neverSent: number}} facts of the run
 * @returns {{planned: number, neverSent: number}} of these operations; of the run where it has only one
 */
export function plannedOf(operations, facts) {
  if (operations.some(({ planned }) => planned === undefined)) {
    return { planned: facts.planned, neverSent: facts.neverSent };
  }
  return {
    planned: total(operations.map(({ planned }) => Number(planned))),
    neverSent: total(operations.map(({ neverSent }) => Number(neverSent))),
  };
}

/**
 * @param {((OperationSnapshot & Planned) | MergedOperation)[]} parts
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
    stage: parts[0].stage,
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
    ...plannedParts(parts),
  };
}

/**
 * @param {Planned[]} parts
 * @returns {Planned}
 */
function plannedParts(parts) {
  if (parts.some(({ planned }) => planned === undefined)) return {};
  return {
    planned: total(parts.map(({ planned }) => Number(planned))),
    neverSent: total(parts.map(({ neverSent }) => Number(neverSent))),
  };
}

/**
 * @param {(import('./recorder.js').OutcomeSnapshot | MergedOutcome)[]} parts
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
 * @param {number} second
 * @param {SecondRow[]} rows this second of every shard that has one
 * @returns {Second}
 */
export function mergeSeconds(second, rows) {
  return {
    second,
    succeeded: total(rows.map(({ succeeded }) => succeeded)),
    failed: total(rows.map(({ failed }) => failed)),
    failures: sumRecords(rows.map(({ failures }) => failures)),
    ...(rows.length === 1 ? ownFigures(rows[0]) : figuresOf(rows.filter(({ max }) => max !== null))),
  };
}

/** @typedef {Omit<Second, 'second' | 'succeeded' | 'failed' | 'failures'>} Figures */

/** @param {SecondRow} row @returns {Figures} */
function ownFigures({ second, succeeded, failed, failures, ...figures }) {
  return figures;
}

/**
 * The largest value is known exactly, a histogram only has its bucket.
 *
 * @param {SecondRow[]} rows of parts, with answers
 * @returns {Figures}
 */
function figuresOf(rows) {
  if (rows.length === 0) return NO_FIGURES;
  if (rows.length === 1) return ownFigures(rows[0]);
  const max = Math.max(...rows.map((row) => Number(row.max)));
  const response = sumHistograms(rows.map(({ histogram }) => String(histogram)));
  const lag = sumHistograms(rows.flatMap((row) => row.lag ?? []));
  const lagMax = Math.max(...rows.map((row) => Number(row.lagMax)));
  const at = (/** @type {number} */ share) => Math.min(valueAtShare(response, share), max);
  return {
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max,
    lag99: lag.totalCount === 0 ? null : Math.min(valueAtShare(lag, 0.99), lagMax),
    lagMax,
    histogram: encodeHistogram(response),
    histogramSeconds: 1,
    lag: lag.totalCount === 0 ? null : encodeHistogram(lag),
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
  /** @type {Map<string, number>} */
  const sum = new Map();
  for (const record of records) {
    for (const [name, count] of Object.entries(record)) sum.set(name, (sum.get(name) ?? 0) + count);
  }
  return Object.fromEntries(sum);
}

/**
 * @param {number[][]} arrays of different lengths
 * @returns {number[]}
 */
export function sumArrays(arrays) {
  const length = Math.max(0, ...arrays.map((array) => array.length));
  return Array.from({ length }, (_, i) => total(arrays.map((array) => array[i] ?? 0)));
}
