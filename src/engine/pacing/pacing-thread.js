/**
 * The sender's end of the pacing thread, which wakes the sender for every arrival so that it need not spin.
 */
import { startThread } from '../thread.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { ShardInput } from '../shard.js' */

/** @typedef {Awaited<ReturnType<typeof startPacingThread>>} PacingThread */

/** Int32 indexes in shared memory: a wake-up is pending; time zero is known. */
export const [UNDER_WAY, STARTED] = [0, 1];
/** BigInt64 index: time zero, `process.hrtime.bigint()`. */
export const ORIGIN = 1;
export const CONTROL_BYTES = 16;

/**
 * Starts the thread; it waits for time zero.
 * @param {Pick<ShardInput, 'plan' | 'shard' | 'shards'>} input an open loop
 * @param {boolean} spins for the last hundredths of a millisecond of a wait, if gaps are wide enough
 * @param {LoadPlan | null} warmUpLoad warms the thread up before this resolves, for a few tenths of a second
 */
export async function startPacingThread({ plan: { load }, shard, shards }, spins, warmUpLoad) {
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const flags = new Int32Array(control);
  let onWake = () => {};
  const thread = startThread('pacing', new URL('./pacing-worker.js', import.meta.url), {
    data: { load, shard, shards, spins, warmUpLoad, control },
    onSignal() {
      Atomics.store(flags, UNDER_WAY, 0);
      onWake();
    },
  });
  await thread.first('ready');
  return {
    failed: thread.failed,
    stop: thread.stop,
    /** @param {bigint} originNs */
    start(originNs) {
      new BigInt64Array(control)[ORIGIN] = originNs;
      Atomics.store(flags, STARTED, 1);
      Atomics.notify(flags, STARTED);
    },
    /** @param {() => void} call on each due arrival */
    onWake(call) {
      onWake = call;
    },
  };
}
