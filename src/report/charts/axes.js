/** Axes: where a value lies, and which tick labels have room. Labels carry their unit, or the axis title does. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { formatCount } from '../../common/units.js';
import { extent } from '../describe/words.js';

/** @typedef {{at: number, label: string}} Tick `at` is 0 to 1 along the axis */
/**
 * @typedef {object} Axis
 * @property {string} title with the unit, where the labels have none
 * @property {(value: number) => number} at 0 to 1
 * @property {(length: number, room: (label: string) => number) => Tick[]} ticks for an axis of `length` pixels; `room` is the
 *   width of a label with the gap beside it; no two labels touch
 */
/** @typedef {'ms' | '/s' | 'fraction'} Unit */
/** @typedef {(value: number) => string} Label */

/** A log scale is used when the largest value is more than this many times the smallest. */
const LOG_FROM = 30;

/** Log axes of up to so many decades have labels at 1, 2 and 5, longer ones at each decade. */
const DECADES_IN_THREE = 3;

/** The last label of a linear axis lies at least this far along. */
const NEAR_END = 0.8;

/**
 * @param {Tick[]} ticks ascending @param {number} length @param {(label: string) => number} room
 * @returns {Tick[]} those with room, from the start
 */
export function fit(ticks, length, room) {
  let end = Number.NEGATIVE_INFINITY;
  return ticks.filter(({ at, label }) => {
    const half = room(label) / 2;
    if (at * length - half < end) return false;
    end = at * length + half;
    return true;
  });
}

/**
 * @param {string} title
 * @param {(value: number) => number} at
 * @param {Tick[][]} choices the finest first; the first whose labels all have room is taken
 * @returns {Axis}
 */
function axisOf(title, at, choices) {
  return {
    title,
    at,
    ticks(length, room) {
      const fitting = choices.find((ticks) => fit(ticks, length, room).length === ticks.length);
      return fitting ?? fit(choices[choices.length - 1], length, room);
    },
  };
}

/**
 * @param {object} parts
 * @param {string} parts.title
 * @param {number} [parts.low]
 * @param {number} parts.high
 * @param {Label} parts.label
 * @param {boolean} [parts.isWhole] label whole numbers only
 * @returns {Axis}
 */
export function linearAxis({ title, low = 0, high, label, isWhole = false }) {
  const scale = scaleLinear()
    .domain([low, high > low ? high : low + 1])
    .nice(5)
    .range([0, 1]);
  const tick = (/** @type {number} */ value) => ({ at: scale(value), label: label(value) });
  const choices = [6, 5, 4, 3, 2].map((count) =>
    scale
      .ticks(count)
      .filter((value) => !isWhole || Number.isInteger(value))
      .map(tick),
  );
  const whole = choices.filter((ticks) => ticks[ticks.length - 1].at >= NEAR_END);
  return axisOf(title, (value) => scale(value), [...whole, scale.domain().map(tick)]);
}

/**
 * Both ends are steps of 1, 2, 5, 10, or decades where the axis is long.
 * @param {string} title
 * @param {number} low above zero
 * @param {number} high above `low`
 * @param {Label} label
 * @returns {Axis} values below `low`, zero included, lie at its start
 */
export function logAxis(title, low, high, label) {
  const [first, last] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
  const stepsOf = (/** @type {number[]} */ factors) =>
    Array.from({ length: last - first + 1 }, (_, i) => factors.map((one) => one * 10 ** (first + i))).flat();
  const isLong = high / low > 10 ** DECADES_IN_THREE;
  const steps = stepsOf(isLong ? [1] : [1, 2, 5]);
  const [from, to] = [
    steps.findLast((step) => step <= low * (1 + 1e-9)) ?? steps[0],
    steps.find((step) => step >= high * (1 - 1e-9)) ?? steps[steps.length - 1],
  ];
  const scale = scaleLog().domain([from, to]).range([0, 1]).clamp(true);
  const ticks = steps
    .filter((step) => step >= from && step <= to)
    .map((value) => ({ at: scale(value), label: label(value) }));
  const choices = [1, 2, 3, 4].map((stride) => ticks.filter((_, i) => (ticks.length - 1 - i) % stride === 0));
  return axisOf(title, (value) => scale(value), [...choices, [ticks[0], ticks[ticks.length - 1]]]);
}

/**
 * @param {Unit} unit
 * @param {string} title
 * @param {Iterable<number | null | undefined>} values at least one is a number
 * @returns {Axis} from zero; times that differ by orders of magnitude have a log scale
 */
