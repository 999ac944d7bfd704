/** Compares a metric of two groups of runs: the difference, whether it is significant, and a sentence. */
import { isDeepStrictEqual } from 'node:util';
import { maxOf, median, minOf } from '../../common/sums.js';
import { meanAndVariance } from '../../verdict/statistics.js';
import { differenceText, formatFigure, intervalText, pText, sizeText } from '../runs/figures.js';
import { sentence } from '../wording.js';
import { ALPHA, bootstrapInterval, mannWhitney, runsNeeded, smallestPValue } from './run-statistics.js';

/** @import { PARTS } from '../runs/run-set.js' */
/** @import { MetricHead, Unit } from '../runs/run-set-schema.js' */
/** @import { Difference, DifferenceVerdict } from './comparison-schema.js' */

/** @typedef {Omit<Difference, 'base' | 'other' | 'doubt' | 'text'>} Found */
/** @typedef {readonly number[]} Values one per run */
/** @typedef {[base: Values, other: Values]} Pair */
/**
 * How much better (`tool`) and worse (`unknown`) than each value the target may have been, see MetricSummary. The excess of
 * one group over the other is not a difference between the targets.
 * @typedef {Record<typeof PARTS[number], Values>} Parts
 */
/** @typedef {{base: Parts, other: Parts}} PartsOfBoth */
/** @typedef {{seed: number, resamples?: number, parts?: PartsOfBoth}} Options */

/** What may have been more in one group, by unit. @type {Record<Unit, string>} */
const PARTS_OF = {
  ms: 'its lateness was greater',
  '/s': 'its lateness, its own errors or unchecked responses were more',
  fraction: 'its own errors, or unchecked or unsent requests, were more',
};

/** @param {MetricHead} metric @param {Values} base @param {Values} other @param {Options} options */
export function compareSamples(metric, base, other, options) {
  const found = find(metric, [base, other], options);
  const doubt =
    toolDoubt(metric, found) ?? disagreement(found, centerOf([base, other]) === meanOf ? 'means' : 'medians');
  const text = describe(metric, found, base, other);
  return { ...found, doubt, text: doubt === null ? text : `${text} ${doubt}` };
}

/** @param {MetricHead} metric @param {Found} found */
function toolDoubt({ unit }, { possible: [measured, ...others] = [] }) {
  if (others.every(({ verdict }) => verdict === measured.verdict)) return null;
  const does = measured.verdict === 'no difference shown' ? 'hide a' : 'have caused the';
  return `The tool may ${does} difference: ${PARTS_OF[unit]} in one group than in the other.`;
}

/** @param {MetricHead} metric @param {Values} base @param {Values} other @param {string} why it would mislead */
export function notComparable({ label, unit }, base, other, why) {
  const [a, b] = [base, other].map((values) =>
    formatFigure(unit, values.length === 0 ? null : median(values)),
  );
  const text = sentence(`${label}: not comparable, ${b} and ${a}`, why);
  return { verdict: /** @type {const} */ ('not comparable'), doubt: sentence(why), text };
}

/** @param {MetricHead} metric @param {Values} a @param {Values} b @param {PartsOfBoth} [parts] b is the base */
export function isShownBetter(metric, a, b, parts) {
  const better = metric.lowerIsBetter ? -1 : 1;
  const isBetter = (/** @type {Pair} */ pair) =>
    centerChange(pair) * better > 0 && test(pair).direction === better;
  return possiblePairs(metric, [b, a], parts).every(isBetter);
}

/** @param {Unit} unit @param {number} base @param {number} other @returns {number | null} percent of the base; of a share, percentage points */
export function differenceOf(unit, base, other) {
  if (unit === 'fraction') return (other - base) * 100;
  return base === 0 ? null : ((other - base) / base) * 100;
}

/** @param {MetricHead} metric @param {Pair} pair @param {Options} options @returns {Found} */
function find(metric, pair, { parts, ...options }) {
  const { unit } = metric;
  const measured = test(pair);
  const { pValue, isPossible } = measured;
  const none = { differencePercent: null, interval: null, pValue };
  if (pair.some(({ length }) => length === 0)) return { ...none, verdict: 'not enough runs' };
  const pairs = possiblePairs(metric, pair, parts);
  const possible = pairs.map((one) => {
    const [base, other] = one.map(centerOf(one));
    return {
      verdict: verdictFor(unit, (one === pair ? measured : test(one)).direction),
      differencePercent: differenceOf(unit, base, other),
    };
  });
  const [{ verdict, differencePercent }] = possible;
  if (!isPossible) return { ...none, differencePercent, verdict: 'not enough runs' };
  const ends = pairs.flatMap(
    (one) =>
      bootstrapInterval(...one, (a, b) => differenceOf(unit, a, b), { center: centerOf(one), ...options }) ??
      [],
  );
  return {
    differencePercent,
    interval: ends.length === 0 ? null : [minOf(ends), maxOf(ends)],
    pValue,
    verdict: possible.every((one) => one.verdict === verdict) ? verdict : 'no difference shown',
    ...(possible.length === 1 ? {} : { possible }),
  };
}

