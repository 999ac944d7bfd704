/** Differences of a comparison in words. */
import { groupBy } from '../../common/sums.js';
import { centersText } from '../../result/comparison/compare-samples.js';
import { PERCENTILES } from '../../result/latency.js';
import { differenceText, intervalText, sizeText } from '../../result/runs/figures.js';
import { withoutNulls } from '../../result/runs/run-set.js';
import { formatPercent } from '../../result/wording.js';

/** @import { ComparedMetric, Comparison, Difference } from '../../result/comparison/comparison-schema.js' */

/** The worst first. */
const TONES = /** @type {const} */ (['bad', 'good', 'none', 'unsure']);

/** @param {{lowerIsBetter: boolean}} metric @param {Difference['verdict']} verdict @returns {typeof TONES[number]} */
export function toneOf({ lowerIsBetter }, verdict) {
  if (verdict === 'not enough runs' || verdict === 'not comparable') return 'unsure';
  if (verdict === 'no difference shown') return 'none';
  const hasRisen = verdict === 'slower' || verdict === 'higher';
  return hasRisen === lowerIsBetter ? 'bad' : 'good';
}

/** @param {ComparedMetric} metric @param {number} other index of a group that is not the base @returns {Difference} */
export function differenceTo(metric, other) {
  const found = metric.comparisons.find((difference) => difference.other === other);
  if (found === undefined) throw new Error(`${metric.key} of group ${other} is not compared`);
  return found;
}

/** @param {ComparedMetric} metric @param {number} other */
const toneTo = (metric, other) => toneOf(metric, differenceTo(metric, other).verdict);

/** @param {ComparedMetric} metric @param {number} other */
const isShown = (metric, other) => ['good', 'bad'].includes(toneTo(metric, other));

/**
 * @param {Comparison} comparison @param {number} other index of a group that is not the base
 * @returns {string[][]} verdict and text: metrics by verdict, the worst first: `p99 +10.3 %, mean +8.30 %`
 */
export function conclusions({ metrics }, other) {
  return TONES.flatMap((tone) => {
    const own = metrics.filter((metric) => toneTo(metric, other) === tone);
    return groupBy(own, (metric) => differenceTo(metric, other).verdict).map((alike) => {
      const labels = alike.map((metric) => {
        const { differencePercent } = differenceTo(metric, other);
        const hasSize = isShown(metric, other) && differencePercent !== null;
        return hasSize ? `${metric.label} ${differenceText(metric.unit, differencePercent)}` : metric.label;
      });
      return [differenceTo(alike[0], other).verdict, labels.join(', ')];
    });
  });
}

/** Notes on figures that seem to contradict their verdict. @param {Comparison} comparison @param {number} other as above */
export function doubtsOf({ metrics }, other) {
  const doubtOf = (/** @type {ComparedMetric} */ metric) => differenceTo(metric, other).doubt;
  const doubted = metrics.filter((metric) => doubtOf(metric) !== null);
  return groupBy(doubted, doubtOf).map(
    (alike) => `${alike.map(({ label }) => label).join(', ')}: ${doubtOf(alike[0])}`,
  );
}

/** A finding names the first of these metrics that differs. */
const FINDING_KEYS = [
  ...new Set(['p99', 'p50', 'mean', ...PERCENTILES.map(({ figure }) => figure)]),
  ...['errors', 'rate', 'max', 'min'],
];

/** The difference shown, or that none is and how large it could be. @param {Comparison} comparison @param {number} other as above */
export function finding({ groups, metrics, method }, other) {
  const [base, name] = [groups[0].name, groups[other].name];
  const ranked = FINDING_KEYS.flatMap((key) => metrics.filter((metric) => metric.key === key));
  const shown = ranked.find((metric) => isShown(metric, other));
  if (shown !== undefined) {
    const [before, after] = [0, other].map((i) => withoutNulls(groups[i].metrics[shown.key].values));
    const { from, to, onAverage } = centersText(shown.unit, [before, after]);
    const figures =
      from === to ? `${shown.label} ${to} in both` : `${shown.label} ${to} instead of ${from}${onAverage}`;
    const sure = `at ${formatPercent(method.confidence)} confidence${chance(ranked, shown, other, method.alpha)}`;
    return `${name} ${differsBy(shown, differenceTo(shown, other))} than ${base} (${figures}), ${sure}.`;
  }
  const differences = ranked.map((metric) => differenceTo(metric, other));
  if (differences.every(({ verdict }) => verdict === 'not enough runs'))
    return `Too few runs to show a difference between ${name} and ${base}.`;
  // Not of times that are not comparable.
  const measured = ranked.find(
    (metric) => toneTo(metric, other) === 'none' && differenceTo(metric, other).interval !== null,
  );
  const range = measured ? possibleRange(measured, differenceTo(measured, other).interval ?? []) : '';
  return `No difference is shown between ${name} and ${base}${range}.`;
}

/** @param {ComparedMetric} metric @param {readonly number[]} interval @returns a clause; empty if it rounds to zero */
function possibleRange({ label, unit }, interval) {
  const [low, high] = interval.map((difference) => differenceText(unit, difference));
  if (low !== high) return `: ${label} may differ by ${intervalText(unit, interval)}`;
  return /[1-9]/.test(low) ? `: ${label} may differ by ${low}` : '';
}

/** Differences in at most this many of the compared metrics may be chance. */
const FEW = 2;

/**
 * Of ten metrics of two equal groups, one or two related ones often differ with p < 0.05. A difference in the share of errors
 * is not chance, nor is a p-value that is below alpha even when multiplied by the number of metrics (Bonferroni).
 * @param {ComparedMetric[]} metrics @param {ComparedMetric} shown named by the finding
 * @param {number} other @param {number} alpha @returns {string} a clause; empty: not chance
 */
function chance(metrics, shown, other, alpha) {
  const compared = metrics.filter((metric) => toneTo(metric, other) !== 'unsure');
  const alike = compared.filter((metric) => toneTo(metric, other) === toneTo(shown, other));
  const isSignificant = alike.some((metric) => {
    const { pValue } = differenceTo(metric, other);
    return pValue !== null && pValue * compared.length < alpha;
  });
  if (shown.key === 'errors' || alike.length > FEW || isSignificant) return '';
  const names = alike.map(({ label }) => label).join(' and ');
  return `, but of ${compared.length} metrics only ${names} ${alike.length === 1 ? 'differs' : 'differ'}: this may be chance; more runs are needed`;
}

/** Larger differences are shown as factors. */
const FACTOR_PERCENT = 100;

/** `is 10.3 % slower`, `has 2.1 points more errors`. @param {ComparedMetric} metric @param {Difference} difference */
function differsBy({ key, unit }, { verdict, differencePercent }) {
  const text = differencePercent === null ? '' : sizeText(unit, differencePercent);
  const size = /[1-9]/.test(text) ? `${text} ` : '';
  if (key === 'errors') return `has ${size}${verdict === 'higher' ? 'more' : 'fewer'} errors`;
  if (key === 'rate') return `has a ${size}${verdict} rate`;
  if (differencePercent === null || differencePercent < FACTOR_PERCENT) return `is ${size}${verdict}`;
  return `is ${Number((1 + differencePercent / 100).toPrecision(2))} times ${verdict}`;
}
