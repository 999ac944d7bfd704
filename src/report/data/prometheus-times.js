/** Latencies as samples of Prometheus: histograms to add up and compare, and the run's own percentiles. */
import { decodeHistogram } from '../../common/histogram.js';
import { bucketsOf, countsUpTo } from './buckets.js';
import { BOUNDS_SECONDS, exact, QUANTILES } from './metrics.js';
import { sample } from './prometheus-text.js';

/** @typedef {import('../../result/schema.js').LatencyBlock} LatencyBlock */
/** @typedef {import('./metrics.js').Labels} Labels */
/** @typedef {import('./prometheus-text.js').Sample} Sample */

const BOUNDS_US = BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6));

/**
 * @param {LatencyBlock} latency
 * @param {Labels} labels
 * @returns {Sample[]} cumulative counts, sum and count
 */
export function histogramSamples(latency, labels) {
  const own = latency.histogram === null ? [] : bucketsOf(decodeHistogram(latency.histogram));
  const counts = countsUpTo(own, BOUNDS_US);
  return [
    ...BOUNDS_SECONDS.map((bound, i) => sample(counts[i], { ...labels, le: String(bound) }, '_bucket')),
    sample(latency.count, { ...labels, le: '+Inf' }, '_bucket'),
    ...sumAndCount(latency, labels),
  ];
}

/**
 * @param {LatencyBlock} latency
 * @param {Labels} labels
 * @returns {Sample[]} NaN where there is none
 */
export function percentileSamples(latency, labels) {
  const quantiles = QUANTILES.map(([quantile, key]) => {
    const ms = latency[key];
    return sample(ms === null ? Number.NaN : exact(ms / 1000), { ...labels, quantile });
  });
  return [...quantiles, ...sumAndCount(latency, labels)];
}

/**
 * @param {LatencyBlock} latency
 * @param {Labels} labels
 */
function sumAndCount({ count, mean }, labels) {
  return [sample(exact((count * (mean ?? 0)) / 1000), labels, '_sum'), sample(count, labels, '_count')];
}
