/** Groups of runs -> Comparison: each metric of each group against the base. One run is one sample. */
import { groupBy, maxOf, median, minOf } from '../../common/sums.js';
import { formatCount } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { checkEqual, tryOrNull } from '../check/check-latency.js';
import { orderNotes, runWarnings } from '../runs/run-differences.js';
import { headOf, METRICS, PARTS, summarize, summarizeMetrics, withoutNulls } from '../runs/run-set.js';
import { admit } from './admit.js';
import { centersText, compareSamples, isShownBetter, notComparable } from './compare-samples.js';
import { SubjectLoad } from './comparison-schema.js';
import { judgeFailIf, parseFailIf } from './fail-if.js';
import { ALPHA, CONFIDENCE, chooseMethod, RESAMPLES, runsNeeded, smallestPValue } from './run-statistics.js';

/** @import { MetricHead, MetricSummary } from '../runs/run-set-schema.js' */
/** @import { Result } from '../schema.js' */
/** @import { AdmittedGroup, RunGroup } from './admit.js' */
/** @import { Parts } from './compare-samples.js' */
/** @import { ComparedGroup, ComparedMetric, Comparison, DifferenceVerdict } from './comparison-schema.js' */

/** @typedef {ReturnType<typeof createErrorBias>} ErrorBias */

const [ERRORS] = METRICS.filter(({ key }) => key === 'errors').map(headOf);

/**
 * @typedef {object} CompareOptions
 * @property {boolean} [allowInvalid] include invalid and interrupted runs; default: refuse them
 * @property {boolean} [leaveOutInvalid] compare only the other runs
 * @property {number} [seed] of the bootstrap
 * @property {number} [resamples] of the bootstrap
 * @property {readonly string[]} [failIf] e.g. `p99 slower by 10%`
 * @property {string | null} [createdAt] ISO 8601, UTC
 * @property {string | null} [command] without secrets
 */

/**
 * @param {readonly RunGroup[]} groups at least two; the first is the base @param {CompareOptions} [options]
 * @returns {Comparison} @throws {PkiLoadError} if there is nothing to compare, or a run is refused
 */
export function compareGroups(groups, options = {}) {
  const { seed = 1, resamples = RESAMPLES, failIf = [], createdAt = null, command = null } = options;
  const rules = failIf.map(parseFailIf);
  const admitted = admit(groups, options);
  const described = admitted.map(describeGroup);
  const bias = createErrorBias(described);
  const method = { alpha: ALPHA, confidence: CONFIDENCE, resamples, seed };
  const metrics = METRICS.map((one) => compareMetric(headOf(one), described, bias, { seed, resamples }));
  return {
    schema: 'vault-pki-load/comparison/1',
    tool: { version: TOOL_VERSION },
    createdAt,
    command,
    method,
    groups: described,
    metrics,
    failIf: rules.map((rule) => judgeFailIf(rule, metrics, { groups: described, bias })),
    warnings: warningsOf(admitted, bias),
    notes: notesOf(admitted, described, method),
  };
}

/** @param {AdmittedGroup} group */
function describeGroup({ name, runs, used, missing }) {
  return {
    ...{ name, ...(missing > 0 ? { missing } : {}) },
    subjects: subjectsOf(used.map(({ result }) => result)),
    runs: runs.map(({ name: run, result: { startedAt, target, measurement }, used: isUsed, why }) => ({
      name: run,
      startedAt,
      target: { url: target.url, product: target.product, version: target.version },
      verdict: measurement.verdict,
      used: isUsed,
      why,
    })),
    metrics: summarizeMetrics(used),
  };
}

/** @typedef {{values: number[], parts: Parts}} Sample of runs */

/**
 * @param {MetricHead} head @param {ComparedGroup[]} groups @param {ErrorBias} bias
 * @param {{seed: number, resamples: number}} options @returns {ComparedMetric}
 */
function compareMetric(head, groups, bias, options) {
  /** @type {Sample[]} */
  const samples = groups.map(({ metrics: { [head.key]: summary } }) => ({
    values: withoutNulls(summary.values),
    parts: partsOf(summary),
  }));
  const [base, ...others] = samples;
  return {
    ...head,
    differenceIn: head.unit === 'fraction' ? 'percentage points' : 'percent',
    comparisons: others.map(({ values, parts }, i) => {
      const given = { ...options, parts: { base: base.parts, other: parts } };
      const found = compareSamples(head, base.values, values, given);
      const why = bias.whyMisleading(head, found.verdict, 0, i + 1);
      const replacement = why === null ? {} : notComparable(head, base.values, values, why);
      return { base: 0, other: i + 1, ...found, ...replacement };
    }),
    ...findBest(head, samples, bias),
  };
}

