/** A set of runs as a report: medians, then a row per run. */
import { invalidReasonOf } from '../../result/document.js';
import { formatFigure } from '../../result/runs/figures.js';
import { METRICS, namedRuns } from '../../result/runs/run-set.js';
import { facts, figures, notes, report, section, sentence, table, verdicts } from '../sections.js';
import { spanText, verdictCell, worstVerdict } from './bars.js';
import { runsChart, SPREAD_COLUMNS, targetsPhrase, verdictCounts } from './runs.js';
import { counted, operationsPhrase, planPhrase } from './words.js';

/** @import { RunSet } from '../../result/runs/run-set-schema.js' */
/** @import { Column, Part, Report } from '../sections.js' */

/** In the line of key figures, and in the first columns of the runs. */
const KEY = ['p50', 'p99', 'max', 'rate', 'errors'];

/** @param {RunSet} runSet @returns {Report} */
export function describeRunSet(runSet) {
  const { summary, tool } = runSet;
  const judged = summary.requirements.map(({ text, verdicts: counts }) => ({
    verdict: ['not met', 'not proven'].find((verdict) => (counts[verdict] ?? 0) > 0) ?? 'met',
    name: text,
    text: verdictCounts(counts),
  }));
  return report({
    title: titleOf(runSet),
    verdict: worstVerdict(judged),
    subject: subjectPhrase(runSet),
    sections: [
      section('answer', null, [...verdicts(judged), ...answer(runSet), ...charts(runSet, true)]),
      section('runs', 'Runs', eachRun(runSet)),
      section('over-runs', 'Over runs', overRuns(runSet)),
      section('run-by-run', 'Run by run', charts(runSet, false)),
      section('tool', 'Tool', facts([['Tool', `vault-pki-load ${tool.version}`]])),
    ],
  });
}

/** @param {RunSet} runSet @returns {string} `nightly: p99 9.93 ms, rate 5/s, medians of 10 runs` */
function titleOf({ name, summary: { used, metrics } }) {
  if (used.length === 0) return `${name}: no usable runs`;
  const shown = ['p99', 'rate'].flatMap((key) => metrics.filter((metric) => metric.key === key));
  const text = shown.map(({ label, unit, median }) => `${label} ${formatFigure(unit, median)}`).join(', ');
  return `${name}: ${text}, ${used.length === 1 ? '1 run' : `medians of ${counted(used.length, 'run')}`}`;
}

/** @param {RunSet} runSet @returns {string} `ocsp on http://127.0.0.1:8200 (Vault 1.21.1), open loop at 20/s, 20 s` */
function subjectPhrase({ runs }) {
  if (runs.length === 0) return 'no runs';
  const [operations, plans] = [operationsPhrase, planPhrase].map((phrase) => [...new Set(runs.map(phrase))]);
  return `${operations.join('; ')} on ${targetsPhrase(runs)}, ${plans.join('; ')}`;
}

/** @param {RunSet} runSet @returns {Part[]} */
function answer({ runs, summary: { used, metrics, leftOut, warnings } }) {
  const count = used.length === 0 ? 'none' : used.length;
  const all = `${counted(runs.length, 'run')}${used.length === runs.length ? '' : `, ${count} of them counted`}.`;
  const measurements = new Map(namedRuns(runs).map(({ name, result }) => [name, result.measurement]));
  const left = leftOut.map(({ run, why }) => {
    const measurement = measurements.get(run);
    return `Left out: ${run}: ${why}. ${(measurement && invalidReasonOf(measurement)?.remedy) ?? ''}`.trimEnd();
  });
  const remarks = notes([...left, ...warnings]);
  if (used.length === 0) return [...sentence(all), ...remarks];
  const items = metrics
    .filter(({ key }) => KEY.includes(key))
    .map(({ label, unit, median, min, max }) => {
      const isSpread = min !== null && max !== null && formatFigure(unit, min) !== formatFigure(unit, max);
      const range = isSpread ? spanText(min, max, (value) => formatFigure(unit, value)) : undefined;
      return { name: label, value: formatFigure(unit, median), range };
    });
  const medianNote = used.length === 1 ? '' : ' Medians (lowest to highest run):';
  return [...sentence(`${all}${medianNote}`), ...figures(items), ...remarks];
}

/** @param {RunSet} runSet @returns {Part[]} */
function eachRun({ runs, summary: { used } }) {
  /** @type {(metric: typeof METRICS[number], kind?: 'detail') => Column<ReturnType<typeof namedRuns>[number]>} */
  const column = ({ label, unit, read }, kind) => [
    label,
    ({ result }) => formatFigure(unit, read(result)),
    kind,
  ];
  return table(
    'Each run',
    [
      ['Run', ({ name }) => (used.includes(name) ? name : `${name}, left out`)],
      ...KEY.flatMap((key) => METRICS.filter((metric) => metric.key === key)).map((metric) => column(metric)),
      ['measured', ({ result }) => verdictCell(result.measurement.verdict), 'text'],
      ...METRICS.filter(({ key }) => !KEY.includes(key)).map((metric) => column(metric, 'detail')),
    ],
    namedRuns(runs),
  );
}

/** @param {RunSet} runSet @returns {Part[]} */
function overRuns({ summary: { used, metrics } }) {
  return table(
    `Over ${counted(used.length, 'run')}`,
    [
      ['Over runs', ({ label }) => label],
      ['median', ({ unit, spread }) => formatFigure(unit, spread.median)],
      ...SPREAD_COLUMNS,
    ],
    used.length < 2 ? [] : metrics.map((metric) => ({ ...metric, spread: metric })),
  );
}

/** @param {RunSet} runSet @param {boolean} isMain the chart of the answer, or the others @returns {Part[]} */
function charts({ summary: { used, metrics } }, isMain) {
  if (used.length < 2) return [];
  return metrics
    .filter(({ key }) => (key === 'p99') === isMain)
    .flatMap(({ label, unit, values }) => runsChart(label, unit, [{ name: '', runs: used, values }]));
}
