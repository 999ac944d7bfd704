/**
 * N shards as one: in the main thread when there is one, in a worker thread each when there are more. Both are the
 * same `Shard` to the caller.
 */
import { Worker } from 'node:worker_threads';
import { unpackError } from '../errors.js';
import { createShard } from './shard.js';

/**
 * @param {Omit<import('./shard.js').ShardInput, 'shard' | 'shards'>} input
 * @param {{onSecond: (shard: number, row: import('./recording/recorder.js').SecondRow) => void}} events
 * @returns {Promise<import('./shard.js').Shard[]>}
 * @throws {Error} what kept one of them from starting; none is left running then
 */
export async function createShards(input, { onSecond }) {
  const shards = input.plan.load.threads;
  /** @type {import('./shard.js').Shard[]} */
  const made = [];
  /** @type {unknown[]} */
  const errors = [];
  await Promise.all(
    Array.from({ length: shards }, (_, shard) => {
      const events = {
        onSecond: (/** @type {import('./recording/recorder.js').SecondRow} */ row) => onSecond(shard, row),
      };
      const own = { ...input, shard, shards };
      const created = shards === 1 ? createShard(own, events) : createRemoteShard(own, events);
      return created.then(
        (one) => {
          made[shard] = one;
        },
        (error) => void errors.push(error),
      );
    }),
  );
  if (errors.length === 0) return made;
  await Promise.all(made.map((shard) => shard.close()));
  throw errors[0];
}

/**
 * A shard in a worker thread: calls become messages, messages become calls.
 *
 * @param {import('./shard.js').ShardInput} input
 * @param {{onSecond: (row: import('./recording/recorder.js').SecondRow) => void}} events
 * @returns {Promise<import('./shard.js').Shard>}
 */
async function createRemoteShard(input, { onSecond }) {
  const worker = new Worker(new URL('./shard-worker.js', import.meta.url), { workerData: input });
  let state = { sent: 0, inFlight: 0, waiting: 0 };
  /** @type {Map<string, (value: any) => void>} */
  const awaited = new Map();
  /** @type {(reason: unknown) => void} */
  let fail = () => {};
  const failed = /** @type {Promise<never>} */ (
    new Promise((_, reject) => {
      fail = reject;
    })
  );
  failed.catch(() => {});
  /** @param {string} type */
  const message = (type) => Promise.race([failed, new Promise((resolve) => awaited.set(type, resolve))]);
  worker.on('error', (error) => fail(unpackError(error)));
  worker.on('message', ({ type, value }) => {
    if (type === 'second') onSecond(value);
    else if (type === 'state') state = value;
    else if (type === 'error') fail(unpackError(value));
    else awaited.get(type)?.(value);
  });
  const ended = message('ended');
  ended.catch(() => {});
  try {
    await message('ready');
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return {
    warm() {
      worker.postMessage({ type: 'warm' });
      return message('warm');
    },
    start: (originNs) => worker.postMessage({ type: 'start', originNs }),
    stop: () => worker.postMessage({ type: 'stop' }),
    cutOff: () => worker.postMessage({ type: 'cutOff' }),
    state: () => state,
    ended,
    async close() {
      await worker.terminate();
    },
  };
}
