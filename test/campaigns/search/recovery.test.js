import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchRecovery } from '../../../src/campaigns/search/steps.js';

/**
 * @param {(atMs: number) => number | null} answer how long it takes to answer at a time; null: it does not
 * @param {{stopAfterMs?: number, restMs?: number}} [options]
 */
async function waitOn(answer, { stopAfterMs = Number.POSITIVE_INFINITY, restMs } = {}) {
  let clock = 0;
  let begun = Number.POSITIVE_INFINITY;
  const watch = await watchRecovery({
    async look() {
      const ms = begun === Number.POSITIVE_INFINITY ? 2 : answer(clock - begun);
      clock += ms ?? 5000;
      return ms;
    },
    sleep: async (ms) => {
      clock += ms;
    },
    now: () => clock,
    isStopped: () => clock - begun > stopAfterMs,
    pauseMs: 1000,
  });
  begun = clock;
  return watch.wait(undefined, restMs);
}

test('a target that is as fast as before is given the pause, no more', async () => {
  const { waitedMs, recovered } = await waitOn(() => 3);
  assert.ok(recovered && waitedMs >= 1000 && waitedMs < 1400, `${waitedMs}`);
});

test('where the pause was made already only its answers are waited for', async () => {
  const { waitedMs, recovered } = await waitOn(() => 3, { restMs: 0 });
  assert.ok(recovered && waitedMs < 400, `${waitedMs}`);
  const slow = await waitOn((at) => (at < 5000 ? 400 : 3), { restMs: 0 });
  assert.ok(slow.waitedMs >= 5000, `${slow.waitedMs}`);
});

test('one that is slow for five seconds is waited for', async () => {
  const { waitedMs, recovered } = await waitOn((at) => (at < 5000 ? 400 : 3));
  assert.ok(recovered && waitedMs >= 5000 && waitedMs < 6500, `${waitedMs}`);
});

test('one quick answer among slow ones is no recovery', async () => {
  const { waitedMs } = await waitOn((at) => (at < 5000 ? (Math.floor(at / 200) % 2 === 0 ? 3 : 300) : 3));
  assert.ok(waitedMs >= 4000, `${waitedMs}`);
});

test('one that does not come back is given up after a minute, and that is said', async () => {
  const { waitedMs, recovered } = await waitOn(() => null);
  assert.deepEqual([recovered, waitedMs > 60_000, waitedMs < 75_000], [false, true, true]);
});

test('whoever stops the search does not wait', async () => {
  const { waitedMs } = await waitOn(() => 400, { stopAfterMs: 2000 });
  assert.ok(waitedMs < 3500, `${waitedMs}`);
});

test('a target that does not answer at rest is not asked', async () => {
  let looks = 0;
  const watch = await watchRecovery({
    look: async () => {
      looks++;
      return null;
    },
    sleep: async () => {},
    now: () => 0,
    isStopped: () => false,
    pauseMs: 1,
  });
  assert.deepEqual([await watch.wait(), looks], [{ waitedMs: 0, recovered: true }, 5]);
});
