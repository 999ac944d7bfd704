/** Report -> plain text, 80 columns wide. Only verdicts are coloured. */
import { styleText } from 'node:util';
import { maxOf } from '../common/sums.js';
import { indented, labelled, padEnd, stringWidth, table, WIDTH, widthOf, wrap } from './layout.js';
import { cellText, toneOf } from './sections.js';
import { textChart } from './text-charts.js';

/** @import { Facts, Figures, Note, Part, Report, Section, Table, Verdicts } from './sections.js' */

/** @typedef {(text: string, verdict?: string) => string} Paint */

const COLOURS = /** @type {const} */ ({ good: 'green', unsure: 'yellow', bad: 'red', neutral: null });

/** Longer names of requirements do not widen the column. */
const LONG_NAME = 28;

/** Columns of the label of a fact. */
const [MIN_LABEL, LONG_LABEL] = [14, 34];

/** Kinds of adjacent parts without an empty line between them. */
const CLOSE = ['sentence figures', 'sentence sentence', 'sentence facts', 'note note', 'facts facts'];

/** @param {Report} report @param {{color?: boolean}} [options] @returns {string} ends with a newline */
export function render({ subject, sections }, { color = false } = {}) {
  /** @type {Paint} */
  const paint = (text, verdict = '') => {
    const style = COLOURS[toneOf(verdict)];
    return color && style !== null ? styleText(style, text, { validateStream: false }) : text;
  };
  const [answer, ...others] = sections;
  const isChart = (/** @type {Part} */ { kind }) => kind === 'chart';
  const parts = answer.parts.filter((part) => !isChart(part));
  const blocks = [
    partLines(parts, paint, WIDTH - 2).map((line) => (line === '' ? '' : `  ${line}`)),
    wrap(subject),
    partLines(answer.parts.filter(isChart), paint, WIDTH),
    ...others.map((section) => sectionLines(section, paint)),
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Omits a heading that the first column of a table repeats. @param {Section} section @param {Paint} paint */
function sectionLines({ heading, parts }, paint) {
  const lines = partLines(parts, paint, WIDTH);
  const isHeaded = parts.find(({ kind }) => kind !== 'chart')?.kind === 'table';
  return lines.length === 0 || heading === null || isHeaded ? lines : [...wrap(heading), ...lines];
}

/** @param {Part[]} parts @param {Paint} paint @param {number} width */
function partLines(parts, paint, width) {
  /** @type {string[]} */
  const lines = [];
  let before = '';
  for (const part of parts) {
    const partOutput = LINES[part.kind](part, width, paint);
    if (partOutput.length === 0) continue;
    if (before !== '' && !CLOSE.includes(`${before} ${part.kind}`)) lines.push('');
    for (const line of partOutput) lines.push(line);
    before = part.kind;
  }
  return lines;
}

/** @type {Record<Part['kind'], (part: any, width: number, paint: Paint) => string[]>} */
const LINES = {
  sentence: ({ text }, width) => wrap(text, width),
  verdicts: verdictLines,
  figures: figureLines,
  table: tableLines,
  chart: textChart,
  note: noteLines,
  facts: factLines,
};

/** @param {Verdicts} part @param {number} width @param {Paint} paint */
function verdictLines({ items }, width, paint) {
  const indent = maxOf(items.map(({ verdict }) => stringWidth(verdict))) + 3;
  const names = items.map(({ name }) => stringWidth(name)).filter((columns) => columns <= LONG_NAME);
  const textIndent = indent + maxOf(names, 0) + 3;
  return items.flatMap(({ verdict, name, text, reason = '' }) => {
    const [first, ...rest] = labelled(padEnd(verdict, indent) + name, text, textIndent, width);
    const more = reason === '' ? [] : indented(reason, indent, width);
    return [paint(verdict, verdict) + first.slice(verdict.length), ...rest, ...more];
  });
}

/** @param {Figures} part @param {number} width */
function figureLines({ items }, width) {
  /** @type {string[]} */
  const lines = [];
  for (const { name, value, range } of items.filter(({ isDetail }) => !isDetail)) {
    const text = `${name} ${value}${range === undefined ? '' : ` (${range})`}`;
    const longer = `${lines.at(-1)}    ${text}`;
    if (lines.length === 0 || stringWidth(longer) > width) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.flatMap((line) => (stringWidth(line) > width ? wrap(line, width) : [line]));
}

/** Notes of the answer, which is narrower, have no bullet. @param {Note} part @param {number} width */
function noteLines({ text, remedy = '' }, width) {
  const whole = `${text} ${remedy}`.trimEnd();
  if (width < WIDTH) return wrap(whole, width);
  return indented(whole, 2).map((line, i) => (i === 0 ? `-${line.slice(1)}` : line));
}

/** @param {Facts} part @param {number} width */
function factLines({ items, isCode }, width) {
  const rows = items.map(({ name, text }) => [isCode ? `  ${name}` : name, text]);
  const widths = rows.map(([name]) => stringWidth(name) + 2);
  const indent = Math.min(LONG_LABEL, maxOf(widths, MIN_LABEL));
  return rows.flatMap(([name, text]) => labelled(name, text, indent, width));
}

/** Widths of the first column: the minimum, and the one below which detail columns are dropped first. */
const [MIN_FIRST, GOOD_FIRST] = [10, 24];

/** Columns by which text below a row is indented. */
const INDENT = 4;

/**
 * A table that is too wide first loses its details; then a last column of text moves below the rows; then it is split into several
 * tables, each with the first column.
 * @param {Table} part @param {number} width @param {Paint} paint
 */
function tableLines({ columns, rows }, width, paint) {
  const cells = [columns.map(({ name }) => name), ...rows.map((row) => row.map(cellText))];
  const pick = (/** @type {number[]} */ shown) => cells.map((row) => shown.map((i) => row[i]));
  const fits = (/** @type {number[]} */ shown, maxFirst = MIN_FIRST) => {
    const picked = pick(shown);
    const first = maxOf(picked.map(([cell]) => stringWidth(cell)));
    return widthOf(picked) + Math.max(MIN_FIRST, Math.min(first, maxFirst)) <= width;
  };
  const draw = (/** @type {number[]} */ shown) =>
    table(pick(shown), {
      isText: shown.map((i) => columns[i].isText === true),
      width,
      decorate: (text, row, column) => {
        const cell = row === 0 ? '' : rows[row - 1][shown[column]];
        if (typeof cell === 'string') return text;
        return text.replace(cell.text, () => paint(cell.text, cell.verdict));
      },
    });
  const every = columns.map((_, i) => i);
  const narrow = every.filter((i) => !columns[i].isDetail);
  const chosen = [every, narrow].find((shown) => fits(shown, GOOD_FIRST));
  if (chosen !== undefined) return draw(chosen).flat();
  const [last, others] = [narrow[narrow.length - 1], narrow.slice(0, -1)];
  if (others.length > 0 && columns[last].isText && fits(others))
    return draw(others).flatMap((lines, row) => {
      const text = row === 0 ? '' : cells[row][last];
      return text === '' ? lines : [...lines, ...indented(text, INDENT)];
    });
  return split(narrow, fits).flatMap((shown, i) => [...(i === 0 ? [] : ['']), ...draw(shown).flat()]);
}

/** @param {number[]} columns @param {(shown: number[]) => boolean} fits @returns the columns of each table */
function split([first, ...others], fits) {
  /** @type {number[][]} */
  const tables = [];
  for (const i of others) {
    const open = tables.at(-1);
    if (open !== undefined && fits([...open, i])) open.push(i);
    else tables.push([first, i]);
  }
  return tables.length === 0 ? [[first]] : tables;
}
