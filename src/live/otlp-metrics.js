/**
 * Result -> ExportMetricsServiceRequest of OTLP, as a plain object. A receiver that turns its names into Prometheus's (dots
 * become underscores; `_seconds`, `_per_second` and `_total` are added) gets those of src/reporters/prometheus.js.
 */
import {
  MEASUREMENT_STATES,
  QUANTILES,
  REQUIREMENT_STATES,
  TIMES,
  UNSENT,
} from '../reporters/metric-names.js';
import { createEncoder, encodeAttributes } from './otlp-encoding.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./otlp-encoding.js').Encoder} Encoder */
/** @typedef {import('./otlp-encoding.js').KeyValue} KeyValue */
/** @typedef {import('./otlp-encoding.js').Metric} Metric */
/** @typedef {import('./otlp-encoding.js').NumberPoint} NumberPoint */
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
  const metrics = [
    ...runMetrics(encoder, result),
    ...requestMetrics(encoder, result),
    ...answerMetrics(encoder, result),
    ...latencyMetrics(encoder, result),
    ...requirementMetrics(encoder, result),
    ...measurementMetrics(encoder, result),
  ];
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
 * @param {Result} result
 * @returns {Metric[]}
 */
function runMetrics({ gauge }, result) {
  const { startedAt, durationSeconds, unfinished, interrupted, load, rates } = result;
  const offered = load.ratePerSecond === null ? [] : one(load.ratePerSecond);
  return [
    gauge(
      head('start_time', 's', 'Start of the measured part, since the epoch'),
      one(Date.parse(startedAt) / 1000),
    ),
    gauge(head('duration', 's', 'Wall time of the measured part, so far'), one(durationSeconds)),
    gauge(head('running', '{run}', '1 while the run goes on'), one(unfinished ? 1 : 0)),
    gauge(
      head('interrupted', '{run}', '1 where the run was ended before its time'),
      one(interrupted ? 1 : 0),
    ),
    gauge(head('offered', '{request}/s', 'Rate of an open loop, as planned'), offered),
    gauge(
      head('succeeded', '{request}/s', 'Successes a second over the measured part'),
      one(rates.perSecond),
    ),
    gauge(
      head('succeeded_per_second_max', '{request}', 'Successes in the best second'),
      one(rates.peakOneSecond),
    ),
  ];
}

/**
 * @param {Encoder} encoder
 * @param {Result} result
 * @returns {Metric[]} those never sent are no counter: while the run goes on, they become fewer
 */
function requestMetrics({ counter, gauge }, { operations, totals }) {
  const sent = Object.entries(operations).flatMap(([operation, { outcomeDetails }]) =>
    Object.entries(outcomeDetails)
      .filter(([outcome]) => !UNSENT.has(outcome))
      .map(([outcome, { count, success }]) => ({
        labels: { operation, outcome, result: success ? 'success' : 'failure' },
        value: count,
      })),
  );
  const each = (/** @type {'dropped' | 'neverSent'} */ key) =>
    Object.entries(operations).map(([operation, block]) => ({
      labels: { operation },
      value: block.totals[key],
    }));
  return [
    gauge(head('requests_planned', '{request}', 'Requests that the plan asks for'), one(totals.planned)),
    counter(head('requests', '{request}', 'Requests that were sent, by what came of them'), sent),
    counter(
      head('requests_dropped', '{request}', 'Arrivals dropped because every connection was busy'),
      each('dropped'),
    ),
    gauge(
      head(
        'requests_never_sent',
        '{request}',
        'Planned requests that were never sent; so far, those not answered yet',
      ),
      each('neverSent'),
    ),
  ];
}

/**
 * @param {Encoder} encoder
 * @param {Result} result
 * @returns {Metric[]}
 */
function answerMetrics({ counter }, { operations }) {
  const blocks = Object.entries(operations);
  const each = (/** @type {'checked' | 'passed' | 'unchecked'} */ key) =>
    blocks.map(([operation, { verification }]) => ({ labels: { operation }, value: verification[key] }));
  const failures = blocks.flatMap(([operation, { verification }]) =>
    Object.entries(verification.failures).map(([rule, value]) => ({ labels: { operation, rule }, value })),
  );
  return [
    counter(head('answers.checked', '{answer}', 'Answers that were checked in full'), each('checked')),
    counter(head('answers.passed', '{answer}', 'Checked answers that passed every check'), each('passed')),
    counter(
      head('answers.unchecked', '{answer}', 'Answers of success that were not checked'),
      each('unchecked'),
    ),
    counter(head('answers.failed', '{answer}', 'Checked answers by the rule that they broke'), failures),
  ];
}

