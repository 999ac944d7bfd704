/**
 * Writes to standard error from a worker thread without blocking. A worker's `process.stderr` goes through the main thread, and a
 * stopped terminal (Ctrl-S) or an unread pipe would block the thread that also writes files and serves metrics.
 */
import { constants, fstatSync, openSync, write as writeLater, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * @typedef {object} Writer
 * @property {(text: string) => void} write in order; the rest is kept. Never throws: the run goes on when the reader is gone
 * @property {() => boolean} isBusy text is kept, so a picture drawn now would be stale when it shows
 * @property {(callback: () => void) => void} onFree called whenever nothing is kept any more
 * @property {() => Promise<void>} settled resolves when nothing is kept any more, or after a time-out
 */

const RETRY_MS = 100;

/** Limit of `settled`. */
const SETTLE_MS = 2000;

/** Bytes; with more kept, messages are dropped and counted. */
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
 *   fs.write: blocks a thread of its own
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

  /** @returns {number} bytes written; 0: the descriptor is full */
  function some() {
    try {
      return write(own, kept);
    } catch (error) {
      isGone = /** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN';
      return 0;
    }
  }

  /** @returns {boolean} whether nothing is kept any more */
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
      const text = `(${leftOut} messages were dropped here: the terminal or pipe accepted none.)\n`;
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

  /** The main thread prints to the same terminal, so this text must enter its queue first. */
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
 * Opens the same terminal or pipe again: O_NONBLOCK applies to all that share a descriptor.
 *
 * @param {number} descriptor
 * @returns {number} the same descriptor for files and sockets
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

/** The main thread prints the summary to the same terminal and blocks there anyway. @param {number} descriptor */
function isSharedWithStdout(descriptor) {
  return isatty(descriptor) && isatty(STDOUT) && fstatSync(descriptor).rdev === fstatSync(STDOUT).rdev;
}
