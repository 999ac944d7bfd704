/** Markdown of run sets and comparisons, put together from what anybody may have written. */
import { escapeMarkdown, markdownTable as tableLines } from './markdown-text.js';

export { escapeMarkdown as plain };

/**
 * The first column to the left, the others to the right.
 *
 * @param {string[]} headings text
 * @param {string[][]} rows Markdown
 * @returns {string}
 */
export function markdownTable(headings, rows) {
  return tableLines(headings.map(escapeMarkdown), rows).join('\n');
}

/**
 * @param {string[]} items Markdown
 * @returns {string} a list; nothing where there is no item
 */
export function bullets(items) {
  return items.map((item) => `- ${item}`).join('\n');
}

/**
 * @param {string[]} parts paragraphs, tables and lists; empty ones are left out
 * @returns {string} ends with a newline
 */
export function paragraphs(parts) {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
