import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createProfile } from '../../src/plan/schedule.js';

/** @import { Line } from '../../src/plan/load.js' */

/** @param {number} from @param {number} to @param {number} durationMs @returns {Line} */
const line = (from, to, durationMs) => ({ from, to, durationMs });

/** @param {number} a @param {number} b @param {string} [what] */
function near(a, b, what) {
  assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what ?? ''} ${a}, not ${b}`);
}

/** By time, the arrivals expected before it, worked out by hand. @type {[string, Line[], Record<number, number>][]} */
const TABLE = [
  ['a constant rate', [line(20, 20, 10_000)], { 0: 0, 50: 1, 1000: 20, 10000: 200 }],
  ['one that never ends', [line(20, 20, Number.POSITIVE_INFINITY)], { 50: 1, 3600000: 72_000 }],
  // t² rate / (2 ramp), then rate (t - ramp / 2).
  ['a ramp', [line(0, 100, 10_000), line(100, 100, 10_000)], { 1000: 5, 2000: 20, 10000: 500, 20000: 1500 }],
  ['a ramp down', [line(100, 0, 10_000)], { 1000: 95, 5000: 375, 10000: 500 }],
  ['steps', [line(10, 10, 1000), line(20, 20, 1000), line(40, 40, 1000)], { 500: 5, 1500: 20, 2500: 50 }],
  ['a pause', [line(10, 10, 1000), line(0, 0, 5000), line(10, 10, 1000)], { 500: 5, 6500: 15 }],
  ['a barely rising line', [line(100, 100.000001, 100_000)], { 50000: 5000.0000125 }],
];

describe('a profile', () => {
  for (const [what, segments, points] of TABLE) {
    test(`of ${what} has the expected arrivals and times`, () => {
      const { expected, timeOf } = createProfile(segments);
      for (const [time, arrivals] of Object.entries(points)) {
        const ms = Number(time);
        assert.ok(Math.abs(expected(ms) - arrivals) < 1e-8, `${expected(ms)} at ${ms}, not ${arrivals}`);
        near(expected(timeOf(expected(ms))), expected(ms), `at ${ms}`);
      }
    });
  }

  test('with a pause moves arrivals due at its start to its end', () => {
    const { timeOf, expected } = createProfile([line(10, 10, 1000), line(0, 0, 5000), line(10, 10, 1000)]);
    assert.equal(timeOf(10), 6000);
    assert.equal(expected(1000), 10);
    assert.equal(expected(6000), 10);
  });

  test('starts after an initial pause, and moves an arrival due at a final one to the end', () => {
    const { timeOf, endMs } = createProfile([line(0, 0, 5000), line(10, 10, 1000), line(0, 0, 5000)]);
    assert.equal(timeOf(0), 5000);
    assert.equal(timeOf(10), endMs);
    assert.equal(timeOf(10.5), Number.POSITIVE_INFINITY);
  });

  test('has the rate of the later line where two meet, and zero before and after', () => {
    const { ratePerSecond } = createProfile([line(0, 100, 1000), line(20, 20, 1000)]);
    assert.deepEqual([-1, 0, 500, 1000, 1999, 2000].map(ratePerSecond), [0, 0, 50, 20, 20, 0]);
  });

  /** Nothing, or a request a month at least. */
  const rate = fc.oneof(fc.constant(0), fc.double({ min: 4e-7, max: 1e5, noNaN: true }));
  const segments = fc.array(
    fc.record({
      durationMs: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
      from: rate,
      to: rate,
    }),
    { minLength: 1, maxLength: 8 },
  );

  test('inverts its counts, never decreases, and does not depend on earlier searches', () => {
    fc.assert(
      fc.property(segments, fc.array(fc.integer({ min: 0, max: 1e6 }), { maxLength: 20 }), (all, parts) => {
        const shares = parts.map((part) => part / 1e6);
        const profile = createProfile(all);
        const total = profile.expected(profile.endMs);
        for (const share of shares) {
          const arrivals = share * total;
          const ms = profile.timeOf(arrivals);
          near(ms, createProfile(all).timeOf(arrivals), 'a profile of its own');
          assert.ok(Math.abs(profile.expected(ms) - arrivals) <= 1e-6 * Math.max(1, total));
        }
        const times = [...shares].sort((a, b) => a - b).map((share) => profile.timeOf(share * total));
        for (let i = 1; i < times.length; i++) assert.ok(times[i] >= times[i - 1]);
      }),
    );
  });
});
