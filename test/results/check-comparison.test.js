import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkComparison } from '../../src/results/check/check-comparison.js';

/** Only what is looked at: three groups, two metrics. */
function comparison() {
  const differences = [1, 2].map((other) => ({ base: 0, other }));
  const metric = (/** @type {string} */ key) => ({
    key,
    comparisons: structuredClone(differences),
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
const check = (one) => checkComparison(/** @type {any} */ (one));

test('a comparison whose groups and metrics are all there has no complaint', () => {
  assert.deepEqual(check(comparison()), []);
  assert.deepEqual(check({ ...comparison(), metrics: [] }), []);
});

/** @type {[string, (one: ReturnType<typeof comparison>) => void, string[]][]} what is wrong, how, and the complaints */
const BROKEN = [
  [
    'a group without figures for a metric',
    ({ groups }) => delete groups[1].metrics.p99,
    ['the group "new" has no figures for p99'],
  ],
  [
    'a metric that is no figure, but a property of any object',
    ({ metrics }) => (metrics[0].key = 'constructor'),
    ['base', 'new', 'newer'].map((name) => `the group "${name}" has no figures for constructor`),
  ],
  [
    'a group that is not compared',
    ({ metrics }) => metrics[0].comparisons.pop(),
    ['mean of group 2 is compared 0 times, not once'],
  ],
  [
    'a group that is compared twice',
    ({ metrics }) => metrics[1].comparisons.push({ base: 0, other: 1 }),
    ['p99 of group 1 is compared 2 times, not once'],
  ],
  [
    'a group that is not there',
    ({ metrics }) => (metrics[0].comparisons[1].other = 3),
    ['mean names group 3, but there are only 3 groups', 'mean of group 2 is compared 0 times, not once'],
  ],
  [
    'a base that is not there',
    ({ metrics }) => (metrics[0].comparisons[1].base = 7),
    ['mean names group 7, but there are only 3 groups'],
  ],
  [
    'a group beside itself',
    ({ metrics }) => (metrics[0].comparisons[1].base = 2),
    ['mean compares group 2 with itself'],
  ],
  [
    'a best group that is not there',
    ({ metrics }) => (metrics[1].best = 3),
    ['p99 names group 3, but there are only 3 groups'],
  ],
  [
    'a best median of a group that is not there',
    ({ metrics }) => (metrics[1].bestMedian = 9),
    ['p99 names group 9, but there are only 3 groups'],
  ],
  [
    'a metric that is there twice',
    ({ metrics }) => (metrics[1].key = 'mean'),
    ['the metric mean is there twice'],
  ],
];

describe('a comparison: complains of', () => {
  for (const [why, spoil, complaints] of BROKEN) {
    test(why, () => {
      const one = comparison();
      spoil(one);
      assert.deepEqual(check(one), complaints);
    });
  }
});
