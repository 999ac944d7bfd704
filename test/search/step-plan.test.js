/** What all steps of a search are prepared by: no step's load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifetimeMs } from '../../src/operations/issued-before.js';
import { expectedRequests, longestRunMs } from '../../src/operations/planned.js';
import { planOfAll, planOfStep } from '../../src/search/step-plan.js';
import { planOf } from './simulated-server.js';

const settings = {
  start: 50,
  highest: 1e6,
  stepMs: 10_000,
  confirmMs: 30_000,
  recoverMs: 0,
  fitConnections: true,
};

for (const of of /** @type {const} */ (['rate', 'concurrency'])) {
  test(`of all steps (${of}) nobody knows how many requests they send, or how long they take`, () => {
    const place = { level: 50, phase: /** @type {const} */ ('coarse'), again: false, number: 1 };
    const step = planOfStep(planOf(['p99<1s']), { of, ...settings }, place);
    const { load, ...rest } = planOfAll(step);
    assert.deepEqual([expectedRequests(load), longestRunMs(load)], [null, null]);
    assert.ok(lifetimeMs(load) >= 12 * 3_600_000);
    const { load: stepLoad, ...same } = step;
    assert.deepEqual(rest, same);
    assert.deepEqual([load.concurrency, load.seed], [stepLoad.concurrency, stepLoad.seed]);
    assert.equal(longestRunMs(stepLoad), Number(stepLoad.durationMs) + 2 * stepLoad.timeoutMs);
  });
}
