/** A comparison as a page: what differs, the figures, and every run as a dot. */
import { differenceText, figureText, intervalText, pText, varianceText } from '../../results/figures.js';
import { VARIANCE_KEYS } from '../../results/run-metrics.js';
import { conclusions, differenceTo, doubtsOf, headlineOf, rankOf } from '../comparison-phrases.js';
import { commonSubject, madePhrase } from '../run-phrases.js';
import { boxPlot } from './charts/box-plot.js';
import { groupsCompared, runsCompared } from './compared-runs.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { emptyFigure, figure, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../../results/comparison-schema.js').ComparedMetric} ComparedMetric */

/** Colours of the style sheet. */
const STYLES = 6;

/**
 * @param {Comparison} comparison
 * @returns {string} the file
 */
export function render(comparison) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  const heading = `Comparison: ${headlineOf(comparison)}`;
  const body = [
    limits(comparison),
    ...others.map((other) => difference(comparison, other)),
    others.length > 1 ? medians(comparison) : '',
    section(
      'Run by run',
      `<div class="charts">\n${comparison.metrics.map((metric) => plot(comparison, metric)).join('\n')}\n</div>`,
    ),
    variances(comparison),
    groupsCompared(comparison),
    runsCompared(comparison),
    section('How to read this', list(comparison.notes.map(escapeHtml))),
  ];
  return page({
    title: heading,
    heading,
    lead: lead(comparison),
    body: body.filter((html) => html !== '').join('\n'),
    footer: footer(comparison),
  });
}

/** @param {Comparison} comparison */
function lead(comparison) {
  const subject = commonSubject(comparison);
  const texts = [
    ...(subject === null ? [] : [`Of ${subject}.`]),
    ...comparison.warnings.map((text) => `Warning: ${text}`),
  ];
  return texts.map((text) => paragraph(text)).join('\n');
}

/** @param {Comparison} comparison */
function footer(comparison) {
  const made = madePhrase(comparison);
  return `Written by vault-pki-load ${comparison.tool.version}${made === '' ? '.' : `: ${made}`}`;
}

/** @param {Comparison} comparison */
function limits({ failIf }) {
  if (failIf.length === 0) return '';
  const items = failIf.map(
    ({ text, verdict, reason }) => `${verdictBadge(verdict)} ${escapeHtml(text)}${paragraph(reason)}`,
  );
  return section('Limits', list(items));
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function difference(comparison, other) {
  const { groups, metrics } = comparison;
  const [base, name] = [groups[0].name, groups[other].name];
  const answers = conclusions(comparison, other).map(
    ({ verdict, worth, text }) => `${badgeOf(verdict, worth)} ${escapeHtml(text)}`,
  );
  const rows = metrics.map((metric) => {
    const { differencePercent, interval, pValue, verdict } = differenceTo(metric, other);
    const medianOf = (/** @type {number} */ i) =>
      figureText(metric.unit, groups[i].metrics[metric.key].median);
    return [
      metric.label,
      medianOf(0),
      medianOf(other),
      differenceText(metric.unit, differencePercent),
      intervalText(metric.unit, interval),
      pText(pValue),
      verdict,
    ];
  });
  const columns = [
    'Median of',
    ...[base, name, 'Difference', '95 % interval', 'p'].map((label) => ({ label, numeric: true })),
    'Verdict',
  ];
  const caption = `Medians over runs, ${name} beside ${base}; the interval is of the difference`;
  const doubts = doubtsOf(comparison, other).map((doubt) => `\n${paragraph(doubt)}`);
  return section(
    `${name} beside ${base}`,
    `${list(answers)}\n${table({ caption, columns, rows })}${doubts.join('')}`,
  );
}

/**
 * Colour and sign go by what is good or bad: of a rate, higher is better.
 *
 * @param {string} verdict
 * @param {import('../comparison-phrases.js').Worth} worth
 */
function badgeOf(verdict, worth) {
  if (verdict !== 'higher' && verdict !== 'lower') return verdictBadge(verdict);
  return `${verdictBadge(worth === 'good' ? 'better' : 'worse')} ${escapeHtml(verdict)}:`;
}

/** @param {Comparison} comparison */
function medians({ groups, metrics }) {
  const rows = metrics.map((metric) => [
    metric.label,
    ...groups.map(({ metrics: summaries }, i) => {
      const text = figureText(metric.unit, summaries[metric.key].median);
      const rank = rankOf(metric, i);
      if (rank === null) return text;
      return rank === 'best'
        ? { html: `${verdictBadge('best')} ${escapeHtml(text)}` }
        : `${text} (best median)`;
    }),
  ]);
  const columns = ['Median of', ...groups.map(({ name }) => ({ label: name, numeric: true }))];
  const caption = 'Medians over runs. Best: shown to be better than every other; a best median may be chance';
  return section('All groups', table({ caption, columns, rows }));
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 */
function plot({ groups, metrics }, metric) {
  const { key, label, unit, comparisons } = metric;
  const id = `metric-${metrics.indexOf(metric)}`;
  const title = `${label[0].toUpperCase()}${label.slice(1)}`;
  const summary = comparisons
    .map(({ other, text }) => (groups.length > 2 ? `${groups[other].name}: ${text}` : text))
    .join(' ');
  const samples = groups.map(({ name, metrics: summaries }, i) => ({
    label: name,
    values: summaries[key].values.filter((value) => value !== null),
    style: (i % STYLES) + 1,
  }));
  if (samples.every(({ values }) => values.length === 0)) return emptyFigure({ id, title, summary });
  const most = Math.max(...groups.map(({ metrics: summaries }) => summaries[key].values.length));
  const rows = Array.from({ length: most }, (_, run) => [
    `${run + 1}`,
    ...groups.map(({ metrics: summaries }) => figureText(unit, summaries[key].values[run] ?? null)),
  ]);
  const columns = ['Run', ...groups.map(({ name }) => ({ label: name, numeric: true }))];
  return figure({
    id,
    title,
    summary,
    svg: boxPlot({ groups: samples, unit, id, title, summary }),
    tableHtml: table({ caption: `${title} of each run that counts`, columns, rows }),
  });
}

/** @param {Comparison} comparison */
function variances({ groups, metrics }) {
  const rows = metrics
    .filter(({ key }) => VARIANCE_KEYS.includes(key))
    .flatMap(({ key, label, unit }) =>
      groups.map(({ name, metrics: summaries }) => {
        const { mean, variance, min, max } = summaries[key];
        return [
          `${label}, ${name}`,
          figureText(unit, mean),
          varianceText(unit, variance),
          figureText(unit, min),
          figureText(unit, max),
        ];
      }),
    );
  if (rows.length === 0) return '';
  const columns = [
    'Over runs',
    ...['Mean', 'Variance', 'Min', 'Max'].map((label) => ({ label, numeric: true })),
  ];
  return section('Mean and variance over runs', table({ caption: 'Of one value per run', columns, rows }));
}
