/** The times of a result as Prometheus metrics: histograms to add up and compare, and the run's own percentiles. */
import { decodeHistogram } from '../histogram.js';
import { bucketsOf, countsUpTo } from './buckets.js';
import { QUANTILES, TIMES } from './metric-names.js';
import { exact, gauge, sample } from './prometheus-text.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/schema.js').LatencyBlock} LatencyBlock */
/** @typedef {import('./prometheus-text.js').Family} Family */
/** @typedef {import('./prometheus-text.js').Labels} Labels */
/** @typedef {import('./prometheus-text.js').Sample} Sample */

/** Upper bounds of the buckets, the same in every run, so that runs can be added up: 0.1 ms to 100 s. */
export const BOUNDS_SECONDS = Object.freeze([
  ...[-4, -3, -2, -1, 0, 1].flatMap((decade) => [1, 2.5, 5].map((part) => exact(part * 10 ** decade))),
  100,
]);

const BOUNDS_US = BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6));

/**
 * @param {Result} result
 * @returns {Family[]}
 */
export function histogramFamilies({ operations }) {
  const blocks = Object.entries(operations);
  const responses = blocks.flatMap(([operation, { outcomeDetails }]) =>
    Object.entries(outcomeDetails)
      .filter(([outcome]) => outcome !== 'dropped')
      .flatMap(([outcome, { latencyMs }]) => buckets(latencyMs.response, { operation, outcome })),
  );
  const whole = (/** @type {'service' | 'sendLag'} */ series) =>
    blocks.flatMap(([operation, { latencyMs }]) => buckets(latencyMs[series], { operation }));
  return [
    histogram('response_time_seconds', 'From when a request was due to the end of its answer.', responses),
    histogram(
      'service_time_seconds',
      'From when a request was sent to the end of its answer.',
      whole('service'),
    ),
    histogram('send_lag_seconds', 'From when a request was due to when it was sent.', whole('sendLag')),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]}
 */
export function percentileFamilies({ latencyMs }) {
  const samples = TIMES.flatMap(([time, series]) => [
    ...QUANTILES.map(([quantile, key]) => sample(seconds(latencyMs[series][key]), { time, quantile })),
    sample(sumSeconds(latencyMs[series]), { time }, '_sum'),
    sample(latencyMs[series].count, { time }, '_count'),
  ]);
  const longest = TIMES.filter(([, series]) => latencyMs[series].count > 0).map(([time, series]) =>
    sample(seconds(latencyMs[series].max), { time }),
  );
  const help = 'Percentiles of the whole run, finer than the buckets of its histograms.';
  return [
    { name: 'latency_seconds', type: 'summary', help, samples },
    gauge('latency_max_seconds', 'The longest of the whole run.', longest),
  ];
}

/**
 * @param {string} name
 * @param {string} help
 * @param {Sample[]} samples
 * @returns {Family}
 */
function histogram(name, help, samples) {
  return { name, type: 'histogram', help, samples };
}

/**
 * @param {LatencyBlock} latency
 * @param {Labels} labels
 * @returns {Sample[]} cumulative counts, sum and count
 */
function buckets(latency, labels) {
  const own = latency.histogram === null ? [] : bucketsOf(decodeHistogram(latency.histogram));
  const counts = countsUpTo(own, BOUNDS_US);
  return [
    ...BOUNDS_SECONDS.map((bound, i) => sample(counts[i], { ...labels, le: String(bound) }, '_bucket')),
    sample(latency.count, { ...labels, le: '+Inf' }, '_bucket'),
    sample(sumSeconds(latency), labels, '_sum'),
    sample(latency.count, labels, '_count'),
  ];
}

/** @param {LatencyBlock} latency */
function sumSeconds({ count, mean }) {
  return exact((count * (mean ?? 0)) / 1000);
}

/** @param {number | null} ms */
function seconds(ms) {
  return ms === null ? Number.NaN : exact(ms / 1000);
}
