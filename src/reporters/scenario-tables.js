/** The tables of a scenario's result, as cells; shared by the reporters for people. Nothing is reckoned here. */
import { deviationText, differenceText, figureText, varianceText } from '../results/runs/figures.js';
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration, formatRate } from '../units.js';
import { counted, loadPhrase, targetPhrase } from './phrases.js';

/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioRow} ScenarioRow */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('../results/scenario/scenario-schema.js').TargetDifference} TargetDifference */
/** @typedef {{name: string, isInner: boolean, cells: string[]}} TableRow `isInner`: a part of the row above */
/** @typedef {{headings: string[], rows: TableRow[]}} CellTable headings of the cells; that of the names is the reporter's */

/** Stands where there is no figure. */
const NONE = '–';

/** The operations of one target, together. */
export const ALL = 'all requests';

/** Behind the name of what no run that counts has shown. */
export const NOT_COUNTED = ' *';
export const NOT_COUNTED_NOTE = '* no run of it counts: this is what those that do not have shown.';

/** What test authors publish. */
const ROW_HEADINGS = Object.freeze(['count', 'rate', 'throughput', 'mean', '95th %', '99th %', 'success']);

const STAGE_HEADINGS = Object.freeze(['for', 'planned', 'rate', 'errors', 'mean', '99th %', 'required']);

const SPREAD_HEADINGS = Object.freeze(['mean', 'variance', 'std dev', 'min', 'max', 'to first']);

/** Of the means over runs. */
const SPREAD_METRICS = /** @type {const} */ ([
  ['mean', 'mean', 'ms'],
  ['p99', 'p99', 'ms'],
  ['max', 'max', 'ms'],
  ['min', 'min', 'ms'],
  ['perSecond', 'throughput', '/s'],
]);

/** Differences in a table 80 columns wide. */
export const FEW_DIFFERENCES = Object.freeze(['mean', 'p99', 'max', 'min', 'perSecond', 'errorShare']);

/** @param {ScenarioResult} scenario @returns {string[]} names */
export function runsOf({ steps }) {
  return [...new Set(steps.map(({ run }) => run))];
}

/** @param {ScenarioResult} scenario */
export function hasTargets({ steps }) {
  return new Set(steps.map(({ target }) => target)).size > 1;
}

/**
 * @param {ScenarioStep} step
 * @returns {string} `open loop at 20/s, 20 s, 4 runs`; `open loop in 3 stages up to 200/s, 1 min`
 */
export function stepPhrase({ load, stages, repeat }) {
  const phrase = loadPhrase({ ...load, stageCount: stages.length });
  return repeat === 1 ? phrase : `${phrase}, ${counted(repeat, 'run')}`;
}

/**
 * @param {ScenarioStep} step
 * @returns {string} what was aimed at, and how many of its runs count
 */
export function targetOfStep({ target, aim, runs, used, repeat }) {
  const what = aim === null ? 'nothing could be sent' : targetPhrase(aim);
  const made =
    used.length === runs.length && runs.length === repeat
      ? ''
      : `; ${runs.length} of ${counted(repeat, 'run')} made, ${used.length} count`;
  // A target without a name of its own goes by its URL; one may be called http.
  const isItsUrl = aim?.url === target || aim?.url.startsWith(`${target.replace(/\/$/, '')}/`);
  return isItsUrl ? `${what}${made}` : `${target}: ${what}${made}`;
}

/**
 * Operation by operation below each target.
 *
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {CellTable}
 */
export function rowTable(scenario, run) {
  const rows = scenario.rows.filter((row) => row.run === run && row.stage === null);
  const several = hasTargets(scenario);
  return {
    headings: [...ROW_HEADINGS],
    rows: rows.map((row) => ({
      ...nameOf(row, several ? row.target : ALL),
      cells: [
        formatCount(row.count),
        formatRate(row.ratePerSecond),
        formatRate(row.perSecond),
        ...[row.mean, row.p95, row.p99].map(timeText),
        shareText(row.successRatio),
      ],
    })),
  };
}

/**
 * @param {ScenarioResult} scenario
 * @param {ScenarioStep} step
 * @param {boolean} [withOperations]
 * @returns {CellTable} no rows where it has no stages
 */
