import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkArrivals, createSchedule } from '../../src/plan/schedule.js';
import { load } from '../engine/load-plan.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

/** @param {Partial<LoadPlan>} changes */
function poisson(changes) {
  return createSchedule(load({ ratePerSecond: 100, arrivals: 'poisson', ...changes }));
}

/** @param {ReturnType<typeof createSchedule>} schedule */
function times({ count, dueMs }) {
  return Array.from({ length: count }, (_, i) => dueMs(i));
}

describe('Poisson arrivals', () => {
  test('a longer plan begins with the shorter one', () => {
    const long = times(poisson({ requests: 5000 }));
    assert.deepEqual(long.slice(0, 2049), times(poisson({ requests: 2049 })));
  });

  test('a schedule lasts its full duration, however early its last arrival', () => {
    for (let seed = 0; seed < 50; seed++) {
      assert.equal(poisson({ seed, ratePerSecond: 1, durationMs: 10_000, warmupMs: 1000 }).endMs, 11_000);
    }
  });

  test('a schedule may be empty', () => {
    const empty = Array.from({ length: 50 }, (_, seed) =>
      poisson({ seed, ratePerSecond: 0.1, durationMs: 1000 }),
    ).filter(({ count }) => count === 0);
    assert.ok(empty.length > 30, `${empty.length}`);
    assert.ok(empty.every(({ endMs, firstMeasured }) => endMs === 1000 && firstMeasured === 0));
  });

  test('--requests counts from the end of the warm-up', () => {
    const { count, firstMeasured, dueMs } = poisson({ warmupMs: 5000, requests: 10 });
    assert.ok(firstMeasured > 400 && firstMeasured < 600, `${firstMeasured}`);
    assert.equal(count, firstMeasured + 10);
    assert.ok(dueMs(firstMeasured - 1) < 5000 && dueMs(firstMeasured) >= 5000);
  });
});

test('all runs of a scenario together may have only so many Poisson arrivals', () => {
  const many = load({ ratePerSecond: 1, arrivals: 'poisson', durationMs: null, requests: 60_000_000 });
  checkArrivals([many, { ...many, arrivals: 'constant' }]);
  assert.throws(() => checkArrivals([many, many]), /there would be 120000000/);
});
