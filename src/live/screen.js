/** Where lines go: a terminal whose last lines are redrawn, or a log. */
import { stripVTControlCharacters } from 'node:util';
import { WIDTH } from '../report/layout.js';

/** @import { Terminal } from './view.js' */

/** @typedef {Pick<import('./descriptor.js').Writer, 'write' | 'isBusy' | 'onFree'>} Writer */
/**
 * @typedef {object} Screen
 * @property {(lines: string[]) => void} lines stay
 * @property {(picture: string) => void} show replaces the last picture; may be skipped when another follows soon
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} clear removes the last picture
 * @property {Promise<void>} isReady resolves when pictures can be drawn
 */

/** @typedef {{picture: string, columns: number, rows: number}} Drawn */

/** Interval of lines in a log, after the first second. */
const PLAIN_EVERY_MS = 5000;

/** A second that comes early by this much still counts as due. */
const JITTER_MS = 500;

/** Of a terminal that reports 0. */
const ROWS = 24;

/** While the size keeps changing, the place of the last picture is unknown. */
const CALM_MS = 150;

/** @param {Writer} writer @param {() => number} now @returns {Screen} */
export function plainScreen({ write, isBusy }, now) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    lines: (lines) => write(`${lines.join('\n')}\n`),
    show(line) {
      const time = now();
      if (time < nextAt - JITTER_MS || isBusy()) return;
      nextAt = time + PLAIN_EVERY_MS;
      write(`${line}\n`);
    },
    resize() {},
    // Written lines stay; the next line is written at once.
    clear() {
      nextAt = Number.NEGATIVE_INFINITY;
    },
    isReady: Promise.resolve(),
  };
}

/**
 * Draws nothing until log-update is loaded. Of a stream log-update needs only `write` and the size, so it works in a worker, too.
 *
 * @param {Writer} writer
 * @param {Terminal} terminal
 * @returns {Screen}
 */
export function liveScreen({ write, isBusy, onFree }, { columns, rows }) {
  const stream = {
    isTTY: true,
    ...sizeOf(columns, rows),
    /** @param {string} text */
    write(text) {
      write(text);
      return true;
    },
  };
  /** @type {ReturnType<typeof import('log-update').createLogUpdate> | null} */
  let log = null;
  let current = '';
  /** The visible picture, and the size of the terminal when it was drawn. @type {Drawn | null} */
  let drawn = null;
  /** @type {NodeJS.Timeout | undefined} */
  let resizing;
  const load = async () => {
    const { createLogUpdate } = await import('log-update');
    // A hidden cursor would bring signal handlers with it (signal-exit), which can end the process on the first Ctrl-C.
    log = createLogUpdate(/** @type {NodeJS.WritableStream} */ (/** @type {unknown} */ (stream)), {
      showCursor: true,
    });
    draw();
  };

  function draw() {
    if (log === null || current === '' || resizing !== undefined || isBusy()) return;
    log(current);
    drawn = { picture: current, columns: stream.columns, rows: stream.rows };
  }

  function erase() {
    if (drawn === null) return;
    write(`\r\u001b[${heightOf(drawn, stream.columns)}A\u001b[J`);
    drawn = null;
    log?.done();
  }

  onFree(draw);
  return {
    lines(lines) {
      erase();
      write(`${lines.join('\n')}\n`);
      draw();
    },
    show(picture) {
      current = picture;
      draw();
    },
    resize(newColumns, newRows) {
      Object.assign(stream, sizeOf(newColumns, newRows));
      clearTimeout(resizing);
      resizing = setTimeout(() => {
        resizing = undefined;
        erase();
        draw();
      }, CALM_MS).unref();
    },
    clear() {
      current = '';
      erase();
    },
    // Without log-update the run goes on without a live view.
    isReady: load().catch(() => {}),
  };
}

/**
 * A terminal that was made narrower has wrapped the lines.
 *
 * @param {Drawn} drawn
 * @param {number} columns that the terminal has now
 */
function heightOf({ picture, columns: before, rows }, columns) {
  const lengths = stripVTControlCharacters(picture)
    .split('\n')
    .flatMap(({ length }) => partsOf(length, before));
  const seen = lengths.slice(-Math.max(1, rows - 1));
  return seen.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / columns)), 0);
}

/**
 * @param {number} length of a line
 * @param {number} columns
 * @returns {number[]} lengths of the lines that log-update makes of it
 */
function partsOf(length, columns) {
  const whole = new Array(Math.floor(length / columns)).fill(columns);
  const rest = length % columns;
  return rest > 0 || whole.length === 0 ? [...whole, rest] : whole;
}

/** @param {number | undefined} columns @param {number | undefined} rows */
function sizeOf(columns, rows) {
  return { columns: columns || WIDTH, rows: rows || ROWS };
}
