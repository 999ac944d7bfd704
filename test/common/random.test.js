import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fillBytes, hash32, shuffled, uniform } from '../../src/common/random.js';

/**
 * Chi-squared against equal shares; its mean is `bins - 1`, its deviation sqrt(2 (bins - 1)).
 *
 * @param {Iterable<number>} values below `bins`
 * @param {number} bins
 * @returns {number} in deviations
 */
function chiSquared(values, bins) {
  const counts = new Float64Array(bins);
  let n = 0;
  for (const value of values) {
    counts[value]++;
    n++;
  }
  const expected = n / bins;
  const sum = counts.reduce((total, count) => total + (count - expected) ** 2 / expected, 0);
  return (sum - (bins - 1)) / Math.sqrt(2 * (bins - 1));
}

const N = 100_000;
const SEEDS = [0, 0xffff_ffff];

/** @param {(i: number) => number} draw */
function draws(draw) {
  return Array.from({ length: N }, (_, i) => draw(i));
}

/** @param {number[]} a @param {number[]} b numbers in 0..1 */
function correlation(a, b) {
  return (12 / a.length) * a.reduce((sum, value, i) => sum + (value - 0.5) * (b[i] - 0.5), 0);
}

describe('numbers from seed and counter', () => {
  for (const seed of SEEDS) {
    test(`seed ${seed}: top and low bits are uniform, as are pairs of neighbours`, () => {
      const values = draws((i) => uniform(seed, i));
      for (const [name, distance] of [
        [
          'top',
          chiSquared(
            values.map((u) => Math.floor(u * 256)),
            256,
          ),
        ],
        [
          'low',
          chiSquared(
            values.map((u) => Math.floor(u * 2 ** 50) % 256),
            256,
          ),
        ],
        [
          'halves',
          chiSquared(
            values.map((u) => Math.floor(u * 16) * 16 + (Math.floor(u * 2 ** 30) % 16)),
            256,
          ),
        ],
        [
          'word',
          chiSquared(
            draws((i) => hash32(seed, i) & 255),
            256,
          ),
        ],
        [
          'pairs',
          chiSquared(
            values.slice(1).map((u, i) => Math.floor(u * 16) * 16 + Math.floor(values[i] * 16)),
            256,
          ),
        ],
      ]) {
        assert.ok(Math.abs(Number(distance)) < 4.5, `${name}: ${distance} deviations`);
      }
    });

    test(`seed ${seed}: streams and neighbouring seeds are independent`, () => {
      const own = draws((i) => uniform(seed, i));
      for (const other of [
        draws((i) => uniform(seed, i, 1)),
        draws((i) => uniform(seed, i, 7)),
        draws((i) => uniform((seed + 1) >>> 0, i)),
        draws((i) => uniform(seed, i + 1)),
        draws((i) => uniform(seed, i + 2 ** 32)),
      ]) {
        assert.ok(Math.abs(correlation(own, other)) < 5 / Math.sqrt(N), `${correlation(own, other)}`);
      }
    });
  }

  test('uniform lies strictly between zero and one', () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff_ffff),
        fc.nat(Number.MAX_SAFE_INTEGER),
        fc.nat(300),
        (seed, counter, stream) => {
          const u = uniform(seed, counter, stream);
          assert.ok(u > 0 && u < 1);
          assert.equal(u, uniform(seed, counter, stream));
          const word = hash32(seed, counter, stream);
          assert.ok(Number.isInteger(word) && word >= 0 && word <= 0xffff_ffff);
        },
      ),
    );
  });
});

describe('bytes from seed and counter', () => {
  test('are uniform, and differ between counters, at any length', () => {
    const all = new Uint8Array(32 * 10_000);
    for (let i = 0; i < 10_000; i++) fillBytes(all.subarray(i * 32, i * 32 + 32), 1, i, 200);
    assert.ok(Math.abs(chiSquared(all, 256)) < 4.5);
    const nonces = new Set(
      Array.from({ length: 10_000 }, (_, i) =>
        Buffer.from(all.subarray(i * 32, i * 32 + 32)).toString('hex'),
      ),
    );
    assert.equal(nonces.size, 10_000);
  });
});

describe('a seeded order', () => {
  test('is a permutation, the same for the same seed', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(0xffff_ffff), (n, seed) => {
        const order = shuffled(n, seed);
        assert.deepEqual(
          [...order].sort((a, b) => a - b),
          Array.from({ length: n }, (_, i) => i),
        );
        assert.deepEqual(order, shuffled(n, seed));
      }),
    );
  });
});
