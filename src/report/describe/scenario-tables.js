/** The tables of a scenario's result. Shares of errors are all that is computed here. */

import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { differenceText, figureText } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';
import { detailColumn, figureColumn, table, textColumn } from '../sections.js';
import { SPREAD_COLUMNS } from './runs.js';
import { errorKinds, verdictCell } from './words.js';

/** @import { ScenarioResult, ScenarioRow, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Part, TableColumn } from '../sections.js' */

/** Stands where there is no figure. */
const NONE = '–';

/** Behind the name of a row without any run that counts. */
export const NOT_COUNTED = ' *';

/** Key, label and unit of the means over runs. */
export const SPREAD_METRICS = /** @type {const} */ ([
  ['mean', 'mean', 'ms'],
  ['p99', 'p99', 'ms'],
  ['max', 'max', 'ms'],
  ['min', 'min', 'ms'],
  ['perSecond', 'throughput', '/s'],
]);

/** Differences that a narrow table shows, too. */
const FEW_DIFFERENCES = new Set(['mean', 'p99', 'max', 'min', 'perSecond', 'errorShare']);

/** @param {ScenarioResult} scenario */
function hasTargets({ steps }) {
  return new Set(steps.map(({ target }) => target)).size > 1;
}

/** @type {readonly TableColumn<ScenarioRow>[]} */
const ROW_COLUMNS = [
  figureColumn('count', ({ count }) => formatCount(count)),
  figureColumn('rate', ({ ratePerSecond }) => formatRate(ratePerSecond)),
  figureColumn('throughput', ({ perSecond }) => formatRate(perSecond)),
  figureColumn('mean', ({ mean }) => timeText(mean)),
  detailColumn('p50', ({ p50 }) => timeText(p50)),
  figureColumn('p95', ({ p95 }) => timeText(p95)),
  figureColumn('p99', ({ p99 }) => timeText(p99)),
  detailColumn('max', ({ max }) => timeText(max)),
  figureColumn('success', ({ successRatio }) => shareText(successRatio)),
];

