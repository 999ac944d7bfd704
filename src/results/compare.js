/**
 * Groups of runs -> Comparison: every metric of every group beside the base's. The unit of sampling is the run: ten runs of a
 * thousand requests are ten values of p99, not ten thousand of anything.
 */
import { usageError } from '../errors.js';
import { formatCount } from '../units.js';
import { TOOL_VERSION } from '../version.js';
import { RESAMPLES } from './bootstrap.js';
import { compareSamples, isShownBetter } from './compare-samples.js';
import { COMPARISON_SCHEMA_ID } from './document.js';
import { judgeFailIf, parseFailIf } from './fail-if.js';
import { median } from './median.js';
import { ALPHA, EXACT_COMBINATIONS, runsNeeded, smallestPValue } from './rank-test.js';
import { differenceWarnings, orderNotes } from './run-differences.js';
import { headOf, known, METRICS, sortOut, summariseMetrics, whyLeftOut } from './run-metrics.js';
import { CONFIDENCE } from './statistics.js';

/** @typedef {import('./comparison-schema.js').Comparison} Comparison */
/** @typedef {import('./comparison-schema.js').ComparedGroup} ComparedGroup */
/** @typedef {import('./comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('./run-metrics.js').NamedRun} NamedRun */
/** @typedef {{name: string, runs: NamedRun[]}} RunGroup */
/** @typedef {RunGroup & ReturnType<typeof sortOut>} SortedGroup */

/** Of the bootstrap, so that the same files give the same comparison. */
export const DEFAULT_SEED = 1;

/**
 * @typedef {object} CompareOptions
 * @property {boolean} [allowInvalid] take invalid and interrupted runs, too
 * @property {number} [seed] of the bootstrap
 * @property {number} [resamples] of the bootstrap
 * @property {readonly string[]} [failIf] e.g. `p99 slower by 10%`
 */

/**
 * @param {readonly RunGroup[]} groups at least two; the first is the base
 * @param {CompareOptions} [options]
 * @returns {Comparison}
 * @throws {import('../errors.js').PkiLoadError} where there is nothing to compare
 */
export function compareGroups(groups, options = {}) {
  const { allowInvalid = false, seed = DEFAULT_SEED, resamples = RESAMPLES, failIf = [] } = options;
  const rules = failIf.map(parseFailIf);
  const sorted = groups.map((group) => ({ ...group, ...sortOut(group.runs, allowInvalid) }));
  check(sorted);
  const summaries = sorted.map(({ name, runs, used, leftOut }) => ({
    name,
    runs: runs.length,
    used: used.length,
    leftOut,
    metrics: summariseMetrics(used),
  }));
  const metrics = METRICS.map((metric) => compareMetric(headOf(metric), summaries, { seed, resamples }));
  const names = groups.map(({ name }) => name);
  return {
    schema: COMPARISON_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    method: { alpha: ALPHA, confidence: CONFIDENCE, resamples, seed },
    groups: summaries,
    metrics,
    failIf: rules.map((rule) => judgeFailIf(rule, metrics, names)),
    warnings: [
      ...differenceWarnings(sorted.flatMap(({ used }) => used.map(({ result }) => result))),
      ...tooFewRuns(summaries),
      ...doubtfulRuns(sorted),
    ],
    notes: notes(sorted, summaries, { seed, resamples }),
  };
}

/**
 * @param {import('./run-metrics.js').MetricHead} head
 * @param {ComparedGroup[]} groups
 * @param {{seed: number, resamples: number}} options
 * @returns {ComparedMetric}
 */
function compareMetric(head, groups, options) {
  const samples = groups.map(({ metrics }) => known(metrics[head.key].values));
  const [base, ...others] = samples;
  return {
    ...head,
    differenceIn: head.unit === 'fraction' ? 'percentage points' : 'percent',
    comparisons: others.map((values, i) => ({
      base: 0,
      other: i + 1,
      ...compareSamples(head, base, values, options),
    })),
    ...findBest(head, samples),
  };
}

/**
 * Best is what is shown to be better than every other; a better median alone may be chance.
 *
 * @param {import('./run-metrics.js').MetricHead} head
 * @param {number[][]} samples
 * @returns {{best: number | null, bestMedian: number | null}}
 */
