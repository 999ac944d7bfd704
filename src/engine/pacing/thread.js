/** The sender's end of the pacing thread: an alarm that needs no spinning on the sender's own thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { unpackError } from '../../common/errors.js';
import { LONGEST_TIMER_MS } from '../clock.js';
import { HELPER_LIMITS } from '../thread-memory.js';
import { CONTROL_BYTES, ORIGIN, STARTED, UNDER_WAY } from './thread-control.js';

/** @import { Clock } from '../clock.js' */
/** @import { ShardInput } from '../shard.js' */
/** @import { Alarm } from './alarm.js' */

/** Waits longer than this have a timer too: not every time that is waited for is an arrival. */
const TIMER_FROM_MS = 2;

/** Threads' clocks may differ by so much: a wake-up that comes this early is tried again at once. */
const CLOCKS_APART_MS = 0.05;

/**
 * Starts the thread; it waits for time zero.
 *
 * @param {Pick<ShardInput, 'plan' | 'shard' | 'shards'>} input an open loop
 * @param {object} how
 * @param {boolean} how.spins the last hundredths of a millisecond of a wait, where gaps are wide enough
 * @param {boolean} how.warmsUp before it resolves: a few tenths of a second
 */
export async function startPacingThread({ plan: { load }, shard, shards }, { spins, warmsUp }) {
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const flags = new Int32Array(control);
  const worker = new Worker(new URL('./thread-worker.js', import.meta.url), {
    workerData: { load, shard, shards, spins, warmsUp, control },
    resourceLimits: HELPER_LIMITS,
  });
  await once(worker, 'message');
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => worker.on('error', (thrown) => reject(unpackError(thrown))));
  failed.catch(() => {});
  return {
    /** Rejects when the thread is gone before its time. */
    failed,
    /** @param {bigint} originNs */
    start(originNs) {
      new BigInt64Array(control)[ORIGIN] = originNs;
      Atomics.store(flags, STARTED, 1);
      Atomics.notify(flags, STARTED);
    },
    /** @param {Clock} clock @param {() => void} onTime @returns {Alarm} */
    createAlarm(clock, onTime) {
      let at = Number.POSITIVE_INFINITY;
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const check = () => {
        if (at === Number.POSITIVE_INFINITY) return;
        const early = at - clock();
        // One that comes much too early was for an arrival that went out without it; there is another to come.
        if (early > 0 && early <= CLOCKS_APART_MS) return void setImmediate(check);
        if (early > 0) return;
        at = Number.POSITIVE_INFINITY;
        onTime();
      };
      worker.on('message', () => {
        Atomics.store(flags, UNDER_WAY, 0);
        check();
      });
      return {
        set(atMs) {
          if (timer !== undefined && atMs === at) return;
          clearTimeout(timer);
          timer = undefined;
          at = atMs;
          const left = atMs - clock();
          // The wake-up for it may have come already, and taken for that of the arrival before.
          if (left <= CLOCKS_APART_MS) setImmediate(check);
          else if (left > TIMER_FROM_MS)
            timer = setTimeout(check, Math.min(Math.ceil(left) + 1, LONGEST_TIMER_MS));
        },
        clear() {
          clearTimeout(timer);
          at = Number.POSITIVE_INFINITY;
        },
      };
    },
    async stop() {
      await worker.terminate();
    },
  };
}
