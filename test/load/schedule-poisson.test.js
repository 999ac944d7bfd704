import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSchedule } from '../../src/load/pacing/schedule.js';
import { load } from './load-plan.js';

/** @param {Partial<import('../../src/plan.js').LoadPlan>} changes */
function poisson(changes) {
  return createSchedule(load({ ratePerSecond: 100, arrivals: 'poisson', ...changes }));
}

/** @param {ReturnType<typeof createSchedule>} schedule */
function times({ count, dueMs }) {
  return Array.from({ length: count }, (_, i) => dueMs(i));
}

/**
 * Largest distance between the empirical distribution and the one expected, times the root of the sample size: above
 * 1.63 once in a hundred where the two are the same (Kolmogorov).
 *
 * @param {number[]} samples
 * @param {(x: number) => number} distribution
 */
function kolmogorov(samples, distribution) {
  const sorted = [...samples].sort((a, b) => a - b);
  const n = sorted.length;
  const distances = sorted.map((x, i) =>
    Math.max(Math.abs(distribution(x) - i / n), Math.abs(distribution(x) - (i + 1) / n)),
  );
  return Math.sqrt(n) * distances.reduce((a, b) => Math.max(a, b), 0);
}

describe('Poisson arrivals', () => {
  test('gaps are exponential with the mean 1 / rate', () => {
    const due = times(poisson({ requests: 20_000 }));
    const gaps = due.map((ms, i) => ms - (due[i - 1] ?? 0));
    const distance = kolmogorov(gaps, (ms) => 1 - Math.exp(-ms / 10));
    assert.ok(distance < 1.63, `distance ${distance}`);
    const wrong = kolmogorov(gaps, (ms) => 1 - Math.exp(-ms / 10.5));
    assert.ok(wrong > 1.63, `a mean 5 % off would go unnoticed: ${wrong}`);
  });

  test('neighbouring gaps know nothing of each other', () => {
    const due = times(poisson({ requests: 20_000 }));
    const gaps = due.slice(1).map((ms, i) => (ms - due[i]) / 10 - 1);
    const correlation = gaps.slice(1).reduce((sum, gap, i) => sum + gap * gaps[i], 0) / gaps.length;
    assert.ok(Math.abs(correlation) < 3 / Math.sqrt(gaps.length), `correlation ${correlation}`);
  });

  test('counts in a fixed time scatter as much as they should: variance = mean', () => {
    const counts = Array.from({ length: 400 }, (_, seed) => poisson({ seed, durationMs: 1000 }).count);
    const mean = counts.reduce((a, b) => a + b) / counts.length;
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
    assert.ok(Math.abs(mean - 100) < 2, `mean ${mean}`);
    assert.ok(variance > 78 && variance < 125, `variance ${variance}`);
  });

  test('on a ramp half of the arrivals of the full rate come, more and more densely', () => {
    const due = times(poisson({ ratePerSecond: 2000, durationMs: 10_000, rampUpMs: 10_000 }));
    assert.ok(kolmogorov(due, (ms) => (ms / 10_000) ** 2) < 1.63);
    assert.ok(Math.abs(due.length - 10_000) < 400, `${due.length}`);
  });

  test('the same seed gives the same times, another seed others', () => {
    assert.deepEqual(times(poisson({ requests: 3000 })), times(poisson({ requests: 3000 })));
    assert.notDeepEqual(times(poisson({ requests: 30 })), times(poisson({ requests: 30, seed: 2 })));
  });

  test('a longer plan begins with the shorter one', () => {
    const long = times(poisson({ requests: 5000 }));
    assert.deepEqual(long.slice(0, 2049), times(poisson({ requests: 2049 })));
  });

  test('a schedule ends with its time, however long ago its last arrival was', () => {
    for (let seed = 0; seed < 50; seed++) {
      assert.equal(poisson({ seed, ratePerSecond: 1, durationMs: 10_000, warmupMs: 1000 }).endMs, 11_000);
    }
  });

  test('there may be no arrival at all', () => {
    const empty = Array.from({ length: 50 }, (_, seed) =>
      poisson({ seed, ratePerSecond: 0.1, durationMs: 1000 }),
    ).filter(({ count }) => count === 0);
    assert.ok(empty.length > 30, `${empty.length}`);
    assert.ok(empty.every(({ endMs, firstMeasured }) => endMs === 1000 && firstMeasured === 0));
  });

  test('requests are counted from the end of the warm-up', () => {
    const { count, firstMeasured, dueMs } = poisson({ warmupMs: 5000, requests: 10 });
    assert.ok(firstMeasured > 400 && firstMeasured < 600, `${firstMeasured}`);
    assert.equal(count, firstMeasured + 10);
    assert.ok(dueMs(firstMeasured - 1) < 5000 && dueMs(firstMeasured) >= 5000);
  });
});
