/** Charts in text: the distribution of response times, and the levels of a search. Blocks are in code page 437. */
import { decodeHistogram } from '../common/histogram.js';
import { formatCount, formatLatency } from '../common/units.js';
import { formatPercent } from '../result/wording.js';
import { bucketsOf, countsUpTo } from './data/buckets.js';
import { extent } from './describe/words.js';
import { padStart, table, WIDTH, wrap } from './layout.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { Bucket } from './data/buckets.js' */
/** @import { Data as Levels } from './charts/levels.js' */
/** @import { Data as Percentiles } from './charts/percentiles.js' */
/** @import { Chart } from './sections.js' */

/** A bar is full up to the first series, then lighter up to the second. */
const [FULL, LIGHT] = ['█', '░'];

/** @param {Chart} part @returns {string[]} none where it has no form in text */
export function textChart({ chart, data }) {
  if (chart === 'levels') return levels(/** @type {Levels} */ (data));
  if (chart !== 'percentiles') return [];
  const { axis, series } = /** @type {Percentiles} */ (data);
  const [{ latency }] = series;
  return axis !== 'latency' || latency.histogram === null
    ? []
    : textHistogram(decodeHistogram(latency.histogram));
}

/** On a log scale, which spans milliseconds and seconds. @param {Levels} data */
function levels({ heading, unit, levels: rows, series: [first, second] }) {
  if (unit !== 'ms' || second === undefined) return [];
  const [least, high] = extent([...first.values, ...second.values].map((ms) => ms || null));
  const low = least / 1.5;
  const names = [heading, ...rows.map(({ name }) => name)];
  const label = Math.max(...names.map(({ length }) => length));
  const room = WIDTH - label - 2;
  if (least > high) return [];
  const columns = (/** @type {number | null} */ ms) =>
    ms ? Math.max(1, Math.round((Math.log(ms / low) / Math.log(high / low)) * room)) : 0;
  const bars = rows.map((_, i) => {
    const [full, end] = [columns(first.values[i]), columns(second.values[i])];
    return FULL.repeat(full) + LIGHT.repeat(Math.max(0, end - full));
  });
  const key = `${FULL} up to ${first.name}, ${LIGHT} on to ${second.name}; log scale from ${formatLatency(low)} to ${formatLatency(high)}`;
  return [...names.map((name, i) => `${padStart(name, label)}  ${['', ...bars][i]}`.trimEnd()), ...wrap(key)];
}

/** @typedef {{fromUs: number, toUs: number | null, count: number}} Bin `toUs` is not in it; null: no end */

/** Bins have even widths where p99 is less than NARROW times the shortest: about EVEN_BINS, each at least LEAST_PART of p99 wide. */
const [NARROW, EVEN_BINS, LEAST_PART] = [10, 8, 0.01];

/** Of wider distributions, the bounds within a decade; the finest choice that gives few enough bins is taken. */
const LADDERS = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]];
const MAX_BINS = 12;

/** @param {Histogram} histogram @returns {string[]} lines of at most 80 columns, a heading first; none when it is empty */
export function textHistogram(histogram) {
  if (histogram.totalCount === 0) return [];
  const { bins, text } = binsOf(histogram);
  const rows = bins.map(({ fromUs, toUs, count }) => [
    toUs === null ? `${text(fromUs)} and more` : `${text(fromUs)} to ${text(toUs)}`,
    formatCount(count),
    formatPercent(count / histogram.totalCount),
  ]);
  const lines = table([['Response time', 'count', 'share'], ...rows]).flat();
  const room = WIDTH - lines[0].length - 2;
  const most = Math.max(...bins.map(({ count }) => count));
  return lines.map((line, i) => `${line}  ${i === 0 ? '' : bar(bins[i - 1].count / most, room)}`.trimEnd());
}

/** @param {Histogram} histogram not empty @returns {{bins: Bin[], text: (us: number) => string}} `text` writes a bound of the bins */
export function binsOf(histogram) {
  const buckets = bucketsOf(histogram);
  const [lowUs, highUs] = [buckets[0].toUs, histogram.getValueAtPercentile(99)];
  if (highUs >= NARROW * Math.max(lowUs, 1))
    return { bins: wideBins(buckets), text: (us) => formatLatency(us / 1000) };
  const stepUs = niceStep(Math.max((highUs - lowUs) / EVEN_BINS, highUs * LEAST_PART, 1));
  const [first, last] = [Math.floor(lowUs / stepUs), Math.floor(highUs / stepUs) + 1];
  const bounds = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * stepUs);
  const bins = binned(buckets, bounds);
  return { bins: bins.at(-1)?.count === 0 ? bins.slice(0, -1) : bins, text: evenText(stepUs, highUs) };
}

/** @param {Bucket[]} buckets @param {number[]} bounds whole microseconds, ascending @returns {Bin[]} the last has no end */
function binned(buckets, bounds) {
  const below = countsUpTo(buckets, [...bounds.map((bound) => bound - 1), Number.POSITIVE_INFINITY]);
  return bounds.map((fromUs, i) => ({ fromUs, toUs: bounds[i + 1] ?? null, count: below[i + 1] - below[i] }));
}

/** @param {Bucket[]} buckets @returns {Bin[]} up to the longest, on a log scale; a gap is one bin */
function wideBins(buckets) {
  const [lowUs, highUs] = [buckets[0].toUs, buckets[buckets.length - 1].toUs];
  const powers = Array.from({ length: Math.ceil(Math.log10(highUs + 1)) + 1 }, (_, i) => 10 ** i);
  const choices = LADDERS.map((ladder) => {
    const all = [0, ...powers.flatMap((power) => ladder.map((factor) => factor * power))].filter(
      Number.isInteger,
    );
    const start = all.findLastIndex((bound) => bound <= lowUs);
    const bounds = all.slice(start, all.findIndex((bound) => bound > highUs) + 1);
    return fold(binned(buckets, bounds).slice(0, -1));
  });
  return choices.find((bins) => bins.length <= MAX_BINS) ?? choices[choices.length - 1];
}

/** @param {Bin[]} bins @returns {Bin[]} empty neighbours are one */
function fold(bins) {
  /** @type {Bin[]} */
  const folded = [];
  for (const bin of bins) {
    const before = folded.at(-1);
    if (before?.count === 0 && bin.count === 0) before.toUs = bin.toUs;
    else folded.push(bin);
  }
  return folded;
}

/** @param {number} least above zero @returns {number} 1, 2, 5 or 10 times a power of ten */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/** @param {number} stepUs @param {number} highUs @returns {(us: number) => string} all in one unit, with enough decimals for the step */
function evenText(stepUs, highUs) {
  const [unit, sizeUs] = highUs < 1000 ? ['µs', 1] : highUs < 1e6 ? ['ms', 1000] : ['s', 1e6];
  const decimals = Math.max(0, Math.ceil(Math.log10(Number(sizeUs) / stepUs) - 1e-9));
  return (us) => `${formatCount((us / Number(sizeUs)).toFixed(decimals))} ${unit}`;
}

/** @param {number} share of the longest bar @param {number} room columns @returns {string} half a block at least, unless there is nothing */
function bar(share, room) {
  const halves = share === 0 ? 0 : Math.max(1, Math.round(share * room * 2));
  return FULL.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '▌' : '');
}