/** @param {MetricSummary} summary @returns {Parts} of the values that are not null */
function partsOf({ values, tool, unknown }) {
  const of = (/** @type {readonly number[] | undefined} */ part) =>
    values.flatMap((value, i) => (value === null ? [] : (part?.[i] ?? 0)));
  return { tool: of(tool), unknown: of(unknown) };
}

/**
 * The best group is the one shown to be better than every other; a better median alone may be chance. A group with
 * more errors than another neither wins nor prevents another from winning; one that may have more prevents it.
 * @param {MetricHead} head @param {Sample[]} samples @param {ErrorBias} bias
 */
function findBest(head, samples, bias) {
  const isShare = head.unit === 'fraction';
  const competes = samples.map(({ values }, i) => values.length > 0 && (isShare || !bias.hasMore(i)));
  const medians = samples.flatMap(({ values }, i) => (competes[i] ? median(values) : []));
  const top = head.lowerIsBetter ? minOf(medians) : maxOf(medians);
  if (medians.filter((one) => one === top).length !== 1) return { best: null, bestMedian: null };
  const isAlone = medians.length === 1;
  const first = samples.findIndex(({ values }, i) => competes[i] && median(values) === top);
  if (!isShare && bias.mayHaveMore(first, head.unit)) return { best: null, bestMedian: null };
  const winner = samples[first];
  const isShown = samples.every(
    ({ values, parts }, i) =>
      i === first ||
      (!competes[i] && !isAlone) ||
      isShownBetter(head, winner.values, values, { base: parts, other: winner.parts }),
  );
  return { best: isShown ? first : null, bestMedian: isShown || !isAlone ? first : null };
}

/** @param {string} name @param {MetricSummary} summary @param {number} count of runs @returns {Generator<string, void>} contradictions */
export function* checkSummary(name, { values, ...given }, count) {
  for (const part of /** @type {const} */ (['values', ...PARTS])) {
    const { length } = { values, ...given }[part] ?? values;
    yield* checkEqual(`the number of ${part} of ${name}`, length, 'that of its runs', count);
  }
  const { median, mean, variance, min, max } = summarize(values);
  yield* checkFigures(name, given, { median, mean, variance, min, max });
}

/** @param {string} name @param {Record<string, any>} given @param {Record<string, any>} found by its values */
function* checkFigures(name, given, found) {
  const rounded = (/** @type {any} */ value) =>
    typeof value === 'number' ? Number(value.toPrecision(9)) : value;
  for (const [key, value] of Object.entries(found))
    yield* checkEqual(`${key} of ${name}`, rounded(given[key]), 'that by its values', rounded(value));
}

/**
 * Compares again, but without resampling, because no verdict depends on it. Ignores metrics of other versions.
 * @param {Pick<Comparison, 'groups' | 'metrics' | 'failIf'>} comparison @returns {Generator<string, void>} contradictions
 */
export function* checkFindings({ groups, metrics, failIf }) {
  if (groups.some(({ metrics: { errors } }) => errors === undefined)) return yield 'a group lacks its errors';
  for (const { name, runs, metrics: own } of groups) {
    if (runs.some(({ used, why }) => why === null && !used))
      yield `a run of ${name} is left out for no reason`;
    const { length } = runs.filter(({ used }) => used);
    for (const [key, summary] of Object.entries(own))
      yield* checkSummary(`${key} of ${name}`, summary, length);
  }
  const bias = createErrorBias(groups);
  for (const metric of metrics) {
    const { key, comparisons } = metric;
    const head = METRICS.find((one) => one.key === key);
    if (head === undefined) continue;
    const { unit, lowerIsBetter, differenceIn, best, bestMedian, ...found } = compareMetric(
      headOf(head),
      groups,
      bias,
      { seed: 1, resamples: 1 },
    );
    yield* checkFigures(key, metric, { unit, lowerIsBetter, differenceIn, best, bestMedian });
    for (const difference of comparisons) {
      const { interval, doubt, text, possible = [], ...own } = found.comparisons[difference.other - 1];
      const name = `${key} of group ${difference.other}`;
      yield* checkFigures(name, difference, own);
      const { possible: given = [] } = difference;
      yield* checkEqual(
        `possible differences in ${name}`,
        given.length,
        'those by its values',
        possible.length,
      );
      for (const [i, one] of given.entries()) yield* checkFigures(name, one, possible[i] ?? {});
    }
  }
  for (const { text, verdict } of failIf) {
    const rule = tryOrNull(() => parseFailIf(text));
    const isKnown = rule !== null && metrics.some(({ key }) => key === rule.metric);
    const found = isKnown ? judgeFailIf(rule, metrics, { groups, bias }).verdict : 'not a rule';
    yield* checkEqual(text, verdict, 'the verdict by its metric', found);
  }
}

