/** Results of the runs of one step -> its rows: all runs together, by operation and stage. */
import { sumHistograms } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { figuresOf } from '../latency.js';
import { METRICS, summarise } from '../runs/run-set.js';

/** @import { OperationBlock, Result } from '../schema.js' */
/** @import { ScenarioRow } from './scenario-schema.js' */

/** @typedef {{operation: string | null, stage: string | null, block: OperationBlock, offeredSeconds: number, seconds: number}} Part `seconds`: measured */
/** @typedef {Record<string, (number | null)[]>} PerRun by key of METRICS; one value for each run */

/**
 * @param {readonly Result[]} results @param {Pick<ScenarioRow, 'run' | 'target' | 'counts'>} step `counts`: the results do
 * @returns {Omit<ScenarioRow, 'requirement'>[]} the whole first, its operations, then stage by stage
 */
export function rowsOf(results, step) {
  /** In order of appearance. @type {Map<string, Part[]>} */
  const cells = new Map();
  for (const part of results.flatMap(partsOf)) {
    const key = JSON.stringify([part.stage, part.operation]);
    cells.set(key, [...(cells.get(key) ?? []), part]);
  }
  return [...cells.values()].map((parts) => rowOf(parts, step));
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

/**
 * A single operation has no row beside that of the whole.
 * @param {Result} result @returns {Part[]} the whole first, its operations, then stage by stage
 */
function partsOf(result) {
  const seconds = result.windowSeconds ?? result.durationSeconds;
  const whole = { stage: null, seconds, offeredSeconds: offeredSecondsOf(result, seconds), of: result };
  const stages = (result.stages ?? []).map((of) => {
    return { stage: of.name, seconds: of.windowSeconds, offeredSeconds: of.seconds, of };
  });
  return [whole, ...stages].flatMap(({ of, ...cell }) => {
    const operations = Object.entries(of.operations);
    const single = operations.length < 2 ? [] : operations;
    return [
      { operation: null, block: of, ...cell },
      ...single.map(([operation, block]) => ({ operation, block, ...cell })),
    ];
  });
}

/** A target that works off a backlog after the last request was due is offered no less for it. @param {Result} result @param {number} windowSeconds */
function offeredSecondsOf({ load, totals, interrupted, stages = [] }, windowSeconds) {
  const { model, rampUpMs, requests, ratePerSecond, durationMs } = load;
  if (interrupted || model === 'closed') return windowSeconds;
  const isEven = rampUpMs === 0 && stages.length === 0;
  const byRequests =
    isEven && requests !== null && ratePerSecond ? totals.planned / ratePerSecond : windowSeconds;
  return Math.min(windowSeconds, byRequests, (durationMs ?? Number.POSITIVE_INFINITY) / 1000);
}

/** @param {Part[]} parts of one cell, of each run @param {Pick<ScenarioRow, 'run' | 'target' | 'counts'>} step */
function rowOf(parts, { run, target, counts }) {
  const [{ operation, stage }] = parts;
  const sum = (/** @type {(part: Part) => number} */ of) => total(parts.map(of));
  const succeeded = sum(({ block }) => block.totals.succeeded);
  const errors = sum(({ block }) => block.totals.errors);
  const count = succeeded + errors;
  const offeredSeconds = sum((part) => part.offeredSeconds);
  // The window of a rate ends with the last success where that came late.
  const seconds = sum(({ block: { rates, totals }, seconds: measured }) =>
    rates.perSecond > 0 ? totals.succeeded / rates.perSecond : measured,
  );
  const { min, mean, p50, p95, p99, max } = figuresOf(
    sumHistograms(parts.flatMap(({ block }) => block.latencyMs.response.histogram ?? [])),
  );
  return {
    ...{ run, target, operation, stage, runs: parts.length, counts, count, succeeded, errors },
    ratePerSecond: offeredSeconds > 0 ? count / offeredSeconds : 0,
    perSecond: seconds > 0 ? succeeded / seconds : 0,
    ...{ min, mean, p50, p95, p99, max },
    successRatio: count === 0 ? null : succeeded / count,
    errorShare: count === 0 ? null : errors / count,
    outcomeDetails: outcomesOf(parts),
    overRuns: parts.length < 2 ? null : spreadsOf(perRunOf(parts)),
  };
}

/** @param {Part[]} parts @returns {NonNullable<ScenarioRow['outcomeDetails']>} */
function outcomesOf(parts) {
  /** @type {Map<string, NonNullable<ScenarioRow['outcomeDetails']>[string]>} */
  const outcomes = new Map();
  const all = parts.flatMap(({ block }) => Object.entries(block.outcomeDetails));
  for (const [name, { count, success, meaning }] of all) {
    if (count === 0) continue;
    const known = outcomes.get(name) ?? { count: 0, success, ...(meaning ? { meaning } : {}), runs: 0 };
    outcomes.set(name, { ...known, count: known.count + count, runs: known.runs + 1 });
  }
  return Object.fromEntries(outcomes);
}

/** @param {PerRun} perRun @returns {NonNullable<ScenarioRow['overRuns']>} */
function spreadsOf(perRun) {
  const [mean, p99, max, min, perSecond] = ['mean', 'p99', 'max', 'min', 'rate'].map((key) => {
    const summary = summarise(perRun[key]);
    return { ...summary, sd: summary.variance === null ? null : Math.sqrt(summary.variance) };
  });
  return { mean, p99, max, min, perSecond };
}
