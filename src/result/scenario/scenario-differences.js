/** Targets of a run beside the first: by how much their means over runs differ. */
import { meanAndVariance } from '../../verdict/statistics.js';

/** @typedef {import('./scenario-schema.js').TargetDifference} TargetDifference */
/** @typedef {import('../runs/run-metrics.js').MetricHead} MetricHead */
/** @typedef {import('./scenario-rows.js').PerRun} PerRun */
/** @typedef {import('./scenario-rows.js').PerRunKey} PerRunKey */

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

/**
 * @param {readonly (number | null)[]} values
 * @returns {number | null} of those there are
 */
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
