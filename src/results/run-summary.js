/** A run set -> what its runs say together; apart from its schema so that reports need not load that library. */
import { headOf, METRICS, sortOut, summariseMetrics } from './run-metrics.js';

/** @typedef {import('./run-metrics.js').MetricHead} MetricHead */
/** @typedef {import('./run-metrics.js').MetricSummary} MetricSummary */

/**
 * @typedef {object} RunSetSummary
 * @property {string} name
 * @property {number} runs all of them
 * @property {string[]} used names of those that count: `run 1`, ...
 * @property {import('./run-metrics.js').LeftOut[]} leftOut the others: invalid or interrupted
 * @property {(MetricHead & MetricSummary)[]} metrics values in the order of `used`
 * @property {{text: string, verdicts: Record<string, number>}[]} requirements of the runs that count, in how many each
 *   verdict was given
 */

/**
 * @param {import('./run-set.js').RunSet} runSet
 * @param {{allowInvalid?: boolean}} [options]
 * @returns {RunSetSummary}
 */
export function summariseRunSet({ name, runs }, { allowInvalid = false } = {}) {
  const { used, leftOut } = sortOut(namedRuns(runs), allowInvalid);
  const summaries = summariseMetrics(used);
  return {
    name,
    runs: runs.length,
    used: used.map((run) => run.name),
    leftOut,
    metrics: METRICS.map((metric) => ({ ...headOf(metric), ...summaries[metric.key] })),
    requirements: summariseRequirements(used),
  };
}

/**
 * @param {readonly import('./schema.js').Result[]} runs
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
