/** Results of a step's runs -> its rows: all runs merged, by operation and stage. */
import { sumHistograms } from '../../common/histogram.js';
import { groupBy, total } from '../../common/sums.js';
import { figuresOf } from '../latency.js';
import { METRICS, summarise } from '../runs/run-set.js';

/** @import { OperationBlock, Result } from '../schema.js' */
/** @import { ScenarioRow } from './scenario-schema.js' */

/**
 * Of one run. `seconds`: measured
 * @typedef {{operation: string | null, stage: string | null, block: OperationBlock, offeredSeconds: number, seconds: number}} Part
 */
/** @typedef {Pick<ScenarioRow, 'run' | 'target' | 'counts'>} StepRow `counts`: false if no run counts */
/** @typedef {Record<string, (number | null)[]>} PerRun by key of METRICS; one value per run */

/** The whole first, its operations, then stage by stage. @param {readonly Result[]} results @param {StepRow} step */
export function rowsOf(results, step) {
  const keyOf = (/** @type {Part} */ { stage, operation }) => JSON.stringify([stage, operation]);
  return groupBy(results.flatMap(partsOf), keyOf).map((own) => rowOf(own, step));
}

/** @param {readonly Result[]} results @param {string | null} operation @returns {PerRun} over all stages */
export function valuesPerRun(results, operation) {
  const parts = results.flatMap(partsOf);
  return perRunOf(parts.filter((part) => part.stage === null && part.operation === operation));
}

/** @param {Part[]} parts */
function perRunOf(parts) {
  return Object.fromEntries(METRICS.map(({ key, read }) => [key, parts.map(({ block }) => read(block))]));
}

/** @param {Result} result @returns {Part[]} the whole first, its operations if there are several, then stage by stage */
function partsOf(result) {
  const seconds = result.windowSeconds ?? result.durationSeconds;
  const whole = { stage: null, seconds, offeredSeconds: offeredSecondsOf(result, seconds), of: result };
  const stages = (result.stages ?? []).map((of) => {
    return { stage: of.name, seconds: of.windowSeconds, offeredSeconds: of.seconds, of };
  });
  return [whole, ...stages].flatMap(({ of, ...cell }) => {
    const operations = Object.entries(of.operations).map(([operation, block]) => ({ operation, block }));
    const parts = [{ operation: null, block: of }, ...(operations.length < 2 ? [] : operations)];
    return parts.map((part) => ({ ...part, ...cell }));
  });
}

/** Time in which requests were due, without a backlog after it. @param {Result} result @param {number} windowSeconds */
function offeredSecondsOf({ load, totals, interrupted, stages = [] }, windowSeconds) {
  const { model, rampUpMs, requests, ratePerSecond, durationMs } = load;
  if (interrupted || model === 'closed') return windowSeconds;
  const isEven = rampUpMs === 0 && stages.length === 0;
  const byRequests =
    isEven && requests !== null && ratePerSecond ? totals.planned / ratePerSecond : windowSeconds;
  return Math.min(windowSeconds, byRequests, (durationMs ?? Number.POSITIVE_INFINITY) / 1000);
}

/** @param {Part[]} parts of the same operation and stage, one per run @param {StepRow} step */
function rowOf(parts, { run, target, counts }) {
  const [{ operation, stage }] = parts;
  const sum = (/** @type {(part: Part) => number} */ of) => total(parts.map(of));
  const succeeded = sum(({ block }) => block.totals.succeeded);
  const errors = sum(({ block }) => block.totals.errors);
  const count = succeeded + errors;
  const offeredSeconds = sum((part) => part.offeredSeconds);
  // The window of a rate ends with the last success if that was late.
  const seconds = sum(({ block: { rates, totals }, seconds: measured }) =>
    rates.perSecond > 0 ? totals.succeeded / rates.perSecond : measured,
  );
  const histograms = parts.flatMap(({ block }) => block.latencyMs.response.histogram ?? []);
  return {
    ...{ run, target, operation, stage, runs: parts.length, counts, count, succeeded, errors },
    ratePerSecond: offeredSeconds > 0 ? count / offeredSeconds : 0,
    perSecond: seconds > 0 ? succeeded / seconds : 0,
    ...figuresOf(sumHistograms(histograms)),
    successRatio: count === 0 ? null : succeeded / count,
    errorShare: count === 0 ? null : errors / count,
    outcomeDetails: outcomesOf(parts),
    overRuns: parts.length < 2 ? null : spreadsOf(perRunOf(parts)),
  };
}

/** @param {Part[]} parts @returns {NonNullable<ScenarioRow['outcomeDetails']>} */
function outcomesOf(parts) {
  const all = parts.flatMap(({ block }) => Object.entries(block.outcomeDetails));
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
    const summary = summarise(perRun[key]);
    return { ...summary, sd: summary.variance === null ? null : Math.sqrt(summary.variance) };
  });
  return { mean, p99, max, min, perSecond };
}
