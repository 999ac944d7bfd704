/**
 * The outcome of a scenario of several runs or targets: one declaration gives its type, its validation and the JSON Schema.
 * `scenario-result.js` makes it. The results themselves are in files beside it, one for each step.
 */
import { z } from 'zod';
import { Comparison, checkComparison, OfferedLoad } from '../comparison/comparison-schema.js';
import {
  amount,
  count,
  Environment,
  each,
  MeasurementWord,
  number,
  RequirementWord,
  share,
  Target,
  Tool,
  text,
  validatorOf,
} from '../declared.js';
import { MetricHead, MetricSummary } from '../runs/run-set.js';
import { Result } from '../schema.js';

/** One value for each run that counts, in the order of `used` of the step; `sd` is the root of the variance. */
const Spread = MetricSummary.extend({ sd: number }).meta({ id: 'SpreadOverRuns' });

const Step = z.object({
  /** Behind the names of the step's own files: `write-raft`. */
  name: z.string(),
  run: z.string(),
  target: z.string(),
  /** The target; null where nothing could be sent. */
  aim: Target.nullable(),
  load: OfferedLoad,
  /** As planned: requests a second, in a closed loop requests in flight, at the beginning and the end. */
  stages: z.array(z.object({ name: z.string(), seconds: amount, from: amount, to: amount })),
  /** Planned runs. */
  repeat: count,
  runs: z.array(
    z.object({
      name: z.string(),
      startedAt: z.iso.datetime(),
      durationSeconds: amount,
      verdict: MeasurementWord,
      /** Why it does not count; null where it does. */
      why: text,
    }),
  ),
  /** Names of the runs that count. */
  used: z.array(z.string()),
  requirements: z.array(
    // As a run with the worst verdict has it. Older files have no figures.
    Result.shape.requirements.element.partial({ actual: true, limit: true, unit: true }).extend({
      /** Its scope; null: the whole run. */
      operation: text,
      stage: text,
      /** In how many of the runs that were made each verdict was given. */
      verdicts: z.record(z.string(), count),
    }),
  ),
  measurement: z.object({
    /** The worst of all runs that were made; null: none was. */
    verdict: MeasurementWord.nullable(),
    verdicts: z.record(z.string(), count),
    /** By code, in the words of the first run, with the number of runs. */
    reasons: z.array(Result.shape.measurement.shape.reasons.element.extend({ runs: count })),
  }),
  /** Why no (further) run could be made; null where nothing was in the way. */
  failure: z.object({ code: z.string(), text: z.string() }).nullable(),
});

/**
 * Of one operation (null: all together) in one stage (null: all the time), all runs that count together: counts are sums,
 * times those of all requests of all runs. Milliseconds; response times, from when a request was due.
 */
const Row = z.object({
  run: z.string(),
  target: z.string(),
  operation: text,
  stage: text,
  /** That it is made of. */
  runs: count,
  /** False: no run counts, and this is what those that do not have shown. */
  counts: z.boolean(),
  /** Requests that were due: succeeded + errors. */
  count,
  succeeded: count,
  errors: count,
  /** Requests due, over the planned time. */
  ratePerSecond: amount,
  /** Successes, over the time until they were in. */
  perSecond: amount,
  ...each(['min', 'mean', 'p50', 'p95', 'p99', 'max'], number),
  /** succeeded / count, and errors / count; null where nothing was due. */
  successRatio: share,
  errorShare: share,
  /**
   * By outcome, over the runs that it is made of, `dropped` and `never_sent` included. Those that are no success add up
   * to `errors`, all of them to `count`. Older files do not have it.
   */
  outcomeDetails: z
    .record(
      z.string(),
      z.object({
        count,
        success: z.boolean(),
        meaning: z.string().optional(),
        /** Runs in which it occurred. */
        runs: count,
      }),
    )
    .optional(),
  /** The worst of the requirements that are about just this; null: there is none. */
  requirement: RequirementWord.nullable(),
  /** Of one value per run; null for less than two runs. */
  overRuns: z.object(each(['mean', 'p99', 'max', 'min', 'perSecond'], Spread)).nullable(),
});

/** Of the means over runs, as percent of that of the first target; shares differ by percentage points. */
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
    /** Wall time: preparations and pauses included. */
    durationSeconds: amount,
    interrupted: z.boolean(),
    /** Written before all runs were made. */
    unfinished: z.literal(true).optional(),
    environment: Environment.nullable(),
    /** In the order of the scenario: all targets of the first run, then all of the next. */
    steps: z.array(Step).min(1, 'there is no step in it'),
    rows: z.array(Row),
    differences: z.array(TargetDifference),
    comparisons: z.array(z.object({ run: z.string(), operation: text, comparison: Comparison })),
    warnings: z.array(z.string()),
    /** Notes that a reader needs to interpret the figures. */
    notes: z.array(z.string()),
  })
  .meta({ title: 'Several runs or targets of one vault-pki-load scenario' });

/** @typedef {z.infer<typeof ScenarioResult>} ScenarioResult */
/** @typedef {z.infer<typeof Step>} ScenarioStep */
/** @typedef {z.infer<typeof Row>} ScenarioRow */
/** @typedef {z.infer<typeof Spread>} SpreadOverRuns */
/** @typedef {z.infer<typeof TargetDifference>} TargetDifference */

export const validateScenarioResult = validatorOf(ScenarioResult, ({ comparisons }) =>
  comparisons.flatMap(({ comparison }) => [...checkComparison(comparison)]),
);
