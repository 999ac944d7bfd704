/** Axes: the position of a value, and the tick labels that fit. The unit is in the labels or in the title of the axis. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { formatCount } from '../../common/units.js';
import { extent } from '../describe/words.js';

/** @typedef {{at: number, label: string}} Tick `at` is 0 to 1 along the axis */
/** @typedef {(value: number) => string} Label */
/** @typedef {'ms' | '/s' | 'fraction'} Unit */
/** @typedef {ReturnType<typeof axisOf>} Axis */

/** A log scale is used when the largest value is more than this many times the smallest. */
const LOG_FROM = 30;

/** Log axes of up to this many decades have labels at 1, 2 and 5, longer ones only at powers of ten. */
const MAX_DECADES_WITH_125 = 3;

/** The last label of a linear axis lies at least this far along. */
const NEAR_END = 0.8;

/**
 * The ticks whose labels do not touch; `middle`: of the label, in pixels from the start of the axis.
 * @param {Tick[]} ticks ascending @param {number} length of the axis, pixels
 * @param {(label: string) => number} widthOf a label, including the gap
 * @param {[before: number, after: number]} [room] pixels that labels have beyond the ends of the axis; default: any
 */
export function fit(
  ticks,
  length,
  widthOf,
  [before, after] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
) {
  let end = Number.NEGATIVE_INFINITY;
  return ticks.flatMap((tick) => {
    const half = widthOf(tick.label) / 2;
    const middle = Math.min(Math.max(tick.at * length, half - before), length + after - half);
    if (middle - half < end) return [];
    end = middle + half;
    return [{ ...tick, middle }];
  });
}

/**
 * @param {string} title @param {(value: number) => number} at 0 to 1 along the axis @param {Label} label
 * @param {number[][]} choices values with ticks, the finest first; the first choice whose labels all fit is used
 */
function axisOf(title, at, label, choices) {
  const ticksOf = (/** @type {number[]} */ values) =>
    values.map((value) => ({ at: at(value), label: label(value) }));
  return {
    title,
    at,
    /** @param {number} length @param {(label: string) => number} widthOf @param {[number, number]} [room] all as `fit` has them */
    ticks(length, widthOf, room) {
      const fitted = choices.map((values) => fit(ticksOf(values), length, widthOf, room));
      return fitted.find((ticks, i) => ticks.length === choices[i].length) ?? fitted[fitted.length - 1];
    },
  };
}

/** @param {{title: string, low?: number, high: number, label: Label, isWhole?: boolean}} parts `isWhole`: integers */
export function linearAxis({ title, low = 0, high, label, isWhole = false }) {
  const scale = scaleLinear([low, high > low ? high : low + 1], [0, 1]).nice(5);
  const choices = [6, 5, 4, 3, 2]
    .map((count) => scale.ticks(count).filter((value) => !isWhole || Number.isInteger(value)))
    .filter((values) => scale(values[values.length - 1]) >= NEAR_END);
  return axisOf(title, scale, label, [...choices, scale.domain()]);
}

/** Longer axes, of files that another program wrote, would have more steps than can be drawn. */
const MAX_RATIO = 1e12;

/**
 * Both ends are steps of 1, 2, 5, 10, or decades on a long axis. Values below `low`, zero included, are at its start.
 * @param {string} title @param {number} lowest @param {number} high above `lowest`, and zero @param {Label} label
 */
export function logAxis(title, lowest, high, label) {
  const low = Math.max(lowest, high / MAX_RATIO);
  const [first, last] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
  const factors = high / low > 10 ** MAX_DECADES_WITH_125 ? [1] : [1, 2, 5];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  const steps = powers.flatMap((power) => factors.map((factor) => factor * power));
  // log10 and the steps round differently, so low or high may lie just outside all steps.
  const from = steps.findLast((step) => step <= low * (1 + 1e-9)) ?? steps[0];
  const to = steps.find((step) => step >= high * (1 - 1e-9)) ?? steps[steps.length - 1];
  const values = steps.filter((step) => step >= from && step <= to);
  const choices = [1, 2, 3, 4].map((nth) => values.filter((_, i) => (values.length - 1 - i) % nth === 0));
  return axisOf(title, scaleLog([from, to], [0, 1]).clamp(true), label, [...choices, [from, to]]);
}