export function valueAxis(unit, title, values) {
  const all = [...values];
  const [, high] = extent(all);
  const [low] = extent(all.map((value) => (value === 0 ? null : value)));
  if (unit === 'ms' && high > LOG_FROM * low) return logAxis(`${title} (log scale)`, low, high, latencyLabel);
  return linearAxis({ title, high, label: labelOf(unit, high) });
}

/**
 * @param {Unit} unit @param {number[]} values at least one
 * @returns {Axis} that need not begin at zero, for differences between values
 */
export function rangeAxis(unit, values) {
  const [low, high] = extent(values);
  if (unit === 'ms' && low > 0 && high > LOG_FROM * low) return logAxis('log scale', low, high, latencyLabel);
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  const start = low >= 0 ? Math.max(0, low - margin) : low - margin;
  return linearAxis({ title: '', low: start, high: high + margin, label: labelOf(unit, high) });
}

/** @param {Unit} unit @param {number} high the largest value @returns {Label} all times in one unit */
function labelOf(unit, high) {
  if (unit === '/s') return (value) => `${compactLabel(value)}/s`;
  if (unit === 'fraction') return (value) => `${numberLabel(value * 100)} %`;
  const [name, ms] = high >= 999.5 ? ['s', 1000] : high >= 0.0995 || high === 0 ? ['ms', 1] : ['µs', 0.001];
  return (value) => `${numberLabel(value / Number(ms))} ${name}`;
}

/** @type {Label} milliseconds, each in its own unit, as formatLatency chooses it */
function latencyLabel(ms) {
  if (ms < 0.0995) return `${numberLabel(ms * 1000)} µs`;
  return ms < 999.5 ? `${numberLabel(ms)} ms` : `${numberLabel(ms / 1000)} s`;
}

/** @param {number} value @returns {string} `9,000`, `12.5 k`, `3 M` */
export function compactLabel(value) {
  if (Math.abs(value) >= 1e6) return `${numberLabel(value / 1e6)} M`;
  return Math.abs(value) >= 1e4 ? `${numberLabel(value / 1e3)} k` : numberLabel(value);
}

/** @param {number} value @returns {string} without the noise of binary fractions */
function numberLabel(value) {
  return formatCount(Number(value.toPrecision(10)));
}

/** @type {[name: string, seconds: number, upTo: number][]} */
const TIME_UNITS = [
  ['s', 1, 180],
  ['min', 60, 3 * 3600],
  ['h', 3600, 4 * 86_400],
  ['days', 86_400, Number.POSITIVE_INFINITY],
];

/** @param {number} seconds length of the chart @returns {Axis} its values are seconds from the start */
export function timeAxis(seconds) {
  const end = Math.max(1, seconds);
  const [name, size] = TIME_UNITS.find(([, , upTo]) => end <= upTo) ?? TIME_UNITS[3];
  const scale = scaleLinear().domain([0, end / size]);
  const choices = [20, 10, 5, 3, 2].map((count) =>
    scale
      .ticks(count)
      .filter(Number.isInteger)
      .map((value) => ({ at: scale(value), label: formatCount(value) })),
  );
  return axisOf(`time since the start, ${name}`, (value) => value / end, choices);
}

/**
 * The steps from 90 to 99 and from 99 to 99.9 % have the same length.
 * @param {number} end in nines: log10(1 / (1 - share)) of the largest share
 * @returns {Axis} its values are nines
 */
export function percentileAxis(end) {
  const nines = Array.from({ length: Math.floor(end + 1e-9) }, (_, i) => i + 1);
  const half = Math.log10(2);
  // Strides count back from the last nine, so that the highest has its label.
  const choices = Array.from({ length: nines.length + 1 }, (_, i) => i + 1).flatMap((stride) => {
    const some = nines.filter((nine) => (nines.length - nine) % stride === 0);
    return [
      [0, half, ...some],
      [half, ...some],
      [0, ...some],
    ];
  });
  const tick = (/** @type {number} */ value) => ({ at: value / end, label: percentLabel(value) });
  return axisOf(
    'percentile (log scale towards 100 %)',
    (value) => value / end,
    choices.map((values) => values.map(tick)),
  );
}

/** @param {number} nines log10(1 / (1 - share)) @returns {string} `50 %`, `99.9 %` */
export function percentLabel(nines) {
  if (nines === 0) return '0 %';
  return `${Number((100 - 10 ** (2 - nines)).toFixed(Math.max(1, Math.ceil(nines))))} %`;
}
