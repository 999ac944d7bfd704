/** Runs -> what they say together; apart from the schema of a run set so that reports need not load that library. */
import { differenceWarnings, seedWarnings, targetWarnings } from './run-differences.js';
import { headOf, METRICS, sortOut, summariseMetrics } from './run-metrics.js';

/** @typedef {import('./run-metrics.js').MetricHead} MetricHead */
/** @typedef {import('./run-metrics.js').MetricSummary} MetricSummary */

/**
 * @typedef {object} RunSetSummary
 * @property {string[]} used names of the runs that count: `run 1`, ...
 * @property {import('./run-metrics.js').LeftOut[]} leftOut the others: invalid or interrupted
 * @property {string[]} warnings in what those that count were not made alike
 * @property {(MetricHead & MetricSummary)[]} metrics values in the order of `used`
 * @property {{text: string, verdicts: Record<string, number>}[]} requirements of the runs that count, in how many each
 *   verdict was given
 */

/**
 * @param {string} name of the set
 * @param {readonly import('../schema.js').Result[]} runs
 * @returns {RunSetSummary}
 */
export function summariseRuns(name, runs) {
  const { used, leftOut } = sortOut(namedRuns(runs));
  const results = used.map(({ result }) => result);
  const summaries = summariseMetrics(used);
  return {
    used: used.map((run) => run.name),
    leftOut,
    warnings: [
      ...differenceWarnings(results),
      ...targetWarnings(name, results),
      ...seedWarnings(name, results),
    ],
    metrics: METRICS.map((metric) => ({ ...headOf(metric), ...summaries[metric.key] })),
    requirements: summariseRequirements(used),
  };
}

/**
 * @param {readonly import('../schema.js').Result[]} runs
 * @returns {import('./run-metrics.js').NamedRun[]} by their place in the set, from 1
 */
export function namedRuns(runs) {
  return runs.map((result, i) => ({ name: `run ${i + 1}`, result }));
}

/** @param {import('./run-metrics.js').NamedRun[]} runs */
function summariseRequirements(runs) {
  /** @type {Map<string, Record<string, number>>} */
  const byText = new Map();
  for (const { result } of runs) {
    for (const { text, verdict } of result.requirements) {
      const verdicts = byText.get(text) ?? {};
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      byText.set(text, verdicts);
    }
  }
  return [...byText].map(([text, verdicts]) => ({ text, verdicts }));
}
