/** Schemas of a metric over runs, in run sets and comparisons. */
import { z } from 'zod';

const number = z.number().nullable();

/** One value per run that counts, null where it has none. The variance is unbiased, in the square of the unit. */
export const MetricSummary = z
  .object({
    values: z.array(number),
    median: number,
    mean: number,
    variance: number,
    min: number,
    max: number,
    /** Beside `values`: how much of each may be the tool's own lateness, added to a time or taken from a rate. */
    tool: z.array(z.number()).optional(),
  })
  .meta({ id: 'MetricSummary' });

/** What a metric is, and how its values are to be read. */
export const MetricHead = z.object({
  key: z.string(),
  label: z.string(),
  unit: z.enum(['ms', '/s', 'fraction']),
  lowerIsBetter: z.boolean(),
});
