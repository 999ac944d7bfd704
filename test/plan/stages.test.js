import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { plannedWindow } from '../../src/engine/window.js';
import { createChooser } from '../../src/operations/request-parts.js';
import { createProfile, createSchedule } from '../../src/plan/schedule.js';
import {
  countPlanned,
  countUnsent,
  createInFlight,
  createStageFinder,
  settledFrom,
  stageTimesOf,
} from '../../src/plan/stages.js';
import { load } from '../engine/load-plan.js';
import { pace } from '../engine/pacing.js';

/** @import { LoadPlan, StagePlan } from '../../src/plan/load.js' */

/** @param {string} name @param {...[seconds: number, from: number, to: number]} lines @returns {StagePlan} */
const stage = (name, ...lines) => ({
  name,
  lines: lines.map(([seconds, from, to]) => ({ durationMs: seconds * 1000, from, to })),
});

/** @param {StagePlan[]} stages @param {Partial<LoadPlan>} [changes] */
function staged(stages, changes = {}) {
  const lines = stages.flatMap((one) => one.lines);
  const durationMs = lines.reduce((sum, line) => sum + line.durationMs, 0);
  const ratePerSecond = Math.max(...lines.flatMap(({ from, to }) => [from, to]));
  return load({ ratePerSecond, durationMs, stages, ...changes });
}

/** @type {Record<string, StagePlan[]>} */
const SHAPES = {
  hold: [stage('hold', [5, 40, 40])],
  ramp: [stage('ramp', [10, 0, 100])],
  'ramp down': [stage('down', [10, 100, 0])],
  steps: [stage('steps', [2, 10, 10], [2, 20, 20], [2, 30, 30])],
  burst: [stage('burst', [0.5, 100, 100], [1.5, 10, 10], [0.5, 100, 100], [1.5, 10, 10])],
  spike: [stage('spike', [3, 10, 10], [1, 300, 300], [3, 10, 10])],
  'a pause between': [stage('one', [1, 50, 50]), stage('pause', [3, 0, 0]), stage('two', [1, 50, 50])],
  soak: [stage('ramp', [2, 0, 30]), stage('soak', [600, 30, 30]), stage('end', [2, 30, 0])],
};

describe('arrivals in stages', () => {
  for (const [what, stages] of Object.entries(SHAPES)) {
    for (const warmupMs of [0, 1500]) {
      test(`match the closed form: ${what}${warmupMs === 0 ? '' : ', after a warm-up'}`, () => {
        const plan = staged(stages, { warmupMs });
        const { count, firstMeasured, dueMs, endMs } = createSchedule(plan);
        const { expected } = createProfile(stages.flatMap(({ lines }) => lines));
        assert.equal(endMs, warmupMs + Number(plan.durationMs));
        const before = Math.max(0, Math.ceil((stages[0].lines[0].from * warmupMs) / 1000 - 1e-9)) + 0;
        assert.equal(firstMeasured, before);
        // One a piece of area, so that never more than one is missing or too many.
        for (let index = firstMeasured; index < count; index++) {
          const ms = dueMs(index) - warmupMs;
          const off = Math.abs(expected(ms) - (index - (stages[0].lines[0].from * warmupMs) / 1000));
          assert.ok(off < 1e-6, `arrival ${index} at ${ms} ms is off by ${off}`);
        }
        assert.ok(Math.abs(count - firstMeasured - expected(Number(plan.durationMs))) <= 1);
      });
    }
  }

  test("of a Poisson process are one of rate 1 in the profile's time (time change)", () => {
    const stages = [
      stage('ramp', [100, 0, 100]),
      stage('burst', [50, 200, 200], [50, 20, 20]),
      stage('down', [100, 100, 0]),
    ];
    const { expected } = createProfile(stages.flatMap(({ lines }) => lines));
    for (let seed = 1; seed <= 2; seed++) {
      const { count, dueMs } = createSchedule(staged(stages, { arrivals: 'poisson', seed }));
      const mean = expected(300_000);
      assert.ok(Math.abs(count - mean) < 4 * Math.sqrt(mean), `${count} arrivals, ${mean} expected`);
      const gaps = Array.from(
        { length: count - 1 },
        (_, i) => expected(dueMs(i + 1)) - expected(dueMs(i)),
      ).sort((a, b) => a - b);
      const off = gaps.reduce(
        (most, gap, i) => Math.max(most, Math.abs(1 - Math.exp(-gap) - (i + 0.5) / gaps.length)),
        0,
      );
      // Kolmogorov: 1.95 / sqrt(n) is passed once in 1000.
      assert.ok(off < 1.95 / Math.sqrt(gaps.length), `D = ${off}, seed ${seed}`);
    }
  });
});

describe('stages', () => {
  test('are found by due time, independent of earlier searches', () => {
    const spans = stageTimesOf({ stages: SHAPES['a pause between'] }, null);
    const find = createStageFinder(spans);
    const at = [0, 999.9, 1000, 4000, 3999, 1, 4999, 9999, 999.9999999, 4000];
    assert.deepEqual(at.map(find), [0, 0, 1, 2, 1, 0, 2, 2, 1, 2]);
    assert.deepEqual(
      spans.map(({ name, startMs, endMs }) => [name, startMs, endMs]),
      [
        ['one', 0, 1000],
        ['pause', 1000, 4000],
        ['two', 4000, 5000],
      ],
    );
  });

  /** @type {[string, number, number][]} */
  const settled = [
    ['hold', 0, 0],
    ['ramp', 0, 10_000],
    ['ramp down', 0, 0],
    ['steps', 0, 4000],
    ['burst', 0, 2000],
    ['spike', 0, 3000],
    ['a pause between', 0, 4000],
    ['soak', 0, 2000],
    ['steps', 1500, 5500],
  ];
  for (const [what, warmupMs, from] of settled) {
    test(`the rate of ${what} stops rising at ${from} ms: from then on, a growing backlog counts`, () => {
      assert.equal(settledFrom(staged(SHAPES[what], { warmupMs })), from);
    });
  }
});

