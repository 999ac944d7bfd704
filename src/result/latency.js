/** The figures of a distribution of times: each entry appears in every latency block, with its error bar. */
import {
  decodeHistogram,
  encodeHistogram,
  meanOf,
  sumHistograms,
  valueAtRank,
  valueAtShare,
} from '../common/histogram.js';
import { entriesOf } from '../common/json.js';
import { extremeBar, meanBar, percentileBar } from '../verdict/bars.js';

/** @import { OutcomeTally } from '../engine/recording/tally.js' */
/** @import { Times, ValueBar } from '../verdict/bars.js' */
/** @import { Bar, LatencyBlock } from './schema.js' */
/** @import { Distribution } from '../common/histogram.js' */

/** response = done - intended, service = done - sent, sendLag = sent - intended. */
export const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/** @typedef {'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max'} Figure */
/** @typedef {{share?: number, read: (histogram: Distribution) => number, bar: (times: Times, longestMs?: number) => ValueBar}} Reader of non-empty histograms; ms */

/** In the order of all reports. @type {Readonly<Record<Figure, Reader>>} */
const READERS = {
  min: { read: (histogram) => valueAtRank(histogram, 1), bar: (times) => extremeBar(times, 'min') },
  mean: { read: meanOf, bar: meanBar },
  p50: percentile(0.5),
  p90: percentile(0.9),
  p95: percentile(0.95),
  p99: percentile(0.99),
  p999: percentile(0.999),
  max: { read: (histogram) => histogram.maxValue / 1000, bar: (times) => extremeBar(times, 'max') },
};

export const FIGURES = /** @type {readonly Figure[]} */ (Object.keys(READERS));

/** The percentiles among the figures, and the share of the requests that each covers. */
export const PERCENTILES = FIGURES.flatMap((figure) => {
  const { share } = READERS[figure];
  return share === undefined ? [] : [{ figure, share }];
});

/** @param {string} figure e.g. `p999` @returns {string} e.g. `p99.9` */
export function labelOf(figure) {
  const share = PERCENTILES.find((one) => one.figure === figure)?.share;
  return share === undefined ? figure : `p${Number((100 * share).toPrecision(12))}`;
}

/** @param {number} share @returns {Reader} */
function percentile(share) {
  const read = (/** @type {Distribution} */ histogram) => valueAtShare(histogram, share);
  return { share, read, bar: (times) => percentileBar(times, share) };
}

/** @template T @param {(reader: Reader) => T} of */
function ofEach(of) {
  return /** @type {any} */ (Object.fromEntries(FIGURES.map((figure) => [figure, of(READERS[figure])])));
}

/** @param {Distribution} histogram @returns {Record<Figure, number | null>} ms; null if empty */
export function figuresOf(histogram) {
  return ofEach(({ read }) => (histogram.totalCount === 0 ? null : read(histogram)));
}

/** Adds figures missing from older files. @param {unknown} value JSON @throws {Error} for a bad histogram */
export function addMissingFigures(value) {
  if (typeof value !== 'object' || value === null) return;
  const block = /** @type {Record<string, unknown>} */ (value);
  const missing = FIGURES.filter((figure) => !(figure in block));
  const isOld = 'mean' in block && 'histogram' in block && missing.length > 0;
  if (!isOld) {
    for (const [, inner] of entriesOf(block)) addMissingFigures(inner);
    return;
  }
  const { histogram } = block;
  const figures = typeof histogram === 'string' ? figuresOf(decodeHistogram(histogram)) : null;
  for (const figure of missing) block[figure] = figures?.[figure] ?? null;
}

/** @param {Distribution} histogram @returns {LatencyBlock} ms */
export function buildLatency(histogram) {
  const count = histogram.totalCount;
  return { count, ...figuresOf(histogram), histogram: count === 0 ? null : encodeHistogram(histogram) };
}

/** @param {Times} times @param {number} [longestMs] see meanBar @returns {{bars?: Record<Figure, Bar>}} none if nothing was recorded */
export function barsOf(times, longestMs) {
  if (times.reported.totalCount === 0) return {};
  const bars = ofEach(({ bar }) => {
    const { low, high, tool } = bar(times, longestMs);
    return { low, high: Number.isFinite(high) ? high : null, tool };
  });
  return { bars };
}

/** @param {OutcomeTally[]} outcomes */
export function timesOf(outcomes) {
  const sum = (/** @type {keyof OutcomeTally['latency']} */ series) =>
    sumHistograms(outcomes.map(({ latency }) => latency[series]));
  const sendLag = sum('sendLag');
  return {
    response: { reported: sum('response'), target: sum('ownResponse') },
    service: { reported: sum('service'), target: sum('ownService') },
    // All of the send lag is the tool's.
    sendLag: { reported: sendLag, target: sendLag },
  };
}
