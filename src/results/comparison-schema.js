/** The Comparison: one declaration that gives the type, the validation and the JSON Schema. `compare.js` makes it. */
import { z } from 'zod';
import { usageError } from '../errors.js';
import { COMPARISON_SCHEMA_ID } from './document.js';

const index = z.int().min(0);
const number = z.number().nullable();

/** One value per run that counts, null where it has none. The variance is unbiased, in the square of the unit. */
const Summary = z
  .object({
    values: z.array(number),
    median: number,
    mean: number,
    variance: number,
    min: number,
    max: number,
  })
  .meta({ id: 'MetricSummary' });

const Group = z.object({
  name: z.string(),
  /** All of them, and how many of them count. */
  runs: index,
  used: index,
  leftOut: z.array(z.object({ run: z.string(), why: z.string() })),
  /** By key of `metrics`. */
  metrics: z.record(z.string(), Summary),
});

/** Of the medians of `other` and `base`, both indices of `groups`. */
const Difference = z.object({
  base: index,
  other: index,
  /** In `differenceIn` of the metric; null where the base is 0, of which nothing is a percentage. */
  differencePercent: number,
  /** The 95 % confidence interval of that difference. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
  /** Two-sided Mann-Whitney test. */
  pValue: number,
  verdict: z.enum([
    'faster',
    'slower',
    'higher',
    'lower',
    'better',
    'worse',
    'no difference shown',
    'not enough runs',
  ]),
  text: z.string(),
});

const ComparedMetric = z.object({
  key: z.string(),
  label: z.string(),
  unit: z.enum(['ms', '/s', 'fraction']),
  lowerIsBetter: z.boolean(),
  /** Shares differ by percentage points, all else by percent of the base. */
  differenceIn: z.enum(['percent', 'percentage points']),
  /** Each group with the base. */
  comparisons: z.array(Difference),
  /** The group that is shown to be better than every other; null where none is. */
  best: index.nullable(),
  /** The group with the best median, shown or not; null where several have it. */
  bestMedian: index.nullable(),
});

export const Comparison = z
  .object({
    schema: z.literal(COMPARISON_SCHEMA_ID),
    tool: z.object({ version: z.string() }),
    /** A difference is shown where the p-value is below `alpha`. */
    method: z.object({ alpha: z.number(), confidence: z.number(), resamples: index, seed: z.number() }),
    /** The first is the base. */
    groups: z.array(Group).min(2, 'there are fewer than two groups'),
    metrics: z.array(ComparedMetric),
    failIf: z.array(z.object({ text: z.string(), failed: z.boolean(), reason: z.string() })),
    /** What may have made a difference beside what is compared. */
    warnings: z.array(z.string()),
    /** What a reader must know to take the numbers for what they are. */
    notes: z.array(z.string()),
  })
  .meta({ title: 'Comparison of groups of vault-pki-load runs' });

/** @typedef {z.infer<typeof Comparison>} Comparison */
/** @typedef {z.infer<typeof Group>} ComparedGroup */
/** @typedef {z.infer<typeof ComparedMetric>} ComparedMetric */
/** @typedef {z.infer<typeof Difference>} Difference */
/** @typedef {Difference['verdict']} DifferenceVerdict */

/**
 * @param {unknown} value e.g. parsed from a file
 * @param {string} [name] what to call it in an error
 * @returns {Comparison} the same value, unknown keys and all
 * @throws {import('../errors.js').PkiLoadError} code `bad_comparison`, naming the place
 */
export function validateComparison(value, name = 'The comparison') {
  const parsed = Comparison.safeParse(value);
  if (parsed.success) return /** @type {Comparison} */ (value);
  const [issue] = parsed.error.issues;
  const place = issue.path.length > 0 ? issue.path.map(String).join('.') : 'the whole';
  throw usageError(
    'bad_comparison',
    `${name} is not a ${COMPARISON_SCHEMA_ID}: ${place}: ${issue.message}.`,
    'Give a file that vault-pki-load compare wrote with --out FILE.json.',
  );
}

/**
 * @returns {Record<string, unknown>} the JSON Schema (draft 2020-12) of a comparison
 */
export function comparisonJsonSchema() {
  const { $schema, ...rest } = z.toJSONSchema(Comparison, { target: 'draft-2020-12', io: 'input' });
  return { $schema, $id: COMPARISON_SCHEMA_ID, ...rest };
}
