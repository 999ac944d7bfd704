/** A table of a report as lines of text: what does not fit beside the other columns goes below, or into a table of its own. */
import stringWidth from 'string-width';
import { clean, padEnd, table, WIDTH, widthOf, wrap } from './layout.js';

/** @typedef {import('./sections.js').Table} Table */
/** @typedef {import('./sections.js').Cell} Cell */
/** @typedef {import('./sections.js').Column} Column */

/** Of the first column, before others are moved; and where it can be avoided. */
const LEAST_FIRST = 10;
const GOOD_FIRST = 24;

/** Of the text below a row. */
const INDENT = 4;

/**
 * @param {Table} part
 * @param {(text: string, verdict: string | undefined) => string} paint
 * @param {number} width
 * @returns {string[]}
 */
export function textTable({ columns, rows }, paint, width) {
  const every = columns.map((_, i) => i);
  const narrow = every.filter((i) => !columns[i].isDetail);
  const chosen = [every, narrow].find((shown) => fits(columns, rows, shown, width, GOOD_FIRST));
  if (chosen !== undefined) return draw(columns, rows, chosen, paint, width);
  const last = narrow[narrow.length - 1];
  if (narrow.length > 1 && columns[last].isText) {
    const others = narrow.slice(0, -1);
    if (fits(columns, rows, others, width)) return draw(columns, rows, others, paint, width, last);
  }
  if (fits(columns, rows, narrow, width)) return draw(columns, rows, narrow, paint, width);
  return split(columns, rows, narrow, width).flatMap((shown, i) => [
    ...(i === 0 ? [] : ['']),
    ...draw(columns, rows, shown, paint, width),
  ]);
}

/**
 * @param {Cell} cell
 */
function textOf(cell) {
  return typeof cell === 'string' ? cell : cell.text;
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 */
function cellsOf(columns, rows, shown) {
  return [shown.map((i) => columns[i].name), ...rows.map((row) => shown.map((i) => textOf(row[i])))];
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {number} width
 * @param {number} [most] that the first column gets, if its cells need it
 */
function fits(columns, rows, shown, width, most = LEAST_FIRST) {
  const cells = cellsOf(columns, rows, shown);
  const first = Math.max(...cells.map(([cell]) => stringWidth(clean(cell))));
  return widthOf(cells) + Math.max(LEAST_FIRST, Math.min(first, most)) <= width;
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {(text: string, verdict: string | undefined) => string} paint
 * @param {number} width
 * @param {number} [below] index of a column whose texts stand below their rows
 */
function draw(columns, rows, shown, paint, width, below) {
  const lines = table(cellsOf(columns, rows, shown), {
    isText: shown.map((i) => columns[i].isText === true),
    width,
    decorate: (text, row, column) => {
      const cell = row === 0 ? '' : rows[row - 1][shown[column]];
      if (typeof cell === 'string') return text;
      return text.replace(cell.text, () => paint(cell.text, cell.verdict));
    },
  });
  return lines.flatMap((own, i) => {
    const text = below === undefined || i === 0 ? '' : textOf(rows[i - 1][below]);
    if (text === '') return own;
    return [...own, ...wrap(text, WIDTH - INDENT).map((line) => padEnd('', INDENT) + line)];
  });
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {number} width
 * @returns {number[][]} each with the first column, and as many others as fit
 */
function split(columns, rows, [first, ...others], width) {
  /** @type {number[][]} */
  const tables = [];
  for (const i of others) {
    const open = tables[tables.length - 1];
    if (open !== undefined && fits(columns, rows, [...open, i], width)) open.push(i);
    else tables.push([first, i]);
  }
  return tables.length === 0 ? [[first]] : tables;
}
