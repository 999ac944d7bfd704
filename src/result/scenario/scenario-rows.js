/**
 * Results of one step, one after the other -> its rows. Results are kept as sums, so that a hundred runs cost no more
 * memory than one, and a file that is written after each run no more time.
 */
import { createHistogram, meanOf, sumHistograms, valueAtRank, valueAtShare } from '../../common/histogram.js';
import { summarise } from '../runs/run-metrics.js';

/** @import { Result } from '../schema.js' */
/** @import { ScenarioRow } from './scenario-schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {NonNullable<ScenarioRow['outcomeDetails']>[string]} OutcomeOfRuns */
/** @typedef {Pick<Result, 'totals' | 'rates' | 'latencyMs' | 'outcomeDetails'>} Block of a run, of a stage, of an operation of either */
/** @typedef {{operation: string | null, stage: string | null}} Cell */
/** @typedef {Cell & {block: Block, offeredSeconds: number, seconds: number}} Part `seconds`: that it was measured for */

/** Figures of every run that a row reports with mean and variance over runs. */
const OVER_RUNS = /** @type {const} */ (['mean', 'p99', 'max', 'min', 'perSecond']);

/** @typedef {typeof OVER_RUNS[number] | 'p50' | 'p95' | 'errorShare'} PerRunKey also compared between targets */
/** @typedef {Record<PerRunKey, (number | null)[]>} PerRun one value for each run */

/** @param {Pick<ScenarioRow, 'run' | 'target'>} step */
export function createRows({ run, target }) {
  /** In order of appearance. @type {Map<string, ReturnType<typeof createCell>>} */
  const cells = new Map();
  return {
    /** @param {Result} result of another run */
    add(result) {
      for (const part of partsOf(result)) {
        const key = JSON.stringify([part.stage, part.operation]);
        const cell = cells.get(key) ?? createCell(part);
        cells.set(key, cell);
        cell.add(part);
      }
    },
    /** @param {boolean} counts the results added do @returns {Omit<ScenarioRow, 'requirement'>[]} */
    rows: (counts) => [...cells.values()].map((cell) => ({ run, target, ...cell.row(counts) })),
    /** @param {string | null} operation @returns {PerRun | null} over all stages; null: there is none such */
    perRun: (operation) => cells.get(JSON.stringify([null, operation]))?.perRun ?? null,
  };
}

/**
 * Of a single operation there is no row beside that of the whole.
 *
 * @param {Result} result
 * @returns {Part[]} the whole first, its operations, then stage by stage
 */
function partsOf(result) {
  const windowSeconds = result.windowSeconds ?? result.durationSeconds;
  const whole = { seconds: windowSeconds, offeredSeconds: offeredSecondsOf(result, windowSeconds) };
  const stages = (result.stages ?? []).map((stage) => ({ stage, seconds: stage.windowSeconds }));
  return [
    ...withOperations(result, { stage: null, ...whole }),
    ...stages.flatMap(({ stage, seconds }) =>
      withOperations(stage, { stage: stage.name, seconds, offeredSeconds: stage.seconds }),
    ),
  ];
}

/**
 * @param {Block & {operations: Record<string, Block>}} block
 * @param {Omit<Part, 'operation' | 'block'>} of
 * @returns {Part[]}
 */
function withOperations(block, of) {
  const operations = Object.entries(block.operations);
  return [
    { operation: null, block, ...of },
    ...(operations.length < 2
      ? []
      : operations.map(([operation, own]) => ({ operation, block: own, ...of }))),
  ];
}

/**
 * A target that works off a backlog after the last request was due is offered no less for it.
 *
 * @param {Result} result
 * @param {number} windowSeconds
 */
function offeredSecondsOf({ load, totals, interrupted, stages }, windowSeconds) {
  if (interrupted || load.model === 'closed') return windowSeconds;
  const isEven = load.rampUpMs === 0 && (stages ?? []).length === 0;
  const byRequests =
    isEven && load.requests !== null && load.ratePerSecond !== null && load.ratePerSecond > 0
      ? totals.planned / load.ratePerSecond
      : windowSeconds;
  return Math.min(windowSeconds, byRequests, (load.durationMs ?? Number.POSITIVE_INFINITY) / 1000);
}

