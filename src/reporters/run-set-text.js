/** A run set as plain text, 80 columns: what was required first, then the figures over runs, then each run. */
import { styleText } from 'node:util';
import { figureText } from '../results/runs/figures.js';
import { METRICS } from '../results/runs/run-metrics.js';
import { namedRuns } from '../results/runs/run-summary.js';
import { labelled, table, wrap } from './layout.js';
import { SPREAD_LABELS, spreadCells } from './over-runs.js';
import { requirementOverRuns, runSetCount, runSetPhrase } from './run-phrases.js';

/** @typedef {import('../results/runs/run-set.js').RunSet} RunSet */
/** @typedef {import('../results/runs/run-summary.js').RunSetSummary} RunSetSummary */

/** @type {Record<string, 'green' | 'yellow' | 'red'>} */
const COLOURS = { met: 'green', 'not proven': 'yellow', 'not met': 'red' };

/** Told of every run. */
const RUN_KEYS = Object.freeze(['rate', 'errors', 'mean', 'p50', 'p99', 'max']);

/**
 * @param {RunSet} runSet
 * @param {{color?: boolean}} [options]
 * @returns {string} ends with a newline
 */
export function render(runSet, { color = false } = {}) {
  const { name, summary } = runSet;
  const sections = [
    [...wrap(runSetPhrase(runSet)), ...wrap(`${name}: ${runSetCount(runSet)}`)],
    requirements(summary, color),
    summary.leftOut.flatMap(({ run, why }) => labelled('Left out', `${run}: ${why}`)),
    summary.warnings.flatMap((warning) => labelled('Warning', warning)),
    overRuns(summary),
    eachRun(runSet, summary),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * @param {RunSetSummary} summary
 * @param {boolean} color
 */
function requirements(summary, color) {
  return summary.requirements.flatMap((requirement) => {
    const { verdict, text } = requirementOverRuns(requirement);
    const lines = labelled(verdict, text);
    if (color) {
      lines[0] = lines[0].replace(verdict, styleText(COLOURS[verdict], verdict, { validateStream: false }));
    }
    return lines;
  });
}

/** @param {RunSetSummary} summary */
function overRuns({ used, metrics }) {
  if (used.length === 0) return ['No run counts, so there is nothing to say of them together.'];
  const rows = metrics.map((metric) => [
    metric.label,
    figureText(metric.unit, metric.median),
    ...spreadCells(metric.unit, metric),
  ]);
  return table([['Over runs', 'median', ...SPREAD_LABELS], ...rows]);
}

/**
 * @param {RunSet} runSet
 * @param {RunSetSummary} summary
 */
function eachRun({ runs }, { used }) {
  const metrics = METRICS.filter(({ key }) => RUN_KEYS.includes(key));
  const rows = namedRuns(runs).map(({ name, result }) => [
    used.includes(name) ? name : `${name} -`,
    ...metrics.map(({ unit, read }) => figureText(unit, read(result))),
    result.measurement.verdict,
  ]);
  const hasLeftOut = used.length < runs.length;
  return [
    ...table([['Runs', ...metrics.map(({ label }) => label), 'measured'], ...rows]),
    ...(hasLeftOut ? ['- left out'] : []),
  ];
}
