/**
 * Results of one step, one after the other -> its rows. Results are kept as sums, so that a hundred runs cost no more
 * memory than one, and a file that is written after each run no more time.
 */
import { createHistogram, sumHistograms } from '../../common/histogram.js';
import { figuresOf } from '../latency.js';
import { METRICS, summarise } from '../runs/run-metrics.js';

/** @import { Result } from '../schema.js' */
/** @import { ScenarioRow } from './scenario-schema.js' */

/** @typedef {NonNullable<ScenarioRow['outcomeDetails']>[string]} OutcomeOfRuns */
/** @typedef {Pick<Result, 'totals' | 'rates' | 'errorShare' | 'latencyMs' | 'outcomeDetails'>} Block of a run, of a stage, of an operation of either */
/** @typedef {Pick<ScenarioRow, 'operation' | 'stage'>} Cell */
/** @typedef {Cell & {block: Block, offeredSeconds: number, seconds: number}} Part `seconds`: that it was measured for */
/** @typedef {Record<string, (number | null)[]>} PerRun by key of METRICS; one value for each run */

/** @param {Pick<ScenarioRow, 'run' | 'target'>} step */
export function createRows({ run, target }) {
  /** In order of appearance. @type {Map<string, ReturnType<typeof createCell>>} */
  const cells = new Map();
  const keyOf = (/** @type {Cell} */ { stage, operation }) => JSON.stringify([stage, operation]);
  return {
    /** @param {Result} result of another run */
    add(result) {
      for (const part of partsOf(result)) {
        const cell = cells.get(keyOf(part)) ?? createCell(part);
        cells.set(keyOf(part), cell);
        cell.add(part);
      }
    },
    /** @param {boolean} counts the results added do @returns {Omit<ScenarioRow, 'requirement'>[]} */
    rows: (counts) => [...cells.values()].map((cell) => ({ run, target, ...cell.row(counts) })),
    /** @param {string | null} operation @returns {PerRun | null} over all stages; null: there is none such */
    perRun: (operation) => cells.get(keyOf({ stage: null, operation }))?.perRun ?? null,
  };
}

/**
 * Of a single operation there is no row beside that of the whole.
 * @param {Result} result
 * @returns {Part[]} the whole first, its operations, then stage by stage
 */
function partsOf(result) {
  const seconds = result.windowSeconds ?? result.durationSeconds;
  const whole = { stage: null, seconds, offeredSeconds: offeredSecondsOf(result, seconds), of: result };
  const stages = (result.stages ?? []).map((stage) => ({
    stage: stage.name,
    seconds: stage.windowSeconds,
    offeredSeconds: stage.seconds,
    of: stage,
  }));
  return [whole, ...stages].flatMap(({ of, ...part }) => {
    const operations = Object.entries(of.operations);
    return [
      { operation: null, block: of, ...part },
      ...(operations.length < 2 ? [] : operations).map(([operation, block]) => ({
        operation,
        block,
        ...part,
      })),
    ];
  });
}

/**
 * A target that works off a backlog after the last request was due is offered no less for it.
 * @param {Result} result
 * @param {number} windowSeconds
 */
function offeredSecondsOf({ load, totals, interrupted, stages = [] }, windowSeconds) {
  const { model, rampUpMs, requests, ratePerSecond, durationMs } = load;
  if (interrupted || model === 'closed') return windowSeconds;
  const isEven = rampUpMs === 0 && stages.length === 0;
  const byRequests =
    isEven && requests !== null && ratePerSecond ? totals.planned / ratePerSecond : windowSeconds;
  return Math.min(windowSeconds, byRequests, (durationMs ?? Number.POSITIVE_INFINITY) / 1000);
}

/** @param {Cell} cell */
function createCell({ operation, stage }) {
  let all = createHistogram();
  const sums = { runs: 0, succeeded: 0, errors: 0, offeredSeconds: 0, seconds: 0 };
  /** @type {PerRun} */
  const perRun = Object.fromEntries(METRICS.map(({ key }) => [key, []]));
  /** @type {Map<string, OutcomeOfRuns>} */
  const outcomes = new Map();
  return {
    perRun,

    /** @param {Part} part of another run */
    add({ block, offeredSeconds, seconds }) {
      const { succeeded, errors } = block.totals;
      const { histogram } = block.latencyMs.response;
      if (histogram !== null) all = sumHistograms([all, histogram]);
      sums.runs++;
      sums.succeeded += succeeded;
      sums.errors += errors;
      sums.offeredSeconds += offeredSeconds;
      // Rates are reckoned until the last success where that came late.
      sums.seconds += block.rates.perSecond > 0 ? succeeded / block.rates.perSecond : seconds;
      for (const { key, read } of METRICS) perRun[key].push(read(block));
      for (const [name, { count, success, meaning }] of Object.entries(block.outcomeDetails)) {
        if (count === 0) continue;
        const known = outcomes.get(name) ?? { count: 0, success, ...(meaning ? { meaning } : {}), runs: 0 };
        outcomes.set(name, { ...known, count: known.count + count, runs: known.runs + 1 });
      }
    },

    /** @param {boolean} counts */
    row(counts) {
      const { runs, succeeded, errors, offeredSeconds, seconds } = sums;
      const count = succeeded + errors;
      const { min, mean, p50, p95, p99, max } = figuresOf(all);
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
        ...{ min, mean, p50, p95, p99, max },
        successRatio: count === 0 ? null : succeeded / count,
        errorShare: count === 0 ? null : errors / count,
        outcomeDetails: Object.fromEntries(outcomes),
        overRuns: runs < 2 ? null : spreadsOf(perRun),
      };
    },
  };
}

/** @param {PerRun} perRun @returns {NonNullable<ScenarioRow['overRuns']>} */
function spreadsOf(perRun) {
  const [mean, p99, max, min, perSecond] = ['mean', 'p99', 'max', 'min', 'rate'].map((key) => {
    const summary = summarise([...perRun[key]]);
    return { ...summary, sd: summary.variance === null ? null : Math.sqrt(summary.variance) };
  });
  return { mean, p99, max, min, perSecond };
}
