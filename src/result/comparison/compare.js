/**
 * Groups of runs -> Comparison: every metric of every group beside the base's. The unit of sampling is the run: ten runs of a
 * thousand requests are ten values of p99, not ten thousand of anything.
 */
import { median } from '../../common/median.js';
import { formatCount } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { COMPARISON_SCHEMA_ID } from '../document.js';
import { differenceWarnings, orderNotes, seedWarnings, targetWarnings } from '../runs/run-differences.js';
import { headOf, known, METRICS, summariseMetrics } from '../runs/run-metrics.js';
import { admit } from './admit.js';
import { INTERVAL_CONFIDENCE, RESAMPLES } from './bootstrap.js';
import { compareSamples, isShownBetter, notComparable } from './compare-samples.js';
import { ErrorBias } from './error-bias.js';
import { judgeFailIf, parseFailIf } from './fail-if.js';
import { ALPHA, chooseMethod, runsNeeded, smallestPValue } from './rank-test.js';

/** @import { MetricHead, MetricSummary } from '../runs/run-metrics.js' */
/** @import { RunGroup } from '../runs/same-run.js' */
/** @import { Result } from '../schema.js' */
/** @import { AdmittedGroup } from './admit.js' */
/** @import { ComparedGroup, ComparedMetric, Comparison } from './comparison-schema.js' */

/** Of the bootstrap, so that the same files give the same comparison. */
const DEFAULT_SEED = 1;

/**
 * @typedef {object} CompareOptions
 * @property {boolean} [allowInvalid] take invalid and interrupted runs, too, which are refused otherwise
 * @property {boolean} [leaveOutInvalid] compare the others
 * @property {number} [seed] of the bootstrap
 * @property {number} [resamples] of the bootstrap
 * @property {readonly string[]} [failIf] e.g. `p99 slower by 10%`
 * @property {string | null} [createdAt] ISO 8601, UTC: when the document was made
 * @property {string | null} [command] that made it, without secrets
 */

/**
 * @param {readonly RunGroup[]} groups at least two; the first is the base
 * @param {CompareOptions} [options]
 * @returns {Comparison}
 * @throws {PkiLoadError} where there is nothing to compare, or what must not be
 */
export function compareGroups(groups, options = {}) {
  const {
    seed = DEFAULT_SEED,
    resamples = RESAMPLES,
    failIf = [],
    createdAt = null,
    command = null,
  } = options;
  const rules = failIf.map(parseFailIf);
  const admitted = admit(groups, options);
  const described = admitted.map(describeGroup);
  const bias = new ErrorBias(
    described.map(({ name, metrics: { errors } }) => ({ name, errors: errors.values })),
  );
  const metrics = METRICS.map((metric) =>
    compareMetric(headOf(metric), described, bias, { seed, resamples }),
  );
  const hasErrors = described.some(({ metrics: { errors } }) => Number(errors.max) > 0);
  return {
    schema: COMPARISON_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    createdAt,
    command,
    method: { alpha: ALPHA, confidence: INTERVAL_CONFIDENCE, resamples, seed },
    groups: described,
    metrics,
    failIf: rules.map((rule) => judgeFailIf(rule, metrics, described)),
    warnings: warningsOf(admitted, bias),
    notes: notesOf(admitted, { seed, resamples, hasErrors }),
  };
}

/** @param {AdmittedGroup} group @returns {ComparedGroup} */
function describeGroup({ name, runs, used }) {
  return {
    name,
    subjects: subjectsOf(used.map(({ result }) => result)),
    runs: runs.map(({ name: run, result: { startedAt, target, measurement }, used: isUsed, why }) => ({
      name: run,
      startedAt,
      target: { url: target.url, product: target.product, version: target.version },
      verdict: measurement.verdict,
      used: isUsed,
      why,
    })),
    metrics: summariseMetrics(used),
  };
}

/**
 * @param {MetricHead} head
 * @param {ComparedGroup[]} groups
 * @param {ErrorBias} bias
 * @param {{seed: number, resamples: number}} options
 * @returns {ComparedMetric}
 */
function compareMetric(head, groups, bias, options) {
  const samples = groups.map(({ metrics }) => known(metrics[head.key].values));
  const tools = groups.map(({ metrics }) => toolOf(metrics[head.key]));
  const [base, ...others] = samples;
  return {
    ...head,
    differenceIn: head.unit === 'fraction' ? 'percentage points' : 'percent',
    comparisons: others.map((values, i) => {
      const tool = { base: tools[0], other: tools[i + 1] };
      const found = compareSamples(head, base, values, { ...options, tool });
      const why = bias.objection(head, found.verdict, 0, i + 1);
      const objected = why === null ? {} : notComparable(head, base, values, why);
      return { base: 0, other: i + 1, ...found, ...objected };
    }),
    ...findBest(head, samples, tools, bias),
  };
}

/**
 * @param {MetricSummary} summary
 * @returns {number[]} of the runs that have a value: how much of it may be the tool's own
 */
function toolOf({ values, tool }) {
  return values.flatMap((value, i) => (value === null ? [] : (tool?.[i] ?? 0)));
}

