/** Results of a step's runs -> its rows: all runs merged, by operation and stage. */
import { sumHistograms } from '../../common/histogram.js';
import { groupBy, total } from '../../common/sums.js';
import { figuresOf } from '../latency.js';
import { METRICS, summarize } from '../runs/run-set.js';

/** @import { OperationBlock, Result } from '../schema.js' */
/** @import { ScenarioRow } from './scenario-schema.js' */

/**
 * One operation in one stage of one run. `seconds`: the window of its rate
 * @typedef {{operation: string | null, stage: string | null, block: OperationBlock, offeredSeconds: number, seconds: number}} RunCell
 */
/** @typedef {Pick<ScenarioRow, 'run' | 'target' | 'counts'>} StepRow `counts`: false if no run counts */
/** @typedef {Record<string, (number | null)[]>} PerRun by key of METRICS; one value per run */

/** The whole first, its operations, then stage by stage. @param {readonly Result[]} results @param {StepRow} step */
export function rowsOf(results, step) {
  const keyOf = (/** @type {RunCell} */ { stage, operation }) => JSON.stringify([stage, operation]);
  return groupBy(results.flatMap(cellsOf), keyOf).map((own) => rowOf(own, step));
}

/** @param {readonly Result[]} results @param {string | null} operation @returns {PerRun} over all stages */
export function valuesPerRun(results, operation) {
  const cells = results.flatMap(cellsOf);
  return perRunOf(cells.filter((cell) => cell.stage === null && cell.operation === operation));
}

/** @param {RunCell[]} cells */
function perRunOf(cells) {
  return Object.fromEntries(METRICS.map(({ key, read }) => [key, cells.map(({ block }) => read(block))]));
}

/** @param {Result} result @returns {RunCell[]} the whole first, its operations if there are several, then stage by stage */
function cellsOf(result) {
  const seconds = result.windowSeconds ?? result.durationSeconds;
  const whole = { stage: null, seconds, offeredSeconds: offeredSecondsOf(result, seconds), of: result };
  const stages = (result.stages ?? []).map((of) => {
    return { stage: of.name, seconds: of.windowSeconds ?? of.seconds, offeredSeconds: of.seconds, of };
  });
  return [whole, ...stages].flatMap(({ of, ...scope }) => {
    const operations = Object.entries(of.operations).map(([operation, block]) => ({ operation, block }));
    const blocks = [{ operation: null, block: of }, ...(operations.length < 2 ? [] : operations)];
    return blocks.map((block) => ({ ...block, ...scope }));
  });
}

/** Time in which requests were due, without a backlog after it. @param {Result} result @param {number} windowSeconds */
function offeredSecondsOf({ load, totals, interrupted, stages = [] }, windowSeconds) {
  const { model, rampUpMs, requests, ratePerSecond, durationMs } = load;
  if (interrupted || model === 'closed') return windowSeconds;
  const isConstant = rampUpMs === 0 && stages.length === 0;
  const byRequests =
    isConstant && requests !== null && ratePerSecond ? totals.planned / ratePerSecond : windowSeconds;
  return Math.min(windowSeconds, byRequests, (durationMs ?? Number.POSITIVE_INFINITY) / 1000);
}

/** @param {RunCell[]} cells of the same operation and stage, one per run @param {StepRow} step */
function rowOf(cells, { run, target, counts }) {
  const [{ operation, stage }] = cells;
  const sum = (/** @type {(cell: RunCell) => number} */ of) => total(cells.map(of));
  const succeeded = sum(({ block }) => block.totals.succeeded);
  const errors = sum(({ block }) => block.totals.errors);
  const count = succeeded + errors;
  const offeredSeconds = sum((cell) => cell.offeredSeconds);
  // The window of a rate ends with the last success if that was late.
  const seconds = sum(({ block: { rates, totals }, seconds: measured }) =>
    rates.perSecond > 0 ? totals.succeeded / rates.perSecond : measured,
  );
  const histograms = cells.flatMap(({ block }) => block.latencyMs.response.histogram ?? []);
  return {
    ...{ run, target, operation, stage, runs: cells.length, counts, count, succeeded, errors },
    ratePerSecond: offeredSeconds > 0 ? count / offeredSeconds : 0,
    perSecond: seconds > 0 ? succeeded / seconds : 0,
    ...figuresOf(sumHistograms(histograms)),
    successRatio: count === 0 ? null : succeeded / count,
    errorShare: count === 0 ? null : errors / count,
    outcomeDetails: outcomesOf(cells),
    overRuns: cells.length < 2 ? null : spreadsOf(perRunOf(cells)),
  };
}

/** @param {RunCell[]} cells @returns {NonNullable<ScenarioRow['outcomeDetails']>} */
function outcomesOf(cells) {
  const all = cells.flatMap(({ block }) => Object.entries(block.outcomeDetails));
  const occurred = all.filter(([, { count }]) => count > 0);
  return Object.fromEntries(
    groupBy(occurred, ([name]) => name).map((alike) => {
      const [[name, { success, meaning }]] = alike;
      const count = total(alike.map(([, outcome]) => outcome.count));
      return [name, { count, success, ...(meaning ? { meaning } : {}), runs: alike.length }];
    }),
  );
}

/** @param {PerRun} perRun @returns {NonNullable<ScenarioRow['overRuns']>} */
function spreadsOf(perRun) {
  const [mean, p99, max, min, perSecond] = ['mean', 'p99', 'max', 'min', 'rate'].map((key) => {
    const summary = summarize(perRun[key]);
    return { ...summary, sd: summary.variance === null ? null : Math.sqrt(summary.variance) };
  });
  return { mean, p99, max, min, perSecond };
}
