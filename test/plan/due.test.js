import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createDueCounter, createDuePerSecond, scheduleOf } from '../../src/plan/due.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { load } from '../engine/load-plan.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

const loads = fc.record({
  ratePerSecond: fc.oneof(
    fc.double({ min: 0.2, max: 300, noNaN: true }),
    fc.constantFrom(1, 3, 7, 20, 1000 / 3600),
  ),
  durationMs: fc.integer({ min: 1, max: 20_000 }),
  requests: fc.option(fc.integer({ min: 1, max: 500 })),
  arrivals: fc.constantFrom('constant', 'poisson'),
  seed: fc.nat(1000),
  warmupMs: fc.constantFrom(0, 500, 1000),
  rampUpMs: fc.constantFrom(0, 3000),
  shard: fc.option(
    fc.constantFrom({ index: 0, of: 3 }, { index: 2, of: 3 }, { index: 0, of: 1 }, { index: 6, of: 7 }),
  ),
});

/** @param {any} changes @returns {LoadPlan} */
const planOf = (changes) => load(changes);

/**
 * Those of the part, one by one.
 *
 * @param {LoadPlan} plan
 * @returns {number[]} due times of the measured phase, from its start
 */
function walk(plan) {
  const { count, firstMeasured, dueMs } = createSchedule(plan);
  const { index, of } = plan.shard ?? { index: 0, of: 1 };
  return Array.from({ length: count }, (_, i) => i)
    .filter((i) => i >= firstMeasured && i % of === index)
    .map((i) => dueMs(i) - plan.warmupMs);
}

/** @param {LoadPlan} plan @param {number} seconds */
const dueIn = (plan, seconds) => createDuePerSecond(createSchedule(plan), plan.shard, plan.warmupMs)(seconds);

/** As due.js rounds. @param {number} ms */
const secondOf = (ms) => Math.floor((ms + 1e-6) / 1000);

describe('arrivals due in each second', () => {
  test('equal a count of the schedule, one by one', () => {
    fc.assert(
      fc.property(loads, (changes) => {
        const plan = planOf(changes);
        const seconds = 24;
        const expected = new Array(seconds).fill(0);
        for (const ms of walk(plan)) if (secondOf(ms) < seconds) expected[secondOf(ms)]++;
        assert.deepEqual(dueIn(plan, seconds), expected);
      }),
      { numRuns: 100 },
    );
  });

  test('equal a constant rate, to the last second', () => {
    for (const ratePerSecond of [1, 3, 7, 20, 999, 5000]) {
      const plan = planOf({ ratePerSecond, durationMs: 60_000 });
      assert.deepEqual(dueIn(plan, 61), [...new Array(60).fill(ratePerSecond), 0]);
    }
  });

  test('do not exist in a closed loop', () => {
    assert.equal(scheduleOf(planOf({ model: 'closed', ratePerSecond: null, requests: 5 })), null);
  });

  test('over an hour are counted without visiting each', () => {
    const plan = planOf({ ratePerSecond: 10_000, durationMs: 3_600_000 });
    const schedule = createSchedule(plan);
    let asked = 0;
    const counting = {
      ...schedule,
      dueMs: (/** @type {number} */ index) => {
        asked++;
        return schedule.dueMs(index);
      },
    };
    const due = createDuePerSecond(counting, null, 0)(3600);
    assert.equal(
      due.reduce((a, b) => a + b, 0),
      36_000_000,
    );
    assert.ok(asked < 20 * 3600, `${asked} times`);
  });
});

test('a counter counts arrivals due before any time, in any order', () => {
  fc.assert(
    fc.property(
      loads,
      fc.array(fc.integer({ min: -1000, max: 25_000 }), { minLength: 1, maxLength: 8 }),
      (changes, times) => {
        const plan = planOf({ ...changes, warmupMs: 0 });
        const { until } = createDueCounter(createSchedule(plan), plan.shard);
        const all = walk(plan);
        for (const ms of times) assert.equal(until(ms), all.filter((due) => due < ms - 1e-6).length);
      },
    ),
  );
});
