/**
 * Steps of a scenario (each of its runs on each of its targets) and the results they gave -> ScenarioResult, the one source of
 * every report of them together.
 */
import { TOOL_VERSION } from '../../common/version.js';
import { SCENARIO_RESULT_SCHEMA_ID } from '../document.js';
import { differenceWarnings, seedWarnings, targetWarnings } from '../runs/run-differences.js';
import { whyLeftOut } from '../runs/run-metrics.js';
import { comparisonsOf, differencesOf, notComparedNotes } from './scenario-comparisons.js';
import { createRows } from './scenario-rows.js';
import { loadOfStep, measurementOf, requirementsOf, worstRequirement } from './scenario-steps.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { NamedRun } from '../runs/run-metrics.js' */
/** @import { Result } from '../schema.js' */
/** @import { ScenarioResult, ScenarioStep } from './scenario-schema.js' */

/** @typedef {{name: string, run: string, target: string, load: LoadPlan}} PlannedStep */
/**
 * @typedef {object} ScenarioFacts
 * @property {string} name
 * @property {string | null} description
 * @property {string} command the command line, without secrets
 * @property {Date} startedAt
 * @property {number} repeat
 * @property {readonly PlannedStep[]} steps at least one; all targets of the first run, then all of the next
 */
/** @typedef {{step: PlannedStep, results: Result[], used: NamedRun[], why: (string | null)[], counted: Rows, leftOut: Rows, failure: ScenarioStep['failure']}} Kept */
/** @typedef {ReturnType<typeof createRows>} Rows */

/** Every note holds of all steps. */
const NOTES = Object.freeze([
  'Response times count from when a request was due. Of several runs, count, times and ratios are of all their requests together; mean and variance over runs are of one value per run.',
]);

const CLOSED_NOTE =
  'In a closed loop a request is sent when another is answered: a target that stalls is asked less, and the waiting is not in the times.';

/** @param {ScenarioFacts} facts */
export function createScenarioSummary(facts) {
  /** @type {Kept[]} */
  const kept = facts.steps.map((step) => ({
    step,
    results: [],
    used: [],
    why: [],
    counted: createRows(step),
    leftOut: createRows(step),
    failure: null,
  }));
  return {
    /** @param {number} index of a step @param {Result} result of its next run */
    add(index, result) {
      const { results, used, why, counted, leftOut } = kept[index];
      const reason = whyLeftOut(result);
      results.push(result);
      why.push(reason);
      if (reason === null) used.push({ name: `run ${results.length}`, result });
      (reason === null ? counted : leftOut).add(result);
    },
    /** @param {number} index of a step that cannot be gone on with @param {{code: string, text: string}} failure */
    fail(index, failure) {
      kept[index].failure = failure;
    },
    /** @param {{durationMs: number, interrupted?: boolean, unfinished?: boolean}} how @returns {ScenarioResult} */
    result: (how) => build(facts, kept, how),
    /** @param {number} index of a step @returns {readonly Result[]} of all runs that were made */
    resultsOf: (index) => kept[index].results,
  };
}

/**
 * @param {ScenarioFacts} facts
 * @param {Kept[]} kept
 * @param {{durationMs: number, interrupted?: boolean, unfinished?: boolean}} how
 * @returns {ScenarioResult}
 */
function build(facts, kept, { durationMs, interrupted = false, unfinished = false }) {
  const { name, description, command, startedAt, repeat } = facts;
  const runs = groupByRun(kept);
  const steps = kept.map((one) => describeStep(one, repeat));
  const environment = kept.flatMap(({ results }) => results)[0]?.environment ?? null;
  const createdAt = new Date(startedAt.getTime() + durationMs).toISOString();
  return {
    schema: SCENARIO_RESULT_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    name,
    description,
    command,
    startedAt: startedAt.toISOString(),
    durationSeconds: durationMs / 1000,
    interrupted,
    ...(unfinished ? { unfinished: true } : {}),
    environment: environment && {
      node: environment.node,
      platform: environment.platform,
      cpus: environment.cpus,
    },
    steps,
    rows: kept.flatMap((one, i) => rowsOf(one, steps[i])),
    differences: runs.flatMap(differencesIn),
    // They take long, and of what goes on nothing is concluded.
    comparisons: unfinished
      ? []
      : runs.flatMap(([run, targets]) => comparisonsOf(run, usedIn(targets), command, createdAt)),
    warnings: warningsOf(runs),
    notes: [
      ...NOTES,
      ...(steps.some(({ load }) => load.model === 'closed') ? [CLOSED_NOTE] : []),
      ...runs.flatMap(([run, targets]) => notComparedNotes(run, usedIn(targets))),
    ],
  };
}

/** @param {Kept[]} kept @returns {[run: string, targets: Kept[]][]} */
function groupByRun(kept) {
  const names = [...new Set(kept.map(({ step }) => step.run))];
  return names.map((run) => [run, kept.filter(({ step }) => step.run === run)]);
}

/** @param {Kept[]} targets */
function usedIn(targets) {
  return targets.map(({ step: { target }, used }) => ({ target, used }));
}

/** @param {Kept} kept @param {number} repeat @returns {ScenarioStep} */
function describeStep({ step, results, used, why, failure }, repeat) {
  const { target } = results[results.length - 1] ?? { target: null };
  return {
    name: step.name,
    run: step.run,
    target: step.target,
    aim: target && { url: target.url, product: target.product, version: target.version },
    ...loadOfStep(step.load),
    repeat,
    runs: results.map(({ startedAt, durationSeconds, measurement }, i) => ({
      name: `run ${i + 1}`,
      startedAt,
      durationSeconds,
      verdict: measurement.verdict,
      why: why[i],
    })),
    used: used.map(({ name }) => name),
    requirements: requirementsOf(results),
    measurement: measurementOf(results),
    failure,
  };
}

/**
 * @param {Kept} kept
 * @param {ScenarioStep} step
 * @returns {ScenarioResult['rows']} of what does not count where nothing does
 */
function rowsOf({ used, counted, leftOut }, { requirements }) {
  const rows = used.length > 0 ? counted.rows(true) : leftOut.rows(false);
  return rows.map(({ overRuns, ...row }) => {
    const own = requirements.filter(
      ({ operation, stage }) => operation === row.operation && stage === row.stage,
    );
    return { ...row, requirement: worstRequirement(own.map(({ verdict }) => verdict)), overRuns };
  });
}

/** @param {[string, Kept[]]} run @returns {ScenarioResult['differences']} */
function differencesIn([run, targets]) {
  const rows = targets.map((one) => ({
    target: one.step.target,
    rows: one.used.length > 0 ? one.counted : one.leftOut,
  }));
  const names = [
    ...new Set(
      targets.flatMap(({ results }) => results.flatMap(({ operations }) => Object.keys(operations))),
    ),
  ];
  return [null, ...(names.length < 2 ? [] : names)].flatMap((operation) =>
    differencesOf(
      run,
      operation,
      rows.map(({ target, rows: own }) => ({ target, perRun: own.perRun(operation) })),
    ),
  );
}

/** @param {[string, Kept[]][]} runs @returns {string[]} each once */
function warningsOf(runs) {
  const all = runs.flatMap(([, targets]) => [
    ...targets.flatMap(({ step, used }) => {
      const results = used.map(({ result }) => result);
      return [...targetWarnings(step.name, results), ...seedWarnings(step.name, results)];
    }),
    ...differenceWarnings(targets.flatMap(({ used }) => used.map(({ result }) => result))),
  ]);
  return [...new Set(all)];
}
