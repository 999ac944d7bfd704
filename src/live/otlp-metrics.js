/**
 * Result -> ExportMetricsServiceRequest of OTLP, as a plain object. A receiver that turns its names into Prometheus's gets those
 * of src/report/data/prometheus.js.
 */
import { metricsOf, QUANTILES } from '../report/data/metrics.js';
import { createEncoder, encodeAttributes } from './otlp-encoding.js';

/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('./otlp-encoding.js').Encoder} Encoder */
/** @typedef {import('./otlp-encoding.js').KeyValue} KeyValue */
/** @typedef {import('./otlp-encoding.js').Metric} Metric */
/**
 * @typedef {object} MetricsRequest
 * @property {{
 *   resource: {attributes: KeyValue[]},
 *   scopeMetrics: {scope: {name: string, version: string}, metrics: Metric[]}[],
 * }[]} resourceMetrics
 */

const NAME = 'vault-pki-load';

/** What OpenTelemetry calls what Node calls otherwise: https://opentelemetry.io/docs/specs/semconv/resource/ */
const OS_TYPES = /** @type {Record<string, string>} */ ({ win32: 'windows', sunos: 'solaris' });
const ARCHITECTURES = /** @type {Record<string, string>} */ ({ x64: 'amd64', ia32: 'x86', arm: 'arm32' });

/**
 * @param {Result} result may be unfinished
 * @param {number} [nowMs] Unix time at which it said so; else the end of the run
 * @returns {MetricsRequest}
 */
export function toMetricsRequest(result, nowMs) {
  const startMs = Date.parse(result.startedAt);
  const encoder = createEncoder(startMs, nowMs ?? startMs + result.durationSeconds * 1000);
  const metrics = metricsOf(result).map((metric) => encode(encoder, metric));
  return {
    resourceMetrics: [
      {
        resource: { attributes: encodeAttributes(resourceOf(result)) },
        scopeMetrics: [
          { scope: { name: NAME, version: result.tool.version }, metrics: metrics.filter(hasPoints) },
        ],
      },
    ],
  };
}

/**
 * @param {Result} result
 * @returns {Record<string, string>} two runs, or two shards of one, differ in `service.instance.id`
 */
function resourceOf({ tool, startedAt, shard, environment, target }) {
  const [platform, architecture] = environment.platform.split(' ');
  return {
    'service.name': NAME,
    'service.version': tool.version,
    'service.instance.id': shard === undefined ? startedAt : `${startedAt}/${shard.index}/${shard.of}`,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': environment.node.replace(/^v/, ''),
    'os.type': OS_TYPES[platform] ?? platform,
    ...(architecture === undefined ? {} : { 'host.arch': ARCHITECTURES[architecture] ?? architecture }),
    'vault_pki_load.target.url': target.url,
    ...(target.product === null ? {} : { 'vault_pki_load.target.product': target.product }),
    ...(target.version === null ? {} : { 'vault_pki_load.target.version': target.version }),
  };
}

/**
 * @param {Encoder} encoder
 * @param {import('../report/data/metrics.js').Metric} metric
 * @returns {Metric}
 */
function encode({ counter, gauge, histogram }, metric) {
  const { name, unit, help } = metric;
  const head = { name: `vault_pki_load.${name}`, description: help, unit };
  switch (metric.kind) {
    case 'counter':
      return counter(head, metric.points);
    case 'gauge':
      return gauge(head, metric.points);
    case 'histogram':
      return histogram(head, metric.points);
    case 'percentiles':
      return gauge(head, metric.points.flatMap(percentilePoints));
  }
}

/**
 * OTLP has summaries only for what comes from elsewhere.
 *
 * @param {import('../report/data/metrics.js').LatencyPoint} point
 */
function percentilePoints({ labels, latency }) {
  return QUANTILES.flatMap(([quantile, key]) => {
    const ms = latency[key];
    return ms === null ? [] : [{ labels: { ...labels, quantile }, value: ms / 1000 }];
  });
}

/** Envelopes without data points should not be sent. @param {Metric} metric */
function hasPoints({ sum, gauge, histogram }) {
  return (sum ?? gauge ?? histogram)?.dataPoints.length !== 0;
}
