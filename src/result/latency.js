/** The figures of a distribution of times, and their block in a document. */
import { encodeHistogram, meanOf, valueAtRank, valueAtShare } from '../common/histogram.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { LatencyBlock } from './schema.js' */

/** response = done - intended, service = done - sent, sendLag = sent - intended. */
export const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/** Figure -> how to read it from a histogram that is not empty; ms. */
export const FIGURES = Object.freeze({
  min: (/** @type {Histogram} */ histogram) => valueAtRank(histogram, 1),
  mean: meanOf,
  p50: percentile(0.5),
  p90: percentile(0.9),
  p95: percentile(0.95),
  p99: percentile(0.99),
  p999: percentile(0.999),
  max: (/** @type {Histogram} */ histogram) => histogram.maxValue / 1000,
});

/** @typedef {keyof typeof FIGURES} Figure */

/** @param {Histogram} histogram @returns {Record<Figure, number | null>} ms; null where it is empty */
export function figuresOf(histogram) {
  const read = Object.entries(FIGURES).map(([key, figure]) => [
    key,
    histogram.totalCount === 0 ? null : figure(histogram),
  ]);
  return Object.fromEntries(read);
}

/** @param {Histogram} histogram @returns {LatencyBlock} ms */
export function buildLatency(histogram) {
  const count = histogram.totalCount;
  return { count, ...figuresOf(histogram), histogram: count === 0 ? null : encodeHistogram(histogram) };
}

/** @param {number} share */
function percentile(share) {
  return (/** @type {Histogram} */ histogram) => valueAtShare(histogram, share);
}
