/** Result -> OTLP ExportMetricsServiceRequest, as plain data. Translated for Prometheus, its names are those of prometheus.js. */
import { BOUNDS_SECONDS, cumulativeCounts, metricsOf, QUANTILES } from '../report/data/metrics.js';

/** @import { Labels, LatencyPoint, Metric, NumberPoint } from '../report/data/metrics.js' */
/** @import { LatencyBlock, Result } from '../result/schema.js' */

const NAME = 'vault-pki-load';
/** AggregationTemporality: since the start of the run. */
const CUMULATIVE = 2;

/** @param {Result} result may be unfinished @param {number} [nowMs] Unix time; by default the end of the run */
export function toMetricsRequest(result, nowMs) {
  const startMs = Date.parse(result.startedAt);
  const endMs = nowMs ?? startMs + result.durationSeconds * 1000;
  const [startNs, endNs] = [nanoseconds(startMs), nanoseconds(Math.max(startMs, endMs))];
  const metrics = metricsOf(result).flatMap((metric) => encodeMetric(metric, startNs, endNs));
  const scope = { name: NAME, version: result.tool.version };
  const resource = { attributes: encodeAttributes(resourceOf(result)) };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
}

/** @param {Result} result @returns {Labels} `service.instance.id` differs between runs and parts of a run */
function resourceOf({ tool, startedAt, shard, target: { url, product, version } }) {
  return {
    'service.name': NAME,
    'service.version': tool.version,
    'service.instance.id': shard === undefined ? startedAt : `${startedAt}/${shard.index}/${shard.of}`,
    'vault_pki_load.target.url': url,
    ...(product === null ? {} : { 'vault_pki_load.target.product': product }),
    ...(version === null ? {} : { 'vault_pki_load.target.version': version }),
  };
}

/** OTLP forbids metrics without points. @param {Metric} metric @param {string} startTimeUnixNano @param {string} timeUnixNano */
function encodeMetric(metric, startTimeUnixNano, timeUnixNano) {
  const { name, help: description, unit, kind } = metric;
  const isCumulative = kind === 'counter' || kind === 'histogram';
  const times = isCumulative ? { startTimeUnixNano, timeUnixNano } : { timeUnixNano };
  const points = [...metric.points].flatMap((point) => encodePoint(kind, point));
  const dataPoints = points.map(({ labels, ...values }) => {
    return { attributes: encodeAttributes(labels), ...times, ...values };
  });
  if (dataPoints.length === 0) return [];
  const aggregationTemporality = CUMULATIVE;
  const data = {
    counter: { sum: { aggregationTemporality, isMonotonic: true, dataPoints } },
    histogram: { histogram: { aggregationTemporality, dataPoints } },
    gauge: { gauge: { dataPoints } },
    // OTLP reserves summaries for data from other systems.
    percentiles: { gauge: { dataPoints } },
  };
  return [{ name: `vault_pki_load.${name}`, description, unit, ...data[kind] }];
}

/** @param {Metric['kind']} kind @param {NumberPoint | LatencyPoint} point @returns {{labels: Labels, [value: string]: unknown}[]} */
function encodePoint(kind, point) {
  const { labels } = point;
  if (!('latency' in point)) {
    return [{ labels, ...(kind === 'counter' ? { asInt: String(point.value) } : { asDouble: point.value }) }];
  }
  if (kind === 'histogram') return encodeLatency(point.latency).map((values) => ({ labels, ...values }));
  return QUANTILES.flatMap(([quantile, key]) => {
    const ms = point.latency[key];
    return ms === null ? [] : { labels: { ...labels, quantile }, asDouble: ms / 1000 };
  });
}

/** Protobuf's strings are UTF-8: half a surrogate pair, possible in JSON, becomes U+FFFD. @param {Labels} labels */
function encodeAttributes(labels) {
  const encode = (/** @type {string} */ text) => ({ stringValue: Buffer.from(text).toString() });
  return Object.entries(labels).map(([key, text]) => ({ key, value: encode(text) }));
}

/**
 * HdrHistogram buckets (equal steps between powers of two) do not nest in those of an ExponentialHistogram
 * (powers of 2^(2^-scale)), so the bounds are explicit, as in the Prometheus text. A latency counts as the
 * upper end of its histogram bucket: at most 0.1 % too long.
 * @param {LatencyBlock} latency milliseconds
 * @returns seconds; `bucketCounts` has one more than the bounds, for times above them
 */
function encodeLatency(latency) {
  const { count, min, mean, max } = latency;
  if (min === null || mean === null || max === null) return [];
  const bucketCounts = cumulativeCounts(latency).map((upTo, i, list) => String(upTo - (list[i - 1] ?? 0)));
  const seconds = { sum: (mean * count) / 1000, min: min / 1000, max: max / 1000 };
  return [{ count: String(count), ...seconds, bucketCounts, explicitBounds: [...BOUNDS_SECONDS] }];
}

/** @param {number} ms Unix time */
const nanoseconds = (ms) => String(BigInt(Math.round(ms)) * 1_000_000n);
