/** Plans of steps, and the plan that prepares all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enoughRequests, likelyAt, planOfAll, planOfStep } from '../../../src/campaigns/search/step-plan.js';
import { lifetimeMs } from '../../../src/operations/prepare.js';
import { expectedRequests, longestRunMs } from '../../../src/plan/due.js';
import { planOf } from './simulated-server.js';
import { settings } from './theory.js';

for (const of of /** @type {const} */ (['rate', 'concurrency'])) {
  test(`a plan for all steps (${of}) has neither requests nor duration`, () => {
    const place = { level: 50, phase: /** @type {const} */ ('coarse'), number: 1 };
    const step = planOfStep(planOf(['p99<1s']), settings({ of }), place, []);
    const { load, ...rest } = planOfAll(step);
    assert.deepEqual([expectedRequests(load), longestRunMs(load)], [null, null]);
    assert.ok(lifetimeMs(load) >= 12 * 3_600_000);
    const { load: stepLoad, ...same } = step;
    assert.deepEqual(rest, same);
    assert.deepEqual([load.concurrency, load.seed], [stepLoad.concurrency, stepLoad.seed]);
    assert.equal(longestRunMs(stepLoad), Number(stepLoad.durationMs) + 2 * stepLoad.timeoutMs);
  });
}

/** @type {[string, number, number | null][]} */
const LIKELY = [
  ['the last rate at that level', 4, 150],
  ['twice as many in flight: at most twice the rate', 8, 300],
  ['fewer in flight: at most the same rate', 3, 150],
  ['between two levels: bounded by both', 2, 120],
];

for (const [what, level, expected] of LIKELY) {
  test(`likely requests a second: ${what}`, () => {
    const steps = [
      { level: 1, requests: 600, seconds: 10 },
      { level: 4, requests: 900, seconds: 10 },
      { level: 4, requests: 1500, seconds: 10 },
    ];
    const [first, , last] = steps;
    assert.equal(likelyAt(level === 4 ? steps : [first, last], level), expected);
  });
}

/** With a time limit of 10 s: 3 / n of the requests may have taken it. @type {[string, number][]} */
const ENOUGH = [
  ['p99<1s', 539],
  ['errors<0.1%', 5391],
  ['mean<5ms', 10_782],
  ['mean<5s', 180],
  ['mean>5ms', 180],
  ['mean<1min', 180],
];

for (const [requirement, expected] of ENOUGH) {
  test(`requests that may decide ${requirement}`, () => {
    const plan = planOf([requirement], { timeoutMs: 10_000 });
    assert.equal(Math.ceil(enoughRequests(plan, 'coarse')), expected);
  });
}

test('the first step: no estimate', () => assert.equal(likelyAt([], 4), null));

test('in a mix, issues certificates to revoke in proportion to the share of revoke', () => {
  const place = { level: 4, phase: /** @type {const} */ ('coarse'), number: 2 };
  const before = { ...place, verdict: /** @type {const} */ ('met'), requests: 10_000, seconds: 10 };
  const entry = { name: 'a', operation: 'revoke', weight: 1, options: { pool: null, role: 'web' } };
  const mix = [
    entry,
    { ...entry, name: 'b', operation: 'ocsp', weight: 2 },
    { ...entry, name: 'c', options: { pool: 7 } },
  ];
  const ofMix = { ...planOf([], { warmupMs: 2000 }), mix };
  const step = planOfStep(ofMix, settings({ of: 'concurrency' }), place, [before]);
  const pools = step.mix?.map(({ options }) => options.pool);
  assert.deepEqual(pools, [(1.5 * 12_000) / 4, null, 7]);
});
