/** The document of a run set: one declaration defines the types, the validation and the JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { amount, count, each, named, number, record, Tool, Unit, validatorOf } from '../declared.js';
import { Result } from '../schema.js';
import { summarizeRuns } from './run-set.js';

/** One value per counted run, or null. The variance is unbiased, in the square of the unit. */
export const MetricSummary = named('MetricSummary', {
  values: z.array(number),
  ...each(['median', 'mean', 'min', 'max'], number),
  variance: amount.nullable(),
  /** How much better than each value the target may have been: the tool's own lateness and errors. */
  tool: z.array(z.number()).optional(),
  /** How much worse: responses that were not checked, and requests that resting connections did not send. */
  unknown: z.array(z.number()).optional(),
});

export const MetricHead = z.object({
  ...each(['key', 'label'], z.string()),
  unit: Unit,
  lowerIsBetter: z.boolean(),
});

const Summary = z.object({
  /** Names of the counted runs, by position from 1: `run 1`. */
  used: z.array(z.string()),
  leftOut: z.array(z.object({ run: z.string(), why: z.string() })),
  /** Settings that differ between the counted runs. */
  warnings: z.array(z.string()),
  /** Values in the order of `used`. */
  metrics: z.array(MetricHead.extend(MetricSummary.shape)),
  /** Number of counted runs with each verdict. */
  requirements: z.array(z.object({ text: z.string(), verdicts: record(count) })),
});

export const RunSet = z
  .object({
    schema: z.literal('vault-pki-load/run-set/1'),
    tool: Tool,
    /** Its name in a comparison. */
    name: z.string(),
    summary: Summary,
    /** If more runs were planned. */
    planned: count.optional(),
    runs: z.array(Result).min(1, 'must contain at least one run'),
  })
  .meta({ title: 'Results of several runs of one vault-pki-load plan' });

/** @typedef {z.infer<typeof RunSet>} RunSet */
/** @typedef {z.infer<typeof MetricHead>} MetricHead */
/** @typedef {z.infer<typeof MetricSummary>} MetricSummary */
/** @typedef {MetricHead['unit']} Unit */

export const validateRunSet = validatorOf(RunSet, checkSummary);

/** Ignores metrics of other versions. @param {RunSet} runSet @returns {Generator<string, void>} */
function* checkSummary({ name, runs, summary }) {
  const { used, metrics, requirements } = summarizeRuns(name, runs);
  const written = new Map(summary.metrics.map((metric) => [metric.key, metric]));
  if (written.size < summary.metrics.length) yield 'a metric is listed twice';
  const wrong = isDeepStrictEqual(used, summary.used)
    ? (metrics.find((metric) => !isDeepStrictEqual(written.get(metric.key) ?? metric, metric))?.label ??
      (isDeepStrictEqual(requirements, summary.requirements)
        ? undefined
        : 'the verdicts on the requirements'))
    : 'which runs count';
  if (wrong !== undefined) yield `its summary and its runs disagree on ${wrong}`;
}
