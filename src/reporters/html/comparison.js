/** A comparison as a page: what differs, the figures, and every run as a dot. */
import { conclusions, differenceTo, doubtsOf, headlineOf, rankOf } from '../comparison-phrases.js';
import { differenceCells, medianText, SPREAD_TITLES, varianceRows } from '../over-runs.js';
import { commonSubject, madePhrase } from '../run-phrases.js';
import { metricsCompared } from './compared-metrics.js';
import { groupsCompared, runsCompared } from './compared-runs.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { details, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/comparison/comparison-schema.js').Comparison} Comparison */

/**
 * @param {Comparison} comparison
 * @returns {string} the file
 */
export function render(comparison) {
  const heading = `Comparison: ${headlineOf(comparison)}`;
  const { html, charts } = metricsCompared(comparison);
  const body = [
    limits(comparison),
    ...(comparison.groups.length > 2
      ? [medians(comparison), pairs(comparison)]
      : [section(pairOf(comparison, 1), difference(comparison, 1))]),
    html,
    variances(comparison),
    groupsCompared(comparison),
    runsCompared(comparison),
    section('How to read this', list(comparison.notes.map(escapeHtml))),
  ];
  return page({
    title: heading,
    heading,
    lead: lead(comparison),
    body: body.filter((part) => part !== '').join('\n'),
    data: { charts },
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
 * Of many groups what differs is seen, and the figures are a click away.
 *
 * @param {Comparison} comparison
 */
function pairs(comparison) {
  const { groups } = comparison;
  const parts = groups.slice(1).map(({ name }, i) => {
    const figures = `${differences(comparison, i + 1)}${doubts(comparison, i + 1)}`;
    return [
      `<h3>${escapeHtml(name)}</h3>`,
      answers(comparison, i + 1),
      details(`Figures: ${pairOf(comparison, i + 1)}`, figures),
    ].join('\n');
  });
  return section(
    `Beside ${groups[0].name}`,
    parts.map((html) => `<div class="pair">\n${html}\n</div>`).join('\n'),
  );
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function pairOf({ groups }, other) {
  return `${groups[other].name} beside ${groups[0].name}`;
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function difference(comparison, other) {
  return `${answers(comparison, other)}\n${differences(comparison, other)}${doubts(comparison, other)}`;
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function answers(comparison, other) {
  return list(
    conclusions(comparison, other).map(
      ({ verdict, worth, text }) => `${badgeOf(verdict, worth)} ${escapeHtml(text)}`,
    ),
  );
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function doubts(comparison, other) {
  return doubtsOf(comparison, other)
    .map((doubt) => `\n${paragraph(doubt)}`)
    .join('');
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 */
function differences(comparison, other) {
  const [base, name] = [comparison.groups[0].name, comparison.groups[other].name];
  const rows = comparison.metrics.map((metric) => [
    ...differenceCells(comparison, metric, other),
    differenceTo(metric, other).verdict,
  ]);
  const columns = [
    'Median of',
    ...[base, name, 'Difference', '95 % interval', 'p'].map((label) => ({ label, numeric: true })),
    'Verdict',
  ];
  const caption = `Medians over runs, ${pairOf(comparison, other)}; the interval is of the difference`;
  return table({ caption, columns, rows });
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
function medians(comparison) {
  const { groups, metrics } = comparison;
  const rows = metrics.map((metric) => [
    metric.label,
    ...groups.map((_, i) => {
      const text = medianText(comparison, metric, i);
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

/** @param {Comparison} comparison */
function variances(comparison) {
  const rows = varianceRows(comparison, (i) => `, ${comparison.groups[i].name}`);
  if (rows.length === 0) return '';
  const columns = ['Over runs', ...SPREAD_TITLES.map((label) => ({ label, numeric: true }))];
  return section('Mean and variance over runs', table({ caption: 'Of one value per run', columns, rows }));
}