/**
 * @param {Encoder} encoder
 * @param {Result} result
 * @returns {Metric[]}
 */
function latencyMetrics({ histogram, gauge }, { operations, latencyMs }) {
  const blocks = Object.entries(operations);
  const responses = blocks.flatMap(([operation, { outcomeDetails }]) =>
    Object.entries(outcomeDetails).map(([outcome, details]) => ({
      labels: { operation, outcome },
      latency: details.latencyMs.response,
    })),
  );
  const whole = (/** @type {'service' | 'sendLag'} */ series) =>
    blocks.map(([operation, block]) => ({ labels: { operation }, latency: block.latencyMs[series] }));
  const quantiles = TIMES.flatMap(([time, series]) =>
    QUANTILES.flatMap(([quantile, key]) => seconds(latencyMs[series][key], { time, quantile })),
  );
  const longest = TIMES.flatMap(([time, series]) => seconds(latencyMs[series].max, { time }));
  return [
    histogram(head('response_time', 's', 'From when a request was due to the end of its answer'), responses),
    histogram(
      head('service_time', 's', 'From when a request was sent to the end of its answer'),
      whole('service'),
    ),
    histogram(head('send_lag', 's', 'From when a request was due to when it was sent'), whole('sendLag')),
    gauge(head('latency', 's', 'Percentiles of the whole run, of its own histograms'), quantiles),
    gauge(head('latency_max', 's', 'The longest of the whole run'), longest),
  ];
}

/**
 * @param {Encoder} encoder
 * @param {Result} result
 * @returns {Metric[]} shares are of one, times in seconds: the label says which
 */
function requirementMetrics({ gauge }, { requirements }) {
  // One that was given twice is one: a point must not be there twice.
  const unique = [...new Map(requirements.map((requirement) => [requirement.text, requirement])).values()];
  const states = unique.flatMap(({ text, verdict }) =>
    REQUIREMENT_STATES.map((state) => ({
      labels: { requirement: text, state },
      value: Number(state === verdict),
    })),
  );
  const values = (/** @type {'actual' | 'limit'} */ key) =>
    unique.flatMap(({ text, unit, [key]: value }) => {
      if (value === null) return [];
      if (unit === 'ms') return seconds(value, { requirement: text, unit: 'seconds' });
      return [{ labels: { requirement: text, unit: unit === '/s' ? 'per_second' : 'ratio' }, value }];
    });
  return [
    gauge(head('requirement.state', '', '1 for the state that the requirement is in'), states),
    gauge(
      head('requirement.actual', '', 'What was measured, in the unit that the attribute says'),
      values('actual'),
    ),
    gauge(
      head('requirement.limit', '', 'What was required, in the unit that the attribute says'),
      values('limit'),
    ),
  ];
}

/**
 * @param {Encoder} encoder
 * @param {Result} result
 * @returns {Metric[]} nothing while the run goes on: it is judged at its end
 */
function measurementMetrics({ gauge }, { measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const states = MEASUREMENT_STATES.map((state) => ({ labels: { state }, value: Number(state === verdict) }));
  const codes = [...new Set(reasons.map(({ code }) => code))];
  return [
    gauge(head('measurement.state', '', '1 for the verdict on the measurement itself'), states),
    gauge(
      head('measurement.reason', '', '1 for each reason against the measurement'),
      codes.map((reason) => ({ labels: { reason }, value: 1 })),
    ),
  ];
}

/**
 * @param {string} name below `vault_pki_load`
 * @param {string} unit UCUM
 * @param {string} text
 * @returns {import('./otlp-encoding.js').MetricHead}
 */
function head(name, unit, text) {
  return { name: `vault_pki_load.${name}`, description: `${text}.`, unit };
}

/** @param {number} value @returns {NumberPoint[]} */
function one(value) {
  return [{ labels: {}, value }];
}

/** @param {number | null} ms @param {Record<string, string>} labels @returns {NumberPoint[]} */
function seconds(ms, labels) {
  return ms === null ? [] : [{ labels, value: ms / 1000 }];
}

/** Envelopes without data points should not be sent. @param {Metric} metric */
function hasPoints({ sum, gauge, histogram }) {
  return (sum ?? gauge ?? histogram)?.dataPoints.length !== 0;
}
