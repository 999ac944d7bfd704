/** Axes: where a value stands, and which labels have room. Labels carry their unit, or the axis' title does. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { formatCount } from '../../units.js';

/** @typedef {{at: number, label: string}} Tick `at` is 0 to 1 along the axis; with an empty label a mark only */
/**
 * @typedef {object} Axis
 * @property {string} title what it shows, and the unit where the labels have none
 * @property {(value: number) => number} at 0 to 1
 * @property {(length: number, room: (label: string) => number) => Tick[]} ticks for an axis so many pixels long, on which
 *   a label needs so much room, the space beside it included; none touch
 */

/** A logarithmic scale is used when the largest value is more than so many times the smallest. */
const LOG_FROM = 30;

const MOST_TICKS = 6;

/** Over so many decades each has three labels; over more only the decades have one. */
const DECADES_IN_THREE = 3;

/** A label this far along is near the end. */
const NEAR_END = 0.8;

/**
 * Those that have room, from the beginning of the axis.
 *
 * @param {Tick[]} ticks ascending
 * @param {number} length
 * @param {(label: string) => number} room
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
 * @param {object} parts
 * @param {string} parts.title
 * @param {number} [parts.low]
 * @param {number} parts.high
 * @param {(value: number) => string} parts.label
 * @param {boolean} [parts.whole] only whole numbers get a label
 * @returns {Axis}
 */
export function linearAxis({ title, low = 0, high, label, whole = false }) {
  const scale = scaleLinear()
    .domain([low, high > low ? high : low + 1])
    .nice(5)
    .range([0, 1]);
  const ticksOf = (/** @type {number} */ count) =>
    scale
      .ticks(count)
      .filter((value) => !whole || Number.isInteger(value))
      .map((value) => ({ at: scale(value), label: label(value) }));
  return {
    title,
    at: (value) => scale(value),
    ticks(length, room) {
      for (let count = MOST_TICKS; count > 1; count--) {
        const ticks = ticksOf(count);
        if (ticks[ticks.length - 1].at >= NEAR_END && fit(ticks, length, room).length === ticks.length)
          return ticks;
      }
      return fitEnds(ticksOf(MOST_TICKS), length, room);
    },
  };
}

/**
 * The two at the ends, and those between that have room beside them.
 *
 * @param {Tick[]} ticks ascending
 * @param {number} length
 * @param {(label: string) => number} room
 */
export function fitEnds(ticks, length, room) {
  const last = ticks[ticks.length - 1];
  const before = (/** @type {Tick} */ { at, label }) =>
    at * length + room(label) / 2 <= last.at * length - room(last.label) / 2;
  return [...fit(ticks.slice(0, -1), length, room).filter(before), last];
}

/**
 * Its ends have a label each: 1, 2 or 5 times a power of ten, or a power of ten where only those have labels.
 *
 * @param {string} title
 * @param {number} low above zero
 * @param {number} high above `low`
 * @param {(value: number) => string} label
 * @returns {Axis} what is below `low`, zero too, stands at its beginning
 */
export function logAxis(title, low, high, label) {
  const ends = [roundDown(low), roundUp(high)];
  const isLong = Math.log10(ends[1] / ends[0]) > DECADES_IN_THREE + 1e-9;
  const [from, to] = isLong ? [decadeBelow(low), decadeAbove(high)] : ends;
  const scale = scaleLog().domain([from, to]).range([0, 1]).clamp(true);
  const decades = Array.from(
    { length: Math.ceil(Math.log10(to)) - Math.floor(Math.log10(from)) + 1 },
    (_, i) => i + Math.floor(Math.log10(from)),
  );
  const ticksOf = (/** @type {number[]} */ factors) =>
    decades
      .flatMap((decade) => factors.map((factor) => factor * 10 ** decade))
      .filter((value) => value >= from * 0.999 && value <= to * 1.001)
      .map((value) => ({ at: scale(value), label: label(value) }));
  return {
    title,
    at: (value) => scale(value),
    ticks(length, room) {
      const all = ticksOf(isLong ? [1] : [1, 2, 5]);
      const stride = [1, 2, 3].find((step) => {
        const ticks = everyNth(all, step);
        return fit(ticks, length, room).length === ticks.length;
      });
      if (isLong && stride !== undefined) return everyNth(all, stride);
      return stride === 1 ? all : fitEnds(withEnds(ticksOf([1]), all), length, room);
    },
  };
}

/**
 * @param {string} title
 * @param {Iterable<number>} values milliseconds
 * @returns {Axis} from zero, or logarithmic where the values are of very different size
 */
export function latencyAxis(title, values) {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const value of values) {
    if (value > 0 && value < low) low = value;
    if (value > high) high = value;
  }
  if (high > LOG_FROM * low) return logAxis(`${title} (log scale)`, low, high, latencyLabel);
  return linearAxis({ title, high, label: latencyLabeller(high) });
}

/**
 * @param {number} high milliseconds, the largest there will be
 * @returns {(ms: number) => string} all in one unit
 */
export function latencyLabeller(high) {
  const [unit, ms] = high >= 999.5 ? ['s', 1000] : high >= 0.0995 || high === 0 ? ['ms', 1] : ['µs', 0.001];
  return (value) => `${numberLabel(value / Number(ms))} ${unit}`;
}

/** @param {number} ms @returns {string} each in its own unit, the one that formatLatency gives it */
export function latencyLabel(ms) {
  if (ms < 0.0995) return `${numberLabel(ms * 1000)} µs`;
  return ms < 999.5 ? `${numberLabel(ms)} ms` : `${numberLabel(ms / 1000)} s`;
}

/**
 * @param {string} title with the unit
 * @param {number} high
 * @param {boolean} [whole]
 * @returns {Axis} from zero
 */
export function countAxis(title, high, whole = false) {
  return linearAxis({ title, high, label: compactLabel, whole });
}

/**
 * @param {Tick[]} ticks
 * @param {number} step
 */
function everyNth(ticks, step) {
  return ticks.filter((_, i) => i % step === 0);
}

/**
 * @param {Tick[]} ticks
 * @param {Tick[]} all the first and last of which are added where they are missing
 */
function withEnds(ticks, all) {
  const [first, last] = [all[0], all[all.length - 1]];
  const between = ticks.filter(({ at }) => at > first.at && at < last.at);
  return [first, ...between, last];
}

/** @param {number} value @returns {string} `9,000`, `12.5 k`, `3 M` */
export function compactLabel(value) {
  if (Math.abs(value) >= 1e6) return `${numberLabel(value / 1e6)} M`;
  if (Math.abs(value) >= 1e4) return `${numberLabel(value / 1e3)} k`;
  return numberLabel(value);
}

/** @param {number} value @returns {string} without the noise of binary fractions */
export function numberLabel(value) {
  return formatCount(Number(value.toPrecision(10)));
}

/** @param {number} value above zero @returns {number} a power of ten */
function decadeBelow(value) {
  return 10 ** Math.floor(Math.log10(value) + 1e-9);
}

/** @param {number} value above zero @returns {number} a power of ten */
function decadeAbove(value) {
  return 10 ** Math.ceil(Math.log10(value) - 1e-9);
}

/** @param {number} value above zero @returns {number} 1, 2 or 5 times a power of ten */
function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([5, 2].find((factor) => factor * power <= value * (1 + 1e-9)) ?? 1);
}

/** @param {number} value above zero @returns {number} 1, 2 or 5 times a power of ten */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10);
}
