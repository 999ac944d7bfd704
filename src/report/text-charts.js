/** Charts in text: the distribution of response times, and the levels of a search. Blocks are in code page 437. */
import { decodeHistogram } from '../common/histogram.js';
import { formatCount, formatLatency } from '../common/units.js';
import { formatPercent } from '../result/wording.js';
import { bucketsOf, countsBetween } from './data/buckets.js';
import { clean, padStart, WIDTH, wrap } from './layout.js';

/** @import { LatencyBlock } from '../result/schema.js' */
/** @import { Bucket } from './data/buckets.js' */
/** @import { Chart } from './sections.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {{axis: string, series: {name: string, latency: Pick<LatencyBlock, 'histogram'>}[]}} Percentiles */
/** @typedef {{heading: string, unit: string, levels: {name: string, verdict: string}[], series: {name: string, values: (number | null)[]}[]}} Levels */

/** A bar is full up to the first series, then lighter up to the second. */
const FULL = '█';
const LIGHT = '░';

/** Bars narrower than this show nothing. */
const LEAST_ROOM = 12;

/** @param {Chart} part @returns {string[]} none where it has no form in text */
export function textChart({ chart, data }) {
  if (chart === 'percentiles') return distribution(/** @type {Percentiles} */ (data));
  if (chart === 'levels') return levels(/** @type {Levels} */ (data));
  return [];
}

/** @param {Percentiles} data */
function distribution({ axis, series: [first] }) {
  if (axis !== 'latency' || first?.latency.histogram === null || first?.latency.histogram === undefined)
    return [];
  return textHistogram(decodeHistogram(first.latency.histogram));
}

/** On a scale by factors, which spans milliseconds and seconds. @param {Levels} data */
function levels({ heading, unit, levels: rows, series }) {
  const [first, second] = series;
  if (rows.length < 2 || unit !== 'ms' || second === undefined) return [];
  const times = series.flatMap(({ values }) => values.filter((ms) => ms !== null && ms > 0)).map(Number);
  const names = [heading, ...rows.map(({ name }) => name)].map(clean);
  const label = Math.max(...names.map(({ length }) => length));
  const room = WIDTH - label - 2;
  if (times.length === 0 || room < LEAST_ROOM) return [];
  const [low, high] = [Math.min(...times) / 1.5, Math.max(...times)];
  const columns = (/** @type {number | null} */ ms) =>
    ms === null || ms <= low
      ? 0
      : Math.max(1, Math.round((Math.log(ms / low) / Math.log(high / low)) * room));
  const bars = rows.map((_, i) => {
    const [full, end] = [columns(first.values[i]), columns(second.values[i])];
    return FULL.repeat(full) + LIGHT.repeat(Math.max(0, end - full));
  });
  const key = `${FULL} up to ${first.name}, ${LIGHT} on to ${second.name}; log scale from ${formatLatency(low)} to ${formatLatency(high)}`;
  return [
    ...names.map((name, i) => `${padStart(name, label)}  ${i === 0 ? '' : bars[i - 1]}`.trimEnd()),
    ...wrap(key),
  ];
}

/** @typedef {{fromUs: number, toUs: number | null, count: number}} Bin `toUs` is not in it; null: no end */

const MAX_BINS = 12;

/** Bounds within a decade, in tenths of where it begins; the finest that gives few enough bins is taken. */
const LADDERS = [[10, 12, 15, 20, 25, 30, 40, 50, 60, 80], [10, 15, 20, 30, 50, 70], [10, 20, 50], [10]];

/** Even bins are used where p99 is less than this many times the shortest. */
const NARROW = 3;

/** Even bins: about this many, each at least ten of the histogram's own buckets wide. */
const EVEN_BINS = 8;
const LEAST_PART = 0.01;

const NICE = [1, 2, 5, 10];

/**
 * @param {Histogram} histogram
 * @returns {string[]} lines of at most 80 columns, a heading first; none when it is empty
 */
export function textHistogram(histogram) {
  if (histogram.totalCount === 0) return [];
  const { bins, text } = binsOf(histogram);
  const rows = bins.map(({ fromUs, toUs, count }) => [
    toUs === null ? `${text(fromUs)} and more` : `${text(fromUs)} to ${text(toUs)}`,
    formatCount(count),
    formatPercent(count / histogram.totalCount),
  ]);
  const cells = [['Response time', 'count', 'share'], ...rows];
  const [first, second, third] = [0, 1, 2].map((i) => Math.max(...cells.map((row) => row[i].length)));
  const columns = cells.map(
    ([range, count, share]) => `${range.padEnd(first)}  ${count.padStart(second)}  ${share.padStart(third)}`,
  );
  const room = WIDTH - (first + second + third + 6);
  const most = Math.max(...bins.map(({ count }) => count));
  const bars = ['', ...bins.map(({ count }) => bar(count / most, room))];
  return columns.map((line, i) => `${line}  ${bars[i]}`.trimEnd());
}

