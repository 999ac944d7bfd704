/**
 * Writes to standard error from a worker thread without blocking. A worker's `process.stderr` goes through the main thread, and a
 * stopped terminal (Ctrl-S) or an unread pipe would block the thread that also writes files and serves metrics.
 */
import { constants, fstatSync, openSync, write as writeLater, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * @typedef {object} Writer
 * @property {(text: string) => void} write in order, keeping the rest. Never throws: a run goes on without a reader
 * @property {() => boolean} isBusy text is kept, so a picture drawn now would be stale when it shows
 * @property {(callback: () => void) => void} onFree called whenever nothing is kept any more
 * @property {() => Promise<void>} settled resolves when nothing is kept any more, or after SETTLE_MS
 */

const RETRY_MS = 100;
const SETTLE_MS = 2000;

/** With more kept, messages are dropped and counted. */
const MAX_KEPT_BYTES = 65_536;

const NOTHING = Buffer.alloc(0);
const STDOUT = 1;

/**
 * @param {number} descriptor
 * @param {object} [system]
 * @param {number} [system.own] see openOwn
 * @param {(descriptor: number, bytes: Uint8Array) => number} [system.write] as writeSync
 * @param {boolean} [system.isShared] the main thread prints to the same terminal
 * @param {(descriptor: number, bytes: Uint8Array, done: () => void) => void} [system.later] as fs.write
 * @returns {Writer}
 */
export function createWriter(
  descriptor,
  {
    own = openOwn(descriptor),
    write = writeSync,
    isShared = isatty(descriptor) && isatty(STDOUT),
    later = writeLater,
  } = {},
) {
  /** @type {Buffer} */
  let kept = NOTHING;
  let droppedMessages = 0;
  let isGone = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let onFree = () => {};
  /** @type {(() => void)[]} */
  let waiting = [];

  /** @returns {boolean} whether nothing is kept any more */
  function flush() {
    try {
      while (kept.length > 0) kept = kept.subarray(write(own, kept));
    } catch (error) {
      isGone = /** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN';
      if (isGone) kept = NOTHING;
    }
    if (kept.length > 0) timer ??= setTimeout(retry, RETRY_MS).unref();
    return kept.length === 0;
  }

  function retry() {
    timer = undefined;
    if (!flush()) return;
    if (droppedMessages > 0) {
      const text = `(${droppedMessages} messages were dropped here: the terminal or pipe accepted none.)\n`;
      droppedMessages = 0;
      add(text);
    }
    for (const resolve of waiting) resolve();
    waiting = [];
    onFree();
  }

  /** @param {string} text */
  function add(text) {
    kept = Buffer.concat([kept, Buffer.from(text)]);
    if (timer === undefined) flush();
  }

  return {
    write(text) {
      if (isGone) return;
      if (kept.length > MAX_KEPT_BYTES) droppedMessages++;
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
          // Blocks a thread of its own, so that this text is in the terminal's queue before that of the main thread.
          if (isShared) later(descriptor, kept, () => {});
          if (isShared) kept = NOTHING;
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
