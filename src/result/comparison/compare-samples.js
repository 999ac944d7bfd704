/** One metric of two groups of runs: the difference, whether it is shown, and a sentence with both. */
import { median } from '../../common/sums.js';
import { differenceText, figureText, intervalText, pText, sizeText } from '../runs/figures.js';
import { sentence } from '../wording.js';
import { ALPHA, bootstrapInterval, mannWhitney, runsNeeded, smallestPValue } from './run-statistics.js';
/** @import { MetricHead, Unit } from '../runs/run-metrics.js' */
/** @import { Difference, DifferenceVerdict } from './comparison-schema.js' */

/** @typedef {Omit<Difference, 'base' | 'other' | 'doubt' | 'text'>} Found */
/** @typedef {readonly number[]} Values one per run */
/** @typedef {[base: Values, other: Values]} Pair */

/**
 * The part of each value that may be the tool's own lateness: added to a time, or taken from a rate. Alike in both groups it
 * makes no difference; where one group has more of it, that much is no difference of the targets.
 * @typedef {{base: Values, other: Values}} ToolParts
 */

/**
 * @param {MetricHead} metric @param {Values} base @param {Values} other
 * @param {{seed: number, resamples?: number, tool?: ToolParts}} options
 * @returns {Found & {doubt: string | null, text: string}}
 */
export function compareSamples(metric, base, other, options) {
  const found = find(metric, [base, other], options);
  const doubt = found.isTools
    ? "The difference may be this tool's own: the tool was later in one group than in the other."
    : disagreement(found, base.length, other.length);
  const text = describe(metric, found, base, other);
  return { ...found, doubt, text: doubt === null ? text : `${text} ${doubt}` };
}

/**
 * @param {MetricHead} metric @param {Values} base @param {Values} other @param {string} why it would mislead
 * @returns {Pick<Difference, 'verdict' | 'doubt' | 'text'>}
 */
export function notComparable({ label, unit }, base, other, why) {
  const [a, b] = [base, other].map((values) => figureText(unit, values.length === 0 ? null : median(values)));
  const text = sentence(`${label}: not comparable, ${b} and ${a}`, why);
  return { verdict: 'not comparable', doubt: sentence(why), text };
}

/**
 * @param {MetricHead} metric @param {Values} a @param {Values} b
 * @param {ToolParts} [tool] of b, as `base`, and of a @returns {boolean} that a is better than b is shown
 */
export function isShownBetter({ unit, lowerIsBetter }, a, b, tool) {
  const better = lowerIsBetter ? -1 : 1;
  return withEqualTool(unit, [b, a], tool).every((pair) => test(pair).direction === better);
}

/** @param {Unit} unit @param {number} base @param {number} other @returns {number | null} points of a share; else percent of the base */
export function differenceOf(unit, base, other) {
  if (unit === 'fraction') return (other - base) * 100;
  return base === 0 ? null : ((other - base) / base) * 100;
}

/**
 * @param {MetricHead} metric @param {Pair} pair
 * @param {{seed: number, resamples?: number, tool?: ToolParts}} options @returns {Found}
 */
function find({ unit }, pair, { tool, ...options }) {
  const { pValue, isPossible, direction } = test(pair);
  const none = { differencePercent: null, interval: null, pValue };
  if (pair.some(({ length }) => length === 0)) return { ...none, verdict: 'not enough runs' };
  const pairs = withEqualTool(unit, pair, tool);
  const differences = pairs.map(([base, other]) => differenceOf(unit, median(base), median(other)));
  const [differencePercent] = differences;
  if (!isPossible) return { ...none, differencePercent, verdict: 'not enough runs' };
  const ends = pairs.flatMap(
    (one) => bootstrapInterval(...one, (a, b) => differenceOf(unit, a, b), options) ?? [],
  );
  const isTools = direction !== 0 && pairs.some((one) => test(one).direction !== direction);
  const surePercent = nearestToZero(differences);
  return {
    differencePercent,
    interval: ends.length === 0 ? null : [Math.min(...ends), Math.max(...ends)],
    pValue,
    verdict: wordFor(unit, isTools ? 0 : direction),
    ...(isTools ? { isTools } : {}),
    ...(pairs.length === 1 || surePercent === null ? {} : { surePercent }),
  };
}

/** @param {(number | null)[]} differences */
function nearestToZero(differences) {
  const known = differences.filter((one) => one !== null);
  if (known.some((one) => one > 0) && known.some((one) => one < 0)) return 0;
  return known.length === 0 ? null : known.reduce((a, b) => (Math.abs(a) < Math.abs(b) ? a : b));
}

/**
 * @param {Unit} unit @param {Pair} pair @param {ToolParts} [tool]
 * @returns {Pair[]} the pair; then, where one group has more of the tool's lateness, as if it had no more than the other
 */
