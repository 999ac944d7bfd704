import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { quantilesOf } from '../../src/calibrate/quantiles.js';

/** @type {[string, number[], object][]} */
const TABLE = [
  ['nothing', [], { count: 0, p50: null, p99: null, max: null }],
  ['one value is all of them', [3], { count: 1, p50: 3, p99: 3, max: 3 }],
  ['of an even number the lower middle', [4, 1, 3, 2], { count: 4, p50: 2, p99: 4, max: 4 }],
  [
    'of a hundred the 99th is not the largest',
    Array.from({ length: 100 }, (_, i) => 100 - i),
    { count: 100, p50: 50, p99: 99, max: 100 },
  ],
  ['sorted as numbers', [10, 9, -1], { count: 3, p50: 9, p99: 10, max: 10 }],
  ['to the microsecond', [0.0123456], { count: 1, p50: 0.012, p99: 0.012, max: 0.012 }],
];

describe('quantiles', () => {
  for (const [what, values, expected] of TABLE) {
    test(what, () => assert.deepEqual(quantilesOf(Float64Array.from(values)), expected));
  }
});

test('at least half of the values are no larger than p50, and fewer are where it is taken away', () => {
  const whole = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(whole, (values) => {
      const { p50, p99, max } = quantilesOf(Float64Array.from(values));
      for (const [share, quantile] of /** @type {[number, number][]} */ ([
        [0.5, p50],
        [0.99, p99],
        [1, max],
      ])) {
        const upTo = values.filter((value) => value <= quantile).length;
        const below = values.filter((value) => value < quantile).length;
        assert.ok(upTo >= share * values.length && below < share * values.length);
      }
    }),
  );
});
