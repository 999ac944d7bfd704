/** Plain text in columns: wrapping, hanging indents and tables. */

/** Lines fit this many columns. */
export const WIDTH = 80;

/** Where the text beside a label begins. */
const INDENT = 14;

/**
 * @param {string} text possibly from a server
 * @returns {string} without control characters, which could drive a terminal
 */
export function clean(text) {
  return text.replace(/\p{Cc}/gu, '?');
}

/**
 * @param {string} text
 * @param {number} [width]
 * @returns {string[]} lines of at most `width` characters, broken at spaces where there are any
 */
export function wrap(text, width = WIDTH) {
  /** @type {string[]} */
  const lines = [];
  let line = '';
  for (const word of clean(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  return [...lines, line];
}

/**
 * @param {string} label
 * @param {string} text wrapped beside the label, below it where the label is too long
 * @param {number} [indent]
 * @returns {string[]}
 */
export function labelled(label, text, indent = INDENT) {
  const lines = wrap(text, WIDTH - indent).map((line) => `${' '.repeat(indent)}${line}`);
  if (label.length >= indent - 1) return [...wrap(label), ...lines];
  lines[0] = clean(label).padEnd(indent) + lines[0].slice(indent);
  return lines;
}

/**
 * First column to the left, the others to the right, two spaces apart. A first cell that leaves no room for its row
 * has a line of its own.
 *
 * @param {string[][]} rows the first is the heading
 * @returns {string[]}
 */
export function table(rows) {
  const others = rows[0].slice(1).map((_, i) => Math.max(...rows.map((row) => row[i + 1].length)));
  const room = WIDTH - others.reduce((sum, width) => sum + width + 2, 0);
  const fitting = rows.map(([first]) => first.length).filter((length) => length <= room);
  const width = Math.max(INDENT - 2, ...fitting);
  return rows.flatMap(([first, ...cells]) => {
    const numbers = cells.map((cell, i) => `  ${clean(cell).padStart(others[i])}`).join('');
    if (first.length <= width) return [(clean(first).padEnd(width) + numbers).trimEnd()];
    return [...wrap(first), (' '.repeat(width) + numbers).trimEnd()];
  });
}
