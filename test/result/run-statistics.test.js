/** The statistics of a comparison: the test of ranks, and the interval of the difference of medians. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { normalUpperTail } from '../../src/common/normal.js';
import { median } from '../../src/common/sums.js';
import { differenceOf } from '../../src/result/comparison/compare-samples.js';
import {
  ALPHA,
  bootstrapInterval,
  combinations,
  mannWhitney,
  runsNeeded,
  smallestPValue,
} from '../../src/result/comparison/run-statistics.js';
import { noisy, slower, TEN } from './runs.js';
import { near } from './support.js';

const upTo = (/** @type {number} */ n, from = 0, step = 1) =>
  Array.from({ length: n }, (_, i) => from + step * i);

describe('Mann-Whitney', () => {
  /** Counted by hand. @type {[string, number[], number[], number, number][]} what, a, b, U and p */
  const EXACT = [
    ['one and one run: one of two orders, twice', [1], [2], 0, 1],
    ['three below three: 2 of 20', [1, 2, 3], [4, 5, 6], 0, 2 / 20],
    ['five below five: 2 of 252', [1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 0, 2 / 252],
    ['alternating: U <= 3 in 7 of 20', [1, 3, 5], [2, 4, 6], 3, 14 / 20],
    ['five above two', [3, 4, 5, 6, 7], [1, 2], 10, 2 / 21],
    ['all equal: every order is as far out', [5, 5, 5, 5], [5, 5, 5, 5], 8, 1],
    ['equal within, apart between: as without ties', [1, 1, 1, 1], [2, 2, 2, 2], 0, 2 / 70],
    ['ranks 1 3 3 5 of 1 3 3 3 5 6 7 8: sum <= 12 in 4 of 70', [1, 2, 2, 3], [2, 4, 5, 6], 2, 8 / 70],
    ['a tie that leaves the distribution lopsided: the smaller tail, twice', [2], [1, 1], 2, 2 / 3],
  ];
  for (const [why, a, b, u, p] of EXACT) {
    test(why, () => {
      const found = mannWhitney(a, b);
      assert.deepEqual([found.method, found.u], ['exact', u]);
      near(found.pValue, p, 1e-12);
    });
  }

  test('equals brute-force enumeration, in either order of the groups', () => {
    const values = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(values, values, (a, b) => {
        const { u, pValue } = mannWhitney(a, b);
        near(pValue, enumerated(a, b), 1e-12);
        const turned = mannWhitney(b, [...a].reverse());
        assert.equal(turned.u, a.length * b.length - u);
        near(turned.pValue, pValue, 1e-12, 'turned');
      }),
    );
  });

  /** @type {[number, number, string][]} */
  const METHODS = [
    [11, 11, 'exact'],
    [30, 30, 'exact'],
    [31, 31, 'asymptotic'],
    [2, 600, 'exact'],
    [600, 2, 'exact'],
    [100, 100, 'asymptotic'],
  ];
  for (const [n, m, method] of METHODS) {
    test(`of ${n} and ${m} runs is ${method}, without rounding errors`, () => {
      const found = mannWhitney(upTo(n, 0, 2), upTo(m, 1, 2));
      assert.equal(found.method, method);
      assert.ok(found.pValue > 0 && found.pValue <= 1, `${found.pValue}`);
      if (method !== 'exact') return;
      near(mannWhitney(upTo(n), upTo(m, n)).pValue, 2 / combinations(n + m, n), 1e-12);
      near(mannWhitney(upTo(m, n), upTo(n)).pValue, 2 / combinations(n + m, n), 1e-12, 'turned');
    });
  }

  /** Computed by scipy.stats.mannwhitneyu, with ties and without. @type {[number[], number[], number, number][]} */
  const ASYMPTOTIC = [
    [[1, 2, 3], [4, 5, 6], 0, 0.0808556],
    [
      [7.4, 6.7, 7.6, 8, 7.3, 7.5, 7.6, 6.7, 8, 8, 7],
      [7.9, 7.8, 8.1, 8.2, 8.4, 7.8, 7.3, 7.7, 7.3, 8.1, 8],
      28.5,
      0.037613651607330836,
    ],
    [
      [7.2213, 7.5385, 7.115, 7.8241, 7.4585, 7.6835, 7.0641, 7.4261, 7.8267, 7.1129, 7.527],
      [8.6445, 6.9627, 7.5258, 7.7221, 7.5552, 7.9316, 7.5491, 7.7073, 7.9788, 7.6008, 8.2194],
      29,
      0.04178899680298453,
    ],
  ];
  test('has the same approximation as scipy', () => {
    for (const [a, b, u, p] of ASYMPTOTIC) {
      const found = mannWhitney(a, b, 'asymptotic');
      assert.equal(found.u, u);
      near(found.pValue, p, 1e-7);
    }
    assert.equal(mannWhitney(Array(15).fill(3), Array(15).fill(3), 'asymptotic').pValue, 1);
    for (const shift of [0.5, 4.5, 8.5, 12.5]) {
      const [a, b] = [upTo(10, 0, 2), upTo(10, shift, 2)];
      const [exact, approximate] = [mannWhitney(a, b, 'exact'), mannWhitney(a, b, 'asymptotic')];
      assert.ok(Math.abs(exact.pValue - approximate.pValue) < 0.01, `${exact.pValue} ${approximate.pValue}`);
    }
  });

  test('uses correct upper tails of the normal distribution', () => {
    for (const [z, tail] of [
      [0, 0.5],
      [1.96, 0.024997895148220435],
      [3, 0.0013498980316300933],
      [10, 7.61985302416047e-24],
      [-1, 0.8413447460685429],
    ]) {
      near(normalUpperTail(z), tail, 1e-10, `at ${z}`);
    }
  });

  test('reaches its smallest possible p-value; 4 runs per group are the minimum', () => {
    for (const [n, m] of [
      [1, 1],
      [3, 3],
      [4, 4],
      [3, 5],
      [2, 8],
      [1, 39],
    ]) {
      near(smallestPValue(n, m), 2 / combinations(n + m, n), 1e-12, 'smallest');
      near(mannWhitney(upTo(n), upTo(m, n)).pValue, smallestPValue(n, m), 1e-12, 'and it does come out');
    }
    assert.equal(smallestPValue(0, 5), 1);
    assert.equal(combinations(8, 4), 70);
    assert.equal(runsNeeded(), 4);
    assert.ok(smallestPValue(3, 3) >= ALPHA && smallestPValue(4, 4) < ALPHA);
    assert.ok(smallestPValue(1, 39) >= ALPHA && smallestPValue(1, 40) < ALPHA);
  });
});

