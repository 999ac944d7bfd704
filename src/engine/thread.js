/** A thread of this process. It posts `{type, value}`, or the signal `null`. */
import { Worker } from 'node:worker_threads';
import { restoreErrorClass } from '../common/errors.js';

/** @import { MessagePort } from 'node:worker_threads' */

/**
 * V8 would let the young generation grow to 48 MiB before collecting; the recorder is as fast with 6. With an old generation of at
 * most 512 MiB, it collects when the heap has grown by half, not to four times its size.
 */
const HELPER_LIMITS = Object.freeze({ maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 512 });

/**
 * @param {string} name for the error if the thread ends too early @param {URL} file
 * @param {object} options @param {any} options.data
 * @param {MessagePort | null} [options.port] in `data`, transferred to the thread
 * @param {import('node:worker_threads').ResourceLimits} [options.limits]
 * @param {Record<string, (value: any) => void>} [options.on] handlers of types that are posted more than once
 * @param {() => void} [options.onSignal]
 */
export function startThread(
  name,
  file,
  { data, port = null, limits = HELPER_LIMITS, on = {}, onSignal = () => {} },
) {
  const transferList = port === null ? [] : [port];
  const worker = new Worker(file, { workerData: data, transferList, resourceLimits: limits });
  const failure = createReply();
  const replies = /** @type {Map<string, typeof failure>} */ (new Map());
  let end = /** @type {unknown} */ (null);

  /** @param {string} type */
  function replyOf(type) {
    const reply = replies.get(type) ?? createReply();
    replies.set(type, reply);
    if (end !== null) reply.reject(end);
    return reply;
  }
  /** @param {unknown} error */
  function fail(error) {
    end ??= error;
    for (const reply of replies.values()) reply.reject(end);
  }

  worker.on('message', (message) => {
    if (message === null) return onSignal();
    const { type, value } = message;
    (on[type] ?? replyOf(type).resolve)(value);
  });
  worker.on('error', (thrown) => {
    fail(restoreErrorClass(thrown));
    failure.reject(end);
  });
  worker.on('exit', (code) => {
    fail(new Error(`The ${name} thread exited too early (exit code ${code}).`));
    if (code !== 0) failure.reject(end);
  });
  return {
    /** @type {(message: unknown, transfer?: MessagePort[]) => void} */
    post: (message, transfer) => worker.postMessage(message, transfer),
    /** @type {(type: string) => Promise<any>} its first message; rejects when the thread ends */
    first: (type) => replyOf(type).promise,
    /** Rejects when the thread fails or is stopped. */
    failed: /** @type {Promise<never>} */ (failure.promise),
    hasEnded: () => end !== null,
    async stop() {
      await worker.terminate();
    },
  };
}

/** A promise whose rejection need not be handled. */
function createReply() {
  let resolve = (/** @type {any} */ _value) => {};
  let reject = (/** @type {unknown} */ _reason) => {};
  /** @type {Promise<any>} */
  const promise = new Promise((...settle) => {
    [resolve, reject] = settle;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
