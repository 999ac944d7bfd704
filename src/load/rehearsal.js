/**
 * Warms the sending code before time zero: compiled functions, the HTTP parser, timers. The requests are the plan's
 * own, but they go to a throw-away server on a thread of this process, never to the target: cold code is tens of
 * milliseconds late, and the target must see no more load than the plan allows.
 */
import { Worker } from 'node:worker_threads';
import { createConnection } from '../http/connection.js';
import { createAlarm } from './alarm.js';
import { createClock } from './clock.js';
import { createPacer } from './pacer.js';
import { createRingMemory, openReader, openWriter } from './samples.js';
import { createSlots } from './slots.js';
import { HELPER_LIMITS } from './thread-memory.js';

const CONNECTIONS = 4;
const REQUESTS = 2000;
const LONGEST_MS = 400;

/**
 * @param {(index: number) => import('./slots.js').Request} request
 */
export async function rehearse(request) {
  const worker = new Worker(new URL('./rehearsal-target.js', import.meta.url), {
    resourceLimits: HELPER_LIMITS,
  });
  const port = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  const connections = Array.from({ length: CONNECTIONS }, () =>
    createConnection({ origin: `http://127.0.0.1:${port}`, tls: { rejectUnauthorized: true } }),
  );
  await Promise.all(connections.map((connection) => connection.open(LONGEST_MS)));
  await send(connections, request);
  await Promise.all(connections.map((connection) => connection.close()));
  await worker.terminate();
}

/**
 * @param {import('./slots.js').Connection[]} connections
 * @param {(index: number) => import('./slots.js').Request} request
 * @returns {Promise<void>}
 */
function send(connections, request) {
  const clock = createClock(process.hrtime.bigint());
  const ring = createRingMemory();
  const writer = openWriter(ring);
  const reader = openReader(ring);
  return new Promise((resolve) => {
    const slots = createSlots({
      clock,
      connections,
      request,
      timeoutMs: LONGEST_MS,
      restAfterFailedConnect: true,
      onDone(slot, done, failure, status, body) {
        const { index, intended, sent } = slot;
        writer.add({ operation: 0, index, intended, sent, done, lag: 0, failure, status, body });
        reader.take(() => {});
      },
      onFree() {
        pacer.tick();
        if (pacer.ended() && slots.busy === 0) resolve();
      },
    });
    const arrivals = {
      shard: 0,
      shards: 1,
      schedule: null,
      stopAtMs: LONGEST_MS,
      warmupMs: 0,
      requests: REQUESTS,
    };
    const pacer = createPacer({
      arrivals,
      clock,
      slots,
      overflow: 'queue',
      createAlarm: (c, onTime) => createAlarm(c, 'never', onTime),
      onDrop() {},
      onEnd() {
        if (slots.busy === 0) resolve();
      },
    });
    pacer.start();
  });
}
