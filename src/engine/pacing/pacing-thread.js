/** The sender's end of the pacing thread, which wakes it for every arrival so that it need not spin. */
import { startThread } from '../thread.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { ShardInput } from '../shard.js' */

/** @typedef {Awaited<ReturnType<typeof startPacingThread>>} PacingThread */

/**
 * Starts the thread, which then waits for time zero.
 * @param {Pick<ShardInput, 'plan' | 'shard' | 'shards'>} input an open loop
 * @param {boolean} spins for the last hundredths of a millisecond of a wait, if gaps are wide enough
 * @param {LoadPlan[]} warmUpLoads warm the thread up first, for a tenth of a second
 */
export async function startPacingThread({ plan: { load }, shard, shards }, spins, warmUpLoads) {
  /** 1 while a wake-up is pending. */
  const isPending = new Int32Array(new SharedArrayBuffer(4));
  let onWake = () => {};
  const thread = startThread('pacing', new URL('./pacing-worker.js', import.meta.url), {
    data: { load, shard, shards, spins, warmUpLoads, isPending },
    onSignal() {
      Atomics.store(isPending, 0, 0);
      onWake();
    },
  });
  await thread.first('ready');
  return {
    failed: thread.failed,
    stop: thread.stop,
    /** @type {(originNs: bigint) => void} */
    start: thread.post,
    /** @param {() => void} call on each due arrival */
    onWake(call) {
      onWake = call;
    },
  };
}
