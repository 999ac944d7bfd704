import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { bootstrapInterval } from '../../src/results/comparison/bootstrap.js';
import { differenceOf } from '../../src/results/comparison/compare-samples.js';
import { median } from '../../src/results/median.js';
import { noisy, slower, TEN } from './runs.js';

/** Vectors computed by scipy: `python3 test/results/fixtures/make-compare.py`. */
const FIXTURES = new URL('./fixtures/compare.json', import.meta.url);

const SIMULATIONS = 300;

/** @param {number} base @param {number} other */
const percent = (base, other) => differenceOf('ms', base, other);

describe('the median of', () => {
  /** @type {[string, number[], number][]} */
  const TABLE = [
    ['one value is that value', [7], 7],
    ['two is their mean', [9, 2], 5.5],
    ['three in any order is the middle one', [100, 1, 20], 20],
    ['numbers of different length is not by their text', [9, 10, 100], 10],
  ];
  for (const [why, values, expected] of TABLE) test(why, () => assert.equal(median(values), expected));
});

describe('the interval of a difference', () => {
  test('is the same for the same runs and seed, another for another seed', () => {
    const interval = (/** @type {number} */ seed) => bootstrapInterval(TEN, slower(1.1), percent, { seed });
    assert.deepEqual(interval(1), interval(1));
    assert.notDeepEqual(interval(1), interval(2));
  });

  test('lies about the difference of the medians', () => {
    const other = slower(1.1);
    const found = bootstrapInterval(TEN, other, percent, { seed: 1 });
    const difference = Number(percent(median(TEN), median(other)));
    assert.ok(found !== null && found[0] < difference && difference < found[1], `${found}`);
    assert.ok(found[0] > 6 && found[1] < 14, `${found}: no farther than the runs are apart`);
  });

  test('of runs that are all the same is that difference alone', () => {
    assert.deepEqual(bootstrapInterval([10, 10, 10, 10], [11, 11, 11, 11], percent, { seed: 1 }), [10, 10]);
  });

  test('is none where some resample has no difference: a base of 0', () => {
    assert.equal(bootstrapInterval([0, 0, 0, 5], [1, 2, 3, 4], percent, { seed: 1 }), null);
  });

  test('leaves 2.5 % of the resamples out on either side', () => {
    // What varies is the median of the base alone, and how that is distributed is known.
    const base = Array.from({ length: 1000 }, (_, i) => i + 1);
    const found = bootstrapInterval(base, [0], (from) => from, { seed: 3, resamples: 4000 });
    // The median of n uniform values is normal about the middle, with a deviation of n / (2 sqrt(n)).
    const deviation = 1000 / (2 * Math.sqrt(1000));
    assert.ok(found !== null);
    assert.ok(Math.abs((found[0] - 500.5) / deviation + 1.96) < 0.2, `${found}`);
    assert.ok(Math.abs((found[1] - 500.5) / deviation - 1.96) < 0.2, `${found}`);
  });

  test('holds the true difference in about 95 % of simulated comparisons', () => {
    let held = 0;
    for (let seed = 1; seed <= SIMULATIONS; seed += 1) {
      const base = noisy(10, { typical: 50, spreadShare: 0.05, seed, stream: 1 });
      const other = noisy(10, { typical: 55, spreadShare: 0.05, seed, stream: 2 });
      const found = bootstrapInterval(base, other, percent, { seed, resamples: 400 });
      if (found !== null && found[0] <= 10 && 10 <= found[1]) held += 1;
    }
    const share = held / SIMULATIONS;
    assert.ok(share > 0.88 && share < 0.995, `${share}`);
  });

  test('agrees with scipy, as far as drawing anew can', () => {
    /** @type {{bootstrap: {base: number[], other: number[], low: [number, number], high: [number, number]}[]}} */
    const vectors = JSON.parse(readFileSync(FIXTURES, 'utf8'));
    assert.ok(vectors.bootstrap.length > 0);
    for (const { base, other, low, high } of vectors.bootstrap) {
      const found = bootstrapInterval(base, other, percent, { seed: 1 });
      assert.ok(found !== null);
      for (const [i, [from, to]] of [low, high].entries()) {
        assert.ok(found[i] >= from - 1e-9 && found[i] <= to + 1e-9, `${found[i]} is not in ${from} to ${to}`);
      }
    }
  });
});
