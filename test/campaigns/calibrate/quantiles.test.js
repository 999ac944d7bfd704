import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { quantilesOf } from '../../../src/campaigns/calibrate/measure.js';

/** @type {[string, number[], object][]} */
const TABLE = [
  ['nothing', [], { count: 0, p50: null, p99: null, max: null }],
  ['one value is all of them', [3], { count: 1, p50: 3, p99: 3, max: 3 }],
  ['of an even number the lower middle', [4, 1, 3, 2], { count: 4, p50: 2, p99: 4, max: 4 }],
  ['a hundred', Array.from({ length: 100 }, (_, i) => 100 - i), { count: 100, p50: 50, p99: 99, max: 100 }],
  ['sorted as numbers', [10, 9, -1], { count: 3, p50: 9, p99: 10, max: 10 }],
  ['to the microsecond', [0.0123456], { count: 1, p50: 0.012, p99: 0.012, max: 0.012 }],
];

describe('quantiles', () => {
  for (const [what, values, expected] of TABLE) {
    test(what, () => assert.deepEqual(quantilesOf(Float64Array.from(values)), expected));
  }
});