/** @param {readonly Result[]} results @returns {ComparedGroup['subjects']} distinct, with their numbers of runs */
function subjectsOf(results) {
  const subjects = results.map(({ operations, command, load }) => {
    const names = Object.keys(operations);
    return { operations: names.length > 0 ? names : [command], load: SubjectLoad.parse(load) };
  });
  return groupBy(subjects, JSON.stringify).map((alike) => ({ ...alike[0], runs: alike.length }));
}

/** Other settings and events that may explain a difference. @param {readonly AdmittedGroup[]} groups @param {ErrorBias} bias */
function warningsOf(groups, bias) {
  const [base, ...others] = groups;
  const few = others.filter(({ used }) => smallestPValue(base.used.length, used.length) >= ALPHA);
  const ran = groups.map(({ used }) => Object.keys(used[0]?.result.operations ?? {}).join(', '));
  const each = groups.map(({ name }, i) => `${name} ${ran[i]}`).join('; ');
  return [
    ...(new Set(ran).size < 2 ? [] : [`The groups ran different operations: ${each}.`]),
    ...runWarnings(groups.map(({ name, used }) => ({ name, results: used.map(({ result }) => result) }))),
    ...few.map(
      ({ name, used }) =>
        `${base.name} and ${name} have too few runs (${base.used.length} and ${used.length}) to show any difference: ${runsNeeded()} of each are enough.`,
    ),
    ...groups.flatMap(({ name, runs, used, missing }) => {
      const [left, all] = [runs.length - used.length, runs.length + missing];
      const so = 'so the group may look better than it is.';
      return [
        ...(left > 0
          ? [`${left} of ${all} runs of ${name} ${left === 1 ? 'was' : 'were'} left out, ${so}`]
          : []),
        ...(missing > 0 ? [`${missing} of ${all} planned runs of ${name} did not take place, ${so}`] : []),
      ];
    }),
    ...groups.flatMap(({ name: group, used }) =>
      used.flatMap(({ name, why }) => (why === null ? [] : `${name} of ${group} is included, but ${why}.`)),
    ),
    ...bias.warnings(),
  ];
}

/** @param {readonly AdmittedGroup[]} groups @param {ComparedGroup[]} described @param {Comparison['method']} method */
function notesOf(groups, described, { seed, resamples }) {
  const [base, ...others] = groups;
  const isExact = others.every(({ used }) => chooseMethod(base.used.length, used.length) === 'exact');
  const test = isExact ? 'exact' : 'exact, or the normal approximation for very many runs';
  const hasErrors = described.some(({ metrics: { errors } }) => Number(errors.max) > 0);
  return [
    `One run is one sample. A difference is shown where the Mann-Whitney test gives p < ${ALPHA} (two-sided, ${test}); the interval of the difference of medians is a percentile bootstrap over runs (95 %, ${formatCount(resamples)} resamples, seed ${seed}), which is somewhat too narrow with few runs.`,
    'The tool is assumed to be equally late in all groups. Where its possible lateness, its own errors or unchecked responses are more in one of them, the excess does not count as a difference, and decides no rule.',
    'Each metric is tested by itself: among equal groups, one metric in twenty differs by chance.',
    ...(hasErrors ? ['Times cover all requests: failing fast is not responding fast.'] : []),
    ...orderNotes(groups),
  ];
}

/** @typedef {{name: string, shares: number[], failedRuns: number, parts: Parts}} Group error shares; `failedRuns`: number of runs without a success */

/** As a share of requests: with fewer fast failures, the p50 of the others is at most the p55 of all, and their p99 the p99.1. */
const MANY_UNKNOWN = 0.1;

/**
 * A target that refuses everything immediately has the best times. So no time or rate of a group that has more errors is
 * called better, nor a time of one that may have, and if all requests failed there is no response time to compare.
 * @param {readonly Pick<ComparedGroup, 'name' | 'metrics'>[]} given
 */
