/**
 * Result -> metrics with OpenTelemetry's names and units, which prometheus.js and otlp-metrics.js encode. Base units:
 * seconds and ratios. Names of metrics and labels never depend on measured values.
 */
import { decodeHistogram } from '../../common/histogram.js';
import { PERCENTILES } from '../../result/latency.js';
import { bucketsOf, countsUpTo } from './buckets.js';

/** @import { LatencyBlock, Result } from '../../result/schema.js' */

/** @typedef {Record<string, string>} Labels */
/** @typedef {{labels: Labels, value: number}} NumberPoint */
/** @typedef {{labels: Labels, latency: LatencyBlock}} LatencyPoint */
/** @typedef {Result['operations'][string]} Block */
/** @typedef {{name: string, unit: string, help: string}} MetricHead `unit` as in UCUM, with counted units in braces */
/** @typedef {MetricHead & {kind: 'gauge' | 'counter', points: NumberPoint[]}} NumberMetric counters never decrease */
/** @typedef {MetricHead & {kind: 'histogram' | 'percentiles', points: LatencyPoint[]}} LatencyMetric in seconds */
/** @typedef {NumberMetric | LatencyMetric} Metric */

/** Label and key of a latency block. */
export const QUANTILES = PERCENTILES.map(({ figure, share }) => /** @type {const} */ ([`${share}`, figure]));

/** @type {Record<Result['requirements'][number]['unit'], {name: string, factor: number}>} */
const REQUIREMENT_UNITS = {
  ms: { name: 'seconds', factor: 0.001 },
  '/s': { name: 'per_second', factor: 1 },
  fraction: { name: 'ratio', factor: 1 },
};

/** Upper bounds of the buckets, the same in every run, so that runs can be summed: 0.1 ms to 100 s. */
export const BOUNDS_SECONDS = Object.freeze([
  ...[-4, -3, -2, -1, 0, 1].flatMap((decade) => [1, 2.5, 5].map((part) => exact(part * 10 ** decade))),
  100,
]);

/** @param {LatencyBlock} latency @returns {number[]} latencies up to each bound, and the total */
export function cumulativeCounts({ histogram, count }) {
  const buckets = histogram === null ? [] : bucketsOf(decodeHistogram(histogram));
  const boundsUs = BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6));
  return [...countsUpTo(buckets, boundsUs), count];
}

/** @param {Result} result may be unfinished @returns {Metric[]} some without points */
export function metricsOf(result) {
  return [aboutRun, requests, responses, times, requirements, measurement].flatMap((group) => group(result));
}

/** @type {(name: string, unit: string, help: string, points: NumberPoint[]) => NumberMetric} */
const gauge = (name, unit, help, points) => ({ kind: 'gauge', name, unit, help, points });

/** @type {(name: string, unit: string, help: string, points: NumberPoint[]) => NumberMetric} */
const counter = (name, unit, help, points) => ({ kind: 'counter', name, unit, help, points });

/** @type {(kind: LatencyMetric['kind'], name: string, help: string, points: LatencyPoint[]) => LatencyMetric} */
const latency = (kind, name, help, points) => ({ kind, name, unit: 's', help, points });

/** @param {number} value @returns {NumberPoint[]} */
const point = (value) => [{ labels: {}, value }];

/** @template Value @param {Result} result @param {(block: Block) => Value} read value or latency */
function byOperation({ operations }, read) {
  return Object.entries(operations).map(([operation, block]) => ({ labels: { operation }, ...read(block) }));
}

/** @param {Result} result @param {readonly string[]} leftOut outcomes */
function byOutcome({ operations }, leftOut) {
  return Object.entries(operations).flatMap(([operation, { outcomeDetails }]) =>
    Object.entries(outcomeDetails)
      .filter(([outcome]) => !leftOut.includes(outcome))
      .map(([outcome, details]) => ({ labels: { operation, outcome }, ...details })),
  );
}

/** @param {Result} result @returns {Metric[]} no single offered rate in a run with stages */
function aboutRun({ startedAt, durationSeconds, unfinished, interrupted, rates, load }) {
  const { ratePerSecond, stageCount } = load;
  const offered = ratePerSecond === null || stageCount !== undefined ? [] : point(exact(ratePerSecond));
  const [rate, start] = ['{request}/s', point(Date.parse(startedAt) / 1000)];
  return [
    gauge('start_time', 's', 'Start of the measured phase, Unix time.', start),
    gauge('duration', 's', 'Wall time of the measured phase so far.', point(durationSeconds)),
    gauge('running', '{run}', '1 during the run.', point(unfinished ? 1 : 0)),
    gauge('interrupted', '{run}', '1 if the run was interrupted.', point(interrupted ? 1 : 0)),
    gauge('offered', rate, 'Planned rate of an open loop.', offered),
    gauge('succeeded', rate, 'Successes per second over the measured phase.', point(exact(rates.perSecond))),
    gauge('succeeded_per_second_max', '{request}', 'Peak successes in a second.', point(rates.peakOneSecond)),
  ];
}

