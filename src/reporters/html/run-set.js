/** A run set as a page: what was required, the figures over runs, and every run as a dot. */
import { figureText } from '../../results/runs/figures.js';
import { known, METRICS } from '../../results/runs/run-metrics.js';
import { namedRuns } from '../../results/runs/run-summary.js';
import { SPREAD_TITLES, spreadCells } from '../over-runs.js';
import { requirementOverRuns, runSetCount, runSetPhrase } from '../run-phrases.js';
import { boxPlot } from './charts/box-plot.js';
import { readOutsOf } from './charts/dots.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { emptyFigure, facts, figure, list, paragraph, section, table, verdictBadge } from './parts.js';
import { between, titled } from './words.js';

/** @typedef {import('../../results/runs/run-set.js').RunSet} RunSet */
/** @typedef {import('../../results/runs/run-summary.js').RunSetSummary} RunSetSummary */

/**
 * @param {RunSet} runSet
 * @returns {string} the file
 */
export function render(runSet) {
  const { name, summary } = runSet;
  const drawn = summary.metrics.map((metric, i) => plot(runSet, metric, `metric-${i}`));
  const body = [
    requirements(summary),
    overRuns(summary),
    section('Run by run', `<div class="charts">\n${drawn.map(({ html }) => html).join('\n')}\n</div>`),
    eachRun(runSet, summary),
    commands(runSet),
  ];
  return page({
    title: `${name}: ${runSetCount(runSet)}`,
    heading: name,
    lead: lead(runSet),
    body: body.filter((html) => html !== '').join('\n'),
    data: { charts: Object.assign({}, ...drawn.map(({ charts }) => charts)) },
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
  const rows = metrics.map((metric) => [
    metric.label,
    figureText(metric.unit, metric.median),
    ...spreadCells(metric.unit, metric),
  ]);
  const columns = ['Metric', ...['Median', ...SPREAD_TITLES].map((label) => ({ label, numeric: true }))];
  return section(title, table({ caption: 'One value per run that counts', columns, rows }));
}

/**
 * @param {RunSet} runSet
 * @param {RunSetSummary['metrics'][number]} metric
 * @param {string} id
 * @returns {{html: string, charts: NonNullable<import('./page.js').PageData['charts']>}}
 */
function plot({ summary: { used } }, { label, unit, values, median }, id) {
  const title = titled(label);
  if (median === null) {
    return { html: emptyFigure({ id, title, summary: 'No run that counts has it.' }), charts: {} };
  }
  const text = (/** @type {number | null} */ value) => figureText(unit, value);
  const summary = `Median ${text(median)}; all runs ${between(values, text)}.`;
  const names = used.filter((_, i) => values[i] !== null);
  const groups = [{ label: '', names, values: known(values) }];
  const columns = ['Run', { label: title, numeric: true }];
  const rows = used.map((run, i) => [run, text(values[i] ?? null)]);
  return {
    html: figure({
      id,
      title,
      summary,
      svg: boxPlot({ groups, unit, id, title, summary }),
      tableHtml: table({ caption: `${title} of each run that counts`, columns, rows }),
    }),
    charts: { [id]: readOutsOf(groups, text) },
  };
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
