/**
 * Text to standard error from another thread than the main one (a worker's `process.stderr` would send everything there), and
 * without ever waiting: a terminal that was stopped (Ctrl-S) and a pipe that nobody reads from take nothing for as long as they
 * like, and the thread has files to write and metrics to serve.
 */
import { constants, fstatSync, openSync, write as writeLater, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * @typedef {object} Writer
 * @property {(text: string) => void} write in order, as far as it goes; the rest is kept. Never throws: whoever looks may be
 *   gone, and the run goes on
 * @property {() => boolean} isBusy something is kept: what is drawn now would be old when it is seen
 * @property {(callback: () => void) => void} onFree called whenever nothing is kept any more
 * @property {() => Promise<void>} settled when nothing is kept any more, or was not taken for so long that it is not waited for
 */

/** What is full is tried again so often. */
const RETRY_MS = 100;

/** The end is not held up for longer. */
const SETTLE_MS = 2000;

/** More is left out. */
const MOST_KEPT = 65_536;

const NOTHING = Buffer.alloc(0);
const STDOUT = 1;

/**
 * @param {number} descriptor
 * @param {object} [context]
 * @param {number} [context.own] see openOwn
 * @param {(descriptor: number, bytes: Uint8Array) => number} [context.write] as writeSync
 * @param {boolean} [context.isShared] see isSharedWithStdout
 * @param {(descriptor: number, bytes: Uint8Array, done: (error: unknown, count: number) => void) => void} [context.later] as
 *   fs.write: waits in a thread of its own
 * @returns {Writer}
 */
export function createWriter(
  descriptor,
  {
    own = openOwn(descriptor),
    write = writeSync,
    isShared = isSharedWithStdout(descriptor),
    later = writeLater,
  } = {},
) {
  /** @type {Buffer} */
  let kept = NOTHING;
  let leftOut = 0;
  let isGone = false;
  let isHandedOver = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let onFree = () => {};
  /** @type {(() => void)[]} */
  let waiting = [];

  /** @returns {number} how many bytes were taken; 0: it is full */
  function some() {
    try {
      return write(own, kept);
    } catch (error) {
      isGone = /** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN';
      return 0;
    }
  }

  /** @returns {boolean} nothing is kept any more */
  function flush() {
    if (isHandedOver) return false;
    while (kept.length > 0 && !isGone) {
      const count = some();
      if (count === 0) break;
      kept = kept.subarray(count);
    }
    if (isGone) kept = NOTHING;
    if (kept.length === 0) return true;
    timer ??= setTimeout(retry, RETRY_MS).unref();
    return false;
  }

  function retry() {
    timer = undefined;
    if (!flush()) return;
    if (leftOut > 0) {
      const text = `(${leftOut} messages were left out here: nobody took them.)\n`;
      leftOut = 0;
      add(text);
    }
    for (const resolve of waiting) resolve();
    waiting = [];
    onFree();
  }

  /** @param {string} text */
  function add(text) {
    kept = kept.length === 0 ? Buffer.from(text) : Buffer.concat([kept, Buffer.from(text)]);
    if (timer === undefined) flush();
  }

  /** What is to be seen before what the main thread prints there has to be in the queue before it. */
  function handOver() {
    if (!isShared || isHandedOver) return;
    isHandedOver = true;
    clearTimeout(timer);
    later(descriptor, kept, (error, count) => {
      isHandedOver = false;
      kept = error ? NOTHING : kept.subarray(count);
      retry();
    });
  }

  return {
    write(text) {
      if (isGone) return;
      if (kept.length > MOST_KEPT) leftOut++;
      else add(text);
    },
    isBusy: () => kept.length > 0,
    onFree(callback) {
      onFree = callback;
    },
    settled() {
      if (kept.length === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const limit = setTimeout(() => {
          handOver();
          resolve();
        }, SETTLE_MS);
        waiting.push(() => {
          clearTimeout(limit);
          resolve();
        });
      });
    },
  };
}

/**
 * The same terminal or pipe, opened once more, so that it is this writer alone that never waits: all that share a descriptor
 * share that, too.
 *
 * @param {number} descriptor
 * @returns {number} itself where it cannot be, as a socket; and of a file, which makes nobody wait
 */
export function openOwn(descriptor) {
  const path = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : '/dev/tty';
  try {
    if (fstatSync(descriptor).isFile() || (path === '/dev/tty' && !isatty(descriptor))) return descriptor;
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return descriptor;
  }
}

/**
 * The summary is printed to the terminal that this is: it waits for it anyway.
 *
 * @param {number} descriptor
 */
function isSharedWithStdout(descriptor) {
  return isatty(descriptor) && isatty(STDOUT) && fstatSync(descriptor).rdev === fstatSync(STDOUT).rdev;
}
