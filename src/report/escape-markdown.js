/**
 * Pieces of GitHub-flavoured Markdown: text that may come from a server is shown as it is, and does nothing: no HTML, no
 * links, no mentions, no formulas.
 */
import { clean } from './layout.js';

/** Shows nothing, and keeps GitHub from making a mention or the number of an issue a link; a backslash does not. */
const BREAK = '\u200b';

/**
 * @param {string} text
 * @returns {string} for running text and for the cells of a table
 */
export function escapeMarkdown(text) {
  return clean(text)
    .replace(/[\\`*_[\]<>|~&$#]/g, '\\$&')
    .replace(/@(?=\w)/g, `@${BREAK}`)
    .replace(/#(?=\d)/g, `#${BREAK}`)
    .replace(/:\/\//g, '\\://')
    .replace(/\bwww\./gi, (found) => `${found.slice(0, -1)}\\.`)
    .replace(/^(\s*)([-+=])/, '$1\\$2')
    .replace(/^(\s*\d+)([.)])(?=\s|$)/, '$1\\$2');
}

/**
 * @param {string} text
 * @returns {string} as code, outside of tables
 */
export function code(text) {
  const plain = clean(text);
  if (plain.trim() === '') return '';
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${space}${plain}${space}${fence}`;
}

/**
 * In a table a pipe is escaped even in code. What holds a backslash is no code there: `\|` would end the cell.
 *
 * @param {string} text
 * @returns {string} as code, for the cells of a table
 */
export function codeCell(text) {
  return text.includes('\\') ? escapeMarkdown(text) : code(text).replaceAll('|', '\\|');
}

/**
 * @param {string[]} heading
 * @param {string[][]} rows cells as Markdown
 * @param {number | boolean[]} [left] columns that hold text: how many from the left, or which; the others hold numbers
 * @returns {string[]} lines
 */
export function markdownTable(heading, rows, left = 1) {
  const isLeft = (/** @type {number} */ i) => (typeof left === 'number' ? i < left : left[i]);
  const rule = heading.map((_, i) => (isLeft(i) ? ':---' : '---:'));
  return [heading, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}
