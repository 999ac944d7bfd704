import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quantileRank } from '../../src/common/histogram.js';
import {
  binomialCdf,
  lineThrough,
  lowerRank,
  meanAndVariance,
  proportionUpperBound,
  samplesToProve,
  studentT95,
  upperRank,
} from '../../src/verdict/statistics.js';
import { near } from '../result/support.js';

/** Computed by scipy 1.17.1: k, n, p and stats.binom.cdf. */
const CDF = `
0 1 0.5 0.5;                    3 10 0.5 0.171875;             9 10 0.5 0.9990234375
18 20 0.95 0.2641604750561504;  5 100 0.01 0.999465465536007;  990 1000 0.999 1.0742833868464947e-7
3500 12345 0.3 3.0729411668959735e-5;                3703 12345 0.3 0.500522375132386
3900 12345 0.3 0.9999412799637143;                   989000 1000000 0.99 2.3495297962329136e-23
990164 1000000 0.99 0.9511551961213844;              991000 1000000 0.99 1
990005176 1000000000 0.99 0.9500448161848696;        499950000 1000000000 0.5 0.0007827861305386242
0 1000000000 1e-9 0.3678794409875026;                4 1000000000 1e-9 0.9963401531956487`;

/** n, q, and the ranks that stats.binom.ppf gives; 0: there is none. */
const RANKS = `
1 0.5 0 0;         4 0.5 0 0;         5 0.5 5 1;         20 0.99 0 19;              58 0.95 0 52
59 0.95 59 53;     298 0.99 0 292;    299 0.99 299 293;  400 0.99 400 392;          1000 0.99 996 985
1000 0.5 527 474;  2994 0.999 0 2988; 2995 0.999 2995 2989;                         10000 0.999 9996 9985
1000000 0.99 990164 989836;           1000000000 0.99 990005176 989994824`;

/** x, n and stats.beta.ppf(0.95, x + 1, n - x). */
const PROPORTIONS = `
0 1 0.95;                      0 100 0.029513049607039925;   0 2995 0.000999744420901142
1 100 0.046559811453538935;    5 1000 0.010484076911415651;  50 100 0.5863782853690882
99 100 0.9994871985837377;     100 100 1;                    1000 1000000 0.0010535748774544362
0 1000000000 2.9957322690667843e-9;                          12345 1000000000 0.000012529329481306436`;

/** Degrees of freedom and stats.t.ppf(0.95, df). */
const STUDENT = `
1 6.313751514675037;   2 2.9199855803537242;  3 2.3533634348018233;  5 2.0150483733330233
10 1.8124611228116756; 29 1.6991270265334972; 99 1.6603911560169906; 100 1.6602343260853392
101 1.6600806304117863;                       1000 1.6463788172854643; 1000000 1.6448551507220404`;

/** @param {string} text @returns {number[][]} */
const rows = (text) =>
  text.split(/[;\n]/).flatMap((row) => (row.trim() ? [row.trim().split(/ +/).map(Number)] : []));

test('the binomial CDF agrees with scipy up to a billion trials', () => {
  for (const [k, n, p, expected] of rows(CDF)) near(binomialCdf(k, n, p), expected, 1e-9, `${k}; ${n}, ${p}`);
  assert.equal(binomialCdf(-1, 10, 0.5), 0, 'nothing is below zero');
  assert.equal(binomialCdf(10, 10, 0.5), 1, 'everything is at most n');
  assert.equal(binomialCdf(0, 10, 0), 1, 'an impossible event never happens');
  assert.equal(binomialCdf(9, 10, 1), 0, 'a certain event always happens');
});

test('rank bounds of a quantile agree with scipy, and the upper one is the smallest with this confidence', () => {
  for (const [n, q, upper, lower] of rows(RANKS)) {
    assert.deepEqual([upperRank(n, q) ?? 0, lowerRank(n, q) ?? 0], [upper, lower], `${n}, ${q}`);
  }
  const quantile = fc.double({ min: 0.001, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), quantile, (n, q) => {
      const rank = upperRank(n, q);
      if (rank === null) return assert.ok(binomialCdf(n - 1, n, q) < 0.95);
      assert.ok(binomialCdf(rank - 1, n, q) >= 0.95);
      assert.ok(rank === 1 || binomialCdf(rank - 2, n, q) < 0.95);
    }),
  );
});

test('samplesToProve is the smallest n with an upper rank', () => {
  for (const [share, expected] of rows('0.5 5; 0.05 59; 0.01 299; 0.001 2995')) {
    assert.equal(samplesToProve(share), expected);
    assert.equal(upperRank(expected - 1, 1 - share), null);
    assert.equal(upperRank(expected, 1 - share), expected);
  }
});

test('the observed rank is robust against rounding', () => {
  for (const [n, q, rank] of rows(
    '100 0.07 7; 100 0.99 99; 101 0.99 100; 1 0.5 1; 3 0.001 1; 1000 0.999 999',
  ))
    assert.equal(quantileRank(n, q), rank, `${q} of ${n}`);
});

test("Clopper-Pearson upper bounds and Student's t quantiles agree with scipy", () => {
  for (const [x, n, expected] of rows(PROPORTIONS)) {
    near(proportionUpperBound(x, n), expected, 1e-8, `${x} of ${n}`);
  }
  for (const [df, expected] of rows(STUDENT)) near(studentT95(df), expected, 1e-9, `t with ${df}`);
});

test('mean and variance', () => {
  assert.deepEqual(meanAndVariance([2, 4, 4, 4, 5, 5, 7, 9]), { count: 8, mean: 5, variance: 32 / 7 });
  assert.deepEqual(meanAndVariance([3]), { count: 1, mean: 3, variance: 0 });
  assert.ok(Number.isNaN(meanAndVariance([]).mean));
  near(meanAndVariance([1e9 + 1, 1e9 + 2, 1e9 + 3]).variance, 1, 1e-9, 'far from zero');
});

test('a weighted line has the slope and bounds of weighted least squares', () => {
  // By the textbook formulas, computed apart; t(0.95, 2) = 2.919986.
  const points = [
    { x: 0, y: 1, weight: 1 },
    { x: 1, y: 2, weight: 2 },
    { x: 2, y: 2, weight: 1 },
    { x: 4, y: 5, weight: 4 },
  ];
  const { slope, at } = lineThrough(points);
  near(at(0), 0.8125, 1e-12, 'line');
  near(at(1) - at(0), 1.025, 1e-12, 'line');
  near(slope.low, 0.5962242028626711, 1e-12, 'line');
  near(slope.high, 1.4537757971373289, 1e-12, 'line');
});

test('two points, or points one above the other, bound no slope', () => {
  const point = (/** @type {number} */ x, /** @type {number} */ y) => ({ x, y, weight: 1 });
  for (const points of [
    [],
    [point(0, 1)],
    [point(0, 1), point(1, 1)],
    [point(1, 1), point(1, 2), point(1, 3)],
  ]) {
    const { low, high } = lineThrough(points).slope;
    assert.deepEqual([low, high], [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
  }
});
