/** The tables of a scenario's result. */
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { differenceText } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';
import { table } from '../sections.js';
import { SPREAD_COLUMNS } from './runs.js';
import { errorKinds, levelPhrase, shareText, timeColumns, verdictCell } from './words.js';

/** @import { ScenarioResult, ScenarioRow, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Part } from '../sections.js' */
/** @template Row @typedef {import('../sections.js').Column<Row>} Column */

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

/** Differences that a narrow table leaves out. */
const DETAILS = ['p50', 'p90', 'p95', 'p999', 'serviceP99'];

/** @param {ScenarioRow} row */
const self = (row) => row;

/** @type {Column<ScenarioRow>[]} */
const ROW_COLUMNS = [
  ['count', ({ count }) => formatCount(count)],
  ['rate', ({ ratePerSecond }) => formatRate(ratePerSecond)],
  ['throughput', ({ perSecond }) => formatRate(perSecond)],
  ...timeColumns(['mean', 'p50', 'p95', 'p99', 'max'], self, ['p50', 'max']),
  ['success', ({ successRatio }) => shareText(successRatio)],
];

/** @param {ScenarioResult} scenario */
function hasTargets({ steps }) {
  return new Set(steps.map(({ target }) => target)).size > 1;
}

/** @param {Pick<ScenarioRow, 'counts'>} row @param {string} name */
function marked({ counts }, name) {
  return counts ? name : `${name}${NOT_COUNTED}`;
}

/** @param {Pick<ScenarioRow, 'operation' | 'counts'>} row @param {string} name of the row of all operations */
function innerName(row, name) {
  return marked(row, row.operation === null ? name : `– ${row.operation}`);
}

/** @param {ScenarioResult} scenario @param {ScenarioRow} row */
function targetName(scenario, { target }) {
  return hasTargets(scenario) ? target : 'all requests';
}

/** @param {ScenarioResult} scenario @returns {Part[]} a row a run and target */
export function overview(scenario) {
  const hasRuns = new Set(scenario.steps.map(({ run }) => run)).size > 1;
  const nameOf = (/** @type {ScenarioRow} */ { run, target }) => {
    if (!hasTargets(scenario)) return run;
    return hasRuns ? `${run}, ${target}` : target;
  };
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
  return table(
    `Stages of ${target}`,
    [
      [hasTargets(scenario) ? `Stages, ${target}` : 'Stages', (row) => innerName(row, String(row.stage))],
      ['for', ofStage(({ seconds }) => formatDuration(seconds * 1000))],
      ['planned', ofStage(({ from, to }) => levelPhrase(load, from, to))],
      ['rate', ({ ratePerSecond }) => formatRate(ratePerSecond)],
      ['errors', ({ errorShare }) => shareText(errorShare)],
      ...timeColumns(['mean', 'p99'], self),
      ['required', ({ requirement }) => (requirement === null ? '–' : verdictCell(requirement)), 'text'],
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
    // Files from before kinds were kept have none.
    const kinds = (operations.length === 0 ? [whole] : operations).flatMap(
      ({ operation, outcomeDetails = {} }) =>
        errorKinds(outcomeDetails).map(([name, { count, runs, meaning = '' }]) => ({
          name: marked(whole, `– ${operation === null ? '' : `${operation}: `}${name}`),
          runs: whole.runs > 1 ? `${formatCount(runs)} of ${formatCount(whole.runs)}` : '',
          count,
          meaning,
        })),
    );
    const all = {
      name: marked(whole, targetName(scenario, whole)),
      count: whole.errors,
      runs: '',
      meaning: '',
    };
    return [all, ...kinds].map((line) => ({ ...line, share: line.count / whole.count }));
  });
  return table(
    'Errors',
    [
      ['Errors', ({ name }) => name],
      ['count', ({ count }) => formatCount(count)],
      ['share of all', ({ share }) => formatPercent(share)],
      ['in runs', ({ runs }) => runs],
      ['meaning', ({ meaning }) => meaning, 'text'],
    ],
    lines,
  );
}

/** @param {ScenarioRow[]} rows of a run, without stages @returns {Part[]} target by target for each metric; none where no step has two runs */
export function spreadTables(rows) {
  const operations = [...new Set(rows.map(({ operation }) => operation))];
  return operations.flatMap((operation) => {
    const own = rows.filter((row) => row.operation === operation);
    const spreads = SPREAD_METRICS.flatMap(([key, label, unit]) =>
      own.flatMap((row) => {
        const spread = row.overRuns?.[key];
        return spread === undefined ? [] : [{ name: marked(row, `${label}, ${row.target}`), unit, spread }];
      }),
    );
    const name = operation === null ? 'Over runs' : `Over runs, ${operation}`;
    return table(name, [[name, (spread) => spread.name], ...SPREAD_COLUMNS], spreads);
  });
}

/**
 * How far each target but the first is from it, operation by operation.
 * @param {ScenarioResult['differences']} differences of a run @param {ScenarioRow[]} rows of the run, without stages
 * @returns {Part[]}
 */
export function differenceTable(differences, rows) {
  if (differences.length === 0) return [];
  const [{ base, targets }] = differences;
  const metrics = differences.filter(({ operation }) => operation === null).map(({ metric }) => metric);
  const operations = [...new Set(differences.map(({ operation }) => operation))];
  /** @typedef {Pick<ScenarioRow, 'target' | 'operation' | 'counts'>} Line */
  const differenceOf = (/** @type {Line} */ { target, operation }, /** @type {string} */ key) => {
    const found = differences.find((one) => one.operation === operation && one.metric.key === key);
    return found?.targets.find((one) => one.target === target)?.difference ?? null;
  };
  const lines = targets.slice(1).flatMap(({ target }) =>
    operations.map((operation) => {
      const compared = rows.filter(
        (row) => row.operation === operation && [base, target].includes(row.target),
      );
      return { target, operation, counts: compared.every(({ counts }) => counts) };
    }),
  );
  /** @type {Column<Line>[]} */
  const columns = metrics.map(({ key, label, unit }) => [
    label,
    (line) => differenceText(unit, differenceOf(line, key)),
    DETAILS.includes(key) ? 'detail' : undefined,
  ]);
  return table(
    `Beside ${base}`,
    [[`Beside ${base}`, (line) => innerName(line, line.target)], ...columns],
    lines.filter((line) => metrics.some(({ key }) => differenceOf(line, key) !== null)),
  );
}
