/**
 * Result -> ExportMetricsServiceRequest of OTLP, as a plain object. A receiver that turns its names into Prometheus's gets those
 * of src/report/data/prometheus.js.
 */
import { decodeHistogram } from '../common/histogram.js';
import { bucketsOf, countsUpTo } from '../report/data/buckets.js';
import { BOUNDS_SECONDS, metricsOf, QUANTILES } from '../report/data/metrics.js';

/** @import { Labels, LatencyPoint, Metric as NeutralMetric } from '../report/data/metrics.js' */
/** @import { LatencyBlock, Result } from '../result/schema.js' */

const NAME = 'vault-pki-load';

/** OpenTelemetry's names for Node's: https://opentelemetry.io/docs/specs/semconv/resource/ */
const OS_TYPES = /** @type {Record<string, string>} */ ({ win32: 'windows', sunos: 'solaris' });
const ARCHITECTURES = /** @type {Record<string, string>} */ ({ x64: 'amd64', ia32: 'x86', arm: 'arm32' });

/** AggregationTemporality: since the start of the run. */
const CUMULATIVE = 2;

const BOUNDS_US = BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6));

/**
 * @param {Result} result may be unfinished
 * @param {number} [nowMs] Unix time of the result; by default the end of the run
 */
export function toMetricsRequest(result, nowMs) {
  const startMs = Date.parse(result.startedAt);
  const endMs = nowMs ?? startMs + result.durationSeconds * 1000;
  const [startNs, endNs] = [nanoseconds(startMs), nanoseconds(Math.max(startMs, endMs))];
  const metrics = metricsOf(result).flatMap((metric) => encodeMetric(metric, startNs, endNs));
  const scope = { name: NAME, version: result.tool.version };
  const resource = { attributes: encodeAttributes(resourceOf(result)) };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
}

/** @param {Result} result @returns {Labels} two runs, or two shards of one, differ in `service.instance.id` */
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

/** @param {NeutralMetric} metric @param {string} startTimeUnixNano @param {string} timeUnixNano @returns {any[]} one; none without data points, which should not be sent */
function encodeMetric(metric, startTimeUnixNano, timeUnixNano) {
  const head = { name: `vault_pki_load.${metric.name}`, description: metric.help, unit: metric.unit };
  const at = (/** @type {Labels} */ labels) => ({ attributes: encodeAttributes(labels), timeUnixNano });
  const since = (/** @type {Labels} */ labels) => ({ ...at(labels), startTimeUnixNano });
  const aggregationTemporality = CUMULATIVE;
  if (metric.kind === 'counter') {
    const dataPoints = metric.points.map(({ labels, value }) => ({ ...since(labels), asInt: String(value) }));
    return dataPoints.length === 0
      ? []
      : [{ ...head, sum: { aggregationTemporality, isMonotonic: true, dataPoints } }];
  }
  if (metric.kind === 'histogram') {
    const dataPoints = metric.points.flatMap(({ labels, latency }) =>
      encodeLatency(latency).map((distribution) => ({ ...since(labels), ...distribution })),
    );
    return dataPoints.length === 0 ? [] : [{ ...head, histogram: { aggregationTemporality, dataPoints } }];
  }
  // OTLP keeps summaries for other systems' data only.
  const points = metric.points.flatMap((point) => ('latency' in point ? percentilePoints(point) : [point]));
  const dataPoints = points.map(({ labels, value }) => ({ ...at(labels), asDouble: value }));
  return dataPoints.length === 0 ? [] : [{ ...head, gauge: { dataPoints } }];
}

/** @param {LatencyPoint} point */
function percentilePoints({ labels, latency }) {
  return QUANTILES.flatMap(([quantile, key]) => {
    const ms = latency[key];
    return ms === null ? [] : [{ labels: { ...labels, quantile }, value: ms / 1000 }];
  });
}

/**
 * Protobuf's strings are UTF-8: half a surrogate pair, which a server's JSON may hold, becomes U+FFFD.
 * @param {Labels} labels
 */
function encodeAttributes(labels) {
  const encode = (/** @type {string} */ text) => ({ stringValue: Buffer.from(text).toString() });
  return Object.entries(labels).map(([key, text]) => ({ key, value: encode(text) }));
}

/**
 * Buckets of HdrHistograms (equal steps between powers of two) do not nest in those of an ExponentialHistogram (powers of
 * 2^(2^-scale)), so bounds are named: the same as in the Prometheus text. A latency counts as the longest of its histogram
 * bucket, as in every percentile of a result: at most 0.1 % too long.
 * @param {LatencyBlock} latency milliseconds
 * @returns seconds; `bucketCounts`: one more than bounds, for times above them
 */
function encodeLatency({ count, min, mean, max, histogram }) {
  if (histogram === null || min === null || mean === null || max === null) return [];
  const upTo = [...countsUpTo(bucketsOf(decodeHistogram(histogram)), BOUNDS_US), count];
  const bucketCounts = upTo.map((value, i) => String(value - (upTo[i - 1] ?? 0)));
  const seconds = { sum: (mean * count) / 1000, min: min / 1000, max: max / 1000 };
  return [{ count: String(count), ...seconds, bucketCounts, explicitBounds: [...BOUNDS_SECONDS] }];
}

/** @param {number} ms Unix time */
function nanoseconds(ms) {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
