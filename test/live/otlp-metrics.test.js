import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toMetricsRequest } from '../../src/live/otlp-metrics.js';
import { BOUNDS_SECONDS } from '../../src/report/data/metrics.js';
import { render } from '../../src/report/data/prometheus.js';
import { block, closedLoad, sampleResult, spread } from '../result/sample.js';
import { otlpFaults } from './otlp-proto.js';

/** @typedef {{key: string, value: {stringValue: string}}} KeyValue */
/** @typedef {{attributes: KeyValue[], startTimeUnixNano?: string, timeUnixNano: string}} Point */
/** @typedef {Point & {asInt?: string, asDouble?: number}} NumberPoint */
/** @typedef {Point & {count: string, sum: number, min: number, max: number, bucketCounts: string[], explicitBounds: number[]}} HistogramPoint */
/**
 * @typedef {object} Metric
 * @property {string} name
 * @property {string} description
 * @property {string} unit
 * @property {{aggregationTemporality: number, isMonotonic: boolean, dataPoints: NumberPoint[]}} [sum]
 * @property {{dataPoints: NumberPoint[]}} [gauge]
 * @property {{aggregationTemporality: number, dataPoints: HistogramPoint[]}} [histogram]
 */
/** @import { Result } from '../../src/result/schema.js' */

const START_MS = Date.parse('2026-01-02T03:04:05.678Z');

/** As it comes out of the wire. @param {Result} result @param {number} [nowMs] */
function sent(result, nowMs) {
  return JSON.parse(JSON.stringify(toMetricsRequest(result, nowMs)));
}

/** @param {Result} result @param {number} [nowMs] @returns {Metric[]} */
function metricsOf(result, nowMs) {
  return sent(result, nowMs).resourceMetrics[0].scopeMetrics[0].metrics;
}

/** @param {Result} result @param {string} name below `vault_pki_load` */
function metric(result, name) {
  return metricsOf(result).find((one) => one.name === `vault_pki_load.${name}`);
}

/** @param {KeyValue[]} attributes */
function labelsOf(attributes) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}

/** @param {Result} result @returns {Record<string, string>} */
function resourceOf(result) {
  return labelsOf(sent(result).resourceMetrics[0].resource.attributes);
}

/** @type {Result['requirements'][number]} */
const MET = {
  text: 'p99<200ms',
  verdict: 'met',
  actual: 95,
  limit: 200,
  unit: 'ms',
  reason: 'p99 is 95 ms.',
};

const whole = sampleResult(
  [
    { outcome: 'good', service: spread(390, 0.7, 95), lag: 0.12 },
    { outcome: 'timeout', success: false, service: spread(8, 10_000, 10_001), lag: 0.12 },
    { outcome: 'bad_signature', success: false, service: [3.2, 4.1], lag: 0.12 },
  ],
  {
    counts: { dropped: 2, neverSent: 1 },
    verification: { checked: 300, passed: 298, sampled: true, unchecked: 92, failures: { bad_signature: 2 } },
    requirements: [
      MET,
      { text: 'rate>=1000/h', verdict: 'not proven', actual: 19.5, limit: 0.28, unit: '/s', reason: '' },
      { text: 'errors<0.1%', verdict: 'not met', actual: null, limit: 0.001, unit: 'fraction', reason: '' },
    ],
    measurement: { verdict: 'suspect', reasons: [{ code: 'send_lag', text: 'Late.' }] },
  },
);

const [issue, ocsp] = [
  block([{ outcome: 'issued', service: spread(100, 10, 40) }]),
  block([{ outcome: 'good', service: spread(300, 1, 4) }]),
];

