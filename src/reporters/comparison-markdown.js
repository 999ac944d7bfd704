/** A comparison as Markdown: what differs first, then the figures. */
import { differenceText, figureText, intervalText, pText, varianceText } from '../results/figures.js';
import { VARIANCE_KEYS } from '../results/run-metrics.js';
import { conclusions, differenceTo, doubtsOf, headlineOf, rankOf } from './comparison-phrases.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
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

/** @typedef {import('../results/comparison-schema.js').Comparison} Comparison */

/**
 * @param {Comparison} comparison
 * @returns {string} ends with a newline
 */
export function render(comparison) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  return paragraphs([
    `## Comparison: ${plain(headlineOf(comparison))}`,
    subject(comparison),
    bullets(comparison.failIf.map(failIfItem)),
    bullets(comparison.warnings.map((warning) => `**Warning:** ${plain(warning)}`)),
    ...others.flatMap((other) => difference(comparison, other)),
    others.length > 1 ? medians(comparison) : '',
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
  const rows = metrics.map((metric) => {
    const { differencePercent, interval, pValue, verdict } = differenceTo(metric, other);
    const medianOf = (/** @type {number} */ i) => figureText(metric.unit, all[i].metrics[metric.key].median);
    return [
      metric.label,
      medianOf(0),
      medianOf(other),
      differenceText(metric.unit, differencePercent),
      intervalText(metric.unit, interval),
      pText(pValue),
      verdict,
    ].map(plain);
  });
  return [
    `### ${plain(`${name} beside ${base}`)}`,
    bullets(conclusions(comparison, other).map(({ verdict, text }) => `**${verdict}:** ${plain(text)}`)),
    markdownTable(['Median of', base, name, 'difference', '95 % interval', 'p', 'verdict'], rows),
    bullets(doubtsOf(comparison, other).map(plain)),
  ];
}

/** @param {Comparison} comparison */
function medians({ groups: all, metrics }) {
  const rows = metrics.map((metric) => [
    metric.label,
    ...all.map(({ metrics: summaries }, i) => {
      const text = plain(figureText(metric.unit, summaries[metric.key].median));
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
function variances({ groups: all, metrics }) {
  const rows = metrics
    .filter(({ key }) => VARIANCE_KEYS.includes(key))
    .flatMap(({ key, label, unit }) =>
      all.map(({ name, metrics: summaries }) => {
        const { mean, variance, min, max } = summaries[key];
        return [
          `${label}, ${name}`,
          figureText(unit, mean),
          varianceText(unit, variance),
          figureText(unit, min),
          figureText(unit, max),
        ].map(plain);
      }),
    );
  return rows.length === 0 ? '' : markdownTable(['Over runs', 'mean', 'variance', 'min', 'max'], rows);
}