/** @param {Cell} cell */
function createCell({ operation, stage }) {
  let all = createHistogram();
  const sums = { runs: 0, succeeded: 0, errors: 0, offeredSeconds: 0, seconds: 0 };
  /** @type {PerRun} */
  const perRun = { mean: [], p99: [], max: [], min: [], perSecond: [], p50: [], p95: [], errorShare: [] };
  /** @type {Map<string, OutcomeOfRuns>} */
  const outcomes = new Map();

  /** @param {Part} part of another run */
  function add({ block: { totals, rates, latencyMs, outcomeDetails }, offeredSeconds, seconds }) {
    const { response } = latencyMs;
    const { succeeded, errors } = totals;
    if (response.histogram !== null) all = sumHistograms([all, response.histogram]);
    sums.runs++;
    sums.succeeded += succeeded;
    sums.errors += errors;
    sums.offeredSeconds += offeredSeconds;
    // Rates are reckoned until the last success where that came late.
    sums.seconds += rates.perSecond > 0 ? succeeded / rates.perSecond : seconds;
    for (const key of /** @type {const} */ (['mean', 'p50', 'p95', 'p99', 'max', 'min'])) {
      perRun[key].push(response[key]);
    }
    perRun.perSecond.push(rates.perSecond);
    perRun.errorShare.push(shareOf(errors, succeeded + errors));
    addOutcomes(outcomes, outcomeDetails);
  }

  /** @param {boolean} counts */
  function row(counts) {
    const { runs, succeeded, errors, offeredSeconds, seconds } = sums;
    const count = succeeded + errors;
    return {
      operation,
      stage,
      runs,
      counts,
      count,
      succeeded,
      errors,
      ratePerSecond: offeredSeconds > 0 ? count / offeredSeconds : 0,
      perSecond: seconds > 0 ? succeeded / seconds : 0,
      ...timesOf(all),
      successRatio: shareOf(succeeded, count),
      errorShare: shareOf(errors, count),
      outcomeDetails: Object.fromEntries([...outcomes].map(([name, outcome]) => [name, { ...outcome }])),
      overRuns: runs < 2 ? null : overRunsOf(perRun),
    };
  }

  return { add, row, perRun };
}

/** @param {Map<string, OutcomeOfRuns>} outcomes @param {Result['outcomeDetails']} details of another run */
function addOutcomes(outcomes, details) {
  for (const [name, { count, success, meaning }] of Object.entries(details)) {
    if (count === 0) continue;
    const known = outcomes.get(name) ?? { count: 0, success, ...(meaning ? { meaning } : {}), runs: 0 };
    known.count += count;
    known.runs++;
    outcomes.set(name, known);
  }
}

/** @param {Histogram} histogram */
function timesOf(histogram) {
  if (histogram.totalCount === 0) {
    return { min: null, mean: null, p50: null, p95: null, p99: null, max: null };
  }
  const at = (/** @type {number} */ share) => valueAtShare(histogram, share);
  return {
    min: Math.min(valueAtRank(histogram, 1), histogram.maxValue / 1000),
    mean: meanOf(histogram),
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: histogram.maxValue / 1000,
  };
}

/** @param {PerRun} perRun @returns {NonNullable<ScenarioRow['overRuns']>} */
function overRunsOf(perRun) {
  const spread = (/** @type {typeof OVER_RUNS[number]} */ key) => {
    const summary = summarise([...perRun[key]]);
    return { ...summary, sd: summary.variance === null ? null : Math.sqrt(summary.variance) };
  };
  const [mean, p99, max, min, perSecond] = OVER_RUNS.map(spread);
  return { mean, p99, max, min, perSecond };
}

/** @param {number} part @param {number} of */
function shareOf(part, of) {
  return of === 0 ? null : part / of;
}
