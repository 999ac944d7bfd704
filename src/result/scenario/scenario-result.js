/** Steps of a scenario (each run on each target) and their results -> ScenarioResult. */
import { groupBy, maxOf, total } from '../../common/sums.js';
import { TOOL_VERSION } from '../../common/version.js';
import { compareGroups } from '../comparison/compare.js';
import { differenceOf } from '../comparison/compare-samples.js';
import { OfferedLoad } from '../comparison/comparison-schema.js';
import { RESAMPLES, runsNeeded } from '../comparison/run-statistics.js';
import { runWarnings } from '../runs/run-differences.js';
import { countVerdicts, exclusionReason, headOf, METRICS, namedRuns, summarize } from '../runs/run-set.js';
import { rowsOf, valuesPerRun } from './scenario-rows.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { NamedRun } from '../runs/run-set.js' */
/** @import { Result } from '../schema.js' */
/** @import { ScenarioResult, ScenarioStep } from './scenario-schema.js' */

/** @typedef {{name: string, run: string, target: string, plan: {load: LoadPlan}}} PlannedStep */
/**
 * `command`: without secrets; `steps`: at least one, all targets of the first run, then all of the next
 * @typedef {{name: string, description: string | null, command: string, startedAt: Date, repeat: number,
 *   steps: readonly PlannedStep[]}} ScenarioFacts
 */
/** @typedef {{durationMs: number, interrupted?: boolean, unfinished?: boolean}} End */
/** @typedef {{step: PlannedStep, results: Result[], failure: ScenarioStep['failure']}} StepResults of one step */

const NOTE =
  'Response times count from when a request was due. Counts, times and ratios cover all requests of all runs together; mean and variance over runs use one value per run.';
const CLOSED_NOTE =
  'A closed loop sends the next request only after a response: a stalled target receives fewer requests, and the times do not include the wait.';

/** Worst first. */
export const REQUIREMENT_VERDICTS = /** @type {const} */ (['not met', 'not proven', 'met']);
export const MEASUREMENT_VERDICTS = /** @type {const} */ (['invalid', 'suspect', 'valid']);

/** Limits of bootstrap draws per figure, so that a comparison of many runs takes seconds at most. */
const [MAX_DRAWS, MIN_RESAMPLES] = [200_000, 1000];

/** Metrics whose differences between targets are reported, and their names in the document. */
const DIFFERENCES = METRICS.flatMap((metric) => {
  const { key: from } = metric;
  if (from === 'serviceP99') return [];
  const names = { rate: { key: 'perSecond', label: 'throughput' }, errors: { key: 'errorShare' } };
  return { from, metric: { ...headOf(metric), ...Object(names)[from] } };
});

/** @param {ScenarioFacts} facts */
export function createScenarioSummary(facts) {
  /** @type {StepResults[]} */
  const kept = facts.steps.map((step) => ({ step, results: [], failure: null }));
  return {
    /** @param {number} index of the step @param {Result} result of its next run */
    add: (index, result) => void kept[index].results.push(result),
    /** @param {number} index of the step, which gets no further runs @param {{code: string, full: string}} error */
    fail(index, { code, full }) {
      kept[index].failure = { code, text: full };
    },
    /** @param {End} end @returns {ScenarioResult} */
    result: (end) => build(facts, kept.map(selectUsed), end),
    /** @param {number} index of the step @returns {readonly Result[]} */
    resultsOf: (index) => kept[index].results,
  };
}

/** @typedef {ReturnType<typeof selectUsed>} StepRuns `used`: counted runs; `shown`: the counted runs, or all if none counts */

/** @param {StepResults} kept */
function selectUsed({ results, ...kept }) {
  const why = results.map(exclusionReason);
  const used = namedRuns(results).filter((_, i) => why[i] === null);
  const shown = used.length > 0 ? used.map(({ result }) => result) : results;
  return { ...kept, results, why, used, shown };
}

/** @param {ScenarioFacts} facts @param {StepRuns[]} kept @param {End} end @returns {ScenarioResult} */
function build(facts, kept, { durationMs, interrupted = false, unfinished = false }) {
  const { name, description, command, startedAt, repeat } = facts;
  const runs = groupBy(kept, ({ step }) => step.run);
  const steps = kept.map((one) => describeStep(one, repeat));
  /** @param {StepRuns} one */
  const counted = ({ step, used }) => ({ name: step.name, results: used.map(({ result }) => result) });
  const hasClosed = steps.some(({ load }) => load.model === 'closed');
  const [environment = null] = kept.flatMap(({ results }) => results.map((result) => result.environment));
  const createdAt = new Date(startedAt.getTime() + durationMs).toISOString();
  return {
    schema: 'vault-pki-load/scenario-result/1',
    tool: { version: TOOL_VERSION },
    ...{ name, description, command, startedAt: startedAt.toISOString() },
    durationSeconds: durationMs / 1000,
    interrupted,
    ...(unfinished ? { unfinished: true } : {}),
    ...{ environment, steps },
    rows: kept.flatMap((one, i) => judgedRows(one, steps[i])),
    differences: runs.flatMap(differencesOf),
    // Comparisons take seconds.
    comparisons: unfinished ? [] : runs.flatMap((targets) => comparisonsOf(targets, command, createdAt)),
    warnings: [...new Set(runs.flatMap((targets) => runWarnings(targets.map(counted))))],
    notes: [NOTE, ...(hasClosed ? [CLOSED_NOTE] : []), ...runs.flatMap(notComparedNotes)],
  };
}

