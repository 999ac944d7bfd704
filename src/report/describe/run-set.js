/** A set of runs as a report: the medians first, then a row for each run. */
import { figureText } from '../../result/runs/figures.js';
import { METRICS, namedRuns } from '../../result/runs/run-metrics.js';
import {
  detailColumn,
  facts,
  figureColumn,
  notes,
  report,
  section,
  sentence,
  table,
  textColumn,
  verdicts,
  worstVerdict,
} from '../sections.js';
import { spanText } from './bars.js';
import { requirementOverRuns, runSetCount, runSetPhrase, runsChart, SPREAD_COLUMNS } from './runs.js';
import { counted, verdictCell } from './words.js';

/** @import { RunSet } from '../../result/runs/run-set.js' */
/** @import { Part, Report } from '../sections.js' */

/** In the line of key figures, and in the first columns of the runs. */
const KEY = Object.freeze(['p50', 'p99', 'max', 'rate', 'errors']);

/** @param {RunSet} runSet @returns {Report} */
export function describeRunSet(runSet) {
  const { summary } = runSet;
  const judged = summary.requirements.map(requirementOverRuns);
  return report({
    title: titleOf(runSet),
    verdict: worstVerdict(judged),
    subject: runSetPhrase(runSet),
    sections: [
      section('answer', null, [
        ...verdicts(judged),
        ...answer(runSet),
        ...charts(runSet, (key) => key === 'p99'),
      ]),
      section('runs', 'Runs', eachRun(runSet)),
      section('over-runs', 'Over runs', overRuns(runSet)),
      section(
        'run-by-run',
        'Run by run',
        charts(runSet, (key) => key !== 'p99'),
      ),
      section('tool', 'Tool', facts([['Tool', `vault-pki-load ${runSet.tool.version}`]])),
    ],
  });
}

/** @param {RunSet} runSet @returns {string} `nightly: p99 9.93 ms, rate 5/s, medians of 10 runs` */
function titleOf({ name, summary: { used, metrics } }) {
  if (used.length === 0) return `${name}: no run counts`;
  const shown = ['p99', 'rate'].flatMap((key) => metrics.filter((metric) => metric.key === key));
  const text = shown.map(({ label, unit, median }) => `${label} ${figureText(unit, median)}`).join(', ');
  return `${name}: ${text}, ${used.length === 1 ? '1 run' : `medians of ${counted(used.length, 'run')}`}`;
}

/** @param {RunSet} runSet @returns {Part[]} */
function answer(runSet) {
  const { used, metrics, leftOut, warnings } = runSet.summary;
  const remarks = notes([...leftOut.map(({ run, why }) => `Left out: ${run}: ${why}.`), ...warnings]);
  if (used.length === 0) return [...sentence(`${runSetCount(runSet)}.`), ...remarks];
  const items = metrics
    .filter(({ key }) => KEY.includes(key))
    .map(({ key, label, unit, median, min, max }) => {
      const isSpread = median !== null && min !== null && max !== null && min !== max;
      return {
        name: label,
        value: figureText(unit, median),
        ...(isSpread && key !== 'errors'
          ? { range: spanText(min, max, (value) => figureText(unit, value)) }
          : {}),
      };
    });
  const of = used.length === 1 ? '' : ' Medians (lowest to highest run):';
  return [...sentence(`${runSetCount(runSet)}.${of}`), { kind: 'figures', items }, ...remarks];
}

/** @param {RunSet} runSet @returns {Part[]} */
function eachRun({ runs, summary: { used } }) {
  const key = KEY.flatMap((one) => METRICS.filter((metric) => metric.key === one));
  const others = METRICS.filter((metric) => !KEY.includes(metric.key));
  /** @typedef {ReturnType<typeof namedRuns>[number]} NamedRun */
  const cellOf =
    (/** @type {typeof METRICS[number]} */ { unit, read }) =>
    (/** @type {NamedRun} */ { result }) =>
      figureText(unit, read(result));
  return table(
    'Each run',
    [
      textColumn('Run', ({ name }) => (used.includes(name) ? name : `${name}, left out`)),
      ...key.map((metric) => figureColumn(metric.label, cellOf(metric))),
      textColumn('measured', ({ result: { measurement } }) => verdictCell(measurement.verdict)),
      ...others.map((metric) => detailColumn(metric.label, cellOf(metric))),
    ],
    namedRuns(runs),
  );
}

/** @param {RunSet} runSet @returns {Part[]} */
function overRuns({ summary: { used, metrics } }) {
  if (used.length < 2) return [];
  return table(
    `Over ${counted(used.length, 'run')}`,
    [
      textColumn('Over runs', ({ label }) => label),
      figureColumn('median', ({ unit, spread }) => figureText(unit, spread.median)),
      ...SPREAD_COLUMNS,
    ],
    metrics.map((metric) => ({ ...metric, spread: metric })),
  );
}

/** @param {RunSet} runSet @param {(key: string) => boolean} isShown @returns {Part[]} */
function charts({ summary: { used, metrics } }, isShown) {
  if (used.length < 2) return [];
  return metrics
    .filter(({ key, values }) => isShown(key) && values.some((value) => value !== null))
    .map(({ label, unit, values }) => runsChart(label, unit, [{ name: '', runs: used, values }]));
}