function findBest(head, samples) {
  const sign = head.lowerIsBetter ? 1 : -1;
  const medians = samples.map((values) =>
    values.length === 0 ? Number.POSITIVE_INFINITY : sign * median(values),
  );
  const lowest = Math.min(...medians);
  const first = medians.indexOf(lowest);
  if (lowest === Number.POSITIVE_INFINITY || medians.lastIndexOf(lowest) !== first) {
    return { best: null, bestMedian: null };
  }
  const isShown = samples.every((other, i) => i === first || isShownBetter(head, samples[first], other));
  return { best: isShown ? first : null, bestMedian: first };
}

/** @param {readonly SortedGroup[]} groups */
function check(groups) {
  if (groups.length < 2) {
    throw usageError(
      'nothing_to_compare',
      'There is only one group of runs.',
      'Name another one: compare BASE.json... --with NEW.json...',
    );
  }
  for (const { name, runs, used, leftOut } of groups) {
    refuseTwice(name, runs);
    if (used.length > 0) continue;
    const why = leftOut.map(({ run, why: because }) => `${run}: ${because}`).join('; ');
    throw usageError(
      'no_usable_run',
      runs.length === 0 ? `There is no run of ${name}.` : `No run of ${name} can be used: ${why}.`,
      runs.length === 0
        ? 'Give result files that vault-pki-load wrote with --out FILE.json.'
        : 'Run it again, or take such runs all the same with --allow-invalid.',
    );
  }
}

/**
 * A run that counts twice would make every difference look surer than it is.
 *
 * @param {string} name
 * @param {readonly NamedRun[]} runs
 */
function refuseTwice(name, runs) {
  /** @type {Map<string, string>} */
  const seen = new Map();
  for (const { name: run, result } of runs) {
    const key = identityOf(result);
    const before = seen.get(key);
    if (before !== undefined) {
      throw usageError(
        'same_run_twice',
        before === run
          ? `${run} is given twice for ${name}.`
          : `${before} and ${run}, both of ${name}, are the same run.`,
        'Give each run once.',
      );
    }
    seen.set(key, run);
  }
}

/**
 * @param {import('./schema.js').Result} result
 * @returns {string} no two runs have the same
 */
function identityOf({ startedAt, startedAtMonotonicNs, durationSeconds, target, totals, latencyMs }) {
  const { mean, max, histogram } = latencyMs.response;
  return JSON.stringify([
    startedAt,
    startedAtMonotonicNs ?? null,
    durationSeconds,
    target.url,
    totals.sent,
    mean,
    max,
    histogram,
  ]);
}

/** @param {ComparedGroup[]} groups @returns {string[]} */
function tooFewRuns([base, ...others]) {
  return others
    .filter(({ used }) => smallestPValue(base.used, used) >= ALPHA)
    .map(
      ({ name, used }) =>
        `${base.name} and ${name} have too few runs (${base.used} and ${used}) for any difference to be shown: ${runsNeeded()} of each are enough.`,
    );
}

/** @param {readonly SortedGroup[]} groups @returns {string[]} */
function doubtfulRuns(groups) {
  return groups.flatMap(({ name, used }) =>
    used.flatMap(({ name: run, result }) => {
      const why = whyLeftOut(result);
      return why === null ? [] : [`${run} of ${name} is taken all the same: ${why}.`];
    }),
  );
}

/**
 * @param {readonly SortedGroup[]} sorted
 * @param {ComparedGroup[]} groups
 * @param {{seed: number, resamples: number}} options
 * @returns {string[]}
 */
function notes(sorted, groups, { seed, resamples }) {
  const hasErrors = groups.some(({ metrics }) => Number(metrics.errors.max) > 0);
  return [
    `One run is one sample. A difference is shown where the Mann-Whitney test gives p < ${ALPHA} (two-sided, exact up to ${formatCount(EXACT_COMBINATIONS)} permutations); the interval of the difference of medians is a percentile bootstrap over runs (95 %, ${formatCount(resamples)} resamples, seed ${seed}), which with few runs is somewhat too narrow.`,
    'Each metric is judged by itself: where nothing differs, one in twenty is still called different.',
    ...(hasErrors
      ? ['Times are those of all requests, failed ones too: a target that fails fast is not a fast one.']
      : []),
    ...orderNotes([...sorted]),
  ];
}
