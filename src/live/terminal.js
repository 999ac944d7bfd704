/**
 * Writes to standard error from a worker thread without blocking, either log lines or a redrawn frame.
 * A worker's `process.stderr` goes through the main thread, and a stopped terminal (Ctrl-S) or an
 * unread pipe would block the thread that also writes files and serves metrics.
 */
import { constants, fstatSync, openSync, write as writeLater, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { total } from '../common/sums.js';
import { stringWidth, WIDTH } from '../report/layout.js';

/** @typedef {ReturnType<typeof createWriter>} Writer */
/** @typedef {ReturnType<typeof liveScreen>} Screen */
/** @typedef {{isTTY: boolean, columns?: number, rows?: number, color?: boolean}} Terminal a size of 0 is unknown */

const STDOUT = 1;
const RETRY_MS = 100;
const SETTLE_MS = 2000;
/** With more unwritten text, further text is dropped. */
const MAX_UNWRITTEN_BYTES = 65_536;

/** @param {number} descriptor @param {{output?: number, write?: (to: number, bytes: Uint8Array) => number}} [system] for tests */
export function createWriter(descriptor, { output = reopen(descriptor), write = writeSync } = {}) {
  /** Not written yet. @type {Buffer} */
  let unwritten = Buffer.alloc(0);
  let isGone = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let onFree = () => {};
  let onSettled = () => {};

  function flush() {
    timer = undefined;
    try {
      while (unwritten.length > 0) unwritten = unwritten.subarray(write(output, unwritten));
    } catch (error) {
      isGone = /** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN';
      if (isGone) unwritten = unwritten.subarray(unwritten.length);
    }
    if (unwritten.length > 0) timer = setTimeout(retry, RETRY_MS).unref();
  }

  function retry() {
    flush();
    if (unwritten.length > 0) return;
    onSettled();
    onFree();
  }

  return {
    /** Writes in order. Never throws or blocks: a run goes on without a reader. @param {string} text */
    write(text) {
      if (isGone || unwritten.length > MAX_UNWRITTEN_BYTES) return;
      unwritten = Buffer.concat([unwritten, Buffer.from(text)]);
      if (timer === undefined) flush();
    },
    /** Some text is unwritten, so a frame drawn now would appear late. */
    isBusy: () => unwritten.length > 0,
    /** @param {() => void} callback called whenever delayed text has been written */
    onFree(callback) {
      onFree = callback;
    },
    /** Resolves when all text is written, or after SETTLE_MS. */
    async settled() {
      if (unwritten.length === 0) return;
      await new Promise((resolve) => {
        onSettled = () => resolve(undefined);
        setTimeout(onSettled, SETTLE_MS).unref();
      });
      // On a stopped terminal this blocks a pool thread, so that this text precedes the main thread's.
      if (unwritten.length === 0 || !isatty(descriptor) || !isatty(STDOUT)) return;
      writeLater(reopen(descriptor, 0), unwritten, () => {});
      unwritten = unwritten.subarray(unwritten.length);
    },
  };
}

/**
 * Opens the same terminal or pipe again: O_NONBLOCK affects everyone who shares the descriptor, such as the main thread.
 * @param {number} descriptor @param {number} [flags] @returns {number} the same descriptor for files and sockets
 */
export function reopen(descriptor, flags = constants.O_NONBLOCK) {
  const path = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : '/dev/tty';
  try {
    if (fstatSync(descriptor).isFile() || (path === '/dev/tty' && !isatty(descriptor))) return descriptor;
    return openSync(path, constants.O_WRONLY | constants.O_NOCTTY | flags);
  } catch {
    return descriptor;
  }
}

/** Interval of lines in a log; a line may be early by JITTER_MS. */
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
    /** The next line is written at once. */
    clear() {
      nextAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Used if the terminal reports 0. */
const ROWS = 24;
/** While the size changes, the position of the last frame is unknown. */
const RESIZE_SETTLE_MS = 150;

/** @param {Pick<Writer, 'write' | 'isBusy' | 'onFree'>} writer @param {Terminal} terminal */
export function liveScreen({ write, isBusy, onFree }, terminal) {
  let columns = terminal.columns || WIDTH;
  let rows = terminal.rows || ROWS;
  /** The latest frame. @type {string[]} */
  let current = [];
  /** The visible frame. @type {string[]} */
  let drawn = [];
  /** @type {NodeJS.Timeout | undefined} */
  let resizing;

  /** @returns {string} erases the visible frame, whose lines wrap when a terminal becomes narrower */
  function erasure() {
    const widths = drawn.map((line) => stringWidth(stripVTControlCharacters(line)));
    const height = total(widths.map((width) => Math.max(1, Math.ceil(width / columns))));
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
    /** Replaces the last frame; may be skipped when another follows soon. @param {string} frame */
    show(frame) {
      current = frame.split('\n');
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
      }, RESIZE_SETTLE_MS).unref();
    },
    /** Removes the last frame. */
    clear() {
      current = [];
      const text = erasure();
      if (text !== '') write(text);
    },
  };
}
