/** The result of a scenario of several runs or targets; the results of its steps are in files of their own. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { quote } from '../../common/errors.js';
import { total } from '../../common/sums.js';
import { checkEqual, isAscending } from '../check/check-latency.js';
import { barOf, requirementOf } from '../check/check-verdicts.js';
import { checkFindings, checkSummary } from '../comparison/compare.js';
import { differenceOf } from '../comparison/compare-samples.js';
import {
  Comparison,
  checkComparison,
  MAX_PAIRS,
  OfferedLoad,
  pairsOf,
} from '../comparison/comparison-schema.js';
import {
  amount,
  count,
  Environment,
  each,
  MeasurementVerdictName,
  number,
  RequirementVerdictName,
  record,
  share,
  Target,
  Tool,
  text,
  validatorOf,
} from '../declared.js';
import { FIGURES } from '../latency.js';
import { rateLimit, verdictOn } from '../requirements/judge-figures.js';
import { countVerdicts } from '../runs/run-set.js';
import { MetricHead, MetricSummary } from '../runs/run-set-schema.js';
import { Result } from '../schema.js';
import { MEASUREMENT_VERDICTS, REQUIREMENT_VERDICTS, worstOf } from './scenario-result.js';

/** One value per run that counts, in the order of `used`; `sd` is the root of the variance. */
const Spread = MetricSummary.extend({ sd: number }).meta({ id: 'SpreadOverRuns' });

const Step = z.object({
  /** `name` combines run and target, and ends its file names: `write-raft`. */
  ...each(['name', 'run', 'target'], z.string()),
  /** null: nothing could be sent. */
  aim: Target.nullable(),
  load: OfferedLoad,
  /** As planned: requests per second or, in a closed loop, in flight, at the start and the end. */
  stages: z.array(z.object({ name: z.string(), ...each(['seconds', 'from', 'to'], amount) })),
  /** Planned runs. */
  repeat: count,
  runs: z.array(
    z.object({
      name: z.string(),
      startedAt: z.iso.datetime(),
      durationSeconds: amount,
      verdict: MeasurementVerdictName,
      /** Why it does not count; null: it counts. */
      why: text,
    }),
  ),
  /** Names of the runs that count. */
  used: z.array(z.string()),
  requirements: z.array(
    // Of a run with the worst verdict. Older files have no figures. In `operation` and `stage`, null means all.
    Result.shape.requirements.element.partial({ actual: true, limit: true, unit: true }).extend({
      ...each(['operation', 'stage'], text),
      /** Number of runs by verdict. */
      verdicts: record(count),
    }),
  ),
  measurement: z.object({
    /** The worst of all runs; null: there is no run. */
    verdict: MeasurementVerdictName.nullable(),
    verdicts: record(count),
    /** One per code, of the first run, with the number of runs. */
    reasons: z.array(Result.shape.measurement.shape.reasons.element.extend({ runs: count })),
  }),
  /** Why no further run was started. */
  failure: z.object({ code: z.string(), text: z.string() }).nullable(),
});

/** Sums of all counted runs, of one operation (null: all) in one stage (null: all). Times: of all requests, from when due. */
const Row = z.object({
  ...each(['run', 'target'], z.string()),
  ...each(['operation', 'stage'], text),
  /** Number of runs. */
  runs: count,
  /** False: no run counts, so the row covers all runs. */
  counts: z.boolean(),
  /** Requests that were due: succeeded + errors. */
  ...each(['count', 'succeeded', 'errors'], count),
  /** Requests due, over the planned time. */
  ratePerSecond: amount,
  /** Successes, over the time until the last one. */
  perSecond: amount,
  ...each(FIGURES, number.optional()),
  /** Older files have only these. */
  ...each(['min', 'mean', 'p50', 'p95', 'p99', 'max'], number),
  /** Of `count`; null: no request was due. */
  ...each(['successRatio', 'errorShare'], share),
  /** By outcome, `dropped` and `never_sent` included; the counts add up to `count`. Absent in older files. */
  outcomeDetails: z
    .record(
      z.string(),
      // `runs`: in which it occurred.
      z.object({ count, success: z.boolean(), meaning: z.string().optional(), runs: count }),
    )
    .optional(),
  /** The worst verdict of the requirements on exactly this scope; null: there are none. */
  requirement: RequirementVerdictName.nullable(),
  /** Of one value per run; null for a single run. */
  overRuns: z.object(each(['mean', 'p99', 'max', 'min', 'perSecond'], Spread)).nullable(),
});

