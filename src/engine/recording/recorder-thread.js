/** The sender's end of the recorder thread: the ring that samples go into, the seconds and the tally that come back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startThread } from '../thread.js';
import { createRingMemory, openWriter } from './ring.js';

/** @import { Kept } from '../../operations/index.js' */
/** @import { MixFixture } from '../../operations/mix.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { PackedTally } from './recorder.js' */
/** @import { Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {{tally: PackedTally, kept: (Kept | null)[]}} RecorderEnd `kept`: by each operation of the plan */
/**
 * @typedef {object} RecorderInput
 * @property {Plan} plan
 * @property {MixFixture} fixture
 * @property {number} shards of the whole plan
 * @property {number | null} measuredMs planned length of the measured part
 * @property {MessagePort | null} livePort for reports, straight to the live thread, past the sender's; the recorder thread takes it
 */

const RETRY_MS = 5;

/**
 * @param {RecorderInput} input
 * @param {number} cells of the tally
 * @param {(row: SecondRow) => void} onSecond
 */
export async function startRecorder(input, cells, onSecond) {
  const ring = createRingMemory(undefined, cells);
  const { end: writeTail, ...writing } = openWriter(ring);
  const thread = startThread('recorder', new URL('./recorder-worker.js', import.meta.url), {
    data: { ...input, ring },
    transfer: [input.livePort],
    on: { second: onSecond },
  });
  await thread.first('ready');
  return {
    ...writing,
    failed: thread.failed,
    stop: thread.stop,
    /** @param {Tail} tail @returns {Promise<RecorderEnd>} after everything handed over is recorded */
    async finish(tail) {
      while (!thread.hasEnded() && !writeTail(tail)) await sleep(RETRY_MS);
      return thread.first('end');
    },
  };
}