/**
 * Times that differ by orders of magnitude have a log scale.
 * @param {Unit} unit @param {string} title @param {Iterable<number | null | undefined>} values at least one is a number
 * @param {{isFromZero?: boolean}} [options]
 */
export function valueAxis(unit, title, values, { isFromZero = true } = {}) {
  const all = [...values];
  const [smallest, high] = extent(all);
  const [low] = extent(all.map((value) => (value === 0 ? null : value)));
  if (unit === 'ms' && high > LOG_FROM * low)
    return logAxis(title === '' ? 'log scale' : `${title} (log scale)`, low, high, (value) =>
      labelOf(unit, value)(value),
    );
  const label = labelOf(unit, high);
  if (isFromZero) return linearAxis({ title, high, label });
  // Values that agree to three digits count as equal: labels between them would be long numbers.
  const spread = high - smallest;
  const margin = spread > high * 0.001 ? spread * 0.05 : high * 0.05 || 1;
  return linearAxis({ title, low: Math.max(0, smallest - margin), high: high + margin, label });
}

/** @param {Unit} unit @param {number} high the largest value @returns {Label} all times in one unit */
function labelOf(unit, high) {
  if (unit === '/s') return (value) => `${compactLabel(value)}/s`;
  if (unit === 'fraction') return (value) => `${numberLabel(value * 100)} %`;
  if (high > 0 && high < 0.0995) return (value) => `${numberLabel(value * 1000)} µs`;
  return (value) => (high < 999.5 ? `${numberLabel(value)} ms` : `${numberLabel(value / 1000)} s`);
}

/** @type {Label} `9,000`, `12.5 k`, `3 M` */
export function compactLabel(value) {
  if (Math.abs(value) >= 1e6) return `${numberLabel(value / 1e6)} M`;
  return Math.abs(value) >= 1e4 ? `${numberLabel(value / 1e3)} k` : numberLabel(value);
}

/** @type {Label} without floating-point noise */
const numberLabel = (value) => formatCount(Number(value.toPrecision(10)));

/** @type {[name: string, seconds: number, upTo: number][]} */
const TIME_UNITS = [
  ['s', 1, 180],
  ['min', 60, 3 * 3600],
  ['h', 3600, 4 * 86_400],
  ['days', 86_400, Number.POSITIVE_INFINITY],
];

/** @param {number} seconds length of the chart; values are seconds from the start */
export function timeAxis(seconds) {
  const end = Math.max(1, seconds);
  const [name, size] = TIME_UNITS.find(([, , upTo]) => end <= upTo) ?? TIME_UNITS[3];
  const scale = scaleLinear([0, end / size], [0, 1]);
  const choices = [20, 10, 5, 3, 2].map((count) =>
    scale.ticks(count).flatMap((value) => (Number.isInteger(value) ? value * size : [])),
  );
  const label = (/** @type {number} */ value) => formatCount(value / size);
  return axisOf(`time since the start, ${name}`, (value) => value / end, label, choices);
}

/** Values are nines, log10(1 / (1 - share)): each further nine has the same length. @param {number} end the largest */
export function percentileAxis(end) {
  const nines = Array.from({ length: Math.floor(end + 1e-9) }, (_, i) => i + 1);
  const half = Math.log10(2);
  // Strides count back from the last nine, so that the highest has its label.
  const choices = Array.from({ length: nines.length + 1 }, (_, i) => i + 1).flatMap((stride) => {
    const kept = nines.filter((nine) => (nines.length - nine) % stride === 0);
    return [[0, half], [half], [0]].map((start) => [...start, ...kept]);
  });
  return axisOf('percentile (log scale towards 100 %)', (value) => value / end, percentLabel, choices);
}

/** @param {number} nines log10(1 / (1 - share)) @returns {string} `50 %`, `99.9 %` */
export function percentLabel(nines) {
  if (nines === 0) return '0 %';
  return `${Number((100 - 10 ** (2 - nines)).toFixed(Math.max(1, Math.ceil(nines))))} %`;
}