/** @type {[string, Result][]} */
const RESULTS = [
  ['a whole result', whole],
  ['a closed loop', sampleResult([{ outcome: 'issued', service: [1, 2] }], { load: closedLoad() })],
  ['only errors', sampleResult([{ outcome: 'timeout', success: false, service: [10_000] }])],
  ['no samples', sampleResult([], { counts: { neverSent: 400 }, interrupted: true })],
  ['two operations', sampleResult([{ outcome: 'good', service: [1] }], { operations: { issue, ocsp } })],
  ['an unfinished result', { ...whole, unfinished: true }],
  ['a shard', { ...whole, shard: { index: 0, of: 4 } }],
  [
    'a target without a name, or with half a character in it',
    { ...whole, target: { url: 'http://x', product: null, version: 'a\ud800b' } },
  ],
];

describe('a request', () => {
  for (const [what, result] of RESULTS) {
    test(`is valid in the protobuf-JSON mapping, without empty metrics: ${what}`, () => {
      assert.deepEqual(otlpFaults(sent(result)), []);
      for (const { name, sum, gauge, histogram } of metricsOf(result)) {
        const points = (sum ?? gauge ?? histogram)?.dataPoints ?? [];
        assert.ok(points.length > 0, name);
        const labels = points.map(({ attributes }) => JSON.stringify(labelsOf(attributes)));
        assert.equal(new Set(labels).size, labels.length, `${name} has a point twice`);
      }
    });
  }

  test('names its sender and target', () => {
    assert.deepEqual(resourceOf(whole), {
      'service.name': 'vault-pki-load',
      'service.version': '0.1.0',
      'service.instance.id': '2026-01-02T03:04:05.678Z',
      'vault_pki_load.target.url': 'http://127.0.0.1:8200',
      'vault_pki_load.target.product': 'Vault',
      'vault_pki_load.target.version': '1.21.1',
    });
    const [{ scopeMetrics }] = sent(whole).resourceMetrics;
    assert.deepEqual(scopeMetrics[0].scope, { name: 'vault-pki-load', version: '0.1.0' });
  });

  test('of each shard has its own instance ID', () => {
    const [first, second] = [0, 1].map((index) => resourceOf({ ...whole, shard: { index, of: 2 } }));
    assert.notEqual(first['service.instance.id'], second['service.instance.id']);
  });

  /** @type {[string, number | undefined, string][]} what, given, expected */
  const TIMES = [
    ['given', START_MS + 7000, `${START_MS + 7000}000000`],
    ['not given: the end of the run', undefined, `${START_MS + 20_000}000000`],
    ['before the start, as a clock was set back: the start', START_MS - 1, `${START_MS}000000`],
    ['between two milliseconds: the nearest', START_MS + 0.4, `${START_MS}000000`],
  ];
  for (const [what, nowMs, expected] of TIMES) {
    test(`has a timestamp: ${what}`, () => {
      for (const { sum, gauge, histogram } of metricsOf(whole, nowMs)) {
        for (const point of (sum ?? gauge ?? histogram)?.dataPoints ?? []) {
          assert.equal(point.timeUnixNano, expected);
          assert.equal(point.startTimeUnixNano, gauge ? undefined : `${START_MS}000000`);
        }
      }
    });
  }

  test('counts from the start of the run, and never decreases', () => {
    const requests = metric(whole, 'requests');
    assert.equal(requests?.unit, '{request}');
    assert.equal(requests?.sum?.aggregationTemporality, 2);
    assert.equal(requests?.sum?.isMonotonic, true);
    assert.deepEqual(
      requests?.sum?.dataPoints.map(({ attributes, asInt }) => [labelsOf(attributes), asInt]),
      [
        [{ operation: 'ocsp', outcome: 'good', result: 'success' }, '390'],
        [{ operation: 'ocsp', outcome: 'timeout', result: 'failure' }, '8'],
        [{ operation: 'ocsp', outcome: 'bad_signature', result: 'failure' }, '2'],
      ],
    );
  });

  test('has requests never sent as a gauge, which falls as responses arrive', () => {
    const [point] = metric(whole, 'requests_never_sent')?.gauge?.dataPoints ?? [];
    assert.equal(point.asDouble, 1);
  });

  test('omits missing values', () => {
    const names = metricsOf(sampleResult([], { load: closedLoad() })).map(({ name }) => name);
    const absent = [
      'offered',
      'requests',
      'response_time',
      'latency',
      'requirement.state',
      'measurement.reason',
    ];
    for (const name of absent) {
      assert.ok(!names.includes(`vault_pki_load.${name}`), name);
    }
  });

  test('during the run reports only that it is unfinished, no verdict', () => {
    const unfinished = /** @type {Result} */ ({ ...whole, unfinished: true });
    assert.equal(metric(unfinished, 'measurement.state'), undefined);
    assert.equal(metric(unfinished, 'measurement.reason'), undefined);
    assert.equal(metric(unfinished, 'running')?.gauge?.dataPoints[0].asDouble, 1);
    assert.equal(metric(whole, 'running')?.gauge?.dataPoints[0].asDouble, 0);
  });

  test('contains a repeated requirement once', () => {
    const points = metric({ ...whole, requirements: [MET, MET] }, 'requirement.state')?.gauge?.dataPoints;
    assert.deepEqual(
      points?.map(({ attributes, asDouble }) => [labelsOf(attributes).state, asDouble]),
      [
        ['met', 1],
        ['not met', 0],
        ['not proven', 0],
      ],
    );
  });
});

