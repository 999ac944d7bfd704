/** The tables of a scenario's result. Shares of errors are all that is computed here. */

import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { differenceText, figureText } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';
import { details, figures, table, texts } from '../sections.js';
import { SPREAD_COLUMNS, spreadCells } from './runs.js';
import { errorKinds } from './words.js';

/** @typedef {import('../../result/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../../result/scenario/scenario-schema.js').ScenarioRow} ScenarioRow */
/** @typedef {import('../../result/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('../sections.js').Part} Part */

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

/** Of rows, as `rowCells`. */
const ROW_COLUMNS = [
  ...figures('count', 'rate', 'throughput', 'mean'),
  ...details(...figures('p50')),
  ...figures('p95', 'p99'),
  ...details(...figures('max')),
  ...figures('success'),
];

/** @param {ScenarioRow} row */
function rowCells(row) {
  return [
    formatCount(row.count),
    formatRate(row.ratePerSecond),
    formatRate(row.perSecond),
    ...[row.mean, row.p50, row.p95, row.p99, row.max].map(timeText),
    shareText(row.successRatio),
  ];
}

/** @param {ScenarioResult} scenario @returns {Part[]} a row a run and target */
export function overview(scenario) {
  const several = hasTargets(scenario);
  const runs = new Set(scenario.steps.map(({ run }) => run)).size;
  const rows = scenario.rows
    .filter(({ stage, operation }) => stage === null && operation === null)
    .map((row) => [marked(row, nameOf(row, runs > 1, several)), ...rowCells(row)]);
  return table('All requests of each run', [...texts('Run'), ...ROW_COLUMNS], rows);
}

/**
 * @param {ScenarioRow} row
 * @param {boolean} hasRuns there are several
 * @param {boolean} hasSeveralTargets
 */
function nameOf({ run, target }, hasRuns, hasSeveralTargets) {
  if (!hasSeveralTargets) return run;
  return hasRuns ? `${run}, ${target}` : target;
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {Part[]} of a mix: each operation below its target
 */
export function operationTable(scenario, run) {
  const rows = scenario.rows.filter((row) => row.run === run && row.stage === null);
  if (rows.every(({ operation }) => operation === null)) return [];
  const several = hasTargets(scenario);
  return table(
    'Each operation',
    [...texts('Operation'), ...ROW_COLUMNS],
    rows.map((row) => [innerName(row, several ? row.target : 'all requests'), ...rowCells(row)]),
  );
}

/**
 * @param {ScenarioResult} scenario
 * @param {ScenarioStep} step
 * @returns {Part[]}
 */
export function stageTable(scenario, step) {
  const own = scenario.rows.filter(
    (row) => row.run === step.run && row.target === step.target && row.stage !== null,
  );
  const columns = [
    ...texts(hasTargets(scenario) ? `Stages, ${step.target}` : 'Stages'),
    ...figures('for', 'planned', 'rate', 'errors', 'mean', 'p99'),
    ...texts('required'),
  ];
  const rows = own.map((row) => [
    innerName(row, String(row.stage)),
    ...(row.operation === null ? plannedCells(step, row.stage) : ['', '']),
    formatRate(row.ratePerSecond),
    shareText(row.errorShare),
    timeText(row.mean),
    timeText(row.p99),
    row.requirement === null ? NONE : { text: row.requirement, verdict: row.requirement },
  ]);
  return table(`Stages of ${step.target}`, columns, rows);
}

/**
 * @param {ScenarioStep} step
 * @param {string | null} name of a stage
 * @returns {[string, string]} its length, and its level from and to
 */
function plannedCells({ stages, load }, name) {
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) return [NONE, NONE];
  const { from, to, seconds } = stage;
  const level = (/** @type {number} */ value) =>
    load.model === 'open' ? formatRate(value) : `${formatCount(value)} in flight`;
  const short = load.model === 'open' ? level(from).replace(/\/s$/, '') : formatCount(from);
  return [formatDuration(seconds * 1000), from === to ? level(to) : `${short} to ${level(to)}`];
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
  const several = hasTargets(scenario);
  const isRepeated = wholes.some(({ runs, outcomeDetails }) => runs > 1 && outcomeDetails !== undefined);
  const inRuns = (/** @type {string} */ text) => (isRepeated ? [text] : []);
  const columns = [
    ...texts('Errors'),
    ...figures('count', 'share of all', ...inRuns('in runs')),
    ...texts('meaning'),
  ];
  const rows = wholes.flatMap((whole) => [
    [
      marked(whole, several ? whole.target : 'all requests'),
      formatCount(whole.errors),
      formatPercent(whole.errors / whole.count),
      ...inRuns(''),
      '',
    ],
    ...kindsOf(scenario, whole).map(({ label, count, runs, meaning = '' }) => [
      marked(whole, `– ${label}`),
      formatCount(count),
      formatPercent(count / whole.count),
      ...inRuns(`${formatCount(runs)} of ${formatCount(whole.runs)}`),
      meaning,
    ]),
  ]);
  return table('Errors', columns, rows);
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
    const cells = SPREAD_METRICS.flatMap(([key, label, unit]) =>
      own.flatMap((row) => {
        if (row.overRuns === null) return [];
        const beside = differences.find(
          (one) => one.run === run && one.operation === operation && one.metric.key === key,
        );
        const difference = beside?.targets.find(({ target }) => target === row.target)?.difference ?? null;
        const isUnmarked =
          difference === null || own.every(({ counts, target }) => counts || target !== beside?.base);
        return [
          [
            marked(row, `${label}, ${row.target}`),
            ...spreadCells(unit, row.overRuns[key]),
            `${differenceText(unit, difference)}${isUnmarked ? '' : NOT_COUNTED}`,
          ],
        ];
      }),
    );
    const name = operation === null ? 'Over runs' : `Over runs, ${operation}`;
    return table(name, [...texts(name), ...SPREAD_COLUMNS, ...figures('to first')], cells);
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
  const cells = others.flatMap((target) =>
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
      return [[innerName({ operation, counts }, target), ...texts]];
    }),
  );
  const columns = heads.map(({ key, label }) =>
    FEW_DIFFERENCES.has(key) ? { name: label } : { name: label, isDetail: true },
  );
  return table(`Beside ${first.base}`, [...texts(`Beside ${first.base}`), ...columns], cells);
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
