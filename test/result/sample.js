/** Results for tests: consistent by construction, from a list of requests that might have been. */
import { createHistogram, encodeHistogram, quantileRank, recordMs } from '../../src/common/histogram.js';
import { PERCENTILES } from '../../src/result/latency.js';

/** @import { LatencyBlock, OperationBlock, Result } from '../../src/result/schema.js' */

/** When the first of several runs was started, where a minute is told. */
export const START = Date.UTC(2026, 0, 2, 3, 0, 0);

/**
 * @typedef {object} Group requests with one outcome; of `never_sent`, those that were due and waited until the end
 * @property {string} outcome
 * @property {boolean} [success] true unless said otherwise
 * @property {number[]} service milliseconds, one per request; the ages of those never sent
 * @property {number} [lag] milliseconds, the same for all
 * @property {number} [times] each request stands for so many alike
 * @property {string} [meaning]
 */
/** @typedef {{ms: number, times: number}} Weighted */

/** @param {number[]} values @returns {LatencyBlock} */
export function latency(values) {
  return weightedLatency(values.map((ms) => ({ ms, times: 1 })));
}

/** @param {Weighted[]} values @returns {LatencyBlock} */
function weightedLatency(values) {
  const sorted = [...values].sort((a, b) => a.ms - b.ms);
  const count = sorted.reduce((sum, { times }) => sum + times, 0);
  const histogram = createHistogram();
  for (const { ms, times } of sorted) {
    if (times === 1) recordMs(histogram, ms);
    else histogram.recordValueWithCount(Math.round(ms * 1000), times);
  }
  const at = (/** @type {number} */ q) => (count === 0 ? null : valueAt(sorted, quantileRank(count, q)));
  return {
    count,
    min: sorted[0]?.ms ?? null,
    mean: count === 0 ? null : sorted.reduce((sum, { ms, times }) => sum + ms * times, 0) / count,
    .../** @type {any} */ (Object.fromEntries(PERCENTILES.map(({ figure, share }) => [figure, at(share)]))),
    max: sorted.at(-1)?.ms ?? null,
    histogram: count === 0 ? null : encodeHistogram(histogram),
  };
}

/** @param {Weighted[]} sorted @param {number} rank from 1 */
function valueAt(sorted, rank) {
  let below = 0;
  for (const { ms, times } of sorted) {
    below += times;
    if (below >= rank) return ms;
  }
  throw new RangeError(`rank ${rank} of ${below}`);
}

/** @param {Group[]} groups */
function latencies(groups) {
  const sent = groups.filter(isSent);
  return {
    response: weightedLatency(weighted(groups, (ms, lag) => ms + lag)),
    service: weightedLatency(weighted(sent, (ms) => ms)),
    sendLag: weightedLatency(weighted(sent, (_, lag) => lag)),
  };
}

/** @param {Group[]} groups @param {(ms: number, lag: number) => number} value @returns {Weighted[]} */
function weighted(groups, value) {
  return groups.flatMap(({ service, lag = 0, times = 1 }) =>
    service.map((ms) => ({ ms: value(ms, lag), times })),
  );
}

/** @param {Group} group */
function isSent({ outcome }) {
  return outcome !== 'never_sent';
}

/** @param {Group} group */
function isSuccess({ success, outcome }) {
  return success ?? outcome !== 'never_sent';
}

/** @param {Group[]} groups */
function sizeOf(groups) {
  return groups.reduce((sum, { service, times = 1 }) => sum + service.length * times, 0);
}

/**
 * @param {Group[]} groups
 * @param {{dropped?: number, neverSent?: number, seconds?: number}} [more] `neverSent`: those that were not even due
 * @returns {OperationBlock}
 */
export function block(groups, { dropped = 0, neverSent = 0, seconds = 20 } = {}) {
  const sentGroups = groups.filter(isSent);
  const succeeded = sizeOf(sentGroups.filter(isSuccess));
  const failed = sizeOf(sentGroups) - succeeded;
  const neverSentDue = sizeOf(groups) - succeeded - failed;
  const perSecond = succeeded / seconds;
  const sent = succeeded + failed;
  const alike = [...new Set(groups.map(({ outcome }) => outcome))].map((outcome) =>
    groups.filter((group) => group.outcome === outcome),
  );
  const details = alike.map((own) => [
    own[0].outcome,
    {
      count: sizeOf(own),
      success: isSuccess(own[0]),
      ...(own[0].meaning === undefined ? {} : { meaning: own[0].meaning }),
      latencyMs: latencies(own),
    },
  ]);
  const errors = failed + dropped + neverSentDue;
  return {
    totals: {
      planned: sent + dropped + neverSent + neverSentDue,
      sent,
      succeeded,
      failed,
      dropped,
      neverSent: neverSent + neverSentDue,
      neverSentDue,
      errors,
    },
    errorShare: succeeded + errors === 0 ? null : errors / (succeeded + errors),
    rates: { perSecond, perHour: perSecond * 3600, peakOneSecond: succeeded },
    latencyMs: latencies(groups),
    outcomes: {
      ...Object.fromEntries(alike.map((own) => [own[0].outcome, sizeOf(own)])),
      ...(dropped > 0 ? { dropped } : {}),
    },
    outcomeDetails: {
      ...Object.fromEntries(details),
      ...(dropped > 0 ? { dropped: { count: dropped, success: false, latencyMs: latencies([]) } } : {}),
    },
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
  const { p50, p99, max } = latencies(groups.filter(isSent)).response;
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
    operations: { [command]: { ...whole, unit: command === 'ocsp' ? 'OCSP responses' : 'certificates' } },
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

/**
 * As a run writes it today; the rows of `sampleResult` are as an older version wrote them.
 *
 * @param {Group[]} groups
 * @param {number} seconds that the requests of each group are spread over, in their order; one more, empty, ends it
 * @returns {Result['timeline']}
 */
export function timelineOf(groups, seconds) {
  return Array.from({ length: seconds + 1 }, (_, second) => {
    const own = groups.filter(isSent).map((group) => {
      const from = (/** @type {number} */ at) => Math.ceil((at / seconds) * group.service.length);
      return { ...group, service: group.service.slice(from(second), from(second + 1)) };
    });
    const { response, sendLag } = latencies(own);
    const failures = own.filter((group) => !isSuccess(group) && sizeOf([group]) > 0);
    return {
      second,
      due: sizeOf(own),
      sent: sizeOf(own),
      succeeded: sizeOf(own.filter(isSuccess)),
      failed: sizeOf(failures),
      failures: Object.fromEntries(failures.map((group) => [group.outcome, sizeOf([group])])),
      p50: response.p50,
      p90: response.p90,
      p99: response.p99,
      max: response.max,
      lag99: sendLag.p99,
      histogram: response.histogram,
    };
  });
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
