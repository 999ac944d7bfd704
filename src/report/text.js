/** Report -> plain text, 80 columns wide. Only verdicts are coloured. What does not fit a table goes below its row or into another table. */

import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { clean, labelled, padEnd, table, WIDTH, widthOf, wrap } from './layout.js';
import { cellText } from './sections.js';
import { textChart } from './text-charts.js';

/** @import { Cell, Column, Figures, Note, Part, Report, Section, Table, Verdicts } from './sections.js' */

/** @typedef {(text: string, verdict: string | undefined) => string} Paint */

/** @type {Record<string, 'green' | 'yellow' | 'red'>} */
const COLOURS = {
  met: 'green',
  passed: 'green',
  faster: 'green',
  higher: 'green',
  better: 'green',
  'not proven': 'yellow',
  suspect: 'yellow',
  'not met': 'red',
  invalid: 'red',
  failed: 'red',
  slower: 'red',
  worse: 'red',
};

/** Longer names of requirements do not widen their column. */
const LONG_NAME = 28;

/** Of a fact's name, and of a command. */
const LEAST_LABEL = 14;
const LONG_LABEL = 34;

/** Parts that stand close to one another. */
const CLOSE = new Set([
  'sentence figures',
  'sentence sentence',
  'sentence command',
  'note note',
  'facts facts',
]);

