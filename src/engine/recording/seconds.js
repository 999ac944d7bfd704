/** The seconds of a run: every recorder delivers a row for each second; the rows are merged here. */
import {
  createHistogram,
  encodeHistogram,
  recordMs,
  sumHistograms,
  valueAtShare,
} from '../../common/histogram.js';
import { createSpans } from './spans.js';
import { addUp } from './tally.js';

/** @import { Classification } from '../../operations/index.js' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Distribution } from '../../common/histogram.js' */

/** @typedef {ReturnType<ReturnType<typeof createCurrentSecond>['row']>} SecondRow of one shard */
/** @typedef {SecondRow} Second of all shards */

/** @param {Pick<LoadPlan, 'threads' | 'shard'>} load whose `threads` deliver rows */
export function createSeconds({ threads, shard }) {
  // A part of a plan keeps one histogram per second for `merge`.
  const spans = shard === null ? createSpans() : null;
  const open = /** @type {SecondRow[][]} */ ([]);
  const rows = /** @type {Second[]} */ ([]);
  const errors = /** @type {Record<string, number>} */ ({});
  const sums = { succeeded: 0, failed: 0 };

  function closeNext() {
    const row = mergeSeconds(rows.length, open[rows.length] ?? []);
    // Only a part of a plan keeps the send lags of each second, for `merge`; its seconds are never joined.
    if (spans !== null) Object.assign(row, spans.add(row.second, row.histogram), { lag: null });
    open[rows.length] = [];
    rows.push(row);
    sums.succeeded += row.succeeded;
    sums.failed += row.failed;
    for (const [name, count] of Object.entries(row.failures)) errors[name] = (errors[name] ?? 0) + count;
  }

  return {
    /** Whole seconds, in order. */
    rows,
    /** Failures so far, by outcome. */
    errors,
    sums,
    /** @param {SecondRow} row of one shard, in order */
    add(row) {
      open[row.second] ??= [];
      open[row.second].push(row);
      while (open[rows.length]?.length === threads) closeNext();
    },
    /** Leaves open seconds open. @param {SecondRow[]} [unfinished] each shard's current second @returns {Second[]} */
    soFar(unfinished = []) {
      const end = Math.max(open.length, ...unfinished.map(({ second }) => second + 1));
      const seconds = [...rows];
      const current = spans?.copy();
      while (seconds.length < end) {
        const { length } = seconds;
        const started = unfinished.filter(({ second }) => second === length);
        const row = mergeSeconds(length, [...(open[length] ?? []), ...started]);
        seconds.push({ ...row, ...current?.add(length, row.histogram, length + 1 === end) });
      }
      const last = seconds.length - 1;
      if (current?.isOpen()) seconds[last] = { ...seconds[last], ...current.end() };
      return seconds;
    },
    /** Call at the end: shards that finished earlier have delivered fewer rows. */
    closeAll() {
      while (rows.length < open.length) closeNext();
      if (spans?.isOpen()) Object.assign(rows[rows.length - 1], spans.end());
    },
  };
}

/** @param {number} second */
const emptyRow = (second) => ({
  ...{ second, succeeded: 0, failed: 0, failures: /** @type {Record<string, number>} */ ({}) },
});

/** One second of a shard after the other; its histograms are reused. */
export function createCurrentSecond() {
  let row = emptyRow(0);
  const response = createHistogram();
  const sendLag = createHistogram();
  return {
    second: () => row.second,
    isEmpty: () => row.succeeded + row.failed === 0,
    /** @returns {Distribution} of the response times so far */
    responses: () => sumHistograms([response]),
    next() {
      row = emptyRow(row.second + 1);
      response.reset();
      sendLag.reset();
    },
    /** @param {Classification} classification @param {number} responseMs @param {number} sendLagMs */
    add({ outcome, success }, responseMs, sendLagMs) {
      recordMs(response, responseMs);
      recordMs(sendLag, sendLagMs);
      if (success) row.succeeded++;
      else {
        row.failed++;
        row.failures[outcome] = (row.failures[outcome] ?? 0) + 1;
      }
    },
    /** @param {boolean} keepsHistograms includes the histograms, for merging with other shards */
    row(keepsHistograms) {
      return { ...row, failures: { ...row.failures }, ...figuresOf(response, sendLag, keepsHistograms) };
    },
  };
}

/**
 * @param {Distribution} response @param {Distribution} lag @param {boolean} keepsHistograms includes the histograms
 * @param {{max: number, lagMax: number}} [exact] for decoded histograms, which hold only the bucket of the maximum
 * @returns times in ms; null for a second without completed requests
 */
function figuresOf(response, lag, keepsHistograms, exact) {
  const { max, lagMax } = exact ?? { max: response.maxValue / 1000, lagMax: lag.maxValue / 1000 };
  const isEmpty = response.totalCount === 0;
  const at = (/** @type {number} */ share) => (isEmpty ? null : Math.min(valueAtShare(response, share), max));
  const hasLag = lag.totalCount > 0;
  return {
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: isEmpty ? null : max,
    lagMax: isEmpty ? null : lagMax,
    lag99: hasLag ? Math.min(valueAtShare(lag, 0.99), lagMax) : null,
    /** Encoded response times of this second and, in a long run, earlier ones. */
    histogram: keepsHistograms && !isEmpty ? encodeHistogram(response) : null,
    /** Seconds that `histogram` covers, including this one (see spans.js). */
    histogramSeconds: 1,
    /** Encoded send lags, if several shards get merged. */
    lag: keepsHistograms && hasLag ? encodeHistogram(lag) : null,
  };
}

/** @param {number} second @param {SecondRow[]} rows of the shards that have this second @returns {Second} */
function mergeSeconds(second, rows) {
  if (rows.length === 1) return rows[0];
  const none = { succeeded: 0, failed: 0, failures: {} };
  const counts = rows.map(({ succeeded, failed, failures }) => ({ succeeded, failed, failures }));
  const sums = { second, ...addUp([none, ...counts]) };
  const done = rows.filter(({ max }) => max !== null);
  if (done.length === 1) return { ...done[0], ...sums };
  const response = sumHistograms(done.map(({ histogram }) => String(histogram)));
  const lag = sumHistograms(done.flatMap((row) => row.lag ?? []));
  const max = Math.max(...done.map((row) => Number(row.max)));
  const lagMax = Math.max(...done.map((row) => Number(row.lagMax)));
  return { ...sums, ...figuresOf(response, lag, true, { max, lagMax }) };
}
