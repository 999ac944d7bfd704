import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { uniform } from '../../src/common/random.js';
import { findDrift, fitLine, mannKendall } from '../../src/verdict/trend.js';

test('Mann-Kendall has the p of its normal approximation', () => {
  // n = 10 in order: S = 45, var S = 125, z = 44 / sqrt(125) = 3.9355, p = 8.30e-5.
  const rising = Array.from({ length: 10 }, (_, i) => i);
  assert.ok(Math.abs(mannKendall(rising) - 8.303e-5) < 2e-7, String(mannKendall(rising)));
  // S = 3, ties of 2, 3 and 3: var S = (1656 - 18 - 66 - 66) / 18, z = 2 / sqrt(83.67) = 0.21866, p = 0.82692.
  assert.ok(Math.abs(mannKendall([23, 24, 29, 6, 29, 24, 24, 29, 23]) - 0.82692) < 1e-5);
  assert.equal(mannKendall([5, 5, 5, 5]), 1);
  assert.equal(mannKendall([]), 1);
});

test('Mann-Kendall is independent of direction and unit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 40 }), (values) => {
      const p = mannKendall(values);
      assert.ok(p >= 0 && p <= 1);
      assert.equal(mannKendall(values.toReversed()), p);
      assert.equal(mannKendall(values.map((value) => 3 * value + 1)), p);
    }),
  );
});

test('the Theil-Sen line fits a straight line despite an outlier', () => {
  const values = Array.from({ length: 11 }, (_, i) => 2 + 3 * i);
  values[4] = 900;
  assert.deepEqual(fitLine(values), { from: 2, to: 32 });
});

const each = (/** @type {number} */ length, /** @type {(i: number) => number} */ value) =>
  Array.from({ length }, (_, i) => value(i));

/** @type {[string, number[], number, boolean][]} sentence, values, least change, drifts */
const TABLE = [
  ['an empty series', [], 0, false],
  ['seven rising seconds: too few', each(7, (i) => i + 1), 0, false],
  ['eight seconds that rise throughout', each(8, (i) => 1 + i / 8), 0, true],
  ['a rise of a fifth over the whole', each(60, (i) => 1 + (0.2 * i) / 59), 0, false],
  ['a rise of three tenths', each(60, (i) => 1 + (0.3 * i) / 59), 0, true],
  ['a fall by a third', each(60, (i) => 3 - i / 59), 0, true],
  ['a rise below the minimum', each(60, (i) => 0.1 + (0.05 * i) / 59), 0.1, false],
  ['four freezes that repeat', each(20, (i) => (i % 5 === 2 ? 400 : 1)), 0.1, false],
  ['four freezes of two seconds', each(20, (i) => (i % 5 >= 3 ? 400 + i : 1)), 0.1, false],
  ['one step in the middle', each(20, (i) => (i < 10 ? 1 : 2)), 0.1, true],
  ['one outlier at the end', each(20, (i) => (i === 19 ? 50 : 1)), 0.1, false],
  ['an hour that rises', each(3600, (i) => 1 + i / 3600), 0.1, true],
];

describe('a drift', () => {
  for (const [sentence, values, least, drifts] of TABLE) {
    test(`${drifts ? 'is found' : 'is not found'} in ${sentence}`, () => {
      assert.equal(findDrift(values, least) !== null, drifts);
    });
  }

  test('is rarely found in noise', () => {
    let found = 0;
    for (let i = 0; i < 2000; i++) {
      if (findDrift(each(30, (k) => 1 + uniform(7, i * 30 + k))) !== null) found++;
    }
    assert.ok(found <= 4, `${found} of 2000, where p < 0.001 allows 2`);
  });
});
