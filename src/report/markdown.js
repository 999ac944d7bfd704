/**
 * Report -> GitHub-flavoured Markdown, without HTML. Text may come from a server, so it is escaped: no HTML, links, mentions or
 * formulas.
 */

import { clean } from './layout.js';
import { withoutTitle } from './sections.js';
import { textChart } from './text-charts.js';

/** @import { Cell, Chart, Figures, Part, Report, Section, Table, Verdicts } from './sections.js' */

/** Parts that make a list together. */
const ITEMS = new Set(['note', 'command']);

/** @param {Report} report @returns {string} ends with a newline */
export function render({ title, subject, sections }) {
  const [answer, ...others] = sections;
  const blocks = [
    `## ${escapeMarkdown(title)}`,
    ...partBlocks(
      withoutTitle(
        title,
        answer.parts.filter(({ kind }) => kind !== 'chart'),
      ),
    ),
    `${escapeMarkdown(subject)}.`,
    ...partBlocks(answer.parts.filter(({ kind }) => kind === 'chart')),
    ...others.flatMap(sectionBlocks),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** @param {Section} section */
function sectionBlocks({ heading, parts }) {
  const blocks = partBlocks(parts).filter((block) => block !== '');
  return blocks.length === 0 || heading === null ? blocks : [`### ${escapeMarkdown(heading)}`, ...blocks];
}

/** @param {Part[]} parts */
function partBlocks(parts) {
  /** @type {string[]} */
  const blocks = [];
  let before = '';
  for (const part of parts) {
    const text = blockOf(part);
    if (part.kind === before && ITEMS.has(before)) blocks[blocks.length - 1] += `\n${text}`;
    else blocks.push(text);
    before = part.kind;
  }
  return blocks;
}

/** @param {Part} part */
function blockOf(part) {
  switch (part.kind) {
    case 'sentence':
      return part.isStrong ? `**${escapeMarkdown(part.text)}**` : escapeMarkdown(part.text);
    case 'verdicts':
      return verdictTable(part.items);
    case 'figures':
      return part.items
        .filter(({ isDetail }) => !isDetail)
        .map(figure)
        .join(' · ');
    case 'table':
      return tableOf(part);
    case 'chart':
      return chartOf(part);
    case 'note':
      return `- ${escapeMarkdown(part.remedy === undefined ? part.text : `${part.text} ${part.remedy}`)}`;
    case 'facts':
      return part.items
        .map(({ name, text }) => `- ${escapeMarkdown(name)}: ${escapeMarkdown(text)}`)
        .join('\n');
    case 'command':
      return `- ${code(part.command)}: ${escapeMarkdown(part.text)}`;
  }
}

/** @param {Verdicts['items']} items */
function verdictTable(items) {
  const rows = items.map(({ verdict, name, text, reason }) => [
    `**${escapeMarkdown(verdict)}**`,
    codeCell(name),
    escapeMarkdown([text === '' || /[.:!]$/.test(text) ? text : `${text}.`, reason ?? ''].join(' ').trim()),
  ]);
  return markdownTable(['Verdict', 'Requirement', 'Result'], rows, 3).join('\n');
}

/** @param {Figures['items'][number]} item */
function figure({ name, value, range }) {
  const text = range === undefined ? value : `${value} (${range})`;
  return `${escapeMarkdown(name)} **${escapeMarkdown(text)}**`;
}

/** @param {Table} part */
function tableOf({ columns, rows }) {
  const heading = columns.map(({ name }) => escapeMarkdown(name));
  const rule = columns.map(({ isText }, i) => i === 0 || isText === true);
  return markdownTable(
    heading,
    rows.map((row) => row.map(cellOf)),
    rule,
  ).join('\n');
}

/** @param {Cell} cell */
function cellOf(cell) {
  if (typeof cell === 'string') return escapeMarkdown(cell);
  const text = escapeMarkdown(cell.text);
  return (cell.isStrong || cell.verdict !== undefined) && text !== '' ? `**${text}**` : text;
}

/** @param {Chart} part */
function chartOf(part) {
  const lines = textChart(part);
  return lines.length === 0 ? '' : ['```text', ...lines, '```'].join('\n');
}

/** Invisible; keeps GitHub from linking mentions and issue numbers, which a backslash does not. */
const BREAK = '\u200b';

/** @param {string} text @returns {string} for running text and for the cells of a table */
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

/** @param {string} text @returns {string} as code, outside of tables */
export function code(text) {
  const plain = clean(text);
  if (plain.trim() === '') return '';
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${space}${plain}${space}${fence}`;
}

/**
 * In a table a pipe is escaped even in code. Text with a backslash is no code there: `\|` would end the cell.
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
