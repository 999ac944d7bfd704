/** A run set: several results of one plan (`--repeat N`), in the order in which they were run. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { usageError } from '../../common/errors.js';
import { TOOL_VERSION } from '../../common/version.js';
import { validatorOf } from '../declared.js';
import { RUN_SET_SCHEMA_ID } from '../document.js';
import { Result } from '../schema.js';
import { MetricHead, MetricSummary } from './metric-summary-schema.js';
import { summariseRuns } from './run-metrics.js';

export { isRunSet, RUN_SET_SCHEMA_ID } from '../document.js';

/** The summary over the runs. */
const Summary = z.object({
  /** Names of the runs that count, by their place from 1: `run 1`. */
  used: z.array(z.string()),
  leftOut: z.array(z.object({ run: z.string(), why: z.string() })),
  /** In what those that count were not made alike. */
  warnings: z.array(z.string()),
  /** Values in the order of `used`. */
  metrics: z.array(MetricHead.extend(MetricSummary.shape)),
  /** In how many of the runs that count each verdict was given. */
  requirements: z.array(z.object({ text: z.string(), verdicts: z.record(z.string(), z.int().min(0)) })),
});

export const RunSet = z
  .object({
    schema: z.literal(RUN_SET_SCHEMA_ID),
    tool: z.object({ version: z.string() }),
    /** Its name in a comparison. */
    name: z.string(),
    summary: Summary,
    runs: z.array(Result).min(1, 'there is no run in it'),
  })
  .meta({ title: 'Results of several runs of one vault-pki-load plan' });

/** @typedef {z.infer<typeof RunSet>} RunSet */

/** @param {string} name @param {import('../schema.js').Result[]} results at least one @returns {RunSet} */
export function makeRunSet(name, results) {
  return {
    schema: RUN_SET_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    name,
    summary: summariseRuns(name, results),
    runs: [...results],
  };
}

const declared = validatorOf(RunSet, {
  code: 'bad_run_set',
  called: 'The run set',
  writtenWith: '--repeat N --out FILE.json',
  placeOf,
});

/**
 * @param {unknown} value e.g. parsed from a file
 * @param {string} [name] what to call it in an error
 * @returns {RunSet} the same value, unknown keys and all
 * @throws {PkiLoadError} code `bad_run_set`, naming the place; `inconsistent_run_set` where its
 *   summary is not that of its runs
 */
export function validateRunSet(value, name = 'The run set') {
  return checkedSummary(declared(value, name), name);
}

/**
 * Reports are made from the runs. Metrics that only another version knows are left as they are.
 *
 * @param {RunSet} runSet
 * @param {string} name
 * @returns {RunSet}
 */
function checkedSummary(runSet, name) {
  const { used, metrics } = summariseRuns(runSet.name, runSet.runs);
  const given = new Map(runSet.summary.metrics.map((metric) => [metric.key, metric]));
  const wrong = isDeepStrictEqual(used, runSet.summary.used)
    ? metrics.find((metric) => !isDeepStrictEqual(given.get(metric.key) ?? metric, metric))?.label
    : 'which runs count';
  if (wrong === undefined) return runSet;
  throw usageError(
    'inconsistent_run_set',
    `${name} does not add up: its summary says something else of ${wrong} than its runs.`,
    'Give the file as vault-pki-load wrote it.',
  );
}

/**
 * People count runs from 1.
 *
 * @param {PropertyKey[]} path
 * @returns {string} `runs[2] (run 3): totals.sent`
 */
function placeOf(path) {
  if (path.length === 0) return 'the whole';
  const [first, at, ...inner] = path.map(String);
  if (first !== 'runs' || at === undefined) return path.map(String).join('.');
  const run = `runs[${at}] (run ${Number(at) + 1})`;
  return inner.length === 0 ? run : `${run}: ${inner.join('.')}`;
}
