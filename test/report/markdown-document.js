/** Reports in Markdown, read as cmark-gfm does. */
import assert from 'node:assert/strict';

/** What CommonMark lets a backslash escape. */
export const PUNCTUATION = /\\([!-/:-@[-`{-~])/g;

/** Cells of a row: split at pipes that no backslash escapes. @param {string} row */
export function cellsOf(row) {
  return [...row.matchAll(/\|((?:\\[!-/:-@[-`{-~]|[^|])*)(?=\|)/g)].map(([, cell]) => cell.trim());
}

/** Tables are whole, and nothing is HTML. @param {string} markdown */
export function assertMarkdown(markdown) {
  let columns = 0;
  const lines = markdown.replace(/```text\n[\s\S]*?\n```\n/g, '').split('\n');
  for (const [i, line] of lines.entries()) {
    const bare = line.replace(PUNCTUATION, '').replace(/(`+).*?\1/g, '');
    assert.doesNotMatch(bare, /<\S|>/);
    if (!line.startsWith('|')) continue;
    if (!lines[i - 1]?.startsWith('|')) columns = cellsOf(line).length;
    assert.equal(cellsOf(line).length, columns, line);
  }
}
