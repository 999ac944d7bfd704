/** A report as GitHub-flavoured Markdown, for a pull request, a wiki or $GITHUB_STEP_SUMMARY. No HTML. */
import { code, codeCell, escapeMarkdown, markdownTable } from './escape-markdown.js';
import { textChart } from './text-charts.js';

/** @typedef {import('./sections.js').Report} Report */
/** @typedef {import('./sections.js').Section} Section */
/** @typedef {import('./sections.js').Part} Part */
/** @typedef {import('./sections.js').Cell} Cell */

/** Parts that make a list together. */
const ITEMS = new Set(['note', 'command']);

/**
 * @param {Report} report
 * @returns {string} ends with a newline
 */
export function render({ title, subject, sections }) {
  const [answer, ...others] = sections;
  const isTitle = (/** @type {Part} */ part) =>
    part.kind === 'sentence' && [title, `${title}.`].includes(part.text);
  const blocks = [
    `## ${escapeMarkdown(title)}`,
    ...partBlocks(answer.parts.filter((part) => part.kind !== 'chart' && !isTitle(part))),
    `${escapeMarkdown(subject)}.`,
    ...partBlocks(answer.parts.filter(({ kind }) => kind === 'chart')),
    ...others.flatMap(sectionBlocks),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** @param {Section} section @returns {string[]} */
function sectionBlocks({ heading, parts }) {
  const blocks = partBlocks(parts).filter((block) => block !== '');
  return blocks.length === 0 || heading === null ? blocks : [`### ${escapeMarkdown(heading)}`, ...blocks];
}

/** @param {Part[]} parts @returns {string[]} */
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

/**
 * @param {Part} part
 * @returns {string}
 */
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

/** @param {import('./sections.js').Verdicts['items']} items */
function verdictTable(items) {
  const rows = items.map(({ verdict, name, text, reason }) => [
    `**${escapeMarkdown(verdict)}**`,
    codeCell(name),
    escapeMarkdown([text === '' || /[.:!]$/.test(text) ? text : `${text}.`, reason ?? ''].join(' ').trim()),
  ]);
  return markdownTable(['Verdict', 'Requirement', 'Result'], rows, 3).join('\n');
}

/** @param {import('./sections.js').Figures['items'][number]} item */
function figure({ name, value, range }) {
  const text = range === undefined ? value : `${value} (${range})`;
  return `${escapeMarkdown(name)} **${escapeMarkdown(text)}**`;
}

/** @param {import('./sections.js').Table} part */
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

/** @param {import('./sections.js').Chart} part */
function chartOf(part) {
  const lines = textChart(part);
  return lines.length === 0 ? '' : ['```text', ...lines, '```'].join('\n');
}
