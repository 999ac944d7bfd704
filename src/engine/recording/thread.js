/**
 * The sender's end of the recorder thread: the ring that samples go into, the seconds and the tally that come back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { unpackError } from '../../common/errors.js';
import { HELPER_LIMITS } from '../thread-memory.js';
import { createRingMemory, openWriter } from './ring.js';

/** @import { Kept } from '../../operations/index.js' */
/** @import { MixFixture } from '../../operations/mix.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { PackedTally } from './recorder.js' */
/** @import { RingMemory, Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @typedef {object} RecorderEnd
 * @property {PackedTally} tally
 * @property {(Kept | null)[]} kept by each operation of the plan
 */

/** With more samples than this on their way the recorder is behind: further responses are counted but not checked. */
const MAX_UNDER_WAY = 16_384;
const RETRY_MS = 5;

/**
 * What the sender does with the ring while it sends.
 *
 * @param {RingMemory} ring
 */
export function openRecording(ring) {
  const writer = openWriter(ring);
  return {
    add: writer.add,
    advanceWatermark: writer.advanceWatermark,
    /** @returns {boolean} responses need no longer be handed over in full */
    behind: () => writer.behind() > MAX_UNDER_WAY,
    end: writer.end,
  };
}

/**
 * @param {object} context
 * @param {Plan} context.plan
 * @param {MixFixture} context.fixture
 * @param {number} context.cells of the tally
 * @param {number} context.shards of the whole plan
 * @param {number | null} context.measuredMs
 * @param {MessagePort | null} context.livePort for reports, straight to the live thread; the thread takes it
 * @param {(row: SecondRow) => void} context.onSecond
 */
export async function startRecorder({ plan, fixture, cells, shards, measuredMs, livePort, onSecond }) {
  const ring = createRingMemory(undefined, cells);
  const { end: writeTail, ...writing } = openRecording(ring);
  const worker = new Worker(new URL('./thread-worker.js', import.meta.url), {
    workerData: { plan, fixture, ring, shards, measuredMs, livePort },
    transferList: livePort === null ? [] : [livePort],
    resourceLimits: HELPER_LIMITS,
  });
  const ready = withResolvers();
  const end = /** @type {ReturnType<typeof withResolvers<RecorderEnd>>} */ (withResolvers());
  end.promise.catch(() => {});
  worker.on('message', (message) => {
    if (message.type === 'second') onSecond(message.row);
    else if (message.type === 'end') end.resolve({ tally: message.tally, kept: message.kept });
    else ready.resolve(undefined);
  });
  let failed = false;
  worker.on('error', (thrown) => {
    const error = unpackError(thrown);
    failed = true;
    ready.reject(error);
    end.reject(error);
  });
  await ready.promise;
  return {
    /** Rejects when the thread is gone; never resolves before the end. */
    ended: end.promise,
    ...writing,
    /** @param {Tail} tail @returns {Promise<RecorderEnd>} after everything handed over is recorded */
    async finish(tail) {
      while (!failed && !writeTail(tail)) await sleep(RETRY_MS);
      return end.promise;
    },
    /** Ends the thread, with or without a tally. */
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
