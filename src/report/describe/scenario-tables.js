/** The tables and charts of a scenario's result. */
import { groupBy } from '../../common/sums.js';
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { FIGURES } from '../../result/latency.js';
import { differenceText, formatFigure } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';
import { table } from '../sections.js';
import { verdictCell } from './bars.js';
import { runsChart, SPREAD_COLUMNS } from './runs.js';
import { errorKinds, joined, levelPhrase, timeColumns } from './words.js';

/** @import { ScenarioResult, ScenarioRow, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Column, Part } from '../sections.js' */

/** Key, label and unit of the means over runs. */
const SPREAD_METRICS = /** @type {const} */ ([
  ['mean', 'mean', 'ms'],
  ['p99', 'p99', 'ms'],
  ['max', 'max', 'ms'],
  ['min', 'min', 'ms'],
  ['perSecond', 'throughput', '/s'],
]);

/** Figures and differences of a narrow table. */
const NARROW = ['mean', 'p95', 'p99'];
const NARROW_DIFFERENCES = ['mean', 'p99', 'max', 'min', 'perSecond', 'errorShare'];

/** @type {Column<ScenarioRow>[]} */
const ROW_COLUMNS = [
  ['count', ({ count }) => formatCount(count)],
  ['rate', ({ ratePerSecond }) => formatRate(ratePerSecond)],
  ['throughput', ({ perSecond }) => formatRate(perSecond)],
  ...timeColumns(
    FIGURES.filter((figure) => figure !== 'min'),
    (row) => row,
    FIGURES.filter((figure) => !NARROW.includes(figure)),
  ),
  ['success', ({ successRatio }) => formatFigure('fraction', successRatio)],
];

/** @param {ScenarioResult} scenario @param {'run' | 'target'} key */
const hasSeveral = ({ steps }, key) => new Set(steps.map((step) => step[key])).size > 1;

/** @param {readonly ScenarioRow[]} rows @returns rows by operation, the whole first; `suffix` of a label: `, login` */
function byOperation(rows) {
  return groupBy(rows, ({ operation }) => operation).map((own) => {
    return { suffix: own[0].operation === null ? '' : `, ${own[0].operation}`, own };
  });
}

/** @param {Pick<ScenarioRow, 'counts'>} row @param {string} name @returns {string} with a mark if none of its runs counts */
const marked = ({ counts }, name) => (counts ? name : `${name} *`);

/** @param {Pick<ScenarioRow, 'operation' | 'counts'>} row @param {string} name of the row of all operations */
const innerName = (row, name) => marked(row, row.operation === null ? name : `– ${row.operation}`);

/** @param {ScenarioResult} scenario @param {ScenarioRow} row */
const targetName = (scenario, { target }) => (hasSeveral(scenario, 'target') ? target : 'all requests');

/** @param {ScenarioResult} scenario @returns {Part[]} one row per run and target */
export function overview(scenario) {
  const [hasRuns, hasTargets] = [hasSeveral(scenario, 'run'), hasSeveral(scenario, 'target')];
  const nameOf = (/** @type {ScenarioRow} */ { run, target }) =>
    joined([(hasRuns || !hasTargets) && run, hasTargets && target]);
  return table(
    'All requests of each run',
    [['Run', (row) => marked(row, nameOf(row))], ...ROW_COLUMNS],
    scenario.rows.filter(({ stage, operation }) => stage === null && operation === null),
  );
}

/** @param {ScenarioResult} scenario @param {ScenarioRow[]} rows of a run, without stages @returns {Part[]} of a mix */
export function operationTable(scenario, rows) {
  const isMix = rows.some(({ operation }) => operation !== null);
  return table(
    'Each operation',
    [['Operation', (row) => innerName(row, targetName(scenario, row))], ...ROW_COLUMNS],
    isMix ? rows : [],
  );
}

/** @param {ScenarioResult} scenario @param {ScenarioStep} step @returns {Part[]} */
export function stageTable(scenario, { run, target, stages, load }) {
  /** @type {(text: (stage: ScenarioStep['stages'][number]) => string) => Column<ScenarioRow>[1]} */
  const ofStage = (text) => (row) => {
    const planned = row.operation === null && stages.find(({ name }) => name === row.stage);
    return planned ? text(planned) : '';
  };
  const heading = hasSeveral(scenario, 'target') ? `Stages, ${target}` : 'Stages';
  return table(
    `Stages of ${target}`,
    [
      [heading, (row) => innerName(row, String(row.stage))],
      ['for', ofStage(({ seconds }) => formatDuration(seconds * 1000))],
      ['planned', ofStage(({ from, to }) => levelPhrase(load, from, to))],
      ['rate', ({ ratePerSecond }) => formatRate(ratePerSecond)],
      ['errors', ({ errorShare }) => formatFigure('fraction', errorShare)],
      ...timeColumns(['mean', 'p99'], (row) => row),
      ['required', ({ requirement: one }) => (one === null ? '–' : verdictCell(one)), 'text'],
    ],
    scenario.rows.filter((row) => row.run === run && row.target === target && row.stage !== null),
  );
}

