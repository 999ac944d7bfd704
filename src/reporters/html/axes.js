/** Axes: where a value stands, and which labels have room. Labels carry their unit, or the axis' title does. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { formatCount } from '../../units.js';

/** @typedef {{at: number, label: string}} Tick `at` is 0 to 1 along the axis */
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
        if (fit(ticks, length, room).length === ticks.length) return ticks;
      }
      return fit(ticksOf(1), length, room);
    },
  };
}

/**
 * @param {string} title
 * @param {number} low above zero
 * @param {number} high above `low`
 * @param {(value: number) => string} label
 * @returns {Axis} what is below `low`, zero too, stands at its beginning
 */
export function logAxis(title, low, high, label) {
  const [from, to] = [roundDown(low), roundUp(high)];
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
      for (const factors of [[1, 2, 5], [1, 5], [1]]) {
        const ticks = ticksOf(factors);
        if (fit(ticks, length, room).length === ticks.length) return ticks;
      }
      return fit(ticksOf([1]), length, room);
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
  const [unit, ms] = high >= 2000 ? ['s', 1000] : high >= 0.5 ? ['ms', 1] : ['µs', 0.001];
  return (value) => `${numberLabel(value / Number(ms))} ${unit}`;
}

/** @param {number} ms @returns {string} each in its own unit */
export function latencyLabel(ms) {
  if (ms < 0.9995) return `${numberLabel(ms * 1000)} µs`;
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

const TIME_UNITS = Object.freeze([
  { name: 's', seconds: 1, upTo: 180 },
  { name: 'min', seconds: 60, upTo: 3 * 3600 },
  { name: 'h', seconds: 3600, upTo: 4 * 86_400 },
  { name: 'days', seconds: 86_400, upTo: Number.POSITIVE_INFINITY },
]);

const TIME_STEPS = Object.freeze([
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800, 1_209_600, 2_419_200,
]);

/**
 * @param {number} seconds length of what is shown
 * @returns {Axis} its values are seconds from the start
 */
export function timeAxis(seconds) {
  const end = Math.max(1, seconds);
  const unit = TIME_UNITS.find(({ upTo }) => end <= upTo) ?? TIME_UNITS[3];
  const steps = TIME_STEPS.filter((step) => step % unit.seconds === 0);
  const label = (/** @type {number} */ at) => formatCount(at / unit.seconds);
  return {
    title: `time since the start, ${unit.name}`,
    at: (value) => value / end,
    ticks(length, room) {
      const widest = room(label(Math.ceil(end / unit.seconds) * unit.seconds));
      const step = steps.find((candidate) => (candidate / end) * length >= widest) ?? steps[steps.length - 1];
      const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => ({
        at: (i * step) / end,
        label: label(i * step),
      }));
      return fit(ticks, length, room);
    },
  };
}

/**
 * Percentiles, so that each step from 90 to 99 to 99.9 % is as long as the one before.
 *
 * @param {number} end log10(1 / (1 - share)) of the largest share
 * @returns {Axis} its values are log10(1 / (1 - share))
 */
export function percentileAxis(end) {
  const nines = Array.from({ length: Math.floor(end + 1e-9) }, (_, i) => i + 1);
  const ticks = [
    { at: 0, label: '0 %' },
    ...[Math.log10(2), ...nines]
      .filter((value) => value <= end + 1e-9)
      .map((value) => ({ at: value / end, label: percentLabel(value) })),
  ];
  return {
    title: 'percentile (log scale towards 100 %)',
    at: (value) => value / end,
    ticks: (length, room) => fit(ticks, length, room),
  };
}

/** @param {number} nines log10(1 / (1 - share)) @returns {string} `50 %`, `99.9 %` */
export function percentLabel(nines) {
  const percent = 100 - 10 ** (2 - nines);
  return `${Number(percent.toFixed(Math.max(1, Math.ceil(nines))))} %`;
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