describe('a histogram', () => {
  const result = sampleResult([{ outcome: 'good', service: [0.05, 0.2, 3, 3, 5, 200_000] }]);
  const [point] = metric(result, 'response_time')?.histogram?.dataPoints ?? [];

  test('counts each latency in the bucket of the next bound, the last bucket beyond all', () => {
    assert.deepEqual(point.explicitBounds, [...BOUNDS_SECONDS]);
    const filled = point.bucketCounts.map((count, i) => [
      point.explicitBounds[i] ?? Number.POSITIVE_INFINITY,
      count,
    ]);
    assert.deepEqual(
      filled.filter(([, count]) => count !== '0'),
      [
        [0.0001, '1'],
        [0.00025, '1'],
        [0.005, '2'],
        // 5 ms cannot be told from 5.003 ms in its histogram, and is not surely within 5 ms.
        [0.01, '1'],
        [Number.POSITIVE_INFINITY, '1'],
      ],
    );
  });

  test('has count, sum, min and max in seconds', () => {
    assert.equal(point.count, '6');
    assert.ok(Math.abs(point.sum - 200.01125) < 1e-9, String(point.sum));
    assert.deepEqual([point.min, point.max], [0.00005, 200]);
  });
});

/**
 * `name{key=value,...}` -> value, of Prometheus text.
 *
 * @param {string} text
 */
function readText(text) {
  /** @type {Map<string, number>} */
  const samples = new Map();
  for (const line of text.split('\n')) {
    const [, name, labels, value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...(labels ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]);
    samples.set(keyOf(name, Object.fromEntries(pairs)), Number(value));
  }
  return samples;
}

/** @type {Record<string, string>} */
const UNIT_SUFFIXES = { s: '_seconds', '{request}/s': '_per_second' };

/**
 * The same of OTLP metrics, by https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
 *
 * @param {Metric[]} metrics
 */
function asPrometheus(metrics) {
  /** @type {Map<string, number>} */
  const samples = new Map();
  for (const { name, unit, sum, gauge, histogram } of metrics) {
    const base = `${name.replaceAll('.', '_')}${UNIT_SUFFIXES[unit] ?? ''}`;
    for (const { attributes, asInt, asDouble } of sum?.dataPoints ?? gauge?.dataPoints ?? []) {
      samples.set(keyOf(sum ? `${base}_total` : base, labelsOf(attributes)), Number(asInt ?? asDouble));
    }
    for (const point of histogram?.dataPoints ?? []) {
      const labels = labelsOf(point.attributes);
      samples.set(keyOf(`${base}_count`, labels), Number(point.count));
      samples.set(keyOf(`${base}_sum`, labels), point.sum);
      let upTo = 0;
      for (const [i, count] of point.bucketCounts.entries()) {
        upTo += Number(count);
        samples.set(
          keyOf(`${base}_bucket`, { ...labels, le: String(point.explicitBounds[i] ?? '+Inf') }),
          upTo,
        );
      }
    }
  }
  return samples;
}