/**
 * Kinds of errors below each target, the most frequent first; of a mix, operation by operation.
 * @param {ScenarioResult} scenario @param {ScenarioRow[]} rows of a run, without stages @returns {Part[]}
 */
export function errorTable(scenario, rows) {
  const wholes = rows.filter(({ operation, errors }) => operation === null && errors > 0);
  const lines = wholes.flatMap((whole) => {
    const operations = rows.filter(({ target, operation }) => target === whole.target && operation !== null);
    // Older files have no kinds.
    const kinds = (operations.length === 0 ? [whole] : operations).flatMap(
      ({ operation, outcomeDetails = {} }) =>
        errorKinds(outcomeDetails).map(([name, { count, runs, meaning = '' }]) => ({
          name: `– ${operation === null ? '' : `${operation}: `}${name}`,
          runs: whole.runs > 1 ? `${formatCount(runs)} of ${formatCount(whole.runs)}` : '',
          count,
          meaning,
        })),
    );
    const all = { name: targetName(scenario, whole), runs: '', count: whole.errors, meaning: '' };
    return [all, ...kinds].map((line) => ({ ...line, whole }));
  });
  return table(
    'Errors',
    [
      ['Errors', ({ whole, name }) => marked(whole, name)],
      ['count', ({ count }) => formatCount(count)],
      ['share of all', ({ whole, count }) => formatPercent(count / whole.count)],
      ['in runs', ({ runs }) => runs],
      ['meaning', ({ meaning }) => meaning, 'text'],
    ],
    lines,
  );
}

/** @param {ScenarioRow[]} rows of a run, without stages @returns {Part[]} target by target for each metric; none for single runs */
export function spreadTables(rows) {
  return byOperation(rows).flatMap(({ suffix, own }) => {
    const spreads = SPREAD_METRICS.flatMap(([key, label, unit]) =>
      own.flatMap((row) => {
        const spread = row.overRuns?.[key];
        return spread === undefined ? [] : [{ name: marked(row, `${label}, ${row.target}`), unit, spread }];
      }),
    );
    const name = `Over runs${suffix}`;
    return table(name, [[name, (spread) => spread.name], ...SPREAD_COLUMNS], spreads);
  });
}

/**
 * @param {ScenarioResult} scenario @param {ScenarioRow[]} rows of a run, without stages
 * @returns {{key: string, parts: Part[]}[]} a chart for each metric and operation, by key of the metric; none for single runs
 */
export function charts({ steps }, rows) {
  const runsOf = (/** @type {ScenarioRow} */ { run, target, counts }) => {
    const step = steps.find((one) => one.run === run && one.target === target);
    return (counts ? step?.used : step?.runs.map(({ name }) => name)) ?? [];
  };
  return byOperation(rows.filter(({ overRuns }) => overRuns !== null)).flatMap(({ suffix, own }) =>
    SPREAD_METRICS.map(([key, label, unit]) => {
      const groups = own.map((row) => {
        const values = row.overRuns?.[key].values ?? [];
        return { name: marked(row, row.target), runs: runsOf(row), values };
      });
      return { key, parts: runsChart(`${label}${suffix}`, unit, groups) };
    }),
  );
}

/**
 * Differences of each target from the first, operation by operation.
 * @param {ScenarioResult['differences']} differences of a run @param {ScenarioRow[]} rows of the run, without stages
 */
export function differenceTable(differences, rows) {
  if (differences.length === 0) return [];
  const [{ base, targets }] = differences;
  const operations = groupBy(differences, ({ operation }) => operation);
  const lines = targets.slice(1).flatMap(({ target }) =>
    operations.map((own) => {
      const [{ operation }] = own;
      const sides = rows.filter((row) => row.operation === operation && [base, target].includes(row.target));
      const found = own.map((one) => one.targets.find((side) => side.target === target)?.difference ?? null);
      return { target, operation, counts: sides.every(({ counts }) => counts), found };
    }),
  );
  /** @type {Column<typeof lines[number]>[]} */
  const columns = operations[0].map(({ metric: { key, label, unit } }, i) => [
    label,
    ({ found }) => differenceText(unit, found[i] ?? null),
    NARROW_DIFFERENCES.includes(key) ? undefined : 'detail',
  ]);
  const name = `Compared with ${base}`;
  const filled = lines.filter(({ found }) => found.some((difference) => difference !== null));
  return table(name, [[name, (line) => innerName(line, line.target)], ...columns], filled);
}