/** @param {Result} result @returns {Metric[]} `requests_never_sent` is a gauge, since it decreases during the run */
function requests(result) {
  const sent = byOutcome(result, ['dropped', 'never_sent']).map(({ labels, count, success }) => ({
    labels: { ...labels, result: success ? 'success' : 'failure' },
    value: count,
  }));
  const dropped = byOperation(result, ({ totals }) => ({ value: totals.dropped }));
  const neverSent = byOperation(result, ({ totals }) => ({ value: totals.neverSent }));
  const request = '{request}';
  return [
    gauge('requests_planned', request, 'Planned requests.', point(result.totals.planned)),
    counter('requests', request, 'Requests sent, by outcome.', sent),
    counter('requests_dropped', request, 'Dropped: every connection was busy; 0 until the end.', dropped),
    gauge('requests_never_sent', request, 'Never sent; during the run, also those not done yet.', neverSent),
  ];
}

/** @param {Result} result @returns {Metric[]} */
function responses(result) {
  const failures = Object.entries(result.operations).flatMap(([operation, { verification }]) =>
    Object.entries(verification.failures).map(([rule, value]) => ({ labels: { operation, rule }, value })),
  );
  const checks = (/** @type {'checked' | 'passed' | 'unchecked'} */ key, /** @type {string} */ help) => {
    const points = byOperation(result, ({ verification }) => ({ value: verification[key] }));
    return counter(`responses.${key}`, '{response}', help, points);
  };
  return [
    checks('checked', 'Responses that were checked in full.'),
    checks('passed', 'Checked responses that passed every check.'),
    checks('unchecked', 'Successful responses that were not checked.'),
    counter('responses.failed', '{response}', 'Checked responses that failed, by rule.', failures),
  ];
}

/** @param {Result} result @returns {Metric[]} */
function times(result) {
  const due = byOutcome(result, ['dropped']);
  const outcomes = due.map(({ labels, latencyMs }) => ({ labels, latency: latencyMs.response }));
  const services = byOperation(result, ({ latencyMs }) => ({ latency: latencyMs.service }));
  const lags = byOperation(result, ({ latencyMs }) => ({ latency: latencyMs.sendLag }));
  const { response, service, sendLag } = result.latencyMs;
  const whole = Object.entries({ response, service, send_lag: sendLag });
  const all = whole.map(([time, block]) => ({ labels: { time }, latency: block }));
  const maxima = all.flatMap(({ labels, latency: { max } }) =>
    max === null ? [] : [{ labels, value: exact(max / 1000) }],
  );
  return [
    latency('histogram', 'response_time', 'From the due time to the end of the response.', outcomes),
    latency('histogram', 'service_time', 'From sending to the end of the response.', services),
    latency('histogram', 'send_lag', 'From the due time to sending.', lags),
    latency('percentiles', 'latency', 'Percentiles, finer than the buckets of the histograms.', all),
    gauge('latency_max', 's', 'The longest time of the whole run.', maxima),
  ];
}

/** @param {Result} result @returns {Metric[]} each requirement once, since a series must be unique */
function requirements({ requirements: all }) {
  const labelled = all.map(({ text, operation, stage, ...one }) => {
    /** @type {Labels} */
    const labels = { requirement: text };
    if (operation !== undefined) labels.operation = operation;
    if (stage !== undefined) labels.stage = stage;
    return { ...one, labels };
  });
  const unique = [...new Map(labelled.map((one) => [JSON.stringify(one.labels), one])).values()];
  const states = unique.flatMap(({ verdict, labels }) =>
    statesOf(['met', 'not met', 'not proven'], verdict, labels),
  );
  const values = (/** @type {'actual' | 'limit'} */ key) =>
    unique.flatMap(({ labels, unit, [key]: value }) => {
      const { name, factor } = REQUIREMENT_UNITS[unit];
      return value === null ? [] : [{ labels: { ...labels, unit: name }, value: exact(value * factor) }];
    });
  return [
    gauge('requirement.state', '', '1 for the state of the requirement.', states),
    gauge('requirement.actual', '', 'The measured value; the label gives its unit.', values('actual')),
    gauge('requirement.limit', '', 'The limit; the label gives its unit.', values('limit')),
  ];
}

/** @param {Result} result @returns {Metric[]} none during the run: the measurement is judged at its end */
function measurement({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const codes = [...new Set(reasons.map(({ code }) => code))];
  const reasonPoints = codes.map((reason) => ({ labels: { reason }, value: 1 }));
  const states = statesOf(['valid', 'suspect', 'invalid'], verdict, {});
  return [
    gauge('measurement.state', '', '1 for the verdict on the measurement itself.', states),
    gauge('measurement.reason', '', '1 for each remark, or reason for an invalid measurement.', reasonPoints),
  ];
}

/** @param {string[]} states @param {string} now @param {Labels} labels @returns 1 for `now`, 0 for the others */
function statesOf(states, now, labels) {
  return states.map((state) => ({ labels: { ...labels, state }, value: Number(state === now) }));
}

/** @param {number} value @returns {number} without floating-point noise */
export function exact(value) {
  return Number(value.toPrecision(12));
}