export function stageTable({ rows }, step, withOperations = true) {
  const own = rows.filter((row) => row.run === step.run && row.target === step.target && row.stage !== null);
  return {
    headings: [...STAGE_HEADINGS],
    rows: own
      .filter(({ operation }) => withOperations || operation === null)
      .map((row) => ({
        ...nameOf(row, String(row.stage)),
        cells: [
          ...(row.operation === null ? plannedCells(step, row.stage) : ['', '']),
          formatRate(row.ratePerSecond),
          shareText(row.errorShare),
          timeText(row.mean),
          timeText(row.p99),
          row.requirement ?? NONE,
        ],
      })),
  };
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {string | null} operation
 * @returns {CellTable} target by target for each metric; no rows where no step has two runs
 */
export function spreadTable({ rows, differences }, run, operation) {
  const own = rows.filter((row) => row.run === run && row.stage === null && row.operation === operation);
  return {
    headings: [...SPREAD_HEADINGS],
    rows: SPREAD_METRICS.flatMap(([key, label, unit]) =>
      own.flatMap(({ target, counts, overRuns }) => {
        if (overRuns === null) return [];
        const spread = overRuns[key];
        const beside = differences.find(
          (one) => one.run === run && one.operation === operation && one.metric.key === key,
        );
        const difference = beside?.targets.find((one) => one.target === target)?.difference ?? null;
        const hasBase = own.every((row) => row.counts || row.target !== beside?.base);
        const cells = [
          figureText(unit, spread.mean),
          varianceText(unit, spread),
          deviationText(unit, spread),
          figureText(unit, spread.min),
          figureText(unit, spread.max),
          `${differenceText(unit, difference)}${difference === null || hasBase ? '' : NOT_COUNTED}`,
        ];
        return [{ name: `${label}, ${target}${counts ? '' : NOT_COUNTED}`, isInner: false, cells }];
      }),
    ),
  };
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {readonly string[] | null} [keys] null: all
 * @returns {CellTable & {base: string}} how far each target but the first is from it, operation by operation
 */
export function differenceTable({ differences, rows }, run, keys = null) {
  const own = differences.filter(
    (one) => one.run === run && (keys === null || keys.includes(one.metric.key)),
  );
  const operations = [...new Set(own.map(({ operation }) => operation))];
  const [first] = own;
  const others = first === undefined ? [] : first.targets.slice(1).map(({ target }) => target);
  return {
    base: first?.base ?? '',
    headings: own.filter(({ operation }) => operation === null).map(({ metric }) => metric.label),
    rows: others.flatMap((target) =>
      operations.flatMap((operation) => {
        const cells = own
          .filter((one) => one.operation === operation)
          .map(({ metric, targets }) =>
            differenceText(metric.unit, targets.find((one) => one.target === target)?.difference ?? null),
          );
        if (cells.every((cell) => cell === NONE)) return [];
        const isBeside = (/** @type {ScenarioRow} */ row) =>
          row.run === run && row.operation === operation && [first.base, target].includes(row.target);
        const counts = rows.every((row) => row.counts || row.stage !== null || !isBeside(row));
        return [{ ...nameOf({ operation, counts }, target), cells }];
      }),
    ),
  };
}

/**
 * @param {ScenarioStep['requirements'][number]} requirement
 * @param {ScenarioStep} step
 * @returns {string} `p99<200ms: it was 3.2 ms`; of several runs, in how many it was what
 */
export function requirementText({ text, verdicts, reason }, { runs }) {
  const how =
    runs.length < 2
      ? ''
      : ` (${Object.entries(verdicts)
          .map(([verdict, count]) => `${verdict} in ${counted(count, 'run')}`)
          .join(', ')})`;
  return `${text}${how}: ${reason}`;
}

/**
 * @param {ScenarioStep} step
 * @returns {string} `valid in 3 runs, invalid in 1 run`
 */
export function measurementText({ measurement: { verdict, verdicts } }) {
  const given = Object.entries(verdicts);
  if (verdict === null) return 'not measured';
  if (given.length === 1) return verdict;
  return given.map(([one, count]) => `${one} in ${counted(count, 'run')}`).join(', ');
}

/**
 * @param {ScenarioResult['comparisons'][number]} comparison
 * @returns {string}
 */
export function comparisonName({ run, operation }) {
  return operation === null ? run : `${run}, ${operation}`;
}

/**
 * @param {Pick<ScenarioRow, 'operation' | 'counts'>} row
 * @param {string} name of the row of all operations
 */
export function nameOf({ operation, counts }, name) {
  const marked = `${operation ?? name}${counts ? '' : NOT_COUNTED}`;
  return { name: marked, isInner: operation !== null };
}

/**
 * @param {ScenarioStep} step
 * @param {string | null} name of a stage
 * @returns {[string, string]} how long, and from what to what
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

/** @param {number | null} ms */
function timeText(ms) {
  return figureText('ms', ms);
}

/** @param {number | null} share */
function shareText(share) {
  return share === null ? NONE : formatPercent(share);
}
