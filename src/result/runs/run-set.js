/** A run set: several results, in order, with a summary of each metric over the counted runs. */
import { groupBy, maxOf, median, minOf, sumRecords } from '../../common/sums.js';
import { TOOL_VERSION } from '../../common/version.js';
import { meanAndVariance } from '../../verdict/statistics.js';
import { invalidReasonOf } from '../document.js';
import { FIGURES, labelOf } from '../latency.js';
import { runWarnings } from './run-differences.js';

/** @import { Figure } from '../latency.js' */
/** @import { MetricHead, MetricSummary, RunSet } from './run-set-schema.js' */
/** @import { Result } from '../schema.js' */

/** @param {string} name @param {Result[]} runs at least one @param {number} [planned] @returns {RunSet} */
export function createRunSet(name, runs, planned = runs.length) {
  const [tool, summary] = [{ version: TOOL_VERSION }, summarizeRuns(name, runs)];
  const set = { schema: /** @type {const} */ ('vault-pki-load/run-set/1'), tool, name, summary };
  return { ...set, ...(planned > runs.length ? { planned } : {}), runs: [...runs] };
}

/** @typedef {{name: string, result: Result}} NamedRun `name`: its file, or `run 3` */
/** @typedef {Pick<Result, 'latencyMs' | 'rates' | 'errorShare' | 'errorShareBar' | 'totals' | 'verification'>} Figures of a run, operation or stage */
/** @typedef {(figures: Figures) => number} Part */
/**
 * `read`: null if nothing was recorded; `tool`, `unknown`: see MetricSummary
 * @typedef {MetricHead & {read: (figures: Figures) => number | null, tool?: Part, unknown?: Part}} Metric
 */

const UNKNOWN_SLOWDOWN = 1000;

/** @type {readonly Metric[]} */
export const METRICS = [
  ...FIGURES.filter((figure) => figure !== 'min').map((figure) => time(figure)),
  time('min'),
  { ...time('p99', 'service'), key: 'serviceP99', label: 'p99 service' },
  {
    ...{ key: 'rate', label: 'rate', unit: '/s', lowerIsBetter: false },
    read: ({ rates }) => rates.perSecond,
    tool: ({ rates: { bar, perSecond } }) =>
      bar?.tool === null ? UNKNOWN_SLOWDOWN * perSecond : (bar?.tool ?? 0),
    unknown: ({ rates: { perSecond }, totals: { succeeded }, verification: { unchecked } }) =>
      succeeded > 0 ? (perSecond * unchecked) / succeeded : 0,
  },
  {
    ...{ key: 'errors', label: 'errors', unit: 'fraction', lowerIsBetter: true },
    read: ({ errorShare }) => errorShare,
    tool: ({ errorShareBar }) => errorShareBar?.tool ?? 0,
    unknown({ errorShare, verification: { unchecked }, totals: { succeeded, errors, rested = 0 } }) {
      const due = succeeded + errors + rested;
      return due === 0 ? 0 : (errors + unchecked + rested) / due - (errorShare ?? 0);
    },
  },
];

/** Of a MetricSummary: how far the target may differ from the values. */
export const PARTS = /** @type {const} */ (['tool', 'unknown']);

/** Metrics whose mean and variance over runs are reported, as in the Constellation benchmark. */
export const VARIANCE_KEYS = Object.freeze(['mean', 'p99', 'max', 'min']);

/** @param {Figure} figure @param {'response' | 'service'} [series] @returns {Metric} */
function time(figure, series = 'response') {
  return {
    key: figure,
    label: labelOf(figure),
    unit: 'ms',
    lowerIsBetter: true,
    read: ({ latencyMs }) => latencyMs[series][figure],
    tool: ({ latencyMs }) => latencyMs[series].bars?.[figure]?.tool ?? 0,
  };
}

/** @param {MetricHead} metric @returns {MetricHead} */
export const headOf = ({ key, label, unit, lowerIsBetter }) => ({ key, label, unit, lowerIsBetter });

const [CUT_OFF, INTERRUPTED] = [
  'it was cut off: its file was written before the end of the run',
  'it was interrupted',
];

/** @param {string | null} why of exclusionReason @returns {boolean} the run did not complete */
export const isCutShort = (why) => why === CUT_OFF || why === INTERRUPTED;

/** @param {Result} result @returns {string | null} why it is not a whole, valid run; null: it is */
export function exclusionReason({ unfinished, interrupted, shard, measurement }) {
  if (unfinished === true) return CUT_OFF;
  if (interrupted) return INTERRUPTED;
  if (shard !== undefined && shard.of > 1) return `it is only part ${shard.index} of ${shard.of} of a plan`;
  if (measurement.verdict !== 'invalid') return null;
  const { text = '' } = invalidReasonOf(measurement) ?? {};
  return `its measurement is invalid: ${text}`.replace(/(?<![.: ])[.: ]+$/, '');
}

/** @param {readonly NamedRun[]} runs @returns {Record<string, MetricSummary>} by key of METRICS */
export function summarizeMetrics(runs) {
  return Object.fromEntries(
    METRICS.map(({ key, read, ...metric }) => {
      const parts = PARTS.map((part) => [part, runs.map(({ result }) => metric[part]?.(result) ?? 0)]);
      const known = parts.filter(([, values]) => /** @type {number[]} */ (values).some((value) => value > 0));
      return [key, { ...summarize(runs.map(({ result }) => read(result))), ...Object.fromEntries(known) }];
    }),
  );
}

/** @param {readonly (number | null)[]} values */
export const withoutNulls = (values) => values.filter((value) => value !== null);

/** @param {(number | null)[]} values one per run @returns {MetricSummary} */
export function summarize(values) {
  const numbers = withoutNulls(values);
  if (numbers.length === 0) return { values, median: null, mean: null, variance: null, min: null, max: null };
  const { mean, variance } = meanAndVariance(numbers);
  const ends = { min: minOf(numbers), max: maxOf(numbers) };
  return { values, median: median(numbers), mean, variance: numbers.length < 2 ? null : variance, ...ends };
}

/** @param {string} name of the set @param {readonly Result[]} runs @returns {RunSet['summary']} */
export function summarizeRuns(name, runs) {
  const candidates = namedRuns(runs).map((run) => ({ ...run, why: exclusionReason(run.result) }));
  const used = candidates.filter(({ why }) => why === null);
  const results = used.map(({ result }) => result);
  const summaries = summarizeMetrics(used);
  const requirements = results.flatMap((result) => result.requirements);
  return {
    used: used.map((run) => run.name),
    leftOut: candidates.flatMap(({ name: run, why }) => (why === null ? [] : { run, why })),
    warnings: runWarnings([{ name, results }]),
    metrics: METRICS.map((metric) => ({ ...headOf(metric), ...summaries[metric.key] })),
    requirements: groupBy(requirements, ({ text }) => text).map((alike) => {
      return { text: alike[0].text, verdicts: countVerdicts(alike) };
    }),
  };
}

/** @param {readonly {verdict: string}[]} judged @returns {Record<string, number>} their number by verdict */
export const countVerdicts = (judged) => sumRecords(judged.map(({ verdict }) => ({ [verdict]: 1 })));

/** @param {readonly Result[]} runs @returns {NamedRun[]} named by position, from 1 */
export const namedRuns = (runs) => runs.map((result, i) => ({ name: `run ${i + 1}`, result }));
