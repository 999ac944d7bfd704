/** Steps of a scenario, each of its runs on each of its targets, and their results -> ScenarioResult. */
import { TOOL_VERSION } from '../../common/version.js';
import { compareGroups } from '../comparison/compare.js';
import { differenceOf } from '../comparison/compare-samples.js';
import { OfferedLoad } from '../comparison/comparison-schema.js';
import { RESAMPLES, runsNeeded } from '../comparison/run-statistics.js';
import { runWarnings } from '../runs/run-differences.js';
import { headOf, METRICS, namedRuns, summarise, whyLeftOut } from '../runs/run-set.js';
import { rowsOf, valuesPerRun } from './scenario-rows.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { NamedRun } from '../runs/run-set.js' */
/** @import { Result } from '../schema.js' */
/** @import { ScenarioResult, ScenarioStep } from './scenario-schema.js' */

/** @typedef {{name: string, run: string, target: string, load: LoadPlan}} PlannedStep */
/**
 * `command`: without secrets; `steps`: at least one, all targets of the first run, then all of the next
 * @typedef {{name: string, description: string | null, command: string, startedAt: Date, repeat: number,
 *   steps: readonly PlannedStep[]}} ScenarioFacts
 */
/** @typedef {{durationMs: number, interrupted?: boolean, unfinished?: boolean}} End */
/** @typedef {{step: PlannedStep, results: Result[], failure: ScenarioStep['failure']}} Kept of one step */

const NOTE =
  'Response times count from when a request was due. Of several runs, count, times and ratios are of all their requests together; mean and variance over runs are of one value per run.';

const CLOSED_NOTE =
  'In a closed loop a request is sent when another has its response: a target that stalls receives fewer requests, and the waiting is not in the times.';

/** Verdicts, the worst first. */
const REQUIREMENT = /** @type {const} */ (['not met', 'not proven', 'met']);
const MEASUREMENT = /** @type {const} */ (['invalid', 'suspect', 'valid']);

/** Draws for each figure of a comparison: a hundred runs need fewer resamples, and all targets are compared in seconds. */
const [MAX_DRAWS, MIN_RESAMPLES] = [200_000, 1000];

/** The metrics in which targets are shown side by side, with their names there. */
const DIFFERENCES = ['mean', 'p50', 'p95', 'p99', 'max', 'min', 'rate', 'errors'].flatMap((from) => {
  const names = { rate: { key: 'perSecond', label: 'throughput' }, errors: { key: 'errorShare' } };
  const heads = METRICS.filter(({ key }) => key === from).map(headOf);
  return heads.map((head) => ({ from, metric: { ...head, ...Object(names)[from] } }));
});

/** @param {ScenarioFacts} facts */
export function createScenarioSummary(facts) {
  /** @type {Kept[]} */
  const kept = facts.steps.map((step) => ({ step, results: [], failure: null }));
  return {
    /** @param {number} index of a step @param {Result} result of its next run */
    add: (index, result) => void kept[index].results.push(result),
    /** @param {number} index of a step that has no further run @param {{code: string, text: string}} failure */
    fail(index, failure) {
      kept[index].failure = failure;
    },
    /** @param {End} end @returns {ScenarioResult} */
    result: (end) => build(facts, kept.map(sorted), end),
    /** @param {number} index of a step @returns {readonly Result[]} of all its runs */
    resultsOf: (index) => kept[index].results,
  };
}

/** @typedef {ReturnType<typeof sorted>} Sorted `used`: the runs that count; `shown`: those, or all where none counts */

/** @param {Kept} kept */
function sorted({ results, ...kept }) {
  const why = results.map(whyLeftOut);
  const used = namedRuns(results).filter((_, i) => why[i] === null);
  const shown = used.length > 0 ? used.map(({ result }) => result) : results;
  return { ...kept, results, why, used, shown };
}

