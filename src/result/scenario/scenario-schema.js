/** The result of a scenario of several runs or targets; the results of its steps are in files of their own. */
import { z } from 'zod';
import { quote } from '../../common/errors.js';
import { checkEqual } from '../check/check-latency.js';
import { barOf, requirementOf } from '../check/check-verdicts.js';
import { checkFindings } from '../comparison/compare.js';
import { Comparison, checkComparison, OfferedLoad } from '../comparison/comparison-schema.js';
import {
  amount,
  count,
  Environment,
  each,
  MeasurementVerdictName,
  number,
  RequirementVerdictName,
  share,
  Target,
  Tool,
  text,
  validatorOf,
} from '../declared.js';
import { FIGURES } from '../latency.js';
import { verdictOn } from '../requirements/judge-figures.js';
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
      verdicts: z.record(z.string(), count),
    }),
  ),
  measurement: z.object({
    /** The worst of all runs; null: there is no run. */
    verdict: MeasurementVerdictName.nullable(),
    verdicts: z.record(z.string(), count),
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
    steps: z.array(Step).min(1, 'must contain at least one step'),
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

/** Only its verdicts: the figures behind them are in the results of its steps. @param {ScenarioResult} result */
function* checkScenario({ steps, rows, comparisons }) {
  for (const { name, runs, requirements, measurement } of steps) {
    const worstRun = worstOf(MEASUREMENT_VERDICTS, runs);
    yield* checkEqual(`the measurement of ${name}`, measurement.verdict, 'that of its worst run', worstRun);
    for (const judged of requirements) {
      const { text, verdict, verdicts, unit, actual, low } = judged;
      const worst = REQUIREMENT_VERDICTS.find((one) => verdicts[one] > 0);
      yield* checkEqual(`${text} of ${name}`, verdict, 'its worst verdict', worst);
      const requirement = requirementOf(judged);
      if (requirement === null) yield `${quote(text)} is not a requirement with this limit and unit`;
      else if (unit === 'ms' && verdict !== 'not proven' && low !== undefined && actual !== null)
        yield* checkEqual(
          `${text} of ${name}`,
          verdict,
          'by its error bar it',
          verdictOn(requirement, barOf(judged)),
        );
    }
  }
  const scopes = rows.map(({ run, target, operation, stage }) =>
    JSON.stringify([run, target, operation, stage]),
  );
  if (new Set(scopes).size < rows.length) yield 'a row is listed twice';
  for (const { run, target, operation, stage, requirement } of rows) {
    const ofStep = steps.filter((step) => step.run === run && step.target === target);
    const all = ofStep.flatMap(({ requirements }) => requirements);
    const own = all.filter((one) => one.operation === operation && one.stage === stage);
    const worst = worstOf(REQUIREMENT_VERDICTS, own);
    yield* checkEqual(`the requirement of a row of ${run}`, requirement, 'that of its step', worst);
  }
  for (const { comparison } of comparisons) {
    yield* checkComparison(comparison);
    yield* checkFindings(comparison);
  }
}
