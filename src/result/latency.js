/** The figures of a distribution of times: each entry appears in every latency block, with its error bar. */
import { encodeHistogram, meanOf, valueAtRank, valueAtShare } from '../common/histogram.js';
import { extremeBar, meanBar, percentileBar } from '../verdict/bars.js';

/** @import { Times, ValueBar } from '../verdict/bars.js' */
/** @import { Bar, LatencyBlock } from './schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** response = done - intended, service = done - sent, sendLag = sent - intended. */
export const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/** @typedef {'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max'} Figure */
/** @typedef {{read: (histogram: Histogram) => number, bar: (times: Times) => ValueBar}} Reader for non-empty ones; ms */

/** @type {Readonly<Record<Figure, Reader>>} */
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

/** @param {number} share @returns {Reader} */
function percentile(share) {
  return { read: (histogram) => valueAtShare(histogram, share), bar: (times) => percentileBar(times, share) };
}

/** @template T @param {(reader: Reader) => T} of */
function ofEach(of) {
  return /** @type {any} */ (Object.fromEntries(FIGURES.map((figure) => [figure, of(READERS[figure])])));
}

/** @param {Histogram} histogram @returns {Record<Figure, number | null>} ms; null if empty */
export function figuresOf(histogram) {
  return ofEach(({ read }) => (histogram.totalCount === 0 ? null : read(histogram)));
}

/** @param {Histogram} histogram @returns {LatencyBlock} ms */
export function buildLatency(histogram) {
  const count = histogram.totalCount;
  return { count, ...figuresOf(histogram), histogram: count === 0 ? null : encodeHistogram(histogram) };
}

/** @param {Times} times @returns {{bars?: Record<Figure, Bar>}} none if nothing was recorded */
export function barsOf(times) {
  if (times.reported.totalCount === 0) return {};
  const bars = ofEach(({ bar }) => {
    const { low, high, tool } = bar(times);
    return { low, high: Number.isFinite(high) ? high : null, tool };
  });
  return { bars };
}
