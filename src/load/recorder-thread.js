/**
 * The sender's end of the recorder thread: posts batches, knows when the recorder falls behind, and waits for its
 * snapshot.
 */
import { Worker } from 'node:worker_threads';
import { createBatcher } from './samples.js';

/**
 * @typedef {object} RecorderEnd
 * @property {import('./recorder.js').Snapshot} snapshot
 * @property {import('../operations/index.js').Kept | null} kept
 */

/** With more than this on its way the recorder is behind: further answers are counted but not checked. */
const MAX_SAMPLES_UNDER_WAY = 32_768;
const MAX_BYTES_UNDER_WAY = 24 * 1024 * 1024;

/**
 * @param {object} context
 * @param {import('../plan.js').Plan} context.plan
 * @param {unknown} context.fixture
 * @param {(row: import('./recorder.js').SecondRow) => void} context.onSecond
 */
export async function startRecorder({ plan, fixture, onSecond }) {
  const worker = new Worker(new URL('./recorder-worker.js', import.meta.url), {
    workerData: { plan, fixture },
  });
  const ready = /** @type {ReturnType<typeof withResolvers<void>>} */ (withResolvers());
  const end = /** @type {ReturnType<typeof withResolvers<RecorderEnd>>} */ (withResolvers());
  let samples = 0;
  let bytes = 0;

  worker.on('message', (message) => {
    if (message.type === 'taken') {
      samples -= message.samples;
      bytes -= message.bytes;
    } else if (message.type === 'second') onSecond(message.row);
    else if (message.type === 'end') end.resolve({ snapshot: message.snapshot, kept: message.kept });
    else ready.resolve(undefined);
  });
  worker.on('error', (error) => {
    ready.reject(error);
    end.reject(error);
  });
  end.promise.catch(() => {});

  const batcher = createBatcher((batch) => {
    samples += batch.count;
    bytes += batch.size;
    worker.postMessage({ type: 'batch', batch }, [
      /** @type {ArrayBuffer} */ (batch.numbers.buffer),
      /** @type {ArrayBuffer} */ (batch.bytes.buffer),
    ]);
  });
  await ready.promise;
  return {
    /** @returns {boolean} answers need no longer be handed over in full */
    behind: () => samples > MAX_SAMPLES_UNDER_WAY || bytes > MAX_BYTES_UNDER_WAY,
    add: batcher.add,
    flush: batcher.flush,
    /** @returns {Promise<RecorderEnd>} after everything handed over is recorded */
    finish() {
      worker.postMessage({ type: 'end' });
      return end.promise;
    },
    /** Ends the thread without a snapshot. */
    async terminate() {
      await worker.terminate();
    },
  };
}

/**
 * @template T
 * @returns {{promise: Promise<T>, resolve: (value: T) => void, reject: (reason: unknown) => void}}
 */
function withResolvers() {
  /** @type {any} */
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
  return result;
}