/**
 * @param {Histogram} histogram not empty
 * @returns {{bins: Bin[], text: (us: number) => string}} `text` writes a bound of the bins
 */
export function binsOf(histogram) {
  const buckets = bucketsOf(histogram);
  const lowUs = buckets[0].toUs;
  const highUs = p99Of(buckets, histogram.totalCount);
  if (highUs >= NARROW * Math.max(lowUs, 1)) {
    return { bins: wideBins(buckets), text: (us) => formatLatency(us / 1000) };
  }
  const stepUs = niceStep(Math.max((highUs - lowUs) / EVEN_BINS, highUs * LEAST_PART, 1));
  return { bins: evenBins(buckets, lowUs, highUs, stepUs), text: evenText(stepUs, highUs) };
}

/** @param {Bucket[]} buckets ascending, at least one @param {number} total @returns {number} microseconds */
function p99Of(buckets, total) {
  let left = Math.ceil(0.99 * total - 1e-9);
  for (const { toUs, count } of buckets) {
    left -= count;
    if (left <= 0) return toUs;
  }
  return buckets[buckets.length - 1].toUs;
}

/**
 * Up to p99; longer times are in a last bin without an end.
 *
 * @param {Bucket[]} buckets
 * @param {number} lowUs
 * @param {number} highUs
 * @param {number} stepUs
 * @returns {Bin[]}
 */
function evenBins(buckets, lowUs, highUs, stepUs) {
  const first = Math.floor(lowUs / stepUs);
  const last = Math.floor(highUs / stepUs) + 1;
  const bounds = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * stepUs);
  const counts = countsBetween(buckets, bounds);
  const bins = bounds.map((fromUs, i) => ({ fromUs, toUs: bounds[i + 1] ?? null, count: counts[i] }));
  return bins.at(-1)?.count === 0 ? bins.slice(0, -1) : bins;
}

/**
 * Up to the longest, on a scale by factors.
 *
 * @param {Bucket[]} buckets
 * @returns {Bin[]}
 */
function wideBins(buckets) {
  const lowUs = buckets[0].toUs;
  const highUs = buckets[buckets.length - 1].toUs;
  const choices = LADDERS.map((ladder) => {
    const bounds = ladderBounds(ladder, lowUs, highUs);
    const counts = countsBetween(buckets, bounds);
    return fold(bounds.slice(0, -1).map((fromUs, i) => ({ fromUs, toUs: bounds[i + 1], count: counts[i] })));
  });
  return choices.find((bins) => bins.length <= MAX_BINS) ?? choices[choices.length - 1];
}

/**
 * @param {readonly number[]} ladder
 * @param {number} lowUs
 * @param {number} highUs above zero
 * @returns {number[]} whole microseconds; the first is at most `lowUs`, the last above `highUs`
 */
function ladderBounds(ladder, lowUs, highUs) {
  const decades = Math.ceil(Math.log10(highUs + 1)) + 1;
  const all = Array.from({ length: decades }, (_, k) => ladder.map((tenths) => (tenths * 10 ** k) / 10))
    .flat()
    .filter((bound) => Number.isInteger(bound));
  const first = all.findLastIndex((bound) => bound <= lowUs);
  const last = all.findIndex((bound) => bound > highUs);
  const bounds = all.slice(Math.max(0, first), last + 1);
  return first === -1 ? [0, ...bounds] : bounds;
}

/** @param {Bin[]} bins @returns {Bin[]} neighbours that are empty are one, so that a gap takes one line */
function fold(bins) {
  /** @type {Bin[]} */
  const folded = [];
  for (const bin of bins) {
    const before = folded.at(-1);
    if (before?.count === 0 && bin.count === 0) before.toUs = bin.toUs;
    else folded.push({ ...bin });
  }
  return folded;
}

/** @param {number} least above zero @returns {number} 1, 2 or 5 times a power of ten */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return (NICE.find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/**
 * @param {number} stepUs
 * @param {number} highUs
 * @returns {(us: number) => string} all in one unit, with enough decimals for the step
 */
function evenText(stepUs, highUs) {
  const [unit, size] = evenUnit(highUs);
  const decimals = Math.max(0, Math.ceil(Math.log10(size / stepUs) - 1e-9));
  return (us) => `${formatCount((us / size).toFixed(decimals))} ${unit}`;
}

/** @param {number} us @returns {[string, number]} unit, and how many microseconds it has */
function evenUnit(us) {
  if (us < 1000) return ['µs', 1];
  return us < 1e6 ? ['ms', 1000] : ['s', 1e6];
}

/**
 * @param {number} part of the longest bar
 * @param {number} room columns
 * @returns {string} nothing for nothing only
 */
function bar(part, room) {
  if (part === 0) return '';
  const halves = Math.max(1, Math.round(part * room * 2));
  return '█'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '▌' : '');
}
