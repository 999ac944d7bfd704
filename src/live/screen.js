/** Where lines go: a terminal whose last lines are redrawn, or a log. */
import { stripVTControlCharacters } from 'node:util';
import { WIDTH } from '../report/layout.js';

/** @import { Writer } from './descriptor.js' */
/** @import { Terminal } from './view.js' */

/**
 * @typedef {object} Screen
 * @property {(lines: string[]) => void} lines stay
 * @property {(picture: string) => void} show replaces the last picture; may be skipped when another follows soon
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} clear removes the last picture
 */

/** Interval of lines in a log, after the first second. */
const PLAIN_EVERY_MS = 5000;

/** A second that comes early by this much still counts as due. */
const JITTER_MS = 500;

/** Of a terminal that reports 0. */
const ROWS = 24;

/** While the size keeps changing, the place of the last picture is unknown. */
const CALM_MS = 150;

/** @param {Pick<Writer, 'write' | 'isBusy'>} writer @param {() => number} now @returns {Screen} */
export function plainScreen({ write, isBusy }, now) {
  let nextAtMs = Number.NEGATIVE_INFINITY;
  return {
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

/** @param {Pick<Writer, 'write' | 'isBusy' | 'onFree'>} writer @param {Terminal} terminal @returns {Screen} */
export function liveScreen({ write, isBusy, onFree }, { columns: firstColumns, rows: firstRows }) {
  let columns = firstColumns || WIDTH;
  let rows = firstRows || ROWS;
  /** The newest picture; empty: none. @type {string[]} */
  let current = [];
  /** The visible picture. @type {string[]} */
  let drawn = [];
  /** @type {NodeJS.Timeout | undefined} */
  let resizing;

  /** @returns {string} what erases the visible picture */
  function erasure() {
    if (drawn.length === 0) return '';
    // A terminal that became narrower has wrapped the lines.
    const height = drawn.reduce((sum, line) => sum + heightOf(line, columns), 0);
    drawn = [];
    return `\r\u001b[${height}A\u001b[J`;
  }

  function draw() {
    if (current.length === 0 || resizing !== undefined || isBusy()) return;
    const shown = current.slice(-Math.max(1, rows - 1));
    write(`${erasure()}${shown.join('\n')}\n`);
    drawn = shown;
  }

  onFree(draw);
  return {
    lines(lines) {
      write(`${erasure()}${lines.join('\n')}\n`);
      draw();
    },
    show(picture) {
      current = picture.split('\n');
      draw();
    },
    resize(newColumns, newRows) {
      columns = newColumns || WIDTH;
      rows = newRows || ROWS;
      clearTimeout(resizing);
      resizing = setTimeout(() => {
        resizing = undefined;
        draw();
      }, CALM_MS).unref();
    },
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
