import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkComparison } from '../../src/result/comparison/comparison-schema.js';
import { MetricSummary } from '../../src/result/runs/run-set-schema.js';

/** Only what is looked at: three groups, two metrics. */
function comparison() {
  const metric = (/** @type {string} */ key) => ({
    key,
    comparisons: [1, 2].map((other) => ({ base: 0, other })),
    best: /** @type {number | null} */ (2),
    bestMedian: /** @type {number | null} */ (null),
  });
  return {
    groups: ['base', 'new', 'newer'].map((name) => ({
      name,
      metrics: /** @type {Record<string, object>} */ ({ mean: {}, p99: {} }),
    })),
    metrics: [metric('mean'), metric('p99')],
  };
}

/** @param {ReturnType<typeof comparison>} one */
const check = (one) => [...checkComparison(/** @type {any} */ (one))];

test('accepts a comparison with all its groups and metrics', () => {
  assert.deepEqual(check(comparison()), []);
  assert.deepEqual(check({ ...comparison(), metrics: [] }), []);
});

test('long lists take linear time', () => {
  const { groups, metrics } = comparison();
  const measureMs = (/** @type {number} */ length) => {
    const keys = Array.from({ length }, (_, i) => `k${i}`);
    const figures = Object.fromEntries(keys.map((key) => [key, {}]));
    const long = { groups: groups.map((group) => ({ ...group, metrics: figures })) };
    const comparisons = keys.map((_, i) => ({ base: 0, other: i + 1 }));
    const wide = { groups: Array(length + 1).fill(groups[0]), metrics: [{ ...metrics[0], comparisons }] };
    const { user } = process.cpuUsage();
    assert.deepEqual(check({ ...long, metrics: keys.map((key) => ({ ...metrics[0], key })) }), []);
    assert.deepEqual(check(wide), []);
    return (process.cpuUsage().user - user) / 1000;
  };
  measureMs(1000);
  const short = measureMs(1000);
  assert.ok(measureMs(80_000) < 300 * Math.max(short, 1));
});

test('a variance below zero is rejected', () => {
  const summary = { values: [1], median: 1, mean: 1, variance: -1, min: 1, max: 1 };
  assert.equal(MetricSummary.safeParse({ ...summary, variance: 0 }).success, true);
  assert.equal(MetricSummary.safeParse({ ...summary, variance: null }).success, true);
  assert.equal(MetricSummary.safeParse(summary).success, false);
});

const [ONLY3, TWICE] = ['names group 3, but there are only 3 groups', 'the metric mean is listed twice'];
const NO = (/** @type {string} */ name) => `the group "${name}" has no figures for constructor`;
const notWithFirst = (/** @type {number} */ other, /** @type {number} */ base) =>
  `mean compares group ${other} with group ${base}, but only others are compared, and with group 0`;
const UNCOMPARED = 'mean of group 2 is compared 0 times, not once';

/** @type {[(one: ReturnType<typeof comparison>) => unknown, ...string[]][]} how it is spoiled, and the complaints */
const BROKEN = [
  [({ groups }) => delete groups[1].metrics.p99, 'the group "new" has no figures for p99'],
  [({ metrics }) => (metrics[0].key = 'constructor'), NO('base'), NO('new'), NO('newer')],
  [({ metrics }) => metrics[0].comparisons.pop(), UNCOMPARED],
  [
    ({ metrics }) => metrics[1].comparisons.push({ base: 0, other: 1 }),
    'p99 of group 1 is compared 2 times, not once',
  ],
  [({ metrics }) => (metrics[0].comparisons[1].other = 3), `mean ${ONLY3}`, UNCOMPARED],
  [
    ({ metrics }) => (metrics[0].comparisons[1].base = 7),
    'mean names group 7, but there are only 3 groups',
    notWithFirst(2, 7),
  ],
  [({ metrics }) => (metrics[0].comparisons[1].base = 1), notWithFirst(2, 1)],
  [({ metrics }) => metrics[0].comparisons.push({ base: 1, other: 0 }), notWithFirst(0, 1)],
  [({ metrics }) => metrics[0].comparisons.push({ base: 0, other: 0 }), notWithFirst(0, 0)],
  [({ metrics }) => (metrics[1].best = 3), `p99 ${ONLY3}`],
  [({ metrics }) => (metrics[1].bestMedian = 9), 'p99 names group 9, but there are only 3 groups'],
  [({ metrics }) => (metrics[1].key = 'mean'), TWICE],
];
for (const [spoil, ...complaints] of BROKEN) {
  test(`reports: ${complaints[0]}`, () => {
    const one = comparison();
    spoil(one);
    assert.deepEqual(check(one), complaints);
  });
}