/** Of the means over runs, in percent of the first target's, for shares in percentage points. */
const TargetDifference = z.object({
  run: z.string(),
  operation: text,
  metric: MetricHead,
  base: z.string(),
  targets: z.array(z.object({ target: z.string(), value: number, difference: number })),
});

/** More than any scenario has; a report takes time with their square. */
const MAX_STEPS = 5000;

export const ScenarioResult = z
  .object({
    schema: z.literal('vault-pki-load/scenario-result/1'),
    tool: Tool,
    name: z.string(),
    description: text,
    command: z.string(),
    startedAt: z.iso.datetime(),
    /** Wall time, including preparations and pauses. */
    durationSeconds: amount,
    interrupted: z.boolean(),
    /** Written before the last run. */
    unfinished: z.literal(true).optional(),
    environment: Environment.nullable(),
    /** All targets of the first run, then all of the next. */
    steps: z.array(Step).min(1, 'must contain at least one step').max(MAX_STEPS),
    rows: z.array(Row),
    differences: z.array(TargetDifference),
    comparisons: z.array(z.object({ run: z.string(), operation: text, comparison: Comparison })),
    warnings: z.array(z.string()),
    /** How to read the figures. */
    notes: z.array(z.string()),
  })
  .meta({ title: 'Several runs or targets of one vault-pki-load scenario' });

/** @typedef {z.infer<typeof ScenarioResult>} ScenarioResult */
/** @typedef {z.infer<typeof Step>} ScenarioStep */
/** @typedef {z.infer<typeof Row>} ScenarioRow */

export const validateScenarioResult = validatorOf(ScenarioResult, checkScenario);

/** The results behind its figures are in files of their own. @param {ScenarioResult} result @returns {Generator<string, void>} */
function* checkScenario({ steps, rows, differences, comparisons }) {
  for (const step of steps) yield* checkStep(step);
  const scopes = rows.map(({ run, target, operation, stage }) =>
    JSON.stringify([run, target, operation, stage]),
  );
  if (new Set(scopes).size < rows.length) yield 'a row is listed twice';
  const byTarget = new Map(steps.map((step) => [JSON.stringify([step.run, step.target]), step]));
  if (byTarget.size < steps.length) yield 'a step is listed twice';
  for (const row of rows) yield* checkRow(row, byTarget.get(JSON.stringify([row.run, row.target])));
  for (const { metric, targets } of differences)
    for (const [i, { target, value, difference }] of targets.entries()) {
      const base = targets[0].value;
      const isCompared = i > 0 && base !== null && value !== null;
      const found = isCompared ? differenceOf(metric.unit, base, value) : null;
      yield* checkEqual(`the difference of ${metric.label} of ${target}`, difference, 'by its values', found);
    }
  const pairs = total(comparisons.map(({ comparison }) => pairsOf(comparison.groups.length)));
  if (pairs > MAX_PAIRS) yield `its comparisons have ${pairs} pairs of groups; the limit is ${MAX_PAIRS}`;
  for (const { comparison } of comparisons) {
    yield* checkComparison(comparison);
    yield* checkFindings(comparison);
  }
}