/** @param {ScenarioResult} scenario @returns {Part[]} a row a run and target */
export function overview(scenario) {
  const hasSeveral = hasTargets(scenario);
  const hasRuns = new Set(scenario.steps.map(({ run }) => run)).size > 1;
  const nameOf = (/** @type {ScenarioRow} */ { run, target }) => {
    if (!hasSeveral) return run;
    return hasRuns ? `${run}, ${target}` : target;
  };
  return table(
    'All requests of each run',
    [textColumn('Run', (row) => marked(row, nameOf(row))), ...ROW_COLUMNS],
    scenario.rows.filter(({ stage, operation }) => stage === null && operation === null),
  );
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {Part[]} of a mix: each operation below its target
 */
export function operationTable(scenario, run) {
  const rows = scenario.rows.filter((row) => row.run === run && row.stage === null);
  if (rows.every(({ operation }) => operation === null)) return [];
  const nameOf = (/** @type {ScenarioRow} */ row) => (hasTargets(scenario) ? row.target : 'all requests');
  return table(
    'Each operation',
    [textColumn('Operation', (row) => innerName(row, nameOf(row))), ...ROW_COLUMNS],
    rows,
  );
}

/** @param {ScenarioResult} scenario @param {ScenarioStep} step @returns {Part[]} */
export function stageTable(scenario, step) {
  const own = scenario.rows.filter(
    (row) => row.run === step.run && row.target === step.target && row.stage !== null,
  );
  return table(
    `Stages of ${step.target}`,
    [
      textColumn(hasTargets(scenario) ? `Stages, ${step.target}` : 'Stages', (row) =>
        innerName(row, String(row.stage)),
      ),
      figureColumn('for', (row) => plannedOf(step, row).time),
      figureColumn('planned', (row) => plannedOf(step, row).level),
      figureColumn('rate', ({ ratePerSecond }) => formatRate(ratePerSecond)),
      figureColumn('errors', ({ errorShare }) => shareText(errorShare)),
      figureColumn('mean', ({ mean }) => timeText(mean)),
      figureColumn('p99', ({ p99 }) => timeText(p99)),
      textColumn('required', ({ requirement }) => (requirement === null ? NONE : verdictCell(requirement))),
    ],
    own,
  );
}

/**
 * @param {ScenarioStep} step
 * @param {ScenarioRow} row
 * @returns {{time: string, level: string}} of the stage; empty for an operation in it
 */
function plannedOf({ stages, load }, row) {
  if (row.operation !== null) return { time: '', level: '' };
  const stage = stages.find(({ name }) => name === row.stage);
  if (stage === undefined) return { time: NONE, level: NONE };
  const { from, to, seconds } = stage;
  const level = (/** @type {number} */ value) =>
    load.model === 'open' ? formatRate(value) : `${formatCount(value)} in flight`;
  const short = load.model === 'open' ? level(from).replace(/\/s$/, '') : formatCount(from);
  return {
    time: formatDuration(seconds * 1000),
    level: from === to ? level(to) : `${short} to ${level(to)}`,
  };
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {Part[]} kinds of errors below each target, the most frequent first; of a mix, operation by operation
 */
export function errorTable(scenario, run) {
  const wholes = scenario.rows.filter(
    (row) => row.run === run && row.stage === null && row.operation === null && row.errors > 0,
  );
  const isRepeated = wholes.some(({ runs, outcomeDetails }) => runs > 1 && outcomeDetails !== undefined);
  const rows = wholes.flatMap((whole) => [
    {
      whole,
      label: hasTargets(scenario) ? whole.target : 'all requests',
      count: whole.errors,
      runs: null,
      meaning: '',
    },
    ...kindsOf(scenario, whole).map((kind) => ({ whole, ...kind, label: `– ${kind.label}` })),
  ]);
  return table(
    'Errors',
    [
      textColumn('Errors', ({ whole, label }) => marked(whole, label)),
      figureColumn('count', ({ count }) => formatCount(count)),
      figureColumn('share of all', ({ whole, count }) => formatPercent(count / whole.count)),
      figureColumn('in runs', ({ whole, runs }) =>
        runs === null || !isRepeated ? '' : `${formatCount(runs)} of ${formatCount(whole.runs)}`,
      ),
      textColumn('meaning', ({ meaning = '' }) => meaning),
    ],
    rows,
  );
}

/**
 * @param {ScenarioResult} scenario
 * @param {ScenarioRow} whole
 * @returns {{label: string, count: number, runs: number, meaning?: string}[]} none in a file from before they were kept
 */
function kindsOf({ rows }, whole) {
  const operations = rows.filter(
    ({ run, target, stage, operation }) =>
      run === whole.run && target === whole.target && stage === null && operation !== null,
  );
  return (operations.length === 0 ? [whole] : operations).flatMap(({ operation, outcomeDetails = {} }) =>
    errorKinds(outcomeDetails).map(([name, { count, runs, meaning }]) => ({
      label: operation === null ? name : `${operation}: ${name}`,
      count,
      runs,
      meaning,
    })),
  );
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {Part[]} target by target for each metric; none where no step has two runs
 */
export function spreadTables({ rows, differences }, run) {
  const all = rows.filter((row) => row.run === run && row.stage === null);
  const operations = [...new Set(all.map(({ operation }) => operation))];
  return operations.flatMap((operation) => {
    const own = all.filter((row) => row.operation === operation);
    const spreads = SPREAD_METRICS.flatMap(([key, label, unit]) =>
      own.flatMap((row) =>
        row.overRuns === null ? [] : [{ key, label, unit, row, spread: row.overRuns[key] }],
      ),
    );
    /** @param {typeof spreads[number]} spread */
    const differenceCell = ({ key, unit, row }) => {
      const beside = differences.find(
        (one) => one.run === run && one.operation === operation && one.metric.key === key,
      );
      const difference = beside?.targets.find(({ target }) => target === row.target)?.difference ?? null;
      const isUnmarked =
        difference === null || own.every(({ counts, target }) => counts || target !== beside?.base);
      return `${differenceText(unit, difference)}${isUnmarked ? '' : NOT_COUNTED}`;
    };
    const name = operation === null ? 'Over runs' : `Over runs, ${operation}`;
    return table(
      name,
      [
        textColumn(name, ({ row, label }) => marked(row, `${label}, ${row.target}`)),
        ...SPREAD_COLUMNS,
        figureColumn('to first', differenceCell),
      ],
      spreads,
    );
  });
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {Part[]} how far each target but the first is from it, operation by operation
 */
export function differenceTable({ differences, rows }, run) {
  const own = differences.filter((one) => one.run === run);
  const [first] = own;
  if (first === undefined) return [];
  const operations = [...new Set(own.map(({ operation }) => operation))];
  const heads = own.filter(({ operation }) => operation === null).map(({ metric }) => metric);
  const others = first.targets.slice(1).map(({ target }) => target);
  const rowsOf = others.flatMap((target) =>
    operations.flatMap((operation) => {
      const texts = own
        .filter((one) => one.operation === operation)
        .map(({ metric, targets }) =>
          differenceText(metric.unit, targets.find((one) => one.target === target)?.difference ?? null),
        );
      if (texts.every((text) => text === NONE)) return [];
      const isBeside = (/** @type {ScenarioRow} */ row) =>
        row.run === run && row.operation === operation && [first.base, target].includes(row.target);
      const counts = rows.every((row) => row.counts || row.stage !== null || !isBeside(row));
      return [{ name: innerName({ operation, counts }, target), texts }];
    }),
  );
  const name = `Beside ${first.base}`;
  const columns = heads.map(({ key, label }, i) => {
    const cell = (/** @type {typeof rowsOf[number]} */ { texts }) => texts[i];
    return FEW_DIFFERENCES.has(key) ? figureColumn(label, cell) : detailColumn(label, cell);
  });
  return table(name, [textColumn(name, (row) => row.name), ...columns], rowsOf);
}

/**
 * @param {Pick<ScenarioRow, 'operation' | 'counts'>} row
 * @param {string} name of the row of all operations
 */
function innerName({ operation, counts }, name) {
  return marked({ counts }, operation === null ? name : `– ${operation}`);
}

/** @param {Pick<ScenarioRow, 'counts'>} row @param {string} name */
function marked({ counts }, name) {
  return counts ? name : `${name}${NOT_COUNTED}`;
}

/** @param {number | null} ms */
function timeText(ms) {
  return figureText('ms', ms);
}

/** @param {number | null} share */
function shareText(share) {
  return share === null ? NONE : formatPercent(share);
}
