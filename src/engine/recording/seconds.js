/**
 * The seconds of a run, as the shards hand them in: a second is whole when every shard has handed in its row. Each is added
 * up once, when it is whole: nothing is left for the end.
 */
import {
  createHistogram,
  encodeHistogram,
  recordMs,
  sumHistograms,
  valueAtShare,
} from '../../common/histogram.js';
import { sumRecords, total } from '../../common/sums.js';
import { createSpans } from './spans.js';

/** @import { Verdict } from '../../operations/index.js' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * @typedef {object} SecondRow one second of the measured part; times are ms, of requests done in it; null: none was
 * @property {number} second
 * @property {number} succeeded
 * @property {number} failed
 * @property {Record<string, number>} failures by outcome
 * @property {number | null} p50 of the response times
 * @property {number | null} p90
 * @property {number | null} p99
 * @property {number | null} max
 * @property {number | null} lag99 p99 of the send lags
 * @property {number | null} lagMax
 * @property {string | null} histogram encoded: the response times of this second and, in a long run, those before it
 * @property {number} histogramSeconds that it covers, this one included (see engine/recording/spans.js)
 * @property {string | null} lag encoded: the send lags, where other shards' have to be added to them
 */
/** @typedef {SecondRow} Second of all shards */

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
 * Those of a run. A part of a plan keeps a histogram of each second, so that other parts' can be added to it; a single
 * thread's recorder has joined them already.
 * @param {Pick<LoadPlan, 'threads' | 'shard'>} load
 */
export function createRunSeconds({ threads, shard }) {
  return createSeconds(threads, { joins: threads > 1 && shard === null });
}

/**
 * @param {number} shards that hand in rows
 * @param {{joins?: boolean}} [options] `joins`: in a long run, several seconds share a histogram (see spans.js)
 */
export function createSeconds(shards, { joins = false } = {}) {
  const spans = joins ? createSpans() : null;
  /** @type {SecondRow[][]} */
  const open = [];
  /** @type {Second[]} */
  const rows = [];
  /** @type {Record<string, number>} */
  const errors = {};
  const sums = { succeeded: 0, failed: 0 };

  function closeNext() {
    const merged = mergeSeconds(rows.length, open[rows.length] ?? []);
    // Send lags are kept second by second for other parts to be added to, and then nothing is joined.
    const row =
      spans === null ? merged : { ...merged, ...spans.add(merged.second, merged.histogram), lag: null };
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
    /** @param {SecondRow} row of one shard; each shard's come in order */
    add(row) {
      open[row.second] ??= [];
      open[row.second].push(row);
      while (open[rows.length]?.length === shards) closeNext();
    },
    /**
     * @param {SecondRow[]} [unfinished] of single shards: their seconds that go on
     * @returns {Second[]} whole ones, and the others so far; closes none
     */
    soFar(unfinished = []) {
      const end = Math.max(open.length, ...unfinished.map(({ second }) => second + 1));
      const tail = Array.from({ length: Math.max(0, end - rows.length) }, (_, i) => {
        const second = rows.length + i;
        const going = unfinished.filter((row) => row.second === second);
        return mergeSeconds(second, [...(open[second] ?? []), ...going]);
      });
      return [...rows, ...tail];
    },
    /** At the end: shards that finished earlier have handed in fewer rows. */
    closeAll() {
      while (rows.length < open.length) closeNext();
      if (spans?.isOpen()) Object.assign(rows[rows.length - 1], spans.end());
    },
  };
}

/** @param {number} second */
export function createSecond(second) {
  const row = { second, succeeded: 0, failed: 0, failures: /** @type {Record<string, number>} */ ({}) };
  const response = createHistogram();
  const sendLag = createHistogram();
  const empty = () => row.succeeded + row.failed === 0;
  return {
    second,
    empty,
    response,
    /** @param {Verdict} verdict @param {number} responseMs @param {number} sendLagMs */
    add({ outcome, success }, responseMs, sendLagMs) {
      recordMs(response, responseMs);
      recordMs(sendLag, sendLagMs);
      if (success) row.succeeded++;
      else {
        row.failed++;
        row.failures[outcome] = (row.failures[outcome] ?? 0) + 1;
      }
    },
    /** @param {boolean} isPart other shards' have to be added to it, so it has histograms of its own @returns {SecondRow} as far as it has come */
    row(isPart) {
      const figures = empty() ? NO_FIGURES : figuresOf(response, sendLag, isPart);
      return { ...row, failures: { ...row.failures }, ...figures };
    },
  };
}

/**
 * @param {Histogram} response of a second in which something was done
 * @param {Histogram} lag
 * @param {boolean} isKept with the histograms
 * @param {{max: number, lagMax: number}} [most] known exactly, where the histograms only have its bucket
 */
function figuresOf(
  response,
  lag,
  isKept,
  most = { max: response.maxValue / 1000, lagMax: lag.maxValue / 1000 },
) {
  const at = (/** @type {number} */ share) => Math.min(valueAtShare(response, share), most.max);
  const hasLag = lag.totalCount > 0;
  return {
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    ...most,
    lag99: hasLag ? Math.min(valueAtShare(lag, 0.99), most.lagMax) : null,
    histogram: isKept ? encodeHistogram(response) : null,
    histogramSeconds: 1,
    lag: isKept && hasLag ? encodeHistogram(lag) : null,
  };
}

/** @param {number} second @param {SecondRow[]} rows this second of every shard that has one @returns {Second} */
function mergeSeconds(second, rows) {
  const counts = {
    second,
    succeeded: total(rows.map(({ succeeded }) => succeeded)),
    failed: total(rows.map(({ failed }) => failed)),
    failures: sumRecords(rows.map(({ failures }) => failures)),
  };
  const answered = rows.length === 1 ? rows : rows.filter(({ max }) => max !== null);
  if (answered.length === 0) return { ...counts, ...NO_FIGURES };
  if (answered.length === 1) return { ...answered[0], ...counts };
  const response = sumHistograms(answered.map(({ histogram }) => String(histogram)));
  const lag = sumHistograms(answered.flatMap((row) => row.lag ?? []));
  const max = Math.max(...answered.map((row) => Number(row.max)));
  const lagMax = Math.max(...answered.map((row) => Number(row.lagMax)));
  return { ...counts, ...figuresOf(response, lag, true, { max, lagMax }) };
}
