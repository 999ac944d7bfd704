/**
 * Text to a file descriptor, at once and without the main thread: a worker's `process.stderr` would send everything there.
 */
import { writeSync } from 'node:fs';

/** A pipe that nobody reads from is full: it is tried again so often, and then the text is left out. */
const RETRY_MS = 10;
const MOST_RETRIES = 50;

/**
 * @param {number} descriptor
 * @param {(descriptor: number, bytes: Uint8Array, offset: number) => number} [write] as writeSync
 * @param {(ms: number) => void} [sleep]
 * @returns {(text: string) => void} never throws: whoever looks may be gone, and the run goes on
 */
export function createWriter(descriptor, write = writeSync, sleep = sleepFor) {
  let isGone = false;
  /** A pipe that was full is not waited for again until something went through. */
  let patience = MOST_RETRIES;

  /** @param {Uint8Array} bytes @param {number} from @returns {number} how many were written; 0: the pipe is full */
  function some(bytes, from) {
    try {
      return write(descriptor, bytes, from);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EAGAIN') return 0;
      isGone = true;
      return 0;
    }
  }

  return (text) => {
    const bytes = Buffer.from(text);
    let written = 0;
    while (written < bytes.length && !isGone) {
      const count = some(bytes, written);
      written += count;
      if (count > 0) patience = MOST_RETRIES;
      else if (patience-- > 0) sleep(RETRY_MS);
      else break;
    }
    patience = Math.max(0, patience);
  };
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread. @param {number} ms */
function sleepFor(ms) {
  Atomics.wait(never, 0, 0, ms);
}