export function createErrorBias(given) {
  const groups = given.map(({ name, metrics: { errors } }) => {
    const shares = withoutNulls(errors.values);
    return { name, shares, failedRuns: shares.filter((share) => share === 1).length, parts: partsOf(errors) };
  });
  const [more, may] = [moreErrors, moreUnknown].map((find) =>
    groups.map((one) => groups.map((other) => (one === other ? null : find(one, other)))),
  );

  /** By group, once known. @type {boolean[]} */
  const withMore = [];

  /**
   * The bar of a rate already includes unchecked responses.
   * @param {number} one index @param {number} other index @param {MetricHead['unit']} unit of the metric
   * @returns {string | null} why `one` has more errors or, for a time, may have
   */
  const whyMore = (one, other, unit) => more[one][other] ?? (unit === 'ms' ? may[one][other] : null);

  const allFailed = (/** @type {Group[]} */ ...any) => {
    const found = any.find(({ shares, failedRuns }) => failedRuns > 0 && failedRuns === shares.length);
    return found ? `all requests of ${found.name} failed, so there are no response times` : null;
  };

  return {
    whyMore,

    /** @param {number} group index @returns {boolean} it has more errors than another, whatever the tool's part */
    hasMore: (group) => (withMore[group] ??= groups.some((other) => hasMoreErrors(groups[group], other))),

    /** @param {number} group index @param {MetricHead['unit']} unit @returns {boolean} it has more errors than another, or may have */
    mayHaveMore: (group, unit) => groups.some((_, other) => whyMore(group, other, unit) !== null),

    /**
     * @param {MetricHead} metric @param {DifferenceVerdict} verdict of `other` against `base`
     * @param {number} base index @param {number} other index
     * @returns {string | null} why the verdict would mislead; null: it does not
     */
    whyMisleading({ unit, lowerIsBetter }, verdict, base, other) {
      if (unit === 'fraction') return null;
      const isTime = unit === 'ms';
      const noTimes = isTime ? allFailed(groups[other], groups[base]) : null;
      if (noTimes !== null || verdict === 'not enough runs') return noTimes;
      const [ofOther, ofBase] = [whyMore(other, base, unit), whyMore(base, other, unit)];
      const isBetter = (verdict === 'slower' || verdict === 'higher') !== lowerIsBetter;
      // With no difference shown, more errors in either group make times misleading; a rate counts only successes.
      const neither = isTime ? (ofOther ?? ofBase) : null;
      const why = verdict === 'no difference shown' ? neither : isBetter ? ofOther : ofBase;
      if (why === null) return null;
      return `${why}, and ${isTime ? 'a fast failure is not a fast response' : 'a rate with more errors is not better'}`;
    },

    /** @returns {string[]} a sentence for each group that has more errors than the base, or fewer */
    warnings() {
      const warning = (/** @type {number} */ one, /** @type {number} */ other) => {
        const why = whyMore(one, other, 'ms');
        const what = more[one][other] === null ? 'time' : 'time or rate';
        return why === null ? [] : [`No ${what} of ${groups[one].name} is called better: ${why}.`];
      };
      return [...new Set(groups.slice(1).flatMap((_, i) => [...warning(i + 1, 0), ...warning(0, i + 1)]))];
    },
  };
}

/** @param {Group} one @param {Group} other @returns {string | null} why `one` has more errors */
function moreErrors(one, other) {
  if (isShownBetter(ERRORS, other.shares, one.shares))
    return `${one.name} has more errors than ${other.name} (${centersOf(one.shares, other.shares)})`;
  if (one.failedRuns === 0) return null;
  const isAll = one.failedRuns === one.shares.length;
  return `all requests of ${isAll ? '' : `${one.failedRuns} of ${one.shares.length} runs of `}${one.name} failed`;
}

/** @param {Group} one @param {Group} other @returns {string | null} why `one` may have more errors */
function moreUnknown(one, other) {
  const [own, others] = [one, other].map(({ parts }) => parts.unknown);
  if (!isShownBetter(ERRORS, others, own) || median(own) - median(others) < MANY_UNKNOWN) return null;
  const atMost = one.shares.map((share, i) => share + own[i]);
  if (!isShownBetter(ERRORS, other.shares, atMost)) return null;
  return `${one.name} may have more errors than ${other.name} (${centersOf(own, others)} of their requests are unchecked or were not sent)`;
}

/** @param {readonly number[]} one @param {readonly number[]} other shares of two groups */
function centersOf(one, other) {
  const { from, to, onAverage } = centersText('fraction', [one, other]);
  return `${from} and ${to}${onAverage}`;
}

/** @param {Group} one @param {Group} other @returns {boolean} however many errors are the tool's, or unchecked */
function hasMoreErrors(one, other) {
  if (one === other) return false;
  const parts = { base: one.parts, other: other.parts };
  const failedByItself = one.shares.some((share, i) => share - one.parts.tool[i] >= 1);
  return failedByItself || isShownBetter(ERRORS, other.shares, one.shares, parts);
}
