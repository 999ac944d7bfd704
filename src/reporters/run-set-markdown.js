/** A run set as Markdown: what was required first, then the figures over runs, then each run. */
import { figureText } from '../results/runs/figures.js';
import { METRICS } from '../results/runs/run-metrics.js';
import { namedRuns } from '../results/runs/run-summary.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
import { SPREAD_LABELS, spreadCells } from './over-runs.js';
import { requirementOverRuns, runSetCount, runSetPhrase } from './run-phrases.js';

/** @typedef {import('../results/runs/run-set.js').RunSet} RunSet */
/** @typedef {import('../results/runs/run-summary.js').RunSetSummary} RunSetSummary */

/**
 * @param {RunSet} runSet
 * @returns {string} ends with a newline
 */
export function render(runSet) {
  const { name, summary } = runSet;
  return paragraphs([
    `## ${plain(name)}`,
    `${plain(runSetPhrase(runSet))}: ${plain(runSetCount(runSet))}.`,
    bullets(summary.requirements.map(requirementItem)),
    bullets(summary.leftOut.map(({ run, why }) => plain(`left out: ${run}: ${why}`))),
    bullets(summary.warnings.map((warning) => `**Warning:** ${plain(warning)}`)),
    overRuns(summary),
    eachRun(runSet),
  ]);
}

/** @param {RunSetSummary['requirements'][number]} requirement */
function requirementItem(requirement) {
  const { verdict, text } = requirementOverRuns(requirement);
  return `**${verdict}** ${plain(text)}`;
}

/** @param {RunSetSummary} summary */
function overRuns({ used, metrics }) {
  if (used.length === 0) return 'No run counts, so there is nothing to say of them together.';
  const rows = metrics.map((metric) =>
    [metric.label, figureText(metric.unit, metric.median), ...spreadCells(metric.unit, metric)].map(plain),
  );
  return markdownTable(['Over runs', 'median', ...SPREAD_LABELS], rows);
}

/** @param {RunSet} runSet */
function eachRun({ runs }) {
  const rows = namedRuns(runs).map(({ name, result }) =>
    [
      name,
      ...METRICS.map(({ unit, read }) => figureText(unit, read(result))),
      result.measurement.verdict,
    ].map(plain),
  );
  return markdownTable(['Run', ...METRICS.map(({ label }) => label), 'measurement'], rows);
}