function withEqualTool(unit, pair, tool) {
  if (tool === undefined) return [pair];
  const [base, other] = pair;
  const sign = unit === '/s' ? 1 : -1;
  const excess = (/** @type {Values} */ own, /** @type {Values} */ than) =>
    own.map((part) => Math.max(0, part - median(than)));
  const move = (/** @type {Values} */ values, /** @type {Values} */ by) =>
    values.map((value, i) => value + sign * by[i]);
  const [ofBase, ofOther] = [excess(tool.base, tool.other), excess(tool.other, tool.base)];
  const isLess = (/** @type {Values} */ by) => by.some((part) => part > 0);
  /** @type {Pair[]} */
  const pairs = [pair];
  if (isLess(ofOther)) pairs.push([base, move(other, ofOther)]);
  if (isLess(ofBase)) pairs.push([move(base, ofBase), other]);
  return pairs;
}

/**
 * The test shows whether one group's values tend to be larger; a difference counts as shown only where the medians agree.
 * @param {Pair} pair
 * @returns {{pValue: number | null, isPossible: boolean, direction: -1 | 0 | 1}} direction from base to other, 0: none shown;
 *   isPossible: with so many runs a difference could be shown
 */
function test([base, other]) {
  if (base.length === 0 || other.length === 0) return { pValue: null, isPossible: false, direction: 0 };
  const { u, pValue } = mannWhitney(other, base);
  const isPossible = smallestPValue(base.length, other.length) < ALPHA;
  const byRank = u - (base.length * other.length) / 2;
  const byMedian = median(other) - median(base);
  const isShown = isPossible && pValue < ALPHA && byRank * byMedian > 0;
  return { pValue, isPossible, direction: isShown ? (byMedian > 0 ? 1 : -1) : 0 };
}

/** @param {Unit} unit @param {-1 | 0 | 1} direction @returns {DifferenceVerdict} */
function wordFor(unit, direction) {
  if (direction === 0) return 'no difference shown';
  if (unit === 'ms') return direction > 0 ? 'slower' : 'faster';
  return direction > 0 ? 'higher' : 'lower';
}

/** @param {MetricHead} metric @param {Found} found @param {Values} base @param {Values} other */
function describe({ key, label, unit }, { verdict, differencePercent, interval, pValue }, base, other) {
  if (verdict === 'not enough runs') return describeFew(label, base.length, other.length);
  const [from, to] = [base, other].map((values) => figureText(unit, median(values)));
  const range = interval === null ? '' : `95 % interval ${intervalText(unit, interval)}, `;
  const p = pText(pValue);
  const evidence = `${range}p ${p.startsWith('<') ? p.replace('<', '< ') : `= ${p}`}`;
  if (verdict === 'no difference shown') {
    const by = differencePercent === null ? '' : `${differenceText(unit, differencePercent)}, `;
    return sentence(`${label}: no difference shown, ${to} and ${from} (${by}${evidence})`);
  }
  const size = differencePercent === null ? '' : `${sizeText(unit, differencePercent)} `;
  const is = key === 'errors' ? 'are' : 'is';
  const values = from === to ? `both ${to} as rounded` : `${to} instead of ${from}`;
  return sentence(`${label} ${is} ${size}${verdict}: ${values} (${evidence})`);
}

/**
 * The test is of ranks and the interval is of medians: where they disagree, a sentence gives the reason.
 * @param {Found} found @param {number} n runs of the base @param {number} m runs of the other
 */
function disagreement({ verdict, interval, pValue }, n, m) {
  if (verdict === 'not enough runs') return null;
  const includesZero = interval !== null && interval[0] <= 0 && interval[1] >= 0;
  const uncertain =
    'By the ranks of the runs the difference is shown; its size is uncertain, and the interval of the medians includes 0.';
  if (verdict !== 'no difference shown') return includesZero ? uncertain : null;
  if (pValue !== null && pValue < ALPHA)
    return 'By their ranks the runs differ, but the medians do not say the same.';
  return interval === null || includesZero
    ? null
    : `The interval of the medians leaves 0 out, but by their ranks ${n} and ${m} runs do not show a difference.`;
}

/** @param {string} label @param {number} n @param {number} m */
function describeFew(label, n, m) {
  const counts = `${label}: not enough runs, ${n} and ${m}`;
  const needed = `${runsNeeded()} of each are enough to show one`;
  if (n === 0 || m === 0) return sentence(`${counts} have a value`, needed);
  const none = `${counts}: no p-value below ${pText(smallestPValue(n, m))} can come out`;
  return sentence(none, `a difference needs one below ${ALPHA}`, needed);
}
