/** A run set as a page: what was required, the figures over runs, and every run as a dot. */
import { figureText, varianceText } from '../../results/figures.js';
import { METRICS } from '../../results/run-metrics.js';
import { namedRuns } from '../../results/run-summary.js';
import { requirementOverRuns, runSetCount, runSetPhrase } from '../run-phrases.js';
import { boxPlot } from './charts/box-plot.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { emptyFigure, facts, figure, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/run-set.js').RunSet} RunSet */
/** @typedef {import('../../results/run-summary.js').RunSetSummary} RunSetSummary */

/**
 * @param {RunSet} runSet
 * @returns {string} the file
 */
export function render(runSet) {
  const { name, summary } = runSet;
  const body = [
    requirements(summary),
    overRuns(summary),
    section(
      'Run by run',
      `<div class="charts">\n${summary.metrics.map((metric) => plot(runSet, metric)).join('\n')}\n</div>`,
    ),
    eachRun(runSet, summary),
    commands(runSet),
  ];
  return page({
    title: `${name}: ${runSetCount(runSet)}`,
    heading: name,
    lead: lead(runSet),
    body: body.filter((html) => html !== '').join('\n'),
    footer: `Written by vault-pki-load ${runSet.tool.version}.`,
  });
}

/** @param {RunSet} runSet */
function lead(runSet) {
  const { leftOut, warnings } = runSet.summary;
  return [
    `${runSetPhrase(runSet)}: ${runSetCount(runSet)}.`,
    ...leftOut.map(({ run, why }) => `Left out: ${run}: ${why}.`),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ]
    .map((text) => paragraph(text))
    .join('\n');
}

/** @param {RunSetSummary} summary */
function requirements(summary) {
  if (summary.requirements.length === 0) return '';
  const items = summary.requirements.map((requirement) => {
    const { verdict, text } = requirementOverRuns(requirement);
    return `${verdictBadge(verdict)} ${escapeHtml(text)}`;
  });
  return section('Requirements', list(items));
}

/** @param {RunSetSummary} summary */
function overRuns({ used, metrics }) {
  const title = 'Over all runs';
  if (used.length === 0) {
    return section(title, paragraph('No run counts, so there is nothing to say of them together.'));
  }
  const rows = metrics.map(({ label, unit, median, mean, variance, min, max }) => [
    label,
    figureText(unit, median),
    figureText(unit, mean),
    varianceText(unit, variance),
    figureText(unit, min),
    figureText(unit, max),
  ]);
  const columns = [
    'Metric',
    ...['Median', 'Mean', 'Variance', 'Min', 'Max'].map((label) => ({ label, numeric: true })),
  ];
  return section(title, table({ caption: 'One value per run that counts', columns, rows }));
}

/**
 * @param {RunSet} runSet
 * @param {RunSetSummary['metrics'][number]} metric
 */
function plot({ name, summary: { used, metrics } }, metric) {
  const { label, unit, values, median, min, max } = metric;
  const id = `metric-${metrics.indexOf(metric)}`;
  const title = `${label[0].toUpperCase()}${label.slice(1)}`;
  if (median === null) return emptyFigure({ id, title, summary: 'No run that counts has it.' });
  const summary = `Median ${figureText(unit, median)}, from ${figureText(unit, min)} to ${figureText(unit, max)}.`;
  const groups = [{ label: name, values: values.filter((value) => value !== null) }];
  const columns = ['Run', { label: title, numeric: true }];
  const rows = used.map((run, i) => [run, figureText(unit, values[i] ?? null)]);
  return figure({
    id,
    title,
    summary,
    svg: boxPlot({ groups, unit, id, title, summary }),
    tableHtml: table({ caption: `${title} of each run that counts`, columns, rows }),
  });
}

/**
 * @param {RunSet} runSet
 * @param {RunSetSummary} summary
 */
function eachRun({ runs }, { used }) {
  const rows = namedRuns(runs).map(({ name, result }) => [
    used.includes(name) ? name : `${name} (left out)`,
    ...METRICS.map(({ unit, read }) => figureText(unit, read(result))),
    { html: verdictBadge(result.measurement.verdict) },
  ]);
  const columns = ['Run', ...METRICS.map(({ label }) => ({ label, numeric: true })), 'Measurement'];
  return section('All runs', table({ caption: 'Response times unless said otherwise', columns, rows }));
}

/** @param {RunSet} runSet */
function commands({ runs }) {
  const different = [...new Set(runs.map(({ command }) => command))];
  /** @type {[string, string][]} */
  const rows = [
    ...different.map((command) => /** @type {[string, string]} */ (['Command', command])),
    ...runs.slice(0, 1).map(({ environment: { node, platform, cpus } }) => {
      return /** @type {[string, string]} */ (['Machine', `${platform}, ${cpus} cores, Node ${node}`]);
    }),
  ];
  return section('Plan and environment', facts(rows));
}
