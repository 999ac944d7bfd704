import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createSchedule, inFlightBetween } from '../../src/plan/schedule.js';
import { load } from '../engine/load-plan.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

const HOUR = 3_600_000;

/** @type {[string, Partial<LoadPlan>, number, number, number][]} sentence, plan, count, first measured, end in ms */
const COUNTS = [
  ['1000/h for 1 h are exactly 1000', { ratePerSecond: 1000 / 3600, durationMs: HOUR }, 1000, 0, HOUR],
  ['an arrival due at the very end is not included', { ratePerSecond: 1, durationMs: 3000 }, 3, 0, 3000],
  ['an arrival due just before the end is included', { ratePerSecond: 1, durationMs: 3001 }, 4, 0, 3001],
  ['a rate of a third rounds up', { ratePerSecond: 1 / 3, durationMs: 10_000 }, 4, 0, 10_000],
  [
    'a plan shorter than a gap has one arrival',
    { ratePerSecond: 1 / 3600, durationMs: 30_000 },
    1,
    0,
    30_000,
  ],
  ['a million a second', { ratePerSecond: 1e6, durationMs: 60_000 }, 60_000_000, 0, 60_000],
  ['requests end it before the time does', { durationMs: 20_000, requests: 100 }, 100, 0, 5000],
  ['requests that do not fit change nothing', { durationMs: 20_000, requests: 401 }, 400, 0, 20_000],
  ['a warm-up comes on top of the time', { durationMs: 20_000, warmupMs: 5000 }, 500, 100, 25_000],
  ['a warm-up comes on top of the requests', { requests: 7, warmupMs: 5000 }, 107, 100, 5350],
  ['a warm-up shorter than a gap has one arrival', { requests: 3, warmupMs: 10 }, 4, 1, 200],
  [
    'an arrival due as the warm-up ends is measured',
    { ratePerSecond: 9.9, durationMs: 1000, warmupMs: 60_000 },
    604,
    594,
    61_000,
  ],
  [
    'a ramp has half the arrivals',
    { ratePerSecond: 100, durationMs: 10_000, rampUpMs: 10_000 },
    500,
    0,
    10_000,
  ],
  ['half a ramp has a quarter', { ratePerSecond: 100, durationMs: 5000, rampUpMs: 10_000 }, 125, 0, 5000],
  [
    'requests may end it within a ramp',
    { ratePerSecond: 100, durationMs: 10_000, rampUpMs: 10_000, requests: 125 },
    125,
    0,
    5000,
  ],
];

describe('constant arrivals', () => {
  for (const [sentence, plan, count, firstMeasured, endMs] of COUNTS) {
    test(sentence, () => {
      const schedule = createSchedule(load(plan));
      assert.equal(schedule.count, count);
      assert.equal(schedule.firstMeasured, firstMeasured);
      assert.ok(firstMeasured === count || schedule.dueMs(firstMeasured) >= (plan.warmupMs ?? 0));
      assert.ok(Math.abs(schedule.endMs - endMs) < 1e-3, `ends at ${schedule.endMs}`);
    });
  }

  test('arrival i is due at i / rate', () => {
    const { dueMs } = createSchedule(load({ ratePerSecond: 1000 / 3600, durationMs: HOUR }));
    for (const i of [0, 1, 2, 500, 999]) assert.ok(Math.abs(dueMs(i) - i * 3600) < 1e-6);
  });

  test('on a ramp arrival i is due when t^2 r / 2T is i, later at the full rate', () => {
    const { dueMs } = createSchedule(load({ ratePerSecond: 50, durationMs: 20_000, rampUpMs: 8000 }));
    for (let i = 0; i < 200; i++) assert.ok(Math.abs((dueMs(i) / 1000) ** 2 * (50 / 16) - i) < 1e-6, `${i}`);
    for (let i = 200; i < 800; i++) assert.ok(Math.abs(dueMs(i) - (8000 + (i - 200) * 20)) < 1e-6, `${i}`);
  });

  test('a closed loop has no schedule', () => {
    assert.throws(() => createSchedule(load({ ratePerSecond: null })), TypeError);
  });
});

test('the requests in flight of a closed loop: its own part of the connections, and in a stage the mean of its level', () => {
  const closed = load({ model: 'closed', ratePerSecond: null, concurrency: 9, durationMs: 8000 });
  const line = (/** @type {number} */ from, /** @type {number} */ to) => ({ durationMs: 4000, from, to });
  const stages = [
    { name: 'hold', lines: [line(4, 4)] },
    { name: 'ramp', lines: [line(4, 9)] },
  ];
  const staged = { ...closed, stages, warmupMs: 1000 };
  const part = { index: 1, of: 2 };
  const found = [
    ...[load({}), closed, { ...closed, shard: part }].map((plan) => inFlightBetween(plan, 0, 8000)),
    ...[staged, { ...staged, shard: part }].map((plan) => inFlightBetween(plan, 0, 4000)),
    inFlightBetween(staged, 4000, 8000),
  ];
  assert.deepEqual(found, [null, 9, 4, 4, 2, 7]);
});

const anyLoad = fc
  .record({
    ratePerSecond: fc.oneof(
      fc.double({ min: 0.01, max: 3000, noNaN: true }),
      fc.integer({ min: 1, max: 3000 }),
    ),
    durationMs: fc.option(fc.integer({ min: 1, max: 4000 })),
    requests: fc.option(fc.integer({ min: 1, max: 5000 })),
    arrivals: fc.constantFrom('constant', 'poisson'),
    seed: fc.nat(0xffff_ffff),
    rampUpMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 6000 })),
    warmupMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })),
  })
  .filter(({ durationMs, requests }) => durationMs !== null || requests !== null)
  .map((changes) => load(/** @type {Partial<LoadPlan>} */ (changes)));

describe('any schedule', () => {
  test('due times never decrease, are before its end, and separate warm-up and measured phase', () => {
    fc.assert(
      fc.property(anyLoad, (plan) => {
        const { count, firstMeasured, endMs, dueMs } = createSchedule(plan);
        let before = 0;
        for (let i = 0; i < count; i++) {
          const due = dueMs(i);
          assert.ok(due >= before, `arrival ${i} is due at ${due}, the one before at ${before}`);
          assert.equal(due < plan.warmupMs, i < firstMeasured, `arrival ${i} at ${due}`);
          before = due;
        }
        assert.ok(count === 0 || before < endMs, `the last at ${before}, the end at ${endMs}`);
        if (plan.requests !== null) assert.ok(count - firstMeasured <= plan.requests);
        if (plan.durationMs !== null) assert.ok(endMs <= plan.warmupMs + plan.durationMs);
      }),
      { numRuns: 100 },
    );
  });
});
