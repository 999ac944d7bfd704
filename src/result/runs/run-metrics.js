/**
 * The metrics of a run, which runs count, and each metric's summary over runs. One run is one sample of each metric,
 * however many requests it sent.
 */
import { median } from '../../common/median.js';
import { meanAndVariance } from '../../verdict/statistics.js';
import { invalidReasonOf } from '../document.js';
import { differenceWarnings, seedWarnings, targetWarnings } from './run-differences.js';

/** @import { Result } from '../schema.js' */

/** @typedef {{name: string, result: Result}} NamedRun `name`: the file it is from, or `run 3` */
/** @typedef {{run: string, why: string}} LeftOut */
/** @typedef {'ms' | '/s' | 'fraction'} Unit */

/**
 * @typedef {object} MetricHead
 * @property {string} key
 * @property {string} label
 * @property {Unit} unit of the values
 * @property {boolean} lowerIsBetter
 */
/** @typedef {MetricHead & {read: (result: Result) => number | null, tool?: (result: Result) => number}} Metric `read`: null where nothing was recorded;
 *   `tool`: how much of it may be the tool's own lateness */

/**
 * @typedef {object} MetricSummary one value per run, in the order of the runs; null where there is none
 * @property {(number | null)[]} values
 * @property {number | null} median
 * @property {number | null} mean
 * @property {number | null} variance unbiased, in the square of the unit; null for fewer than two values
 * @property {number | null} min
 * @property {number | null} max
 * @property {number[]} [tool] beside `values`: how much of each may be the tool's own lateness; left out where it is none
 */

/** Where a result has no upper end of a rate. */
const UNKNOWN_SLOWDOWN = 1000;

/** Times are response times where the name has no other series. @type {readonly Metric[]} */
export const METRICS = [
  time('mean', 'mean', 'response', 'mean'),
  time('p50', 'p50', 'response', 'p50'),
  time('p90', 'p90', 'response', 'p90'),
  time('p95', 'p95', 'response', 'p95'),
  time('p99', 'p99', 'response', 'p99'),
  time('p999', 'p99.9', 'response', 'p999'),
  time('max', 'max', 'response', 'max'),
  time('min', 'min', 'response', 'min'),
  time('serviceP99', 'p99 service', 'service', 'p99'),
  {
    key: 'rate',
    label: 'rate',
    unit: '/s',
    lowerIsBetter: false,
    read: ({ rates }) => rates.perSecond,
    // Unknown: as if it had taken nearly all.
    tool: ({ rates: { bar, perSecond } }) =>
      bar === undefined ? 0 : (bar.high ?? UNKNOWN_SLOWDOWN * perSecond) - bar.sampled,
  },
  {
    key: 'errors',
    label: 'errors',
    unit: 'fraction',
    lowerIsBetter: true,
    read: ({ errorShare }) => errorShare,
  },
];

/** Those whose mean and variance over runs are reported, as the benchmark of Constellation does. */
export const VARIANCE_KEYS = Object.freeze(['mean', 'p99', 'max', 'min']);

/** @param {Metric} metric @returns {MetricHead} as in a document */
export function headOf({ key, label, unit, lowerIsBetter }) {
  return { key, label, unit, lowerIsBetter };
}

/** @param {readonly NamedRun[]} runs @returns {{used: NamedRun[], leftOut: LeftOut[]}} */
function sortOut(runs) {
  /** @type {NamedRun[]} */
  const used = [];
  /** @type {LeftOut[]} */
  const leftOut = [];
  for (const run of runs) {
    const why = whyLeftOut(run.result);
    if (why === null) used.push(run);
    else leftOut.push({ run: run.name, why });
  }
  return { used, leftOut };
}

/**
 * @param {Result} result
 * @returns {string | null} why it is no sample of what a whole, valid run gives; null where it is one
 */
export function whyLeftOut({ unfinished, interrupted, shard, measurement }) {
  if (unfinished === true) return 'it was cut off: its file is from before its end';
  if (interrupted) return 'it was interrupted';
  if (shard !== undefined && shard.of > 1) {
    return `it is only part ${shard.index}/${shard.of} of a run, to be merged with the others first`;
  }
  if (measurement.verdict !== 'invalid') return null;
  const reason = invalidReasonOf(measurement);
  const because = reason === undefined ? '' : `: ${reason.text.replace(/\.$/, '')}`;
  return `its measurement is invalid${because}`;
}

/** @param {readonly NamedRun[]} runs @returns {Record<string, MetricSummary>} by key of METRICS */
export function summariseMetrics(runs) {
  return Object.fromEntries(
    METRICS.map(({ key, read, tool }) => {
      const parts = runs.map(({ result }) => tool?.(result) ?? 0);
      const summary = summarise(runs.map(({ result }) => read(result)));
      return [key, parts.some((part) => part > 0) ? { ...summary, tool: parts } : summary];
    }),
  );
}

/** @param {readonly (number | null)[]} values @returns {number[]} those that are there */
export function known(values) {
  return values.filter((value) => value !== null);
}

/** @param {(number | null)[]} values one per run @returns {MetricSummary} */
export function summarise(values) {
  const numbers = known(values);
  if (numbers.length === 0) return { values, median: null, mean: null, variance: null, min: null, max: null };
  const { mean, variance } = meanAndVariance(numbers);
  return {
    values,
    median: median(numbers),
    mean,
    variance: numbers.length < 2 ? null : variance,
    min: Math.min(...numbers),
    max: Math.max(...numbers),
  };
}

/**
 * @param {string} key
 * @param {string} label
 * @param {'response' | 'service'} series
 * @param {'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max'} figure
 * @returns {Metric}
 */
function time(key, label, series, figure) {
  return {
    key,
    label,
    unit: 'ms',
    lowerIsBetter: true,
    read: ({ latencyMs }) => latencyMs[series][figure],
    tool: ({ latencyMs }) => latencyMs[series].bars?.[figure].tool ?? 0,
  };
}

/**
 * @typedef {object} RunSetSummary
 * @property {string[]} used names of the runs that count: `run 1`, ...
 * @property {LeftOut[]} leftOut the others: invalid or interrupted
 * @property {string[]} warnings in what those that count were not made alike
 * @property {(MetricHead & MetricSummary)[]} metrics values in the order of `used`
 * @property {{text: string, verdicts: Record<string, number>}[]} requirements of the runs that count, in how many each
 *   verdict was given
 */

/** @param {string} name of the set @param {readonly Result[]} runs @returns {RunSetSummary} */
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

/** @param {readonly Result[]} runs @returns {NamedRun[]} by their place in the set, from 1 */
export function namedRuns(runs) {
  return runs.map((result, i) => ({ name: `run ${i + 1}`, result }));
}

/** @param {NamedRun[]} runs */
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
