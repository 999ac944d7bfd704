/** Results for tests: consistent by construction, from a list of requests that might have been. */
import { createHistogram, encodeHistogram, recordMs } from '../../src/histogram.js';
import { quantileRank } from '../../src/results/statistics.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/**
 * @typedef {object} Group requests with one outcome
 * @property {string} outcome
 * @property {boolean} [success] true unless said otherwise
 * @property {number[]} service milliseconds, one per request
 * @property {number} [lag] milliseconds, the same for all
 */

/** @param {number[]} values @returns {import('../../src/results/schema.js').LatencyBlock} */
export function latency(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  const histogram = createHistogram();
  for (const value of sorted) recordMs(histogram, value);
  const at = (/** @type {number} */ q) => (count === 0 ? null : sorted[quantileRank(count, q) - 1]);
  return {
    count,
    min: sorted[0] ?? null,
    mean: count === 0 ? null : sorted.reduce((sum, value) => sum + value, 0) / count,
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    max: sorted[count - 1] ?? null,
    histogram: count === 0 ? null : encodeHistogram(histogram),
  };
}

/** @param {Group[]} groups */
function latencies(groups) {
  return {
    response: latency(groups.flatMap(({ service, lag = 0 }) => service.map((ms) => ms + lag))),
    service: latency(groups.flatMap(({ service }) => service)),
    sendLag: latency(groups.flatMap(({ service, lag = 0 }) => service.map(() => lag))),
  };
}

/**
 * @param {Group[]} groups
 * @param {{dropped?: number, neverSent?: number, seconds?: number}} [more]
 * @returns {import('../../src/results/schema.js').OperationBlock}
 */
export function block(groups, { dropped = 0, neverSent = 0, seconds = 20 } = {}) {
  const count = (/** @type {boolean} */ wanted) =>
    groups
      .filter(({ success = true }) => success === wanted)
      .reduce((sum, { service }) => sum + service.length, 0);
  const [succeeded, failed] = [count(true), count(false)];
  const perSecond = succeeded / seconds;
  const sent = succeeded + failed;
  return {
    totals: {
      planned: sent + dropped + neverSent,
      sent,
      succeeded,
      failed,
      dropped,
      neverSent,
      neverSentDue: 0,
    },
    rates: {
      perSecond,
      perHour: perSecond * 3600,
      peakOneSecond: succeeded,
    },
    latencyMs: latencies(groups),
    outcomes: Object.fromEntries(groups.map(({ outcome, service }) => [outcome, service.length])),
    outcomeDetails: Object.fromEntries(
      groups.map((group) => [
        group.outcome,
        { count: group.service.length, success: group.success ?? true, latencyMs: latencies([group]) },
      ]),
    ),
    verification: { checked: succeeded, passed: succeeded, sampled: false, unchecked: 0, failures: {} },
  };
}

/**
 * @param {Group[]} groups
 * @param {Partial<Result> & {counts?: {dropped?: number, neverSent?: number}}} [changes]
 * @returns {Result}
 */
export function sampleResult(groups, { counts = {}, ...changes } = {}) {
  const command = changes.command ?? 'ocsp';
  const whole = block(groups, { ...counts, seconds: changes.durationSeconds });
  if (changes.verification !== undefined) whole.verification = changes.verification;
  const { sent, succeeded, failed } = whole.totals;
  const { p50, p99, max } = whole.latencyMs.response;
  return {
    schema: 'vault-pki-load/result/1',
    tool: { version: '0.1.0' },
    startedAt: '2026-01-02T03:04:05.678Z',
    durationSeconds: 20,
    interrupted: false,
    command,
    plan: { operation: command },
    target: { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' },
    load: openLoad(),
    warmup: { seconds: 0, sent: 0 },
    ...whole,
    operations: { [command]: { ...whole, things: command === 'ocsp' ? 'OCSP responses' : 'certificates' } },
    timeline: [
      { second: 0, sent, succeeded, failed, p50, p99, max },
      { second: 1, sent: 0, succeeded: 0, failed: 0, p50: null, p99: null, max: null },
    ],
    requirements: [],
    measurement: { verdict: 'valid', reasons: [] },
    environment: { node: '20.19.0', platform: 'linux x64', cpus: 2 },
    ...changes,
  };
}

/** @param {Partial<Result['load']>} [changes] @returns {Result['load']} */
export function openLoad(changes) {
  return {
    model: 'open',
    ratePerSecond: 20,
    concurrency: 10,
    threads: 1,
    arrivals: 'constant',
    seed: 7,
    timeoutMs: 10_000,
    overflow: 'queue',
    durationMs: 20_000,
    requests: null,
    warmupMs: 0,
    rampUpMs: 0,
    pacing: 'auto',
    ...changes,
  };
}

/** @param {Partial<Result['load']>} [changes] */
export function closedLoad(changes) {
  return openLoad({ model: 'closed', ratePerSecond: null, ...changes });
}

/**
 * @param {number} count
 * @param {number} from milliseconds
 * @param {number} to milliseconds
 * @returns {number[]} evenly spaced, ascending
 */
export function spread(count, from, to) {
  return Array.from({ length: count }, (_, i) => from + ((to - from) * i) / Math.max(1, count - 1));
}
