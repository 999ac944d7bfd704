/**
 * A result as Prometheus text exposition, for a file and for scraping during the run. Names follow from OpenTelemetry's
 * by its compatibility rules: dots become underscores, the unit becomes a suffix, counters end in `_total`.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ (0.0.4)
 */
import { sanitizeText } from '../../common/sanitize.js';
import { BOUNDS_SECONDS, cumulativeCounts, exact, metricsOf, QUANTILES } from './metrics.js';

/** @import { LatencyBlock, Result } from '../../result/schema.js' */
/** @import { Labels, LatencyMetric, Metric } from './metrics.js' */

/** @typedef {{labels: Labels, value: number, suffix?: string}} Sample */

const PREFIX = 'vault_pki_load_';

/** By kind of a metric. */
const TYPES = { gauge: 'gauge', counter: 'counter', histogram: 'histogram', percentiles: 'summary' };

/** @param {Result} result @returns {string} ends with a newline */
export function render(result) {
  const { tool, command, target, load } = result;
  const info = {
    ...{ version: tool.version, command, url: target.url, product: target.product ?? '' },
    ...{ product_version: target.version ?? '', model: load.model },
  };
  // OTLP has these as attributes of its resource.
  const help = 'Command, version and target of the run.';
  /** @type {Metric} */
  const about = { kind: 'gauge', name: 'info', unit: '', help, points: [{ labels: info, value: 1 }] };
  return [about, ...metricsOf(result)].map(familyText).join('');
}

/** @param {Metric} metric @returns {string} empty without a sample */
function familyText(metric) {
  const { name, unit, kind, help } = metric;
  const suffix = unit === 's' ? '_seconds' : unit.endsWith('/s') ? '_per_second' : '';
  const family = `${PREFIX}${name.replaceAll('.', '_')}${suffix}${kind === 'counter' ? '_total' : ''}`;
  const lines = samplesOf(metric).map(({ labels, value, suffix: part = '' }) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
    return `${family}${part}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return lines.length === 0
    ? ''
    : `# HELP ${family} ${help}\n# TYPE ${family} ${TYPES[kind]}\n${lines.join('')}`;
}

/** @param {Metric} metric @returns {Sample[]} */
function samplesOf(metric) {
  if (metric.kind === 'gauge' || metric.kind === 'counter') return metric.points;
  const samples = metric.kind === 'histogram' ? bucketSamples : percentileSamples;
  const { points } = /** @type {LatencyMetric} */ (metric);
  return points.flatMap(({ latency, labels }) => [
    ...samples(latency, labels),
    { labels, value: exact((latency.count * (latency.mean ?? 0)) / 1000), suffix: '_sum' },
    { labels, value: latency.count, suffix: '_count' },
  ]);
}

/** @param {LatencyBlock} latency @param {Labels} labels @returns {Sample[]} cumulative counts */
function bucketSamples(latency, labels) {
  const counts = cumulativeCounts(latency);
  const bounds = [...BOUNDS_SECONDS.map(String), '+Inf'];
  return bounds.map((le, i) => ({ labels: { ...labels, le }, value: counts[i], suffix: '_bucket' }));
}

/** @param {LatencyBlock} latency @param {Labels} labels @returns {Sample[]} NaN for a missing percentile */
function percentileSamples(latency, labels) {
  return QUANTILES.map(([quantile, key]) => {
    const ms = latency[key];
    return { labels: { ...labels, quantile }, value: ms === null ? Number.NaN : exact(ms / 1000) };
  });
}

/** @param {string} text @returns {string} on one line: sanitizeText replaces line breaks */
const escapeLabel = (text) => sanitizeText(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
