/**
 * Writes to standard error from a worker thread without blocking, as lines of a log or as a picture that is redrawn. A worker's
 * `process.stderr` goes through the main thread, and a stopped terminal (Ctrl-S) or an unread pipe would block the thread that
 * also writes files and serves metrics.
 */
import { constants, fstatSync, openSync, write as writeLater, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { WIDTH } from '../report/layout.js';

/**
 * @typedef {object} Writer
 * @property {(text: string) => void} write in order, keeping the rest. Never throws: a run goes on without a reader
 * @property {() => boolean} isBusy text is kept, so a picture drawn now would be stale when it shows
 * @property {(callback: () => void) => void} onFree called whenever nothing is kept any more
 * @property {() => Promise<void>} settled resolves when nothing is kept any more, or after SETTLE_MS
 */
/** @typedef {ReturnType<typeof liveScreen>} Screen */
/** @typedef {{isTTY: boolean, columns?: number, rows?: number, color?: boolean}} Terminal `isTTY`: lines can be redrawn; a size of 0 is unknown */

const RETRY_MS = 100;
const SETTLE_MS = 2000;

/** With more kept, messages are dropped and counted. */
const MAX_KEPT_BYTES = 65_536;

const NOTHING = Buffer.alloc(0);
const STDOUT = 1;

/**
 * @param {number} descriptor @param {object} [system] @param {number} [system.own] see openOwn
 * @param {(descriptor: number, bytes: Uint8Array) => number} [system.write] as writeSync
 * @param {boolean} [system.isShared] the main thread prints to the same terminal
 * @param {(descriptor: number, bytes: Uint8Array, done: () => void) => void} [system.later] as fs.write
 * @returns {Writer}
 */
export function createWriter(descriptor, system = {}) {
  const { own = openOwn(descriptor), write = writeSync, later = writeLater } = system;
  const { isShared = isatty(descriptor) && isatty(STDOUT) } = system;
  /** @type {Buffer} */
  let kept = NOTHING;
  let droppedMessages = 0;
  let isGone = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let onFree = () => {};
  let onSettled = () => {};

  function flush() {
    try {
      while (kept.length > 0) kept = kept.subarray(write(own, kept));
    } catch (error) {
      isGone = /** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN';
      if (isGone) kept = NOTHING;
    }
    if (kept.length > 0) timer ??= setTimeout(retry, RETRY_MS).unref();
  }

  function retry() {
    timer = undefined;
    flush();
    if (kept.length > 0) return;
    if (droppedMessages > 0) {
      const text = `(${droppedMessages} messages were dropped here: the terminal or pipe accepted none.)\n`;
      droppedMessages = 0;
      add(text);
    }
    onSettled();
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
    async settled() {
      if (kept.length === 0) return;
      await new Promise((resolve) => {
        onSettled = () => resolve(undefined);
        setTimeout(onSettled, SETTLE_MS).unref();
      });
      // Blocks a thread of its own, so that this text is in the terminal's queue before that of the main thread.
      if (isShared && kept.length > 0) {
        later(descriptor, kept, () => {});
        kept = NOTHING;
      }
    },
  };
}

/**
 * Opens the same terminal or pipe again: O_NONBLOCK applies to all that share a descriptor.
 * @param {number} descriptor @returns {number} the same descriptor for files and sockets
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

/** Interval of lines in a log, after the first second; one that is early by up to JITTER_MS is due. */
const PLAIN_EVERY_MS = 5000;
const JITTER_MS = 500;

/** @param {Pick<Writer, 'write' | 'isBusy'>} writer @param {() => number} now @returns {Screen} */
export function plainScreen({ write, isBusy }, now, columns = WIDTH) {
  let nextAtMs = Number.NEGATIVE_INFINITY;
  return {
    columns: () => columns,
    lines: (lines) => write(`${lines.join('\n')}\n`),
    show(line) {
      const time = now();
      if (time < nextAtMs - JITTER_MS || isBusy()) return;
      nextAtMs = time + PLAIN_EVERY_MS;
      write(`${line}\n`);
    },
    resize() {},
    // Written lines stay; the next line is written at once.
    clear() {
      nextAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Of a terminal that reports 0. */
const ROWS = 24;

/** While the size keeps changing, the place of the last picture is unknown. */
const CALM_MS = 150;

/** @param {Pick<Writer, 'write' | 'isBusy' | 'onFree'>} writer @param {Terminal} terminal */
export function liveScreen({ write, isBusy, onFree }, terminal) {
  let columns = terminal.columns || WIDTH;
  let rows = terminal.rows || ROWS;
  /** The newest picture; empty: none. @type {string[]} */
  let current = [];
  /** The visible picture. @type {string[]} */
  let drawn = [];
  /** @type {NodeJS.Timeout | undefined} */
  let resizing;

  /** @returns {string} what erases the visible picture, whose lines a terminal that became narrower has wrapped */
  function erasure() {
    const height = drawn.reduce((sum, line) => sum + heightOf(line, columns), 0);
    drawn = [];
    return height === 0 ? '' : `\r\u001b[${height}A\u001b[J`;
  }

  function draw() {
    if (current.length === 0 || resizing !== undefined || isBusy()) return;
    const shown = current.slice(-Math.max(1, rows - 1));
    write(`${erasure()}${shown.join('\n')}\n`);
    drawn = shown;
  }

  onFree(draw);
  return {
    columns: () => columns,
    /** Writes lines that stay. @param {string[]} lines */
    lines(lines) {
      write(`${erasure()}${lines.join('\n')}\n`);
      draw();
    },
    /** Replaces the last picture; may be skipped when another follows soon. @param {string} picture */
    show(picture) {
      current = picture.split('\n');
      draw();
    },
    /** @param {number} newColumns @param {number} newRows */
    resize(newColumns, newRows) {
      columns = newColumns || WIDTH;
      rows = newRows || ROWS;
      clearTimeout(resizing);
      resizing = setTimeout(() => {
        resizing = undefined;
        draw();
      }, CALM_MS).unref();
    },
    /** Removes the last picture. */
    clear() {
      current = [];
      const text = erasure();
      if (text !== '') write(text);
    },
  };
}

/** @param {string} line @param {number} columns */
function heightOf(line, columns) {
  return Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns));
}