/** @param {Report} report @param {{color?: boolean}} [options] @returns {string} ends with a newline */
export function render({ subject, sections }, { color = false } = {}) {
  /** @type {Paint} */
  const paint = (text, verdict) => {
    const style = verdict === undefined ? undefined : COLOURS[verdict];
    return color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  };
  const [answer, ...others] = sections;
  const blocks = [
    partLines(
      answer.parts.filter(({ kind }) => kind !== 'chart'),
      paint,
      WIDTH - 2,
    ).map((line) => (line === '' ? '' : `  ${line}`)),
    wrap(subject),
    partLines(
      answer.parts.filter(({ kind }) => kind === 'chart'),
      paint,
      WIDTH,
    ),
    ...others.map((section) => sectionLines(section, paint)),
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * The first column of a table is its heading.
 *
 * @param {Section} section
 * @param {Paint} paint
 */
function sectionLines({ heading, parts }, paint) {
  const lines = partLines(parts, paint, WIDTH);
  if (lines.length === 0 || heading === null) return lines;
  const isHeaded = parts.find((part) => part.kind !== 'chart')?.kind === 'table';
  return isHeaded ? lines : [...wrap(heading), ...lines];
}

/** @param {Part[]} parts @param {Paint} paint @param {number} width */
function partLines(parts, paint, width) {
  /** @type {string[]} */
  const lines = [];
  let before = '';
  for (const [i, part] of parts.entries()) {
    if (part.kind === 'command' && before === 'command') continue;
    const own = part.kind === 'command' ? commandLines(parts.slice(i)) : linesOf(part, paint, width);
    if (own.length === 0) continue;
    if (before !== '' && !CLOSE.has(`${before} ${part.kind}`)) lines.push('');
    lines.push(...own);
    before = part.kind;
  }
  return lines;
}

/** @param {Part} part @param {Paint} paint @param {number} width */
function linesOf(part, paint, width) {
  switch (part.kind) {
    case 'sentence':
      return wrap(part.text, width);
    case 'verdicts':
      return verdictLines(part.items, paint, width);
    case 'figures':
      return figureLines(part.items, width);
    case 'table':
      return textTable(part, paint, width);
    case 'chart':
      return textChart(part);
    case 'note':
      return noteLines(part, width);
    case 'facts':
      return labels(part.items.map(({ name, text }) => [name, text]));
    case 'command':
      return commandLines([part]);
  }
}

/** @param {Verdicts['items']} items @param {Paint} paint @param {number} width */
function verdictLines(items, paint, width) {
  const first = Math.max(...items.map(({ verdict }) => stringWidth(verdict)));
  const names = items.map(({ name }) => stringWidth(clean(name))).filter((columns) => columns <= LONG_NAME);
  const second = Math.max(0, ...names);
  const [indent, textIndent] = [first + 3, first + second + 6];
  const under = (/** @type {string} */ text, /** @type {number} */ columns) =>
    wrap(text, width - columns).map((line) => ' '.repeat(columns) + line);
  return items.flatMap(({ verdict, name, text, reason }) => {
    const label = paint(verdict, verdict) + ' '.repeat(indent - stringWidth(verdict));
    const isLong = stringWidth(clean(name)) > second;
    const more = reason === undefined ? [] : under(reason, indent);
    if (isLong) {
      const [line, ...rest] = under(name, indent);
      return [label + line.slice(indent), ...rest, ...under(text, indent), ...more];
    }
    const [line, ...rest] = under(text, textIndent);
    return [(label + padEnd(clean(name), second + 3) + line.slice(textIndent)).trimEnd(), ...rest, ...more];
  });
}

/** @param {Figures['items']} items @param {number} width */
function figureLines(items, width) {
  /** @type {string[]} */
  const lines = [];
  for (const { name, value, range } of items.filter(({ isDetail }) => !isDetail)) {
    const text = clean(`${name} ${value}${range === undefined ? '' : ` (${range})`}`);
    const longer = lines.length === 0 ? text : `${lines[lines.length - 1]}    ${text}`;
    if (lines.length === 0 || stringWidth(longer) > width) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.flatMap((line) => (stringWidth(line) > width ? wrap(line, width) : [line]));
}

/** @param {Note} note @param {number} width notes of the answer have no bullet */
function noteLines({ text, remedy }, width) {
  const whole = remedy === undefined ? text : `${text} ${remedy}`;
  if (width < WIDTH) return wrap(whole, width);
  return wrap(whole, width - 2).map((line, i) => `${i === 0 ? '-' : ' '} ${line}`);
}

/** @param {Part[]} parts of which the first few are commands */
function commandLines(parts) {
  const end = parts.findIndex(({ kind }) => kind !== 'command');
  const commands = end === -1 ? parts : parts.slice(0, end);
  return labels(
    commands.map((part) => (part.kind === 'command' ? [`  ${part.command}`, part.text] : ['', ''])),
  );
}

/** @param {[label: string, text: string][]} rows */
function labels(rows) {
  const widths = rows.map(([label]) => stringWidth(clean(label)) + 2);
  const indent = Math.min(LONG_LABEL, Math.max(LEAST_LABEL, ...widths));
  return rows.flatMap(([label, text]) => labelled(label, text, indent));
}

/** Smallest width of the first column, and the width it gets while all columns fit. */
const LEAST_FIRST = 10;
const GOOD_FIRST = 24;

/** Of the text below a row. */
const INDENT = 4;

/**
 * @param {Table} part
 * @param {(text: string, verdict: string | undefined) => string} paint
 * @param {number} width
 */
function textTable({ columns, rows }, paint, width) {
  const every = columns.map((_, i) => i);
  const narrow = every.filter((i) => !columns[i].isDetail);
  const chosen = [every, narrow].find((shown) => fits(columns, rows, shown, width, GOOD_FIRST));
  if (chosen !== undefined) return draw(columns, rows, chosen, paint, width);
  const last = narrow[narrow.length - 1];
  if (narrow.length > 1 && columns[last].isText) {
    const others = narrow.slice(0, -1);
    if (fits(columns, rows, others, width)) return draw(columns, rows, others, paint, width, last);
  }
  if (fits(columns, rows, narrow, width)) return draw(columns, rows, narrow, paint, width);
  return split(columns, rows, narrow, width).flatMap((shown, i) => [
    ...(i === 0 ? [] : ['']),
    ...draw(columns, rows, shown, paint, width),
  ]);
}

/** @param {Column[]} columns @param {Cell[][]} rows @param {number[]} shown */
function cellsOf(columns, rows, shown) {
  return [shown.map((i) => columns[i].name), ...rows.map((row) => shown.map((i) => cellText(row[i])))];
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {number} width
 * @param {number} [most] that the first column gets, if its cells need it
 */
function fits(columns, rows, shown, width, most = LEAST_FIRST) {
  const cells = cellsOf(columns, rows, shown);
  const first = Math.max(...cells.map(([cell]) => stringWidth(clean(cell))));
  return widthOf(cells) + Math.max(LEAST_FIRST, Math.min(first, most)) <= width;
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {(text: string, verdict: string | undefined) => string} paint
 * @param {number} width
 * @param {number} [below] index of a column whose texts stand below their rows
 */
function draw(columns, rows, shown, paint, width, below) {
  const lines = table(cellsOf(columns, rows, shown), {
    isText: shown.map((i) => columns[i].isText === true),
    width,
    decorate: (text, row, column) => {
      const cell = row === 0 ? '' : rows[row - 1][shown[column]];
      if (typeof cell === 'string') return text;
      return text.replace(cell.text, () => paint(cell.text, cell.verdict));
    },
  });
  return lines.flatMap((own, i) => {
    const text = below === undefined || i === 0 ? '' : cellText(rows[i - 1][below]);
    if (text === '') return own;
    return [...own, ...wrap(text, WIDTH - INDENT).map((line) => padEnd('', INDENT) + line)];
  });
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 * @param {number[]} shown
 * @param {number} width
 * @returns {number[][]} each with the first column, and as many others as fit
 */
function split(columns, rows, [first, ...others], width) {
  /** @type {number[][]} */
  const tables = [];
  for (const i of others) {
    const open = tables[tables.length - 1];
    if (open !== undefined && fits(columns, rows, [...open, i], width)) open.push(i);
    else tables.push([first, i]);
  }
  return tables.length === 0 ? [[first]] : tables;
}