describe('requests by operation and stage', () => {
  const line = fc.tuple(
    fc.integer({ min: 1, max: 30 }),
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 0, max: 50 }),
  );
  const stages = fc
    .array(fc.array(line, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 })
    .map((all) =>
      all.map((lines, i) =>
        stage(
          `${i}`,
          ...lines.map(
            ([tenths, from, to]) => /** @type {[number, number, number]} */ ([tenths / 10, from, to]),
          ),
        ),
      ),
    )
    .filter((all) => all.some(({ lines }) => lines.some(({ from, to }) => from + to > 0)));
  const changes = fc.record({
    arrivals: fc.constantFrom(/** @type {const} */ ('constant'), /** @type {const} */ ('poisson')),
    warmupMs: fc.constantFrom(0, 700),
    seed: fc.integer({ min: 0, max: 1000 }),
    shard: fc.constantFrom(null, { index: 1, of: 3 }),
  });

  test('equal a walk through the schedule, as do the unsent ones', () => {
    fc.assert(
      fc.property(
        stages,
        changes,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 200 }),
        (all, more, weights, from) => {
          const plan = staged(all, more);
          const schedule = createSchedule(plan);
          const memberOf = weights.length === 1 ? () => 0 : createChooser(weights, plan.seed ?? 0);
          const members = { count: weights.length, memberOf };
          const stageAt = createStageFinder(stageTimesOf(plan, null));
          const { index: shard, of } = plan.shard ?? { index: 0, of: 1 };
          const next = shard + Math.min(from, Math.ceil(schedule.count / of)) * of;
          const [planned, left] = [0, 1].map(() => Array(all.length * weights.length).fill(0));
          for (let i = shard; i < schedule.count; i += of) {
            if (i < schedule.firstMeasured) continue;
            const cell = stageAt(schedule.dueMs(i) - plan.warmupMs) * weights.length + memberOf(i);
            planned[cell]++;
            if (i >= next) left[cell]++;
          }
          assert.deepEqual(countPlanned(plan, schedule, members), planned);
          const all1 = left.reduce((sum, count) => sum + count, 0);
          assert.deepEqual(countUnsent(plan, schedule, members, [{ next, step: of, count: all1 }]), left);
          const window = plannedWindow(plan, members);
          assert.equal(
            window.planned,
            planned.reduce((sum, count) => sum + count, 0),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  test('of a closed loop are the ones that would have come next', () => {
    const memberOf = (/** @type {number} */ index) => index % 3;
    const plan = load({ model: 'closed', ratePerSecond: null, requests: 100 });
    const rests = [
      { next: 90, step: 2, count: 5 },
      { next: 91, step: 2, count: 4 },
    ];
    assert.deepEqual(countUnsent(plan, null, { count: 3, memberOf }, rests), [3, 3, 3]);
  });
});

describe('a closed loop in stages', () => {
  const STAGES = [
    stage('few', [1, 2, 2]),
    stage('more', [2, 2, 10]),
    stage('pause', [0.5, 0, 0]),
    stage('few again', [1, 3, 3]),
  ];
  const plan = staged(STAGES, { model: 'closed', ratePerSecond: null, concurrency: 10 });

  test('allows as many in flight as its levels, in whole requests', () => {
    const limit = createInFlight(plan, 0, 1);
    assert.deepEqual(
      [0, 999, 1000, 1249, 1250, 2999.9999999, 3000, 3499, 3500, 4499, 4500].map((ms) => limit?.at(ms)),
      [2, 2, 2, 2, 3, 10, 0, 0, 3, 3, 0],
    );
    assert.equal(createInFlight(load({ model: 'closed' }), 0, 1), null);
  });

  test('divides the level among threads completely, at all times', () => {
    for (let ms = 0; ms < 4500; ms += 37) {
      const whole = createInFlight(plan, 0, 1)?.at(ms);
      const parts = [0, 1, 2].map((shard) => Number(createInFlight(plan, shard, 3)?.at(ms)));
      assert.equal(
        parts.reduce((a, b) => a + b),
        whole,
        `at ${ms} ms`,
      );
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1);
    }
  });

  test('reaches its levels but never exceeds them; a request held back counts as due when it may be sent', () => {
    const inFlight = createInFlight(plan, 0, 1);
    const serviceMs = 7;
    const { pacer, time, fired } = pace({
      arrivals: { inFlight, stopAtMs: 4500 },
      slots: 10,
      serviceMs: () => serviceMs,
    });
    pacer.tick();
    time.runUntil(5000);
    /** @param {number} ms */
    const under = (ms) => fired.filter(({ at }) => at <= ms && at + serviceMs > ms).length;
    for (let ms = 50; ms < 4500; ms += 10) {
      // What was in flight when fewer became allowed is answered first.
      const allowed = Math.max(...[0, serviceMs].map((ago) => Number(inFlight?.at(ms - ago))));
      assert.ok(under(ms) <= allowed, `${under(ms)} in flight at ${ms} ms, ${allowed} allowed`);
    }
    for (const ms of [500, 2990, 4000]) assert.equal(under(ms), inFlight?.at(ms - 30), `at ${ms} ms`);
    for (const { intended, at } of fired)
      assert.ok(at - intended < 1e-9, `fired at ${at}, as if due at ${intended}`);
    assert.ok(!fired.some(({ at }) => at >= 3000 && at < 3500), 'nothing in the pause');
  });
});
