/** A comparison as Markdown: what differs first, then the figures. */
import { conclusions, differenceTo, doubtsOf, headlineOf, rankOf } from './comparison-phrases.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
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

/**
 * @param {Comparison} comparison
 * @returns {string} ends with a newline
 */
export function render(comparison) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  return paragraphs([
    `## Comparison: ${plain(headlineOf(comparison))}`,
    subject(comparison),
    bullets(comparison.warnings.map((warning) => `**Warning:** ${plain(warning)}`)),
    bullets(comparison.failIf.map(failIfItem)),
    others.length > 1 ? medians(comparison) : '',
    ...others.flatMap((other) => difference(comparison, other)),
    '### Runs',
    groups(comparison),
    leftOut(comparison),
    variances(comparison),
    '### Notes',
    bullets(comparison.notes.map(plain)),
    made(comparison),
  ]);
}

/** @param {Comparison} comparison */
function subject(comparison) {
  const text = commonSubject(comparison);
  return text === null ? '' : plain(`Of ${text}.`);
}

/** @param {Comparison} comparison */
function made(comparison) {
  const text = madePhrase(comparison);
  return text === '' ? '' : plain(`Made ${text}`);
}

/** @param {Comparison['failIf'][number]} judged */
function failIfItem({ text, verdict, reason }) {
  return `**${verdict}** ${plain(text)}: ${plain(reason)}`;
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 * @returns {string[]}
 */
function difference(comparison, other) {
  const { groups: all, metrics } = comparison;
  const [base, name] = [all[0].name, all[other].name];
  const rows = metrics.map((metric) =>
    [...differenceCells(comparison, metric, other), differenceTo(metric, other).verdict].map(plain),
  );
  return [
    `### ${plain(`${name} beside ${base}`)}`,
    bullets(conclusions(comparison, other).map(({ verdict, text }) => `**${verdict}:** ${plain(text)}`)),
    markdownTable(['Median of', base, name, 'difference', '95 % interval', 'p', 'verdict'], rows),
    bullets(doubtsOf(comparison, other).map(plain)),
  ];
}

/** @param {Comparison} comparison */
function medians(comparison) {
  const { groups: all, metrics } = comparison;
  const rows = metrics.map((metric) => [
    metric.label,
    ...all.map((_, i) => {
      const text = plain(medianText(comparison, metric, i));
      const rank = rankOf(metric, i);
      if (rank === null) return text;
      return rank === 'best' ? `**${text}** (best)` : `${text} (best median)`;
    }),
  ]);
  return paragraphs([
    '### All groups',
    'Best is what is shown to be better than every other; a best median alone may be chance.',
    markdownTable(['Median of', ...all.map(({ name }) => name)], rows),
  ]).trimEnd();
}

/** @param {Comparison} comparison */
function groups(comparison) {
  const isSame = commonSubject(comparison) !== null;
  const rows = comparison.groups.map((group, i) => [
    `${plain(group.name)}${i === 0 ? ' (base)' : ''}`,
    ...[
      runsPhrase(group),
      ...(isSame ? [] : [subjectsPhrase(group)]),
      targetsPhrase(group.runs),
      datesPhrase(group),
      filesPhrase(group),
    ].map(plain),
  ]);
  return markdownTable(['Group', 'runs', ...(isSame ? [] : ['what']), 'target', 'started', 'files'], rows);
}

/** @param {Comparison} comparison */
function leftOut({ groups: all }) {
  const items = all.flatMap((group) =>
    leftOutOf(group).map(({ run, why }) => plain(`left out of ${group.name}: ${run}: ${why}`)),
  );
  return bullets(items);
}

/** @param {Comparison} comparison */
function variances(comparison) {
  const nameOf = (/** @type {number} */ i) => `, ${comparison.groups[i].name}`;
  const rows = varianceRows(comparison, nameOf).map((cells) => cells.map(plain));
  return rows.length === 0 ? '' : markdownTable(['Over runs', ...SPREAD_LABELS], rows);
}
