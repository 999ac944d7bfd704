/** The document that `compare.js` creates. */
import { z } from 'zod';
import { groupBy } from '../../common/sums.js';
import {
  count,
  each,
  MeasurementVerdictName,
  number,
  record,
  Target,
  Tool,
  text,
  validatorOf,
} from '../declared.js';
import { MetricHead, MetricSummary } from '../runs/run-set-schema.js';

/** Every pair is tested, so time grows with the square: of a comparison, and the pairs of a document with several. */
export const [MAX_GROUPS, MAX_PAIRS] = [50, 5000];

/** @param {number} groups @returns {number} pairs of two of them */
export const pairsOf = (groups) => (groups * (groups - 1)) / 2;

export const OfferedLoad = z.object({
  model: z.enum(['open', 'closed']),
  arrivals: z.enum(['constant', 'poisson']),
  ...each(['concurrency', 'threads'], count),
  ...each(['ratePerSecond', 'durationMs', 'requests'], number),
  rampUpMs: z.number(),
});

export const SubjectLoad = OfferedLoad.extend({ stageCount: count.optional() });

/** A run of the group, used or not. */
const GroupRun = z.object({
  /** Its file and, in a run set, its number. */
  name: z.string(),
  startedAt: z.iso.datetime(),
  target: Target,
  /** Of its measurement. */
  verdict: MeasurementVerdictName,
  used: z.boolean(),
  /** Why it is not a whole, valid run; null: it is. */
  why: text,
});

/** Operations and offered load, shared by this number of runs. */
const Subject = z.object({ operations: z.array(z.string()), load: SubjectLoad, runs: count });

const Group = z.object({
  name: z.string(),
  /** Of the used runs; one if all are alike. */
  subjects: z.array(Subject),
  runs: z.array(GroupRun).min(1, 'must contain at least one run'),
  /** Further runs that were planned, and did not take place. */
  missing: count.optional(),
  /** By key of `metrics`; values in the order of the used runs. */
  metrics: record(MetricSummary),
});

const VERDICTS = /** @type {const} */ ([
  ...['faster', 'slower', 'higher', 'lower'],
  ...['no difference shown', 'not enough runs', 'not comparable'],
]);

/** Of the medians (if both are 0: the means) of `other` and `base`, both indices of `groups`. */
const Difference = z.object({
  ...each(['base', 'other'], count),
  /** In `differenceIn` of the metric; null if the base is 0. */
  differencePercent: number,
  /** The 95 % confidence interval of that difference. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
  /** Two-sided Mann-Whitney test. */
  pValue: number,
  /** As measured, and as it may be where the tool's part in the values is greater in one group than in the other. */
  possible: z
    .array(z.object({ verdict: z.enum(VERDICTS), differencePercent: number }))
    .min(1)
    .optional(),
  /** `not enough runs`: too few to show any. `not comparable`: the group that would win has more errors. */
  verdict: z.enum(VERDICTS),
  /** Why figures and verdict seem to disagree or cannot be compared: a sentence, also in `text`. */
  doubt: text,
  text: z.string(),
});

const ComparedMetric = MetricHead.extend({
  /** Shares differ by percentage points, all else by percent of the base. */
  differenceIn: z.enum(['percent', 'percentage points']),
  /** Each group with the base. */
  comparisons: z.array(Difference),
  /** The group shown to be better than every other without more errors; null: none. */
  best: count.nullable(),
  /** The group with the best median, shown or not; null: several share it. */
  bestMedian: count.nullable(),
});

export const Comparison = z
  .object({
    schema: z.literal('vault-pki-load/comparison/1'),
    tool: Tool,
    /** When `compare` ran; null: unknown. */
    createdAt: z.iso.datetime().nullable(),
    command: text,
    /** A difference is shown where the p-value is below `alpha`. */
    method: z.object({ alpha: z.number(), confidence: z.number(), resamples: count, seed: z.number() }),
    /** The first is the base. */
    groups: z
      .array(Group)
      .min(2, 'must contain at least two groups')
      .max(MAX_GROUPS, `must contain at most ${MAX_GROUPS} groups`),
    metrics: z.array(ComparedMetric),
    /** `failed`: it fired. `not proven`: with these runs it could not have fired. */
    failIf: z.array(
      z.object({ text: z.string(), verdict: z.enum(['failed', 'passed', 'not proven']), reason: z.string() }),
    ),
    /** Settings and events other than the compared ones that may explain a difference. */
    warnings: z.array(z.string()),
    /** Notes that a reader needs to interpret the figures. */
    notes: z.array(z.string()),
  })
  .meta({ title: 'Comparison of groups of vault-pki-load runs' });

/** @typedef {z.infer<typeof Comparison>} Comparison */
/** @typedef {z.infer<typeof Group>} ComparedGroup */
/** @typedef {z.infer<typeof ComparedMetric>} ComparedMetric */
/** @typedef {z.infer<typeof Difference>} Difference */
/** @typedef {Difference['verdict']} DifferenceVerdict */
/** @typedef {Comparison['failIf'][number]['verdict']} FailIfVerdict */

export const validateComparison = validatorOf(Comparison, checkComparison);

/**
 * Every named group exists, has figures for each metric, and is compared with the base once.
 * @param {Pick<Comparison, 'groups' | 'metrics'>} comparison @returns {Generator<string, void>} one sentence per problem
 */
export function* checkComparison({ groups, metrics }) {
  for (const [{ key }, again] of groupBy(metrics, ({ key }) => key))
    if (again !== undefined) yield `the metric ${key} is listed twice`;
  for (const metric of metrics) yield* checkMetric(groups, metric);
}

/** @param {Comparison['groups']} groups @param {Comparison['metrics'][number]} metric */
function* checkMetric(groups, { key, comparisons, best, bestMedian }) {
  for (const { name, metrics } of groups)
    if (!Object.hasOwn(metrics, key)) yield `the group ${JSON.stringify(name)} has no figures for ${key}`;
  const named = [...comparisons.flatMap(({ base, other }) => [base, other]), best ?? 0, bestMedian ?? 0];
  for (const index of new Set(named.filter((one) => one >= groups.length)))
    yield `${key} names group ${index}, but there are only ${groups.length} groups`;
  for (const { base, other } of comparisons)
    if (base !== 0 || other === 0)
      yield `${key} compares group ${other} with group ${base}, but only others are compared, and with group 0`;
  const others = new Map(groupBy(comparisons, ({ other }) => other).map((own) => [own[0].other, own.length]));
  for (const i of groups.keys()) {
    const length = others.get(i) ?? 0;
    if (i > 0 && length !== 1) yield `${key} of group ${i} is compared ${length} times, not once`;
  }
}
