/**
 * Result -> ExportMetricsServiceRequest of OTLP, as a plain object. A receiver that turns its names into Prometheus's gets those
 * of src/report/data/prometheus.js.
 */

import { decodeHistogram } from '../common/histogram.js';
import { bucketsOf, countsUpTo } from '../report/data/buckets.js';
import { BOUNDS_SECONDS, metricsOf, QUANTILES } from '../report/data/metrics.js';

/** @import { Labels, LatencyPoint, NumberPoint } from '../report/data/metrics.js' */
/** @import { LatencyBlock, Result } from '../result/schema.js' */

/**
 * @typedef {object} MetricsRequest
 * @property {{ resource: {attributes: KeyValue[]},
 *   scopeMetrics: {scope: {name: string, version: string}, metrics: Metric[]}[],
 * }[]} resourceMetrics
 */

const NAME = 'vault-pki-load';

/** OpenTelemetry's names for Node's: https://opentelemetry.io/docs/specs/semconv/resource/ */
const OS_TYPES = /** @type {Record<string, string>} */ ({ win32: 'windows', sunos: 'solaris' });
const ARCHITECTURES = /** @type {Record<string, string>} */ ({ x64: 'amd64', ia32: 'x86', arm: 'arm32' });

/**
 * @param {Result} result may be unfinished
 * @param {number} [nowMs] Unix time of the result; by default the end of the run
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

/** @param {Encoder} encoder @param {import('../report/data/metrics.js').Metric} metric @returns {Metric} */
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
 * OTLP keeps summaries for other systems' data only.
 *
 * @param {LatencyPoint} point
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

/** @typedef {{key: string, value: {stringValue: string}}} KeyValue */
/**
 * @typedef {object} NumberDataPoint
 * @property {KeyValue[]} attributes
 * @property {string} [startTimeUnixNano]
 * @property {string} timeUnixNano
 * @property {string} [asInt]
 * @property {number} [asDouble]
 */
/**
 * @typedef {object} HistogramDataPoint
 * @property {KeyValue[]} attributes
 * @property {string} startTimeUnixNano
 * @property {string} timeUnixNano
 * @property {string} count
 * @property {number} sum
 * @property {string[]} bucketCounts one more than `explicitBounds`
 * @property {number[]} explicitBounds upper bounds, which belong to their buckets
 * @property {number} min
 * @property {number} max
 */
/** @typedef {{name: string, description: string, unit: string}} MetricHead */
/**
 * @typedef {MetricHead & {
 *   sum?: {aggregationTemporality: number, isMonotonic: boolean, dataPoints: NumberDataPoint[]},
 *   gauge?: {dataPoints: NumberDataPoint[]},
 *   histogram?: {aggregationTemporality: number, dataPoints: HistogramDataPoint[]},
 * }} Metric
 */
/** @typedef {ReturnType<typeof createEncoder>} Encoder */

/** AggregationTemporality: since the start of the run. */
const CUMULATIVE = 2;

/**
 * @param {number} startMs Unix time at which everything was zero
 * @param {number} nowMs Unix time of the points
 */
function createEncoder(startMs, nowMs) {
  const timeUnixNano = nanoseconds(Math.max(startMs, nowMs));
  const since = { startTimeUnixNano: nanoseconds(startMs), timeUnixNano };
  return {
    /** @param {MetricHead} head @param {NumberPoint[]} points whole numbers that never fall @returns {Metric} */
    counter: (head, points) => ({
      ...head,
      sum: {
        aggregationTemporality: CUMULATIVE,
        isMonotonic: true,
        dataPoints: points.map(({ labels, value }) => ({
          attributes: encodeAttributes(labels),
          ...since,
          asInt: String(value),
        })),
      },
    }),
    /** @param {MetricHead} head @param {NumberPoint[]} points @returns {Metric} */
    gauge: (head, points) => ({
      ...head,
      gauge: {
        dataPoints: points.map(({ labels, value }) => ({
          attributes: encodeAttributes(labels),
          timeUnixNano,
          asDouble: value,
        })),
      },
    }),
    /** @param {MetricHead} head @param {LatencyPoint[]} points those without a sample are left out @returns {Metric} */
    histogram: (head, points) => ({
      ...head,
      histogram: {
        aggregationTemporality: CUMULATIVE,
        dataPoints: points.flatMap(({ labels, latency }) => {
          const distribution = encodeLatency(latency);
          if (distribution === null) return [];
          return [{ attributes: encodeAttributes(labels), ...since, ...distribution }];
        }),
      },
    }),
  };
}

/**
 * Protobuf's strings are UTF-8: half a surrogate pair, which a server's JSON may hold, becomes U+FFFD.
 *
 * @param {Labels} labels
 * @returns {KeyValue[]}
 */
function encodeAttributes(labels) {
  return Object.entries(labels).map(([key, text]) => ({
    key,
    value: { stringValue: Buffer.from(text).toString() },
  }));
}

/**
 * Buckets of HdrHistograms (equal steps between powers of two) do not nest in those of an ExponentialHistogram (powers of
 * 2^(2^-scale)), so bounds are named: the same as in the Prometheus text.
 *
 * @param {LatencyBlock} latency milliseconds
 * @returns {Pick<HistogramDataPoint, 'count' | 'sum' | 'bucketCounts' | 'explicitBounds' | 'min' | 'max'> | null} seconds
 */
function encodeLatency({ count, min, mean, max, histogram }) {
  if (histogram === null || min === null || mean === null || max === null) return null;
  const counts = countByBound(histogram, BOUNDS_SECONDS);
  return {
    count: String(counts.reduce((total, one) => total + one, 0)),
    sum: (mean * count) / 1000,
    bucketCounts: counts.map(String),
    explicitBounds: [...BOUNDS_SECONDS],
    min: min / 1000,
    max: max / 1000,
  };
}

/**
 * A latency counts as the longest of its histogram bucket, as in every percentile of a result: at most 0.1 % too long.
 *
 * @param {string} encoded microseconds
 * @param {readonly number[]} bounds seconds, ascending
 * @returns {number[]} one more than there are bounds: the last is for what lies above them
 */
function countByBound(encoded, bounds) {
  const buckets = bucketsOf(decodeHistogram(encoded));
  const upTo = countsUpTo(
    buckets,
    bounds.map((bound) => Math.round(bound * 1e6)),
  );
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  return [...upTo, all].map((count, i, counts) => count - (i === 0 ? 0 : counts[i - 1]));
}

/** @param {number} ms Unix time */
function nanoseconds(ms) {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
