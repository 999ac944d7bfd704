import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  binomialCdf,
  lowerRank,
  meanAndVariance,
  proportionUpperBound,
  quantileRank,
  samplesToProve,
  studentT95,
  upperRank,
} from '../../src/results/statistics.js';

/** Vectors computed by scipy. */
const vectors = JSON.parse(readFileSync(new URL('./fixtures/statistics.json', import.meta.url), 'utf8'));

/**
 * @param {number} actual
 * @param {number} expected
 * @param {number} relative
 * @param {string} what
 */
function near(actual, expected, relative, what) {
  assert.ok(
    Math.abs(actual - expected) <= relative * Math.abs(expected),
    `${what}: ${actual}, expected ${expected}`,
  );
}

test('the binomial CDF agrees with scipy up to a billion trials', () => {
  for (const [k, n, p, expected] of vectors.cdf)
    near(binomialCdf(k, n, p), expected, 1e-9, `cdf(${k}; ${n}, ${p})`);
});

test('the binomial CDF at its edges', () => {
  assert.equal(binomialCdf(-1, 10, 0.5), 0, 'nothing is below zero');
  assert.equal(binomialCdf(10, 10, 0.5), 1, 'everything is at most n');
  assert.equal(binomialCdf(0, 10, 0), 1, 'an impossible event never happens');
  assert.equal(binomialCdf(9, 10, 1), 0, 'a certain event always happens');
});

test('rank bounds of a quantile agree with scipy', () => {
  for (const [n, q, expected] of vectors.upperRank)
    assert.equal(upperRank(n, q), expected, `upper ${n}, ${q}`);
  for (const [n, q, expected] of vectors.lowerRank)
    assert.equal(lowerRank(n, q), expected, `lower ${n}, ${q}`);
});

test('the upper rank is the smallest that has the confidence', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      (n, q) => {
        const rank = upperRank(n, q);
        if (rank === null) return assert.ok(binomialCdf(n - 1, n, q) < 0.95);
        assert.ok(binomialCdf(rank - 1, n, q) >= 0.95);
        assert.ok(rank === 1 || binomialCdf(rank - 2, n, q) < 0.95);
      },
    ),
  );
});

test('samplesToProve is where an upper rank first exists', () => {
  for (const [share, expected] of [
    [0.5, 5],
    [0.05, 59],
    [0.01, 299],
    [0.001, 2995],
  ]) {
    assert.equal(samplesToProve(share), expected);
    assert.equal(upperRank(expected - 1, 1 - share), null);
    assert.equal(upperRank(expected, 1 - share), expected);
  }
});

test('the observed rank forgives rounding', () => {
  for (const [n, q, expected] of [
    [100, 0.07, 7],
    [100, 0.99, 99],
    [101, 0.99, 100],
    [1, 0.5, 1],
    [3, 0.001, 1],
    [1000, 0.999, 999],
  ]) {
    assert.equal(quantileRank(n, q), expected, `${q} of ${n}`);
  }
});

test('Clopper-Pearson upper bounds agree with scipy', () => {
  for (const [x, n, expected] of vectors.proportion)
    near(proportionUpperBound(x, n), expected, 1e-8, `${x} of ${n}`);
});

test("Student's t quantiles agree with scipy", () => {
  for (const [df, expected] of vectors.t) near(studentT95(df), expected, 1e-9, `t with ${df}`);
});

test('mean and variance', () => {
  assert.deepEqual(meanAndVariance([2, 4, 4, 4, 5, 5, 7, 9]), { count: 8, mean: 5, variance: 32 / 7 });
  assert.deepEqual(meanAndVariance([3]), { count: 1, mean: 3, variance: 0 });
  assert.ok(Number.isNaN(meanAndVariance([]).mean));
  near(meanAndVariance([1e9 + 1, 1e9 + 2, 1e9 + 3]).variance, 1, 1e-9, 'far from zero');
});
