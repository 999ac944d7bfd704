import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createClock } from '../../src/engine/clock.js';
import { createAlarm } from '../../src/engine/pacing/alarm.js';
import { startPacingThread } from '../../src/engine/pacing/pacing-thread.js';
import { pacingWarmUp } from '../../src/engine/warm-up.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { load } from './load-plan.js';

/** @import { Plan } from '../../src/plan/plan.js' */

const ARRIVALS = 300;

const LOAD = load({ ratePerSecond: 1000, durationMs: ARRIVALS });

test('an arrival sent before its wake-up does not make the sender spin', async () => {
  const schedule = createSchedule(LOAD);
  const input = { plan: /** @type {Plan} */ ({ load: LOAD }), shard: 0, shards: 1 };
  const pacing = await startPacingThread(input, true, []);
  const { setImmediate } = globalThis;
  let turns = 0;
  globalThis.setImmediate = /** @type {typeof setImmediate} */ (
    /** @type {unknown} */ (
      (/** @type {() => void} */ callback) => {
        turns++;
        return setImmediate(callback);
      }
    )
  );
  try {
    const origin = process.hrtime.bigint() + 20_000_000n;
    const clock = createClock(origin);
    let next = 0;
    /** @type {number[]} */
    const early = [];
    let armed = Number.NEGATIVE_INFINITY;
    await /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const alarm = createAlarm(clock, { byThread: true, spins: 'last stretch' }, () => {
          if (clock() < armed) early.push(armed);
          tick();
        });
        pacing.onWake(alarm.check);
        function tick() {
          for (; next < ARRIVALS; next++) {
            // As when an answer comes just as an arrival is due: the sender sends it before it is woken for it.
            const ahead = next % 3 === 1 ? 0.3 : 0;
            const due = schedule.dueMs(next);
            if (due <= clock() + ahead) continue;
            armed = due;
            return alarm.set(due);
          }
          resolve();
        }
        pacing.start(origin);
        tick();
      })
    );
    assert.deepEqual(early, []);
    assert.ok(turns < 20 * ARRIVALS, `${turns} turns for ${ARRIVALS} arrivals`);
  } finally {
    globalThis.setImmediate = setImmediate;
    await pacing.stop();
  }
});

test('the warm-up of the thread wakes no sender', async () => {
  const isPending = new Int32Array(new SharedArrayBuffer(4));
  const warmUpLoads = pacingWarmUp(LOAD);
  const worker = new Worker(new URL('../../src/engine/pacing/pacing-worker.js', import.meta.url), {
    workerData: { load: LOAD, shard: 0, shards: 1, spins: true, warmUpLoads, isPending },
  });
  const [first] = await once(worker, 'message');
  assert.deepEqual(first, { type: 'ready' });
  assert.equal(isPending[0], 0);
  worker.postMessage(process.hrtime.bigint());
  assert.deepEqual(await once(worker, 'message'), [null]);
  assert.equal(isPending[0], 1);
  await worker.terminate();
});
