/** Report -> GitHub-flavoured Markdown. Text may come from a server, so its HTML, links, mentions and formulas are escaped. */
import { sanitizeText } from '../common/sanitize.js';
import { maxOf } from '../common/sums.js';
import { withoutTitle } from './sections.js';
import { textChart } from './text-charts.js';

/** @import { Cell, Chart, Facts, Figures, Note, Part, Report, Section, Sentence, Table, Verdicts } from './sections.js' */

/** @param {Report} report @returns {string} ends with a newline */
export function render({ title, subject, sections }) {
  const [answer, ...others] = sections;
  const isChart = (/** @type {Part} */ { kind }) => kind === 'chart';
  const parts = answer.parts.filter((part) => !isChart(part));
  const blocks = [
    `## ${escapeMarkdown(title)}`,
    ...partBlocks(withoutTitle(title, parts)),
    escapeMarkdown(subject.endsWith('.') ? subject : `${subject}.`),
    ...partBlocks(answer.parts.filter(isChart)),
    ...others.flatMap(sectionBlocks),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** @param {Section} section */
function sectionBlocks({ heading, parts }) {
  const blocks = partBlocks(parts);
  return blocks.length === 0 || heading === null ? blocks : [`### ${escapeMarkdown(heading)}`, ...blocks];
}

/** @param {Part[]} parts @returns {string[]} neighbouring notes are one list */
function partBlocks(parts) {
  /** @type {string[]} */
  const blocks = [];
  for (const [i, part] of parts.entries()) {
    const text = BLOCKS[part.kind](part);
    if (text === '') continue;
    if (part.kind === 'note' && parts[i - 1]?.kind === 'note') blocks[blocks.length - 1] += `\n${text}`;
    else blocks.push(text);
  }
  return blocks;
}

/** Empty for a part without a Markdown form. @type {Record<Part['kind'], (part: any) => string>} */
const BLOCKS = {
  sentence: (/** @type {Sentence} */ { text, isStrong }) =>
    isStrong ? `**${escapeMarkdown(text)}**` : escapeMarkdown(text),
  verdicts: (/** @type {Verdicts} */ { items }) =>
    markdownTable(
      ['Verdict', 'Requirement', 'Result'],
      items.map(({ verdict, name, text, reason = '' }) => [
        `**${escapeMarkdown(verdict)}**`,
        codeCell(name),
        escapeMarkdown(`${text === '' || /[.:!]$/.test(text) ? text : `${text}.`} ${reason}`.trim()),
      ]),
      [true, true, true],
    ),
  figures: (/** @type {Figures} */ { items }) =>
    items
      .filter(({ isDetail }) => !isDetail)
      .map(({ name, value, range }) => {
        const text = range === undefined ? value : `${value} (${range})`;
        return `${escapeMarkdown(name)} **${escapeMarkdown(text)}**`;
      })
      .join(' · '),
  table: (/** @type {Table} */ { columns, rows }) =>
    markdownTable(
      columns.map(({ name }) => escapeMarkdown(name)),
      rows.map((row) => row.map(cellOf)),
      columns.map(({ isText }) => isText === true),
    ),
  chart: (/** @type {Chart} */ part) => {
    const lines = textChart(part);
    return lines.length === 0 ? '' : ['```text', ...lines, '```'].join('\n');
  },
  note: (/** @type {Note} */ { text, remedy = '' }) => `- ${escapeMarkdown(`${text} ${remedy}`.trimEnd())}`,
  facts: (/** @type {Facts} */ { items, isCode }) =>
    items
      .map(({ name, text }) => `- ${isCode ? code(name) : escapeMarkdown(name)}: ${escapeMarkdown(text)}`)
      .join('\n'),
};

/** @param {Cell} cell */
function cellOf(cell) {
  if (typeof cell === 'string') return escapeMarkdown(cell);
  const text = escapeMarkdown(cell.text);
  return (cell.isStrong || cell.verdict !== undefined) && text !== '' ? `**${text}**` : text;
}

/** Invisible; keeps GitHub from linking mentions and issue numbers, which a backslash does not. */
const BREAK = '\u200b';

/** @param {string} text @returns {string} for running text and for the cells of a table */
export function escapeMarkdown(text) {
  return sanitizeText(text)
    .replace(/[\\`*_[\]<>|~&$#]/g, '\\$&')
    .replace(/@(?=\w)/g, `@${BREAK}`)
    .replace(/#(?=\d)/g, `#${BREAK}`)
    .replace(/\bGH-(?=\d)/gi, (found) => found + BREAK)
    .replace(/:\/\//g, '\\://')
    .replace(/\bwww\./gi, (found) => `${found.slice(0, -1)}\\.`)
    .replace(/^(\s*)([-+=])/, '$1\\$2')
    .replace(/^(\s*\d+)([.)])(?=\s|$)/, '$1\\$2');
}

/** @param {string} text @returns {string} as code, outside of tables */
export function code(text) {
  const plain = sanitizeText(text);
  if (plain.trim() === '') return '';
  const fences = plain.match(/`+/g) ?? [];
  const lengths = fences.map(({ length }) => length);
  const fence = '`'.repeat(maxOf(lengths, 0) + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${space}${plain}${space}${fence}`;
}

/**
 * In a table, a pipe is escaped even in code. Text with a backslash is not code there, as `\|` would end the cell.
 * @param {string} text @returns {string} as code, for the cells of a table
 */
export function codeCell(text) {
  const plain = sanitizeText(text);
  return plain.includes('\\') ? escapeMarkdown(plain) : code(plain).replaceAll('|', '\\|');
}

/** @param {string[]} heading @param {string[][]} rows as Markdown @param {boolean[]} isText by column: left-aligned */
export function markdownTable(heading, rows, isText) {
  const rule = isText.map((isLeft) => (isLeft ? ':---' : '---:'));
  return [heading, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
