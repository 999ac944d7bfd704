import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchEarlyStop } from '../../../src/campaigns/search/steps.js';
import { planOf } from './simulated-server.js';

/** @import { LoadPlan } from '../../../src/plan/load.js' */

/** 5/s for a minute: 300 requests, of which 3 may take longer than 200 ms. */
const LOAD = /** @type {const} */ ({ ratePerSecond: 5, durationMs: 60_000, concurrency: 10 });

/**
 * @param {{requirements?: string[], load?: Partial<LoadPlan>, capacity: number, freeAnyway?: boolean}} script
 *   `capacity`: answers a second; `freeAnyway`: the tool leaves connections free
 * @returns {number | null} second in which it was cut short
 */
function cutShortAt({ requirements = ['p99<200ms'], load = {}, capacity, freeAnyway = false }) {
  const plan = planOf(requirements, { ...LOAD, ...load });
  const check = watchEarlyStop(plan);
  const rate = plan.load.ratePerSecond ?? 0;
  for (let second = 1; second < 60; second++) {
    const open = Math.round(Math.max(rate * 0.05, (rate - capacity) * second));
    const inFlight = freeAnyway ? 1 : Math.min(open, plan.load.concurrency);
    const elapsedMs = second * 1000 + plan.load.warmupMs;
    const why = check({
      type: 'interval',
      elapsedMs,
      inFlight,
      waiting: open - inFlight,
      phase: 'measuring',
      succeeded: Math.floor(rate * second - open),
      failed: 0,
    });
    if (why === null) continue;
    // No response at all may be a blip.
    assert.equal(why.isClear, capacity > 0);
    assert.match(why.why, /^The step was cut short after .* could no longer be met: .*\.$/);
    return second;
  }
  return null;
}

/** @type {[string, Parameters<typeof cutShortAt>[0], [number, number] | null][]} */
const STEPS = [
  ['half of the capacity: stops after seconds', { capacity: 2.5 }, [3, 8]],
  ['no capacity: stops sooner', { capacity: 0 }, [2, 4]],
  ['sufficient capacity', { capacity: 10 }, null],
  ['with a limit of seconds, stops only after it', { requirements: ['p99<5s'], capacity: 0 }, [8, 12]],
  ['half of the requests may be late', { requirements: ['p50<200ms'], capacity: 4 }, null],
  ['no latency requirement', { requirements: ['errors<1%'], capacity: 0 }, null],
  ['a limit on max', { requirements: ['max<200ms'], capacity: 0 }, [2, 4]],
  ['connections are free: the tool is late, not the target', { capacity: 0, freeAnyway: true }, null],
  ['a closed loop has no backlog', { load: { model: 'closed', ratePerSecond: null }, capacity: 0 }, null],
];

for (const [what, script, range] of STEPS) {
  test(what, () => {
    const second = cutShortAt(script);
    if (range === null) assert.equal(second, null);
    else assert.ok(second !== null && second >= range[0] && second <= range[1], `second ${second}`);
  });
}

test('ignores the warm-up, and a single late interval', () => {
  const check = watchEarlyStop(planOf(['p99<200ms'], { ...LOAD, warmupMs: 10_000 }));
  const seen = {
    ...{ type: /** @type {const} */ ('interval'), phase: /** @type {const} */ ('measuring') },
    ...{ inFlight: 10, waiting: 40, succeeded: 0, failed: 0 },
  };
  assert.equal(check({ ...seen, elapsedMs: 10_100 }), null);
  assert.equal(check({ ...seen, elapsedMs: 11_100 }), null);
  assert.equal(check({ ...seen, elapsedMs: 15_000 }), null);
  assert.notEqual(check({ ...seen, elapsedMs: 16_000 }), null);
});

test('failures while all other requests wait may be a blip', () => {
  const check = watchEarlyStop(planOf(['p99<200ms'], LOAD));
  const cuts = [1, 2, 3, 4, 5].map((second) =>
    check({
      ...{ type: 'interval', phase: 'measuring', elapsedMs: second * 1000, inFlight: 10 },
      ...{ waiting: 4 * second - 5, succeeded: 0, failed: second },
    }),
  );
  assert.equal(cuts.find((cut) => cut !== null)?.isClear, false);
});

for (const [what, requirement, failed, isCut] of /** @type {const} */ ([
  ['errors', 'errors<0.1%', 5, true],
  ['few errors', 'errors<20%', 1, false],
  ['a percentile, as a failure is slower than any limit', 'p99<200ms', 5, true],
  ['a median of mostly good responses', 'p50<200ms', 1, false],
  ['a rate', 'rate>=1/s', 5, false],
])) {
  test(`failures end a step early: ${what}`, () => {
    const check = watchEarlyStop(planOf([requirement], LOAD));
    const ends = Array.from({ length: 20 }, (_, second) =>
      check({
        ...{ type: /** @type {const} */ ('interval'), phase: /** @type {const} */ ('measuring') },
        ...{ elapsedMs: 1000 * second, inFlight: 0, waiting: 0 },
        ...{ failed: failed * second, succeeded: (5 - failed) * second },
      }),
    );
    const why = ends.find((end) => end !== null);
    assert.equal(why !== undefined, isCut);
    if (!isCut) return;
    const reason = /after 3 s, as .* could no longer be met: of 300 planned requests, 15 had failed\.$/;
    assert.match(String(why?.why), reason);
    assert.equal(why?.isClear, false, 'perhaps a blip: the level gets another step');
  });
}

test('requests of the warm-up that are still in flight are not late ones of the step', () => {
  const seen = {
    ...{ type: /** @type {const} */ ('interval'), phase: /** @type {const} */ ('measuring') },
    ...{ inFlight: 40, waiting: 0, failed: 0 },
  };
  for (const [answered, isCutShort] of /** @type {const} */ ([
    [5, false],
    [0, true],
  ])) {
    const load = { ...LOAD, concurrency: 40, warmupMs: 10_000 };
    const check = watchEarlyStop(planOf(['p99<200ms'], load));
    const ends = Array.from({ length: 20 }, (_, i) =>
      check({ ...seen, elapsedMs: 10_250 + 1000 * i, succeeded: answered * i }),
    );
    assert.equal(
      ends.some((why) => why !== null),
      isCutShort,
    );
  }
});
