/**
 * A result as Prometheus text exposition, for a file and, while the run goes on, for scraping. Names follow from OpenTelemetry's
 * by its compatibility rules: dots become underscores, the unit is added, counters end in `_total`.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ (0.0.4)
 */

import { decodeHistogram } from '../../common/histogram.js';
import { distinct } from '../layout.js';
import { bucketsOf, countsUpTo } from './buckets.js';
import { BOUNDS_SECONDS, exact, metricsOf, QUANTILES } from './metrics.js';

/** @import { LatencyBlock, Result } from '../../result/schema.js' */
/** @import { Labels, Metric } from './metrics.js' */

const TYPES = /** @type {const} */ ({
  gauge: 'gauge',
  counter: 'counter',
  histogram: 'histogram',
  percentiles: 'summary',
});

/** @param {Result} result @returns {string} ends with a newline */
export function render(result) {
  return exposition([infoOf(result), ...metricsOf(result).map(familyOf)]);
}

/**
 * What OTLP has as attributes of its resource.
 *
 * @param {Result} result
 * @returns {Family}
 */
function infoOf({ tool, command, target, load }) {
  const labels = {
    version: tool.version,
    command,
    url: target.url,
    product: target.product ?? '',
    product_version: target.version ?? '',
    model: load.model,
  };
  const help = 'What was run, by which version, against what.';
  return { name: 'info', type: 'gauge', help, samples: [sample(1, labels)] };
}

/** @param {Metric} metric @returns {Family} */
function familyOf(metric) {
  return {
    name: nameOf(metric),
    type: TYPES[metric.kind],
    help: metric.help,
    samples: samplesOf(metric),
  };
}

/** @param {Metric} metric */
function nameOf({ name, unit, kind }) {
  const inUnit = unit === 's' ? '_seconds' : unit.endsWith('/s') ? '_per_second' : '';
  return `${name.replaceAll('.', '_')}${inUnit}${kind === 'counter' ? '_total' : ''}`;
}

/** @param {Metric} metric */
function samplesOf(metric) {
  switch (metric.kind) {
    case 'histogram':
      return metric.points.flatMap(({ labels, latency }) => histogramSamples(latency, labels));
    case 'percentiles':
      return metric.points.flatMap(({ labels, latency }) => percentileSamples(latency, labels));
    default:
      return metric.points.map(({ labels, value }) => sample(value, labels));
  }
}

const BOUNDS_US = BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6));

/**
 * @param {LatencyBlock} latency
 * @param {Labels} labels
 * @returns {Sample[]} cumulative counts, sum and count
 */
function histogramSamples(latency, labels) {
  const own = latency.histogram === null ? [] : bucketsOf(decodeHistogram(latency.histogram));
  const counts = countsUpTo(own, BOUNDS_US);
  return [
    ...BOUNDS_SECONDS.map((bound, i) => sample(counts[i], { ...labels, le: String(bound) }, '_bucket')),
    sample(latency.count, { ...labels, le: '+Inf' }, '_bucket'),
    ...sumAndCount(latency, labels),
  ];
}

/** @param {LatencyBlock} latency @param {Labels} labels @returns {Sample[]} NaN for a missing percentile */
function percentileSamples(latency, labels) {
  const quantiles = QUANTILES.map(([quantile, key]) => {
    const ms = latency[key];
    return sample(ms === null ? Number.NaN : exact(ms / 1000), { ...labels, quantile });
  });
  return [...quantiles, ...sumAndCount(latency, labels)];
}

/** @param {LatencyBlock} latency @param {Labels} labels */
function sumAndCount({ count, mean }, labels) {
  return [sample(exact((count * (mean ?? 0)) / 1000), labels, '_sum'), sample(count, labels, '_count')];
}

/** @typedef {{labels: Labels, value: number, suffix?: string}} Sample */
/** @typedef {{name: string, type: 'counter' | 'gauge' | 'histogram' | 'summary', help: string, samples: Sample[]}} Family */

const PREFIX = 'vault_pki_load_';

/** @param {Family[]} families those without a sample are left out @returns {string} ends with a newline */
export function exposition(families) {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(familyText)
    .join('');
}

/** @param {Family} family */
function familyText({ name, type, help, samples }) {
  const lines = samples.map(({ labels, value, suffix = '' }) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
    const set = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    return `${PREFIX}${name}${suffix}${set} ${valueText(value)}\n`;
  });
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n${lines.join('')}`;
}

/**
 * Different outcomes stay different series: promtool refuses a series that comes twice, and Prometheus drops it.
 * `distinct` has replaced line breaks.
 *
 * @param {string} text
 */
function escapeLabel(text) {
  return distinct(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

/** @param {number} value */
function valueText(value) {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

/**
 * @param {number} value
 * @param {Labels} [labels]
 * @param {string} [suffix] of the family's name
 * @returns {Sample}
 */
export function sample(value, labels = {}, suffix = '') {
  return { labels, value, suffix };
}