/** @param {ScenarioStep} step @returns {Generator<string, void>} */
function* checkStep({ name, runs, used, requirements, measurement }) {
  const counting = runs.flatMap((run) => (run.why === null ? run.name : []));
  if (!isDeepStrictEqual(used, counting)) yield `the list of runs used for ${name} does not match its runs`;
  const worstRun = worstOf(MEASUREMENT_VERDICTS, runs);
  yield* checkEqual(`the measurement of ${name}`, measurement.verdict, 'that of its worst run', worstRun);
  if (!isDeepStrictEqual(measurement.verdicts, countVerdicts(runs)))
    yield `the measurement of ${name} does not count the verdicts of its runs`;
  for (const judged of requirements) {
    const { text, verdict, verdicts, unit, actual, low } = judged;
    const worst = REQUIREMENT_VERDICTS.find((one) => verdicts[one] > 0);
    yield* checkEqual(`${text} of ${name}`, verdict, 'its worst verdict', worst);
    // A requirement may be given twice.
    if (total(Object.values(verdicts)) % runs.length !== 0)
      yield `${text} of ${name} has not one verdict per run`;
    const requirement = requirementOf(judged);
    if (requirement === null) yield `${quote(text)} is not a requirement with this limit and unit`;
    if (requirement === null || low === undefined || actual === undefined) continue;
    const bar = barOf(judged);
    if (actual === null ? verdict === 'met' : actual < Number(low) || actual > bar.high)
      yield `${text} of ${name} is ${verdict} with ${actual}, but its error bar is ${low} to ${judged.high}`;
    // Rates that are equal but for rounding reach the limit; a share of 0 or 1 needs no bar.
    const { limit } = requirement;
    const isCertain = unit === 'fraction' && (limit === 1 || (limit === 0 && actual === 0));
    if (verdict === 'not proven' || actual === null || isCertain) continue;
    const own = verdictOn({ ...requirement, limit: unit === '/s' ? rateLimit(requirement) : limit }, bar);
    yield* checkEqual(`${text} of ${name}`, verdict, 'by its error bar it', own);
  }
}

/** @param {ScenarioRow} row @param {ScenarioStep} [step] @returns {Generator<string, void>} */
function* checkRow(row, step) {
  const { run, target, operation, stage, succeeded, errors, outcomeDetails, overRuns } = row;
  const name = [run, target, operation, stage].filter((part) => part !== null).join(', ');
  if (step === undefined) return yield `the row of ${name} is of no step`;
  const own = step.requirements.filter((one) => one.operation === operation && one.stage === stage);
  const worst = worstOf(REQUIREMENT_VERDICTS, own);
  yield* checkEqual(`the requirement of a row of ${run}`, row.requirement, 'that of its step', worst);
  const count = succeeded + errors;
  const all = Object.values(outcomeDetails ?? { all: { count } });
  yield* checkEqual(`the count of ${name}`, row.count, 'succeeded + errors', count);
  yield* checkEqual(
    `the count of ${name}`,
    count,
    'the sum of its outcomes',
    total(all.map((one) => one.count)),
  );
  const shares = count === 0 ? [null, null] : [succeeded / count, errors / count];
  yield* checkEqual(`the success ratio of ${name}`, row.successRatio, 'by its counts', shares[0]);
  yield* checkEqual(`the error share of ${name}`, row.errorShare, 'by its counts', shares[1]);
  if (!isAscending([row.min, row.p50, row.p95, row.p99, row.max]))
    yield `${name}: min, percentiles and max are not in ascending order`;
  const isCounted = step.used.length > 0;
  if (row.counts !== isCounted || row.runs > (isCounted ? step.used : step.runs).length)
    yield `the row of ${name} has other runs than its step`;
  if ((overRuns === null) !== row.runs < 2) yield `${name} lacks its spread over runs, or has only one run`;
  for (const [key, spread] of Object.entries(overRuns ?? {})) {
    yield* checkSummary(`${key} of ${name}`, spread, row.runs);
    const sd = spread.variance === null ? null : Math.sqrt(spread.variance);
    yield* checkEqual(`sd of ${key} of ${name}`, spread.sd, 'by its variance', sd);
  }
}
