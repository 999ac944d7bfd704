/** The differences of a comparison in words. */
import { differenceText, figureText, intervalText, sizeText } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';

/** @import { ComparedMetric, Comparison, Difference } from '../../result/comparison/comparison-schema.js' */

/** @typedef {'bad' | 'good' | 'none' | 'unsure'} Worth */
/** @typedef {{verdict: string, worth: Worth, text: string}} Conclusion */

/** The order of conclusions. @type {readonly Worth[]} */
const ORDER = ['bad', 'good', 'none', 'unsure'];

/** @param {{lowerIsBetter: boolean}} metric @param {Difference['verdict']} verdict @returns {Worth} */
export function worthOf({ lowerIsBetter }, verdict) {
  if (verdict === 'not enough runs' || verdict === 'not comparable') return 'unsure';
  if (verdict === 'no difference shown') return 'none';
  const rose = verdict === 'slower' || verdict === 'higher';
  return rose === lowerIsBetter ? 'bad' : 'good';
}

/**
 * @param {ComparedMetric} metric
 * @param {number} other index of a group that is not the base
 * @returns {Difference}
 */
export function differenceTo(metric, other) {
  const found = metric.comparisons.find((difference) => difference.other === other);
  if (found === undefined) throw new Error(`${metric.key} of group ${other} is not compared`);
  return found;
}

/**
 * Metrics by verdict, the worst first.
 *
 * @param {Comparison} comparison
 * @param {number} other index of a group that is not the base
 * @returns {Conclusion[]} text: `p99 +10.3 %, mean +8.30 %`
 */
export function conclusions({ metrics }, other) {
  /** @type {Map<string, Conclusion & {metrics: string[]}>} */
  const found = new Map();
  for (const metric of metrics) {
    const { verdict, differencePercent } = differenceTo(metric, other);
    const worth = worthOf(metric, verdict);
    /** @type {Conclusion & {metrics: string[]}} */
    const conclusion = found.get(worth + verdict) ?? { verdict, worth, text: '', metrics: [] };
    const isShown = worth === 'bad' || worth === 'good';
    const by =
      isShown && differencePercent !== null ? ` ${differenceText(metric.unit, differencePercent)}` : '';
    conclusion.metrics.push(`${metric.label}${by}`);
    found.set(worth + verdict, conclusion);
  }
  return [...found.values()]
    .map(({ verdict, worth, metrics: labels }) => ({ verdict, worth, text: labels.join(', ') }))
    .sort((a, b) => ORDER.indexOf(a.worth) - ORDER.indexOf(b.worth));
}

/**
 * @param {Comparison} comparison
 * @param {number} other index of a group that is not the base
 * @returns {string[]} where figures and verdict do not seem to agree: `p99, max: By the ranks ...`
 */
export function doubtsOf({ metrics }, other) {
  /** @type {Map<string, string[]>} */
  const labels = new Map();
  for (const metric of metrics) {
    const { doubt } = differenceTo(metric, other);
    if (doubt !== null) labels.set(doubt, [...(labels.get(doubt) ?? []), metric.label]);
  }
  return [...labels].map(([doubt, of]) => `${of.join(', ')}: ${doubt}`);
}

/** @param {Comparison} comparison @returns {string} `raft, etcd beside consul` */
export function headlineOf({ groups: [base, ...others] }) {
  return `${others.map(({ name }) => name).join(', ')} beside ${base.name}`;
}

/** @param {ComparedMetric} metric @param {number} group index @returns {'best' | 'best median' | null} */
export function rankOf({ best, bestMedian }, group) {
  if (best === group) return 'best';
  return best === null && bestMedian === group ? 'best median' : null;
}

/** A finding names the first of these metrics that differs. */
const FINDING_KEYS = Object.freeze([
  'p99',
  'p50',
  'mean',
  'p95',
  'p90',
  'p999',
  'errors',
  'rate',
  'max',
  'min',
]);

/** A larger difference is shown as a factor. */
const FACTOR_PERCENT = 100;

/**
 * @param {Comparison} comparison
 * @param {number} other index of a group that is not the base
 * @returns {string} one sentence: the difference that is shown; else that none is, and how large one could be
 */
export function finding({ groups, metrics, method }, other) {
  const [base, name] = [groups[0].name, groups[other].name];
  const ranked = FINDING_KEYS.flatMap((key) => metrics.filter((metric) => metric.key === key));
  const shown = ranked.find((metric) => isShown(metric, other));
  if (shown !== undefined) {
    const medians = [0, other].map((i) => figureText(shown.unit, groups[i].metrics[shown.key].median));
    const figures = `${shown.label} ${medians[1]} instead of ${medians[0]}`;
    const sure = `shown at ${formatPercent(method.confidence)}${chance(ranked, shown, other, method.alpha)}`;
    return `${name} ${differsBy(shown, differenceTo(shown, other))} than ${base} (${figures}), ${sure}.`;
  }
  const differences = ranked.map((metric) => differenceTo(metric, other));
  if (differences.every(({ verdict }) => verdict === 'not enough runs'))
    return `Too few runs to show a difference between ${name} and ${base}.`;
  const open = ranked.find((metric) => differenceTo(metric, other).interval !== null);
  const range =
    open === undefined
      ? ''
      : `: ${open.label} may differ by ${intervalText(open.unit, differenceTo(open, other).interval)}`;
  return `No difference is shown between ${name} and ${base}${range}.`;
}

/** @param {ComparedMetric} metric @param {number} other */
function isShown(metric, other) {
  return ['good', 'bad'].includes(worthOf(metric, differenceTo(metric, other).verdict));
}

/** A difference in so few of the metrics that were compared may be chance. */
const FEW = 2;

/**
 * Of ten metrics of two equal groups, one or two (related ones) often differ with p < 0.05. A difference in the share of errors, or one
 * whose p-value is below alpha even times the number of metrics (Bonferroni), is no such case.
 *
 * @param {ComparedMetric[]} metrics
 * @param {ComparedMetric} shown the one that the finding names
 * @param {number} other
 * @param {number} alpha
 * @returns {string} a clause; empty: no chance
 */
function chance(metrics, shown, other, alpha) {
  const worth = (/** @type {ComparedMetric} */ metric) =>
    worthOf(metric, differenceTo(metric, other).verdict);
  const compared = metrics.filter((metric) => worth(metric) !== 'unsure');
  const alike = compared.filter((metric) => worth(metric) === worth(shown));
  const isSignificant = alike.some((metric) => {
    const { pValue } = differenceTo(metric, other);
    return pValue !== null && pValue * compared.length < alpha;
  });
  if (shown.key === 'errors' || alike.length > FEW || isSignificant) return '';
  const names = alike.map(({ label }) => label).join(' and ');
  const differ = alike.length === 1 ? 'differs' : 'differ';
  return `, but of ${compared.length} metrics only ${names} ${differ}: this may be chance, more runs would tell`;
}

/**
 * @param {ComparedMetric} metric
 * @param {Difference} difference that is shown
 * @returns {string} `is 10.3 % slower`, `is 5.5 times slower`, `has 2.1 points more errors`
 */
function differsBy({ key, unit }, { verdict, differencePercent }) {
  const size = differencePercent === null ? '' : `${sizeText(unit, differencePercent)} `;
  if (key === 'errors') return `has ${size}${verdict === 'higher' ? 'more' : 'fewer'} errors`;
  if (key === 'rate') return `has a ${size}${verdict} rate`;
  if (differencePercent === null || differencePercent < FACTOR_PERCENT) return `is ${size}${verdict}`;
  return `is ${Number((1 + differencePercent / 100).toPrecision(2))} times ${verdict}`;
}