/** @param {ScenarioFacts} facts @param {Sorted[]} kept @param {End} end @returns {ScenarioResult} */
function build(facts, kept, { durationMs, interrupted = false, unfinished = false }) {
  const { name, description, command, startedAt, repeat } = facts;
  const runs = [...new Set(kept.map(({ step }) => step.run))].map((run) =>
    kept.filter(({ step }) => step.run === run),
  );
  const steps = kept.map((one) => describeStep(one, repeat));
  const counted = (/** @type {Sorted} */ { step, used }) => {
    return { name: step.name, results: used.map(({ result }) => result) };
  };
  const [environment = null] = kept.flatMap(({ results }) => results.map((result) => result.environment));
  const createdAt = new Date(startedAt.getTime() + durationMs).toISOString();
  return {
    schema: 'vault-pki-load/scenario-result/1',
    tool: { version: TOOL_VERSION },
    name,
    description,
    command,
    startedAt: startedAt.toISOString(),
    durationSeconds: durationMs / 1000,
    interrupted,
    ...(unfinished ? { unfinished: true } : {}),
    environment,
    steps,
    rows: kept.flatMap((one, i) => judgedRows(one, steps[i])),
    differences: runs.flatMap(differencesOf),
    // They take long, and nothing is concluded before the end.
    comparisons: unfinished ? [] : runs.flatMap((targets) => comparisonsOf(targets, command, createdAt)),
    warnings: [...new Set(runs.flatMap((targets) => runWarnings(targets.map(counted))))],
    notes: [
      NOTE,
      ...(steps.some(({ load }) => load.model === 'closed') ? [CLOSED_NOTE] : []),
      ...runs.flatMap(notComparedNotes),
    ],
  };
}