/**
 * @param {MetricHead} metric @param {Pair} pair @param {PartsOfBoth} [parts]
 * @returns {Pair[]} as measured; then, if a part is greater in one group, with that excess moved: the base as good and the
 *   other as bad as possible, and the reverse
 */
function possiblePairs({ lowerIsBetter }, pair, parts) {
  if (parts === undefined) return [pair];
  const better = lowerIsBetter ? -1 : 1;
  const moved = (/** @type {0 | 1} */ at, /** @type {typeof PARTS[number]} */ part) => {
    const [own, others] = at === 0 ? [parts.base, parts.other] : [parts.other, parts.base];
    const common = median(others[part]);
    const sign = part === 'tool' ? better : -better;
    return pair[at].map((value, i) => value + sign * Math.max(0, own[part][i] - common));
  };
  /** @type {Pair[]} */
  const extremes = [
    [moved(0, 'tool'), moved(1, 'unknown')],
    [moved(0, 'unknown'), moved(1, 'tool')],
  ];
  return [pair, ...extremes.filter((one) => !isDeepStrictEqual(one, pair))];
}

/**
 * Tests whether one group's values tend to be larger; a difference counts as shown only if the medians agree, or, if
 * both are 0, the means: most runs may have no errors.
 * @param {Pair} pair
 * @returns {{pValue: number | null, isPossible: boolean, direction: -1 | 0 | 1}} from base to other, 0: none
 *   shown; `isPossible`: this many runs can show a difference
 */
function test([base, other]) {
  if (base.length === 0 || other.length === 0) return { pValue: null, isPossible: false, direction: 0 };
  const { u, pValue } = mannWhitney(other, base);
  const isPossible = smallestPValue(base.length, other.length) < ALPHA;
  const byRank = u - (base.length * other.length) / 2;
  const byCenter = centerChange([base, other]);
  const isShown = isPossible && pValue < ALPHA && byRank * byCenter > 0;
  return { pValue, isPossible, direction: isShown ? (byCenter > 0 ? 1 : -1) : 0 };
}

const meanOf = (/** @type {Values} */ values) => meanAndVariance(values).mean;

/** What a difference is about: the medians or, if both are 0, the means. @param {Pair} pair each at least one value */
const centerOf = (pair) => (pair.every((values) => median(values) === 0) ? meanOf : median);

/** Medians or means, and which they are. @param {Unit} unit @param {Pair} pair each at least one value */
export function centersText(unit, pair) {
  const center = centerOf(pair);
  const [from, to] = pair.map((values) => formatFigure(unit, center(values)));
  return { from, to, onAverage: center === meanOf && from !== to ? ' on average' : '' };
}

/** @param {Pair} pair @returns {number} */
function centerChange(pair) {
  if (pair.some(({ length }) => length === 0)) return 0;
  const [base, other] = pair.map(centerOf(pair));
  return other - base;
}

/** @param {Unit} unit @param {-1 | 0 | 1} direction @returns {DifferenceVerdict} */
function verdictFor(unit, direction) {
  if (direction === 0) return 'no difference shown';
  if (unit === 'ms') return direction > 0 ? 'slower' : 'faster';
  return direction > 0 ? 'higher' : 'lower';
}

/** @param {MetricHead} metric @param {Found} found @param {Values} base @param {Values} other */
function describe({ key, label, unit }, { verdict, differencePercent, interval, pValue }, base, other) {
  if (verdict === 'not enough runs') {
    const counts = `${label}: not enough runs, ${base.length} and ${other.length}`;
    return sentence(counts, `${runsNeeded()} of each are enough to show a difference`);
  }
  const { from, to, onAverage } = centersText(unit, [base, other]);
  const range = interval === null ? '' : `95 % interval ${intervalText(unit, interval)}, `;
  const p = pText(pValue);
  const evidence = `${range}p ${p.startsWith('<') ? p.replace('<', '< ') : `= ${p}`}`;
  if (verdict === 'no difference shown') {
    const by = differencePercent === null ? '' : `${differenceText(unit, differencePercent)}, `;
    return sentence(`${label}: no difference shown, ${to} and ${from}${onAverage} (${by}${evidence})`);
  }
  const size = differencePercent === null ? '' : `${sizeText(unit, differencePercent)} `;
  const is = key === 'errors' ? 'are' : 'is';
  const values = from === to ? `both round to ${to}` : `${to} instead of ${from}${onAverage}`;
  return sentence(`${label} ${is} ${size}${verdict}: ${values} (${evidence})`);
}

/** The test uses ranks, the interval medians or means: a sentence if only one shows a difference. @param {Found} found @param {string} centers */
function disagreement({ verdict, interval, pValue }, centers) {
  if (verdict === 'not enough runs') return null;
  const byCenters = interval !== null && (interval[0] > 0 || interval[1] < 0);
  const byRanks = pValue !== null && pValue < ALPHA;
  const isShown = verdict !== 'no difference shown';
  if (isShown ? interval !== null && !byCenters : byRanks)
    return `The ranks of the runs show a difference, but their ${centers} do not.`;
  return byCenters && !isShown
    ? `The ${centers} of the runs show a difference, but their ranks do not.`
    : null;
}
