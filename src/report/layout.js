/** Plain text in columns: wrapping, hanging indents and tables. Widths are those of a terminal, where a CJK character takes two. */
import stringWidth from 'string-width';

/** Lines fit this many columns. */
export const WIDTH = 80;

/** Where the text beside a label begins. */
const INDENT = 14;

/** Control characters, other line breaks, halves of characters, and what turns the direction of text around. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const graphemes = new Intl.Segmenter('en');

/**
 * @param {string} text possibly from a server
 * @returns {string} without characters that could drive a terminal; of the same length
 */
export function clean(text) {
  return text.replace(UNSAFE, '?');
}

/**
 * For names of columns and series: what differs differs afterwards, too.
 *
 * @param {string} text possibly from a server
 * @returns {string} with `\u{1b}` instead of a character that could drive a terminal
 */
export function distinct(text) {
  return text
    .replaceAll('\\u{', '\\u{5c}u{')
    .replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/**
 * @param {string} text
 * @param {number} [width]
 * @returns {string[]} lines of at most `width` columns, broken at spaces where there are any
 */
export function wrap(text, width = WIDTH) {
  /** @type {string[]} */
  const lines = [];
  let line = '';
  for (const word of clean(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (stringWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = cutUp(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces[pieces.length - 1];
  }
  return [...lines, line];
}

/**
 * @param {string} word
 * @param {number} width
 * @returns {string[]} at least one, of whole characters with their marks
 */
function cutUp(word, width) {
  if (stringWidth(word) <= width) return [word];
  /** @type {string[]} */
  const pieces = [];
  let piece = '';
  let columns = 0;
  for (const { segment } of graphemes.segment(word)) {
    const own = stringWidth(segment);
    if (piece !== '' && columns + own > width) {
      pieces.push(piece);
      piece = '';
      columns = 0;
    }
    piece += segment;
    columns += own;
  }
  return [...pieces, piece];
}

/**
 * @param {string} label
 * @param {string} text wrapped beside the label, below it where the label is too long
 * @param {number} [indent]
 */
export function labelled(label, text, indent = INDENT) {
  const lines = wrap(text, WIDTH - indent).map((line) => `${' '.repeat(indent)}${line}`);
  const name = clean(label);
  if (stringWidth(name) >= indent - 1) return [...wrap(name), ...lines];
  lines[0] = padEnd(name, indent) + lines[0].slice(indent);
  return lines;
}

/** @typedef {(text: string, row: number, column: number) => string} Decorate a padded cell */

/** @type {Decorate} */
const asIs = (text) => text;

/**
 * Two spaces between columns. A first cell that leaves no room for its row has a line of its own.
 *
 * @param {string[][]} rows the first is the heading
 * @param {object} [options]
 * @param {boolean[]} [options.isText] by column: it stands to the left, as the first does
 * @param {Decorate} [options.decorate]
 * @param {number} [options.width]
 * @returns {string[][]} lines by row
 */
export function table(rows, { isText = [], decorate = asIs, width: whole = WIDTH } = {}) {
  const cells = rows.map((row) => row.map(clean));
  const others = cells[0].slice(1).map((_, i) => Math.max(...cells.map((row) => stringWidth(row[i + 1]))));
  const room = Math.max(0, whole - others.reduce((sum, width) => sum + width + 2, 0));
  const fitting = cells.map(([first]) => stringWidth(first)).filter((width) => width <= room);
  const width = Math.max(Math.min(INDENT - 2, room), ...fitting);
  return cells.map(([first, ...figures], row) => {
    const numbers = figures.map((cell, i) => {
      const padded = isText[i + 1] ? padEnd(cell, others[i]) : padStart(cell, others[i]);
      return `  ${decorate(padded, row, i + 1)}`;
    });
    const tail = numbers.join('');
    if (stringWidth(first) <= width) return [(decorate(padEnd(first, width), row, 0) + tail).trimEnd()];
    return [...wrap(first, whole), (' '.repeat(width) + tail).trimEnd()];
  });
}

/**
 * @param {string[][]} rows
 * @returns {number} columns that its cells need beside the first of a row, with the spaces between
 */
export function widthOf(rows) {
  return rows[0]
    .slice(1)
    .reduce((sum, _, i) => sum + 2 + Math.max(...rows.map((row) => stringWidth(clean(row[i + 1])))), 0);
}

/** @param {string} text @param {number} columns */
export function padEnd(text, columns) {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/** @param {string} text @param {number} columns */
export function padStart(text, columns) {
  return ' '.repeat(Math.max(0, columns - stringWidth(text))) + text;
}
