/** Axes: where a value lies, and which tick labels have room. Labels carry their unit, or the axis title does. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { formatCount } from '../../common/units.js';

/** @typedef {{at: number, label: string}} Tick `at` is 0 to 1 along the axis; an empty label leaves the mark alone */
/**
 * @typedef {object} Axis
 * @property {string} title with the unit, where the labels have none
 * @property {(value: number) => number} at 0 to 1
 * @property {(length: number, room: (label: string) => number) => Tick[]} ticks for an axis of `length` pixels; `room` is the
 *   width of a label with the gap beside it; no two labels touch
 */

/** A log scale is used when the largest value is more than this many times the smallest. */
const LOG_FROM = 30;

const MOST_TICKS = 6;

/** Up to this many decades have three labels each; longer axes label the decades only. */
const DECADES_IN_THREE = 3;

/** The last label of a linear axis lies at least this far along. */
const NEAR_END = 0.8;

/**
 * The labels that have room, from the start of the axis.
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
 * @param {boolean} [parts.whole] label whole numbers only
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
 * The first and last label, and those between that have room.
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
 * Both ends carry a label: 1, 2 or 5 times a power of ten, or a power of ten where only decades have labels.
 *
 * @param {string} title
 * @param {number} low above zero
 * @param {number} high above `low`
 * @param {(value: number) => string} label
 * @returns {Axis} values below `low`, zero included, lie at its start
 */
export function logAxis(title, low, high, label) {
  const ends = [roundTo(low, [5, 2, 1]), roundTo(high, [1, 2, 5, 10])];
  const isLong = Math.log10(ends[1] / ends[0]) > DECADES_IN_THREE + 1e-9;
  const [from, to] = isLong
    ? [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)]
    : ends;
  const scale = scaleLog().domain([from, to]).range([0, 1]).clamp(true);
  const first = Math.floor(Math.log10(from));
  const decades = Array.from({ length: Math.ceil(Math.log10(to)) - first + 1 }, (_, i) => i + first);
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
      const everyNth = (/** @type {number} */ step) => all.filter((_, i) => i % step === 0);
      const stride = [1, 2, 3].find(
        (step) => fit(everyNth(step), length, room).length === everyNth(step).length,
      );
      if (isLong && stride !== undefined) return everyNth(stride);
      if (stride === 1) return all;
      const [start, end] = [all[0], all[all.length - 1]];
      const between = ticksOf([1]).filter(({ at }) => at > start.at && at < end.at);
      return fitEnds([start, ...between, end], length, room);
    },
  };
}

/**
 * @param {string} title
 * @param {Iterable<number>} values milliseconds
 * @returns {Axis} from zero, or logarithmic where the values differ by orders of magnitude
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

/** @param {number} high milliseconds, the largest value @returns {(ms: number) => string} all in one unit */
export function latencyLabeller(high) {
  const [unit, ms] = high >= 999.5 ? ['s', 1000] : high >= 0.0995 || high === 0 ? ['ms', 1] : ['µs', 0.001];
  return (value) => `${numberLabel(value / Number(ms))} ${unit}`;
}

/** @param {number} ms @returns {string} each in its own unit, as formatLatency chooses it */
export function latencyLabel(ms) {
  if (ms < 0.0995) return `${numberLabel(ms * 1000)} µs`;
  return ms < 999.5 ? `${numberLabel(ms)} ms` : `${numberLabel(ms / 1000)} s`;
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

/** @param {number} value above zero @param {number[]} factors descending: round down; ascending: round up */
function roundTo(value, factors) {
  const power = 10 ** Math.floor(Math.log10(value));
  const isDown = factors[0] > 1;
  const factor = factors.find((one) =>
    isDown ? one * power <= value * (1 + 1e-9) : one * power >= value * (1 - 1e-9),
  );
  return power * (factor ?? (isDown ? 1 : 10));
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

/** @param {number} seconds length of the chart @returns {Axis} its values are seconds from the start */
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
 * The steps from 90 to 99 and from 99 to 99.9 % have the same length.
 *
 * @param {number} end in nines: log10(1 / (1 - share)) of the largest share
 * @returns {Axis} its values are nines
 */
export function percentileAxis(end) {
  const nines = Array.from({ length: Math.floor(end + 1e-9) }, (_, i) => i + 1);
  const half = Math.log10(2);
  const tick = (/** @type {number} */ value) => ({ at: value / end, label: percentLabel(value) });
  return {
    title: 'percentile (log scale towards 100 %)',
    at: (value) => value / end,
    ticks(length, room) {
      const has = (/** @type {Tick[]} */ some) => fit(some, length, room).length === some.length;
      // Strides count back from the last nine, so that the highest has its label.
      const strided = (/** @type {number} */ step) =>
        nines.filter((nine) => (nines.length - nine) % step === 0);
      const step = nines.find((one) => has(strided(one).map(tick))) ?? 1;
      const labelled = strided(step).filter((nine) => has([half, nine].map(tick)));
      const middle = [half, ...labelled].map(tick);
      const zero = tick(0);
      const first = has([zero, ...middle]) ? zero : { ...zero, label: '' };
      const marks = nines
        .filter((nine) => !labelled.includes(nine))
        .map((nine) => ({ ...tick(nine), label: '' }));
      return [first, ...middle, ...marks].sort((a, b) => a.at - b.at);
    },
  };
}

/** @param {number} nines log10(1 / (1 - share)) @returns {string} `50 %`, `99.9 %` */
export function percentLabel(nines) {
  const percent = 100 - 10 ** (2 - nines);
  if (nines === 0) return '0 %';
  return `${Number(percent.toFixed(Math.max(1, Math.ceil(nines))))} %`;
}
