/** Targets of a run beside the first: whether runs that took turns show a difference at all (src/result/comparison). */

import { meanAndVariance } from '../../verdict/statistics.js';
import { RESAMPLES } from '../comparison/bootstrap.js';
import { compareGroups } from '../comparison/compare.js';
import { runsNeeded } from '../comparison/rank-test.js';

/** @import { MetricHead, NamedRun } from '../runs/run-metrics.js' */
/** @import { PerRun, PerRunKey } from './scenario-rows.js' */
/** @import { ScenarioResult, TargetDifference } from './scenario-schema.js' */

/** Values drawn again for each figure of a comparison: of a hundred runs fewer resamples do, and all targets are done in seconds. */
const MOST_DRAWS = 200_000;
const FEWEST_RESAMPLES = 1000;

/** @typedef {ScenarioResult['comparisons'][number]} ScenarioComparison */
/** @typedef {{target: string, used: readonly NamedRun[]}} TargetRuns runs that count */

/**
 * @param {string} run
 * @param {readonly TargetRuns[]} targets
 * @param {string} command
 * @param {string} createdAt
 * @returns {ScenarioComparison[]} of the whole, then of each operation where there are several
 */
export function comparisonsOf(run, targets, command, createdAt) {
  const groups = targets.filter(({ used }) => used.length >= runsNeeded());
  // A comparison with another base would not be with the first target.
  if (groups.length < 2 || groups[0] !== targets[0]) return [];
  const names = [
    ...new Set(groups.flatMap(({ used }) => used.flatMap(({ result }) => Object.keys(result.operations)))),
  ];
  return [null, ...(names.length < 2 ? [] : names)].flatMap((operation) => {
    const own = groups.map(({ target, used }) => ({
      name: target,
      runs: used.flatMap((one) => ofOperation(one, operation)),
    }));
    if (own.some(({ runs }) => runs.length < runsNeeded())) return [];
    const resamples = resamplesFor(own.map(({ runs }) => runs.length));
    return [{ run, operation, comparison: compareGroups(own, { command, createdAt, resamples }) }];
  });
}

/** @param {number[]} runs of each target */
function resamplesFor(runs) {
  return Math.min(RESAMPLES, Math.max(FEWEST_RESAMPLES, Math.floor(MOST_DRAWS / Math.max(...runs))));
}

/**
 * @param {NamedRun} run
 * @param {string | null} operation
 * @returns {NamedRun[]} as if nothing but this operation had been sent; none where it was not
 */
function ofOperation({ name, result }, operation) {
  if (operation === null) return [{ name, result }];
  const block = result.operations[operation];
  if (block === undefined) return [];
  return [{ name, result: { ...result, ...block, operations: { [operation]: block } } }];
}

/**
 * @param {string} run
 * @param {readonly TargetRuns[]} targets
 * @returns {string[]} why some targets are not compared, a sentence
 */
export function notComparedNotes(run, targets) {
  if (targets.length < 2) return [];
  const needed = runsNeeded();
  const few = targets.filter(({ used }) => used.length < needed);
  if (few.length === 0) return [];
  const named = few.map(({ target, used }) => `${target} has ${used.length}`).join(', ');
  return [
    `${run}: whether a difference is more than chance takes at least ${needed} runs that count of each target (repeat: ${needed}); ${named}.`,
  ];
}

/** @type {readonly (MetricHead & {key: PerRunKey})[]} */
const METRICS = [
  { key: 'mean', label: 'mean', unit: 'ms', lowerIsBetter: true },
  { key: 'p50', label: 'p50', unit: 'ms', lowerIsBetter: true },
  { key: 'p95', label: 'p95', unit: 'ms', lowerIsBetter: true },
  { key: 'p99', label: 'p99', unit: 'ms', lowerIsBetter: true },
  { key: 'max', label: 'max', unit: 'ms', lowerIsBetter: true },
  { key: 'min', label: 'min', unit: 'ms', lowerIsBetter: true },
  { key: 'perSecond', label: 'throughput', unit: '/s', lowerIsBetter: false },
  { key: 'errorShare', label: 'errors', unit: 'fraction', lowerIsBetter: true },
];

/**
 * @param {string} run
 * @param {string | null} operation
 * @param {{target: string, perRun: PerRun | null}[]} targets the first is the base; null: it showed nothing
 * @returns {TargetDifference[]} one for each metric; none where there is only one target
 */
export function differencesOf(run, operation, targets) {
  if (targets.length < 2) return [];
  return METRICS.map((metric) => {
    const means = targets.map(({ perRun }) => meanOf(perRun?.[metric.key] ?? []));
    const [base, ...others] = targets.map(({ target }, i) => ({
      target,
      value: means[i],
      difference: differenceOf(metric, means[0], means[i]),
    }));
    return { run, operation, metric, base: base.target, targets: [{ ...base, difference: null }, ...others] };
  });
}

/** @param {readonly (number | null)[]} values @returns {number | null} of those there are */
function meanOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : meanAndVariance(known).mean;
}

/**
 * @param {MetricHead} metric
 * @param {number | null} base
 * @param {number | null} other
 * @returns {number | null} in percent of the base, of shares in percentage points
 */
function differenceOf({ unit }, base, other) {
  if (base === null || other === null) return null;
  if (unit === 'fraction') return 100 * (other - base);
  return base === 0 ? null : (100 * (other - base)) / base;
}
