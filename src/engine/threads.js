/**
 * N shards as one: in the main thread when there is one, in a worker thread each when there are more. Both are the
 * same `Shard` to the caller.
 */
import { Worker } from 'node:worker_threads';
import { unpackError } from '../common/errors.js';
import { shardOfThread } from '../plan/shard-part.js';
import { createShard } from './shard.js';
/** @import { SecondRow } from './recording/seconds.js' */
/** @import { Shard, ShardEvents, ShardInput } from './shard.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @param {Omit<ShardInput, 'shard' | 'shards'>} input
 * @param {object} events
 * @param {(thread: number, row: SecondRow) => void} events.onSecond
 * @param {MessagePort[]} [events.livePorts] one for each thread's recorder, which takes it; none: no live view
 * @returns {Promise<Shard[]>}
 * @throws {Error} what kept one of them from starting; none is left running then
 */
export async function createShards(input, { onSecond, livePorts = [] }) {
  const { threads, shard: part } = input.plan.load;
  /** @type {Shard[]} */
  const made = [];
  /** @type {unknown[]} */
  const errors = [];
  await Promise.all(
    Array.from({ length: threads }, (_, thread) => {
      const events = {
        onSecond: (/** @type {SecondRow} */ row) => onSecond(thread, row),
        livePort: livePorts[thread] ?? null,
      };
      const own = { ...input, ...shardOfThread(part, thread, threads) };
      const created = threads === 1 ? createShard(own, events) : createRemoteShard(own, events);
      return created.then(
        (one) => {
          made[thread] = one;
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
 * @param {ShardInput} input
 * @param {ShardEvents} events
 * @returns {Promise<Shard>}
 */
async function createRemoteShard(input, { onSecond, livePort }) {
  const worker = new Worker(new URL('./shard-worker.js', import.meta.url), {
    workerData: { input, livePort },
    transferList: livePort === null ? [] : [livePort],
  });
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