/** @param {StepRuns} kept @param {number} repeat */
function describeStep({ step, results, used, why, failure }, repeat) {
  const { load } = step.plan;
  const target = results.at(-1)?.target;
  return {
    ...{ name: step.name, run: step.run, target: step.target },
    aim: target === undefined ? null : { url: target.url, product: target.product, version: target.version },
    load: OfferedLoad.parse(load),
    stages: (load.stages ?? []).map(({ name, lines }) => ({
      name,
      seconds: total(lines.map(({ durationMs }) => durationMs)) / 1000,
      from: lines[0].from,
      to: lines[lines.length - 1].to,
    })),
    repeat,
    runs: results.map(({ startedAt, durationSeconds, measurement: { verdict } }, i) => {
      return { name: `run ${i + 1}`, startedAt, durationSeconds, verdict, why: why[i] };
    }),
    used: used.map(({ name }) => name),
    requirements: requirementsOf(results),
    measurement: measurementOf(results),
    failure,
  };
}

/** @param {readonly Result[]} results @returns {ScenarioStep['requirements']} in the order of the plan */
function requirementsOf(results) {
  const all = results.flatMap(({ requirements }) => requirements);
  const alike = groupBy(all, ({ text, operation, stage }) => JSON.stringify([text, operation, stage]));
  return alike.map((judged) => {
    const verdict = worstOf(REQUIREMENT_VERDICTS, judged);
    const worst = judged.find((one) => one.verdict === verdict) ?? judged[0];
    const { operation = null, stage = null } = worst;
    return { ...worst, operation, stage, verdicts: countVerdicts(judged) };
  });
}

/** @param {readonly Result[]} results @returns {ScenarioStep['measurement']} */
function measurementOf(results) {
  const all = results.map(({ measurement }) => measurement);
  const reasons = all.flatMap((one) => one.reasons);
  const counted = groupBy(reasons, ({ code }) => code).map((alike) => ({ ...alike[0], runs: alike.length }));
  return { verdict: worstOf(MEASUREMENT_VERDICTS, all), verdicts: countVerdicts(all), reasons: counted };
}

/** @template {string} Word @param {readonly Word[]} order @param {readonly {verdict: Word}[]} judged */
export function worstOf(order, judged) {
  return order.find((worst) => judged.some(({ verdict }) => verdict === worst)) ?? null;
}

/** @param {StepRuns} kept @param {ScenarioStep} step @returns {ScenarioResult['rows']} */
function judgedRows({ step: { run, target }, used, shown }, { requirements }) {
  return rowsOf(shown, { run, target, counts: used.length > 0 }).map(({ overRuns, ...row }) => {
    const own = requirements.filter((one) => one.operation === row.operation && one.stage === row.stage);
    return { ...row, requirement: worstOf(REQUIREMENT_VERDICTS, own), overRuns };
  });
}

/** @param {readonly Result[]} results @returns {(string | null)[]} null: all; then each, if several */
function operationsOf(results) {
  const names = [...new Set(results.flatMap(({ operations }) => Object.keys(operations)))];
  return [null, ...(names.length < 2 ? [] : names)];
}

/** @param {StepRuns[]} targets of one run @returns {ScenarioResult['differences']} by metric; none for a single target */
function differencesOf(targets) {
  if (targets.length < 2) return [];
  const { run } = targets[0].step;
  return operationsOf(targets.flatMap(({ results }) => results)).flatMap((operation) =>
    DIFFERENCES.map(({ from, metric }) => {
      const means = targets.map(({ shown }) => summarize(valuesPerRun(shown, operation)[from]).mean);
      const sides = targets.map(({ step: { target } }, i) => {
        const [base, value] = [means[0], means[i]];
        const isCompared = i > 0 && base !== null && value !== null;
        return { target, value, difference: isCompared ? differenceOf(metric.unit, base, value) : null };
      });
      return { run, operation, metric, base: sides[0].target, targets: sides };
    }),
  );
}

/**
 * @param {StepRuns[]} targets of one run @param {string} command @param {string} createdAt
 * @returns {ScenarioResult['comparisons']} of all operations together, then of each if there are several
 */
function comparisonsOf(targets, command, createdAt) {
  const { run } = targets[0].step;
  const groups = targets.filter(({ used }) => used.length >= runsNeeded());
  // The base of a comparison must be the first target.
  if (groups.length < 2 || groups[0] !== targets[0]) return [];
  const results = groups.flatMap(({ used }) => used.map(({ result }) => result));
  return operationsOf(results).flatMap((operation) => {
    const own = groups.map(({ step: { target }, used }) => ({
      name: target,
      runs: used.flatMap((one) => ofOperation(one, operation)),
    }));
    if (own.some(({ runs }) => runs.length < runsNeeded())) return [];
    const draws = Math.floor(MAX_DRAWS / maxOf(own.map(({ runs }) => runs.length)));
    const resamples = Math.min(RESAMPLES, Math.max(MIN_RESAMPLES, draws));
    return [{ run, operation, comparison: compareGroups(own, { command, createdAt, resamples }) }];
  });
}

/** @param {NamedRun} run @param {string | null} operation @returns {NamedRun[]} none if it was not sent */
function ofOperation({ name, result }, operation) {
  if (operation === null) return [{ name, result }];
  const block = result.operations[operation];
  if (block === undefined) return [];
  return [{ name, result: { ...result, ...block, operations: { [operation]: block } } }];
}

/** @param {StepRuns[]} targets of one run @returns {string[]} a sentence on why some targets are not compared */
function notComparedNotes(targets) {
  const needed = runsNeeded();
  const few = targets.filter(({ used }) => used.length < needed);
  if (targets.length < 2 || few.length === 0) return [];
  const named = few.map(({ step, used }) => `${step.target} has ${used.length}`).join(', ');
  const why = `to tell a difference from chance, each target needs at least ${needed} runs that count`;
  return [`${targets[0].step.run}: ${why} (repeat: ${needed}); ${named}.`];
}
