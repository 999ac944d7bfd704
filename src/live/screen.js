/** Where lines go: a terminal whose last lines are drawn over again, or a log. */
import { stripVTControlCharacters } from 'node:util';
import { WIDTH } from '../report/layout.js';

/** @typedef {Pick<import('./descriptor.js').Writer, 'write' | 'isBusy' | 'onFree'>} Writer */
/**
 * @typedef {object} Screen
 * @property {(lines: string[]) => void} lines stay
 * @property {(picture: string) => void} show takes the place of the last one; may never be seen where another follows soon
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} clear takes the last picture away
 * @property {Promise<void>} isReady from then on pictures are drawn
 */

/** @typedef {{picture: string, columns: number, rows: number}} Drawn */

/** In a log: a line at the first second and then this often. */
const PLAIN_EVERY_MS = 5000;

/** Seconds come about once a second; one this much early still counts as due. */
const JITTER_MS = 500;

/** Of a terminal that does not say (then it says 0). */
const ROWS = 24;

/** While its size changes all the time, nobody knows where the last picture is. */
const CALM_MS = 150;

/**
 * @param {Writer} writer
 * @param {() => number} now
 * @returns {Screen}
 */
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
    // What was written stays; what comes next is another thing, and is not held back.
    clear() {
      nextAt = Number.NEGATIVE_INFINITY;
    },
    isReady: Promise.resolve(),
  };
}

/**
 * log-update is loaded only here; until it is there, nothing is drawn. It works on another thread than the main one too: all
 * it needs of a stream is to write, and to know its size.
 *
 * @param {Writer} writer
 * @param {import('./view.js').Terminal} terminal
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
  /** The last picture that can be seen, and the size of the terminal then. @type {Drawn | null} */
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
    // Without log-update there is a run without a live view, which is better than no run.
    isReady: load().catch(() => {}),
  };
}

/**
 * A terminal that was made narrower has broken lines in two, and more.
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
