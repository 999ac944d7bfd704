/** Plain text layout: wrapping, hanging indents, tables. Widths are terminal columns; CJK takes two. */
import widthOfSlice from 'string-width';
import { sanitizeText } from '../common/sanitize.js';
import { maxOf, total } from '../common/sums.js';

/** Columns of a line. */
export const WIDTH = 80;

/** Column of the text after a label. */
const INDENT = 14;

const graphemes = new Intl.Segmenter('en');

/** string-width and Segmenter take quadratic time: a long word is cut, even within a cluster. @param {string} text */
const slices = (text) => text.match(/.{1,256}/gsu) ?? [];

/** @param {string} text @returns {number} its columns, in linear time */
export function stringWidth(text) {
  return text.length <= 256 ? widthOfSlice(text) : total(slices(text).map((slice) => widthOfSlice(slice)));
}

/** @param {string} text @param {number} [width] @returns {string[]} lines, broken at spaces if possible */
export function wrap(text, width = WIDTH) {
  /** @type {string[]} */
  const lines = [];
  let line = '';
  for (const word of sanitizeText(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (stringWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = cutUp(word, width);
    line = /** @type {string} */ (pieces.pop());
    for (const piece of pieces) lines.push(piece);
  }
  // A line break can turn the rest of a word into a log command such as ::error::.
  return [...lines, line].map(sanitizeText);
}

/** @param {string} word @param {number} width @returns {string[]} at least one; keeps grapheme clusters whole */
function cutUp(word, width) {
  const pieces = [''];
  let columns = 0;
  for (const slice of slices(word)) {
    for (const { segment } of graphemes.segment(slice)) {
      const own = stringWidth(segment);
      if (columns > 0 && columns + own > width) {
        pieces.push('');
        columns = 0;
      }
      pieces[pieces.length - 1] += segment;
      columns += own;
    }
  }
  return pieces;
}

/** @param {string} text @param {number} width in columns @returns {string} with an ellipsis if it is longer */
export function cut(text, width) {
  if (stringWidth(text) <= width) return text;
  return width < 2 ? '…'.repeat(Math.max(0, width)) : `${cutUp(text, width - 1)[0]}…`;
}

/** @param {string} text @param {number} indent @param {number} [width] @returns {string[]} wrapped lines, all indented */
export function indented(text, indent, width = WIDTH) {
  return wrap(text, width - indent).map((line) => ' '.repeat(indent) + line);
}

/** @param {string} label @param {string} text below a long label @param {number} [indent] @param {number} [width] */
export function labelled(label, text, indent = INDENT, width = WIDTH) {
  const name = sanitizeText(label);
  const lines = indented(text, indent, width);
  const isLong = stringWidth(name) >= indent - 1;
  if (isLong) return [...wrap(name, width), ...(text === '' ? [] : lines)];
  return [(padEnd(name, indent) + lines[0].slice(indent)).trimEnd(), ...lines.slice(1)];
}

/**
 * Two spaces between columns. A first cell too long for its row gets its own line.
 * @param {string[][]} rows the first is the heading
 * @param {{isText?: boolean[], decorate?: (text: string, row: number, column: number) => string, width?: number}} [options] `isText`, by column: left-aligned, as the first is; `decorate` is called with padded cells
 * @returns {string[][]} lines by row
 */
export function table(rows, { isText = [], decorate = (text) => text, width: whole = WIDTH } = {}) {
  const cells = rows.map((row) => row.map(sanitizeText));
  const others = columnWidths(cells);
  const room = Math.max(0, whole - widthOf(cells));
  const fitting = cells.map(([first]) => stringWidth(first)).filter((width) => width <= room);
  const width = maxOf(fitting, Math.min(INDENT - 2, room));
  return cells.map(([first, ...figures], row) => {
    const tail = figures.map((cell, i) => {
      const pad = isText[i + 1] ? padEnd : padStart;
      return `  ${decorate(pad(cell, others[i]), row, i + 1)}`;
    });
    const isLong = stringWidth(first) > width;
    const start = isLong ? ' '.repeat(width) : decorate(padEnd(first, width), row, 0);
    return [...(isLong ? wrap(first, whole) : []), (start + tail.join('')).trimEnd()];
  });
}

/** @param {string[][]} rows @returns {number[]} of all columns but the first */
function columnWidths(rows) {
  return rows[0].slice(1).map((_, i) => maxOf(rows.map((row) => stringWidth(sanitizeText(row[i + 1])))));
}

/** @param {string[][]} rows @returns width of all columns but the first, with the spaces between */
export const widthOf = (rows) => columnWidths(rows).reduce((sum, width) => sum + width + 2, 0);

/** @param {string} text @param {number} columns */
export const padEnd = (text, columns) => text + ' '.repeat(Math.max(0, columns - stringWidth(text)));

/** @param {string} text @param {number} columns */
export const padStart = (text, columns) => ' '.repeat(Math.max(0, columns - stringWidth(text))) + text;
