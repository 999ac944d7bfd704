import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchRecovery } from '../../../src/campaigns/search/steps.js';

/**
 * @param {(atMs: number) => number | null} answer response time at a time; null: none
 * @param {{stopAfterMs?: number, restMs?: number}} [options]
 */
async function waitOn(answer, { stopAfterMs = Number.POSITIVE_INFINITY, restMs = 1000 } = {}) {
  let clock = 0;
  let begun = Number.POSITIVE_INFINITY;
  const wait = await watchRecovery({
    async probe() {
      const ms = begun === Number.POSITIVE_INFINITY ? 2 : answer(clock - begun);
      clock += ms ?? 5000;
      return ms;
    },
    sleep: async (ms) => {
      clock += ms;
    },
    now: () => clock,
    isStopped: () => clock - begun > stopAfterMs,
  });
  begun = clock;
  return wait(restMs);
}

test('a target that is as fast as before: the pause, and no further wait', async () => {
  const { waitedMs, recovered } = await waitOn(() => 3);
  assert.ok(recovered && waitedMs >= 1000 && waitedMs < 1400, `${waitedMs}`);
});

test('without a pause it waits for fast responses only', async () => {
  const { waitedMs, recovered } = await waitOn(() => 3, { restMs: 0 });
  assert.ok(recovered && waitedMs < 400, `${waitedMs}`);
  const slow = await waitOn((at) => (at < 5000 ? 400 : 3), { restMs: 0 });
  assert.ok(slow.waitedMs >= 5000, `${slow.waitedMs}`);
});

test('a target that is slow for five seconds: it waits that long', async () => {
  const { waitedMs, recovered } = await waitOn((at) => (at < 5000 ? 400 : 3));
  assert.ok(recovered && waitedMs >= 5000 && waitedMs < 6500, `${waitedMs}`);
});

test('one fast response among slow ones is not a recovery', async () => {
  const { waitedMs } = await waitOn((at) => (at < 5000 ? (Math.floor(at / 200) % 2 === 0 ? 3 : 300) : 3));
  assert.ok(waitedMs >= 4000, `${waitedMs}`);
});

test('a target that does not recover: it gives up after a minute and reports that', async () => {
  const { waitedMs, recovered, isDown } = await waitOn(() => null);
  assert.deepEqual([recovered, isDown, waitedMs > 60_000, waitedMs < 75_000], [false, true, true, true]);
  assert.deepEqual((await waitOn(() => 400)).isDown, false);
});

test('a stop ends the wait', async () => {
  const { waitedMs } = await waitOn(() => 400, { stopAfterMs: 2000 });
  assert.ok(waitedMs < 3500, `${waitedMs}`);
});

test('a target that does not respond when idle is not probed again', async () => {
  let looks = 0;
  const wait = await watchRecovery({
    probe: async () => {
      looks++;
      return null;
    },
    sleep: async () => {},
    now: () => 0,
    isStopped: () => false,
  });
  assert.deepEqual([await wait(1), looks], [{ waitedMs: 0, recovered: true, isDown: false }, 5]);
});
