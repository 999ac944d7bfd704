/**
 * An alarm that keeps fractions of a millisecond, which timers do not: a thread sleeps until the time, and then posts a
 * message. It has one time after the other: the next one is set when the last is over, so neither end can miss the other.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { HELPER_LIMITS } from '../../engine/thread-memory.js';

/**
 * @typedef {object} Shared of both threads
 * @property {Int32Array} isSet one element; 1 from the moment a time is set until the thread has seen it pass
 * @property {Float64Array} dueMs one element, written only while `isSet` is 0
 */
/** @typedef {Awaited<ReturnType<typeof startAlarmThread>>} AlarmThread */

/**
 * @param {bigint} originNs zero of all its times, on the machine's monotonic clock (`process.hrtime`)
 * @param {() => void} onDeath is called if the thread ends and was not stopped: nothing will ring any more
 */
export async function startAlarmThread(originNs, onDeath) {
  const memory = new SharedArrayBuffer(16);
  /** @type {Shared} */
  const shared = { isSet: new Int32Array(memory, 0, 1), dueMs: new Float64Array(memory, 8, 1) };
  const { isSet, dueMs } = shared;
  const worker = new Worker(new URL('./alarm-thread-worker.js', import.meta.url), {
    workerData: { originNs, ...shared },
    resourceLimits: HELPER_LIMITS,
  });
  worker.on('error', () => {}).once('exit', onDeath);
  await once(worker, 'message');
  /** @type {(() => void) | null} */
  let whenDue = null;
  worker.on('message', () => {
    const ring = whenDue;
    whenDue = null;
    ring?.();
  });
  return {
    /**
     * @param {number} atMs
     * @param {() => void} onTime is called once, never before that time; until then nothing else can be set
     */
    set(atMs, onTime) {
      if (whenDue !== null) throw new Error('The alarm is set already.');
      whenDue = onTime;
      dueMs[0] = atMs;
      Atomics.store(isSet, 0, 1);
      Atomics.notify(isSet, 0);
    },
    async stop() {
      worker.off('exit', onDeath);
      await worker.terminate();
    },
  };
}