/** The same by going through every choice of runs, pair by pair. @param {number[]} a @param {number[]} b */
function enumerated(a, b) {
  const all = [...a, ...b];
  const observed = uOf(a, b);
  let [atMost, atLeast, ways] = [0, 0, 0];
  for (let mask = 0; mask < 2 ** all.length; mask += 1) {
    const chosen = all.filter((_, i) => (mask >> i) & 1);
    if (chosen.length !== a.length) continue;
    const others = all.filter((_, i) => !((mask >> i) & 1));
    const u = uOf(chosen, others);
    ways += 1;
    if (u <= observed) atMost += 1;
    if (u >= observed) atLeast += 1;
  }
  return Math.min(1, (2 * Math.min(atMost, atLeast)) / ways);
}

/** @param {number[]} a @param {number[]} b */
function uOf(a, b) {
  return a.reduce((sum, x) => sum + b.reduce((inner, y) => inner + (x > y ? 1 : x === y ? 0.5 : 0), 0), 0);
}

test('the median is the middle value, or the mean of the middle two', () => {
  assert.deepEqual([[7], [9, 2], [100, 1, 20], [9, 10, 100]].map(median), [7, 5.5, 20, 10]);
});

describe('the interval of a difference', () => {
  const percent = (/** @type {number} */ base, /** @type {number} */ other) =>
    differenceOf('ms', base, other);

  test('contains the difference of medians, and depends only on the values and the seed', () => {
    const interval = (/** @type {number} */ seed) => bootstrapInterval(TEN, slower(1.1), percent, { seed });
    const found = interval(1);
    assert.deepEqual(found, interval(1));
    assert.notDeepEqual(found, interval(2));
    const difference = Number(percent(median(TEN), median(slower(1.1))));
    assert.ok(found !== null && 6 < found[0] && found[0] < difference, `${found}`);
    assert.ok(difference < found[1] && found[1] < 14, `${found}`);
  });

  test('is a single value for identical runs, and undefined with a base of 0', () => {
    assert.deepEqual(bootstrapInterval([10, 10, 10, 10], [11, 11, 11, 11], percent, { seed: 1 }), [10, 10]);
    assert.equal(bootstrapInterval([0, 0, 0, 5], [1, 2, 3, 4], percent, { seed: 1 }), null);
  });

  test('excludes 2.5 % of the resamples on either side', () => {
    // What varies is the median of the base alone: normal about the middle, with a deviation of n / (2 sqrt(n)).
    const deviation = 1000 / (2 * Math.sqrt(1000));
    const found = bootstrapInterval(upTo(1000, 1), [0], (from) => from, { seed: 3, resamples: 4000 });
    assert.ok(found !== null);
    assert.ok(Math.abs((found[0] - 500.5) / deviation + 1.96) < 0.2, `${found}`);
    assert.ok(Math.abs((found[1] - 500.5) / deviation - 1.96) < 0.2, `${found}`);
  });

  test('contains the true difference in about 95 % of simulated comparisons', () => {
    let held = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const base = noisy(10, { typical: 50, spreadShare: 0.05, seed, stream: 1 });
      const other = noisy(10, { typical: 55, spreadShare: 0.05, seed, stream: 2 });
      const found = bootstrapInterval(base, other, percent, { seed, resamples: 200 });
      if (found !== null && found[0] <= 10 && 10 <= found[1]) held += 1;
    }
    assert.ok(held > 175 && held < 199, `${held} of 200`);
  });

  test('agrees with scipy.stats.bootstrap, up to random variation', () => {
    const base = [7.3316, 8.033, 7.7246, 6.659, 7.3845, 7.6136, 7.2885, 7.3343, 7.3039, 6.6601];
    const other = [7.5948, 7.9602, 8.092, 8.0753, 8.1855, 7.848, 8.1852, 8.5689, 8.0519, 8.231];
    const found = bootstrapInterval(base, other, percent, { seed: 1 });
    assert.ok(found !== null);
    assert.ok(found[0] > 5.401 && found[0] < 6.065 && found[1] > 14.439 && found[1] < 15.907, `${found}`);
  });
});

test('ranks 200,000 different values in order', () => {
  const values = Array.from({ length: 100_000 }, (_, i) => i);
  const { u, method } = mannWhitney(
    values,
    values.map((value) => value + 100_000),
  );
  assert.deepEqual([u, method], [0, 'asymptotic']);
});
