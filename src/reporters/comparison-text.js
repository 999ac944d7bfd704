/** A comparison as plain text, 80 columns: what differs first, then where it is from. Groups are called A (the base), B, C, ... */
import { styleText } from 'node:util';
import { conclusions, doubtsOf, headlineOf, rankOf } from './comparison-phrases.js';
import { labelled, table, wrap } from './layout.js';
import { differenceCells, medianText, SPREAD_LABELS, varianceRows } from './over-runs.js';
import {
  commonSubject,
  datesPhrase,
  filesPhrase,
  leftOutOf,
  madePhrase,
  runsPhrase,
  subjectsPhrase,
  targetsPhrase,
} from './run-phrases.js';

/** @typedef {import('../results/comparison/comparison-schema.js').Comparison} Comparison */

/** @type {Record<string, 'green' | 'yellow' | 'red'>} */
const COLOURS = {
  good: 'green',
  passed: 'green',
  unsure: 'yellow',
  'not proven': 'yellow',
  bad: 'red',
  failed: 'red',
};

/** Groups side by side in a table of medians. */
const MOST_COLUMNS = 6;

const MARKS = { best: '*', 'best median': '+' };

/**
 * @param {Comparison} comparison
 * @param {{color?: boolean}} [options]
 * @returns {string} ends with a newline
 */
export function render(comparison, { color = false } = {}) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  const sections = [
    heading(comparison),
    legend(comparison),
    comparison.warnings.flatMap((warning) => labelled('Warning', warning)),
    failIf(comparison, color),
    ...(others.length > 1 ? medians(comparison) : []),
    ...others.flatMap((other) => [
      [...answer(comparison, other, color), '', ...differences(comparison, other)],
      doubtsOf(comparison, other).flatMap((doubt) => wrap(doubt)),
    ]),
    variances(comparison),
    groups(comparison),
    [...comparison.notes.flatMap((note) => labelled('Note', note)), ...made(comparison)],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Comparison} comparison */
function heading(comparison) {
  const subject = commonSubject(comparison);
  return [
    ...wrap(`Comparison: ${headlineOf(comparison)}`),
    ...(subject === null ? [] : wrap(`Of ${subject}`)),
  ];
}

/** @param {Comparison} comparison */
function legend(comparison) {
  return comparison.groups.flatMap((group, i) =>
    labelled(letterOf(i), `${group.name}: ${runsPhrase(group)}${i === 0 ? ', the base' : ''}`),
  );
}

/** @param {Comparison} comparison */
function groups(comparison) {
  const isSame = commonSubject(comparison) !== null;
  return comparison.groups.flatMap((group, i) => [
    ...labelled(letterOf(i), `on ${targetsPhrase(group.runs)}`),
    ...(isSame ? [] : labelled('', subjectsPhrase(group))),
    ...labelled('', `started ${datesPhrase(group)}`),
    ...labelled('', `from ${filesPhrase(group)}`),
    ...leftOutOf(group).flatMap(({ run, why }) => labelled('', `left out: ${run}: ${why}`)),
  ]);
}

/** @param {Comparison} comparison */
function made(comparison) {
  const text = madePhrase(comparison);
  return text === '' ? [] : labelled('Made', text);
}

/**
 * @param {Comparison} comparison
 * @param {boolean} color
 */
function failIf({ failIf: judged }, color) {
  return judged.flatMap(({ text, verdict, reason }) => {
    const lines = labelled(verdict, text);
    lines[0] = paint(lines[0], verdict, verdict, color);
    return [...lines, ...labelled('', reason)];
  });
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 * @param {boolean} color
 */
function answer(comparison, other, color) {
  const lines = conclusions(comparison, other).flatMap(({ verdict, worth, text }) => {
    const told = labelled(verdict, text);
    told[0] = paint(told[0], verdict, worth, color);
    return told;
  });
  return [`${letterOf(other)} beside A`, ...lines];
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function differences(comparison, other) {
  const rows = comparison.metrics.map((metric) => differenceCells(comparison, metric, other));
  return table([['Medians', 'A', letterOf(other), 'difference', '95 % interval', 'p'], ...rows]);
}

/**
 * @param {Comparison} comparison
 * @returns {string[][]} a table for every few groups
 */
function medians(comparison) {
  const { groups: all, metrics } = comparison;
  const marks = new Set(metrics.flatMap((metric) => all.map((_, i) => rankOf(metric, i))));
  /** @type {string[][]} */
  const tables = [];
  for (let from = 0; from < all.length; from += MOST_COLUMNS) {
    const shown = all.map((_, i) => i).slice(from, from + MOST_COLUMNS);
    const rows = metrics.map((metric) => [
      metric.label,
      ...shown.map((i) => {
        const rank = rankOf(metric, i);
        return `${medianText(comparison, metric, i)}${rank === null ? ' ' : MARKS[rank]}`;
      }),
    ]);
    tables.push(table([['Medians', ...shown.map((i) => `${letterOf(i)} `)], ...rows]));
  }
  const marksTold = [
    ...(marks.has('best') ? wrap(`* best: better than every other, which is shown${others(metrics)}`) : []),
    ...(marks.has('best median') ? wrap('+ best median, not shown to be better than every other') : []),
  ];
  return [...tables, marksTold];
}

/** @param {Comparison['metrics']} metrics */
function others(metrics) {
  const isBiased = metrics.some(({ comparisons }) =>
    comparisons.some(({ verdict }) => verdict === 'not comparable'),
  );
  return isBiased ? ', but for those with more errors' : '';
}

/** @param {Comparison} comparison */
function variances(comparison) {
  const rows = varianceRows(comparison, (i) => ` ${letterOf(i)}`);
  return rows.length === 0 ? [] : table([['Over runs', ...SPREAD_LABELS], ...rows]);
}

/**
 * @param {number} group index
 * @returns {string} A to Z, then G27, G28, ...
 */
function letterOf(group) {
  return group < 26 ? String.fromCharCode(65 + group) : `G${group + 1}`;
}

/**
 * @param {string} line
 * @param {string} words of the line
 * @param {string} worth
 * @param {boolean} color
 */
function paint(line, words, worth, color) {
  if (!color || !Object.hasOwn(COLOURS, worth)) return line;
  return line.replace(words, styleText(COLOURS[worth], words, { validateStream: false }));
}