/** @param {Sorted} kept @param {number} repeat */
function describeStep({ step, results, used, why, failure }, repeat) {
  const { load } = step;
  const target = results.at(-1)?.target;
  return {
    ...{ name: step.name, run: step.run, target: step.target },
    aim: target === undefined ? null : { url: target.url, product: target.product, version: target.version },
    load: OfferedLoad.parse(load),
    stages: (load.stages ?? []).map(({ name, lines }) => ({
      name,
      seconds: lines.reduce((sum, { durationMs: ms }) => sum + ms, 0) / 1000,
      from: lines[0].from,
      to: lines[lines.length - 1].to,
    })),
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

/** @param {readonly Result[]} results @returns {ScenarioStep['requirements']} in the order of the plan */
function requirementsOf(results) {
  /** @type {Map<string, Result['requirements']>} */
  const alike = new Map();
  for (const one of results.flatMap(({ requirements }) => requirements)) {
    const key = JSON.stringify([one.text, one.operation, one.stage]);
    alike.set(key, [...(alike.get(key) ?? []), one]);
  }
  return [...alike.values()].map((given) => {
    const verdicts = given.map(({ verdict }) => verdict);
    const worst = given[verdicts.indexOf(worstOf(REQUIREMENT, verdicts) ?? verdicts[0])];
    const { operation = null, stage = null } = worst;
    return { ...worst, operation, stage, verdicts: countBy(verdicts) };
  });
}

/** @param {readonly Result[]} results @returns {ScenarioStep['measurement']} */
function measurementOf(results) {
  const verdicts = results.map(({ measurement }) => measurement.verdict);
  /** @type {Map<string, ScenarioStep['measurement']['reasons'][number]>} */
  const reasons = new Map();
  for (const reason of results.flatMap(({ measurement }) => measurement.reasons)) {
    const first = reasons.get(reason.code) ?? { ...reason, runs: 0 };
    reasons.set(reason.code, { ...first, runs: first.runs + 1 });
  }
  return {
    verdict: worstOf(MEASUREMENT, verdicts),
    verdicts: countBy(verdicts),
    reasons: [...reasons.values()],
  };
}

/** @template {string} Verdict @param {readonly Verdict[]} order @param {readonly Verdict[]} verdicts @returns {Verdict | null} null: there is none */
function worstOf(order, verdicts) {
  return order.find((worst) => verdicts.includes(worst)) ?? null;
}

/** @param {readonly string[]} words */
function countBy(words) {
  return Object.fromEntries(words.map((word) => [word, words.filter((one) => one === word).length]));
}

/** @param {Sorted} kept @param {ScenarioStep} step @returns {ScenarioResult['rows']} */
function judgedRows({ step: { run, target }, used, shown }, { requirements }) {
  return rowsOf(shown, { run, target, counts: used.length > 0 }).map(({ overRuns, ...row }) => {
    const verdicts = requirements.flatMap(({ operation, stage, verdict }) =>
      operation === row.operation && stage === row.stage ? verdict : [],
    );
    return { ...row, requirement: worstOf(REQUIREMENT, verdicts), overRuns };
  });
}

/** @param {readonly Result[]} results @returns {(string | null)[]} null: all together; then each of several operations */
function operationsOf(results) {
  const names = [...new Set(results.flatMap(({ operations }) => Object.keys(operations)))];
  return [null, ...(names.length < 2 ? [] : names)];
}

/** @param {Sorted[]} targets of one run @returns {ScenarioResult['differences']} by metric; none where there is only one target */
function differencesOf(targets) {
  if (targets.length < 2) return [];
  const { run } = targets[0].step;
  return operationsOf(targets.flatMap(({ results }) => results)).flatMap((operation) =>
    DIFFERENCES.map(({ from, metric }) => {
      const means = targets.map(({ shown }) => summarise(valuesPerRun(shown, operation)[from]).mean);
      const [base] = means;
      const sides = targets.map(({ step: { target } }, i) => {
        const value = means[i];
        const isCompared = i > 0 && base !== null && value !== null;
        return { target, value, difference: isCompared ? differenceOf(metric.unit, base, value) : null };
      });
      return { run, operation, metric, base: sides[0].target, targets: sides };
    }),
  );
}

/**
 * @param {Sorted[]} targets of one run @param {string} command @param {string} createdAt
 * @returns {ScenarioResult['comparisons']} of the whole, then of each of several operations
 */
function comparisonsOf(targets, command, createdAt) {
  const { run } = targets[0].step;
  const groups = targets.filter(({ used }) => used.length >= runsNeeded());
  // A comparison with another base would not be with the first target.
  if (groups.length < 2 || groups[0] !== targets[0]) return [];
  const results = groups.flatMap(({ used }) => used.map(({ result }) => result));
  return operationsOf(results).flatMap((operation) => {
    const own = groups.map(({ step: { target }, used }) => ({
      name: target,
      runs: used.flatMap((one) => ofOperation(one, operation)),
    }));
    if (own.some(({ runs }) => runs.length < runsNeeded())) return [];
    const draws = Math.floor(MAX_DRAWS / Math.max(...own.map(({ runs }) => runs.length)));
    const resamples = Math.min(RESAMPLES, Math.max(MIN_RESAMPLES, draws));
    return [{ run, operation, comparison: compareGroups(own, { command, createdAt, resamples }) }];
  });
}

/** @param {NamedRun} run @param {string | null} operation @returns {NamedRun[]} of this operation alone; none if it was not sent */
function ofOperation({ name, result }, operation) {
  if (operation === null) return [{ name, result }];
  const block = result.operations[operation];
  if (block === undefined) return [];
  return [{ name, result: { ...result, ...block, operations: { [operation]: block } } }];
}

/** @param {Sorted[]} targets of one run @returns {string[]} why some targets are not compared, a sentence */
function notComparedNotes(targets) {
  const needed = runsNeeded();
  const few = targets.filter(({ used }) => used.length < needed);
  if (targets.length < 2 || few.length === 0) return [];
  const named = few.map(({ step, used }) => `${step.target} has ${used.length}`).join(', ');
  return [
    `${targets[0].step.run}: whether a difference is more than chance takes at least ${needed} runs that count of each target (repeat: ${needed}); ${named}.`,
  ];
}