/**
 * The best group is one shown to be better than every other; a better median alone may be chance. A group with more errors than
 * another does not compete, so that it cannot win, nor keep another from winning.
 *
 * @param {MetricHead} head
 * @param {number[][]} samples
 * @param {number[][]} tools
 * @param {ErrorBias} bias
 * @returns {{best: number | null, bestMedian: number | null}}
 */
function findBest(head, samples, tools, bias) {
  const sign = head.lowerIsBetter ? 1 : -1;
  const competes = samples.map(
    (values, i) => values.length > 0 && (head.unit === 'fraction' || !bias.isOutOfContest(i)),
  );
  const medians = samples.map((values, i) =>
    competes[i] ? sign * median(values) : Number.POSITIVE_INFINITY,
  );
  const lowest = Math.min(...medians);
  const first = medians.indexOf(lowest);
  const isAlone = competes.filter((one) => one).length === 1;
  if (lowest === Number.POSITIVE_INFINITY || medians.lastIndexOf(lowest) !== first) {
    return { best: null, bestMedian: null };
  }
  const isShown = samples.every(
    (other, i) =>
      i === first ||
      (!competes[i] && !isAlone) ||
      isShownBetter(head, samples[first], other, { base: tools[i], other: tools[first] }),
  );
  return { best: isShown ? first : null, bestMedian: isShown || !isAlone ? first : null };
}

/** @typedef {ComparedGroup['subjects'][number]} Subject */

/**
 * @param {readonly Result[]} results
 * @returns {Subject[]} each that differs once, with the number of runs, in order of appearance
 */
function subjectsOf(results) {
  /** @type {Map<string, Subject>} */
  const subjects = new Map();
  for (const result of results) {
    const one = subjectOf(result);
    const key = JSON.stringify(one);
    const { runs } = subjects.get(key) ?? one;
    subjects.set(key, { ...one, runs: runs + 1 });
  }
  return [...subjects.values()];
}

/** @param {Result} result @returns {Subject} */
function subjectOf({ operations, command, load }) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs, stageCount } =
    load;
  const names = Object.keys(operations);
  return {
    operations: names.length > 0 ? names : [command],
    load: {
      model,
      ratePerSecond,
      concurrency,
      threads,
      arrivals,
      durationMs,
      requests,
      rampUpMs,
      ...(stageCount === undefined ? {} : { stageCount }),
    },
    runs: 0,
  };
}

/**
 * Settings and events beside the compared ones that may have made a difference.
 *
 * @param {readonly AdmittedGroup[]} groups
 * @param {import('./error-bias.js').ErrorBias} bias
 * @returns {string[]} sentences
 */
export function warningsOf(groups, bias) {
  const resultsOf = (/** @type {AdmittedGroup} */ { used }) => used.map(({ result }) => result);
  return [
    ...differenceWarnings(groups.flatMap(resultsOf)),
    ...groups.flatMap((group) => targetWarnings(group.name, resultsOf(group))),
    ...groups.flatMap((group) => seedWarnings(group.name, resultsOf(group))),
    ...tooFewRuns(groups),
    ...groups.flatMap(leftOut),
    ...groups.flatMap(doubtful),
    ...bias.warnings(),
  ];
}

/** @param {readonly AdmittedGroup[]} groups @returns {string[]} */
function tooFewRuns([base, ...others]) {
  return others
    .filter(({ used }) => smallestPValue(base.used.length, used.length) >= ALPHA)
    .map(
      ({ name, used }) =>
        `${base.name} and ${name} have too few runs (${base.used.length} and ${used.length}) for any difference to be shown: ${runsNeeded()} of each are enough.`,
    );
}

/** @param {AdmittedGroup} group @returns {string[]} */
function leftOut({ name, runs, used }) {
  const out = runs.length - used.length;
  if (out === 0) return [];
  return [`${out} of ${runs.length} runs of ${name} are left out: what is left may be the better ones.`];
}

/** @param {AdmittedGroup} group @returns {string[]} */
function doubtful({ name, used }) {
  return used.flatMap(({ name: run, why }) =>
    why === null ? [] : [`${run} of ${name} is taken all the same: ${why}.`],
  );
}

/**
 * @param {readonly AdmittedGroup[]} groups
 * @param {{seed: number, resamples: number, hasErrors: boolean}} facts
 * @returns {string[]} sentences
 */
export function notesOf(groups, { seed, resamples, hasErrors }) {
  const [base, ...others] = groups;
  const isExact = others.every(({ used }) => chooseMethod(base.used.length, used.length) === 'exact');
  const test = isExact ? 'exact' : 'exact but for very many runs, of which it is the normal approximation';
  return [
    `One run is one sample. A difference is shown where the Mann-Whitney test gives p < ${ALPHA} (two-sided, ${test}); the interval of the difference of medians is a percentile bootstrap over runs (95 %, ${formatCount(resamples)} resamples, seed ${seed}), which with few runs is somewhat too narrow.`,
    'The tool is assumed to be equally late in all groups; where the bound of its lateness is higher in one of them, that much does not count as a difference.',
    'Each metric is judged by itself: where nothing differs, one in twenty is still called different.',
    ...(hasErrors
      ? ['Times are those of all requests, failed ones too: a target that fails fast is not a fast one.']
      : []),
    ...orderNotes(groups),
  ];
}