/** @param {string} name @param {Record<string, string>} labels */
function keyOf(name, labels) {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return `${name}{${pairs.sort().join(',')}}`;
}

/** What only one of the two has: facts that are attributes of OTLP's resource, and sums of a summary. */
const APART = /_info\{|latency_seconds_(?:sum|count)\{/;

test('names, labels and values equal those of the Prometheus text', () => {
  const [theirs, ours] = [readText(render(whole)), asPrometheus(metricsOf(whole))].map(
    (samples) => new Map([...samples].filter(([key]) => !APART.test(key))),
  );
  assert.deepEqual([...ours.keys()].sort(), [...theirs.keys()].sort());
  for (const [key, value] of theirs) {
    const own = ours.get(key) ?? Number.NaN;
    assert.ok(Math.abs(own - value) <= 1e-9 * Math.max(1, Math.abs(value)), `${key}: ${own}, not ${value}`);
  }
});

const EMPTY = { key: 'a', value: { stringValue: '' } };
const ENUM_NAME = { aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' };
const NO_GAUGE = { gauge: { dataPoints: [] } };

/** @typedef {Record<string, unknown> | ((metric: any) => void)} Change of the first point, undefined: taken out; or of the metric */
/** @type {[string, string, Change, RegExp][]} what, metric, how to break it, what is said */
const BROKEN = [
  ['a count as a number', 'requests', { asInt: 3 }, /asInt is 3, not a 64-bit integer/],
  [
    'a time as a number',
    'requests',
    { timeUnixNano: 1 },
    /timeUnixNano is 1, not an unsigned 64-bit integer/,
  ],
  ['two values', 'requests', { asDouble: 3 }, /has 2 of asInt, asDouble, not one/],
  ['no value', 'requests', { asInt: undefined }, /has 0 of asInt, asDouble/],
  ['an original name', 'requests', { start_time_unix_nano: '1' }, /start_time_unix_nano is unknown/],
  ['an attribute twice', 'requests', { attributes: [EMPTY, EMPTY] }, /has an attribute twice/],
  [
    'an attribute without AnyValue',
    'requests',
    { attributes: [{ key: 'a', value: 'b' }] },
    /value is not an object/,
  ],
  ['an enum by name', 'requests', ({ sum }) => Object.assign(sum, ENUM_NAME), /"AGG\w+", not one of 1, 2/],
  ['a bucket too few', 'send_lag', (one) => pointOf(one).bucketCounts.pop(), /buckets for \d+ bounds/],
  ['a count that is not that of the buckets', 'send_lag', { count: '7' }, /in buckets, not 7/],
  [
    'bounds not ascending',
    'send_lag',
    (one) => pointOf(one).explicitBounds.reverse(),
    /Bounds do not ascend/,
  ],
  [
    'two kinds of data',
    'requests',
    (one) => Object.assign(one, NO_GAUGE),
    /2 of gauge, sum, histogram, not one/,
  ],
];

/** @param {any} metric */
function pointOf({ sum, histogram }) {
  return (sum ?? histogram).dataPoints[0];
}

describe('the validator of these tests finds', () => {
  for (const [what, name, change, said] of BROKEN) {
    test(what, () => {
      const request = sent(whole);
      const [{ metrics }] = request.resourceMetrics[0].scopeMetrics;
      const metric = metrics.find((/** @type {Metric} */ one) => one.name === `vault_pki_load.${name}`);
      if (typeof change === 'function') change(metric);
      else Object.assign(pointOf(metric), change);
      assert.match(otlpFaults(JSON.parse(JSON.stringify(request))).join('\n'), said);
    });
  }
});
