/** Charts in text: the distribution of response times, and the levels of a search. Blocks are in code page 437. */
import { decodeHistogram } from '../common/histogram.js';
import { formatCount, formatLatency } from '../common/units.js';
import { formatPercent } from '../result/wording.js';
import { bucketsOf, countsUpTo } from './data/buckets.js';
import { padStart, table, WIDTH, wrap } from './layout.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { Bucket } from './data/buckets.js' */
/** @import { Data as Levels } from './charts/levels.js' */
/** @import { Data as Percentiles } from './charts/percentiles.js' */
/** @import { Chart } from './sections.js' */

/** A bar is full up to the first series, then lighter up to the second. */
const [FULL, LIGHT] = ['█', '░'];

/** Bars narrower than this show nothing. */
const LEAST_ROOM = 12;

/** @param {Chart} part @returns {string[]} none where it has no form in text */
export function textChart({ chart, data }) {
  if (chart === 'percentiles') return distribution(/** @type {Percentiles} */ (data));
  return chart === 'levels' ? levels(/** @type {Levels} */ (data)) : [];
}

/** @param {Percentiles} data */
function distribution({ axis, series: [{ latency }] }) {
  return axis !== 'latency' || latency.histogram === null
    ? []
    : textHistogram(decodeHistogram(latency.histogram));
}

/** On a log scale, which spans milliseconds and seconds. @param {Levels} data */
function levels({ heading, unit, levels: rows, series }) {
  const [first, second] = series;
  if (rows.length < 2 || unit !== 'ms' || second === undefined) return [];
  const times = series.flatMap(({ values }) => values.filter((ms) => ms !== null && ms > 0)).map(Number);
  const names = [heading, ...rows.map(({ name }) => name)];
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
  const lines = names.map((name, i) => `${padStart(name, label)}  ${['', ...bars][i]}`.trimEnd());
  return [...lines, ...wrap(key)];
}

/** @typedef {{fromUs: number, toUs: number | null, count: number}} Bin `toUs` is not in it; null: no end */

const MAX_BINS = 12;

/** Bounds within a decade, in tenths of where it begins; the finest that gives few enough bins is taken. */
const LADDERS = [[10, 12, 15, 20, 25, 30, 40, 50, 60, 80], [10, 15, 20, 30, 50, 70], [10, 20, 50], [10]];

/** Even bins are used where p99 is less than this many times the shortest: about so many, each at least this share of p99 wide. */
const [NARROW, EVEN_BINS, LEAST_PART] = [3, 8, 0.01];

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

/**
 * @param {Histogram} histogram not empty
 * @returns {{bins: Bin[], text: (us: number) => string}} `text` writes a bound of the bins
 */
export function binsOf(histogram) {
  const buckets = bucketsOf(histogram);
  const lowUs = buckets[0].toUs;
  const highUs = histogram.getValueAtPercentile(99);
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
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const below = countsUpTo(
    buckets,
    bounds.map((bound) => bound - 1),
  );
  return bounds.map((fromUs, i) => ({
    fromUs,
    toUs: bounds[i + 1] ?? null,
    count: (below[i + 1] ?? total) - below[i],
  }));
}

/** @param {Bucket[]} buckets @returns {Bin[]} up to the longest, on a log scale */
function wideBins(buckets) {
  const [lowUs, highUs] = [buckets[0].toUs, buckets[buckets.length - 1].toUs];
  const choices = LADDERS.map((ladder) =>
    fold(binned(buckets, ladderBounds(ladder, lowUs, highUs)).slice(0, -1)),
  );
  return choices.find((bins) => bins.length <= MAX_BINS) ?? choices[choices.length - 1];
}

/**
 * @param {readonly number[]} ladder @param {number} lowUs @param {number} highUs
 * @returns {number[]} the first at most `lowUs`, the last above `highUs`
 */
function ladderBounds(ladder, lowUs, highUs) {
  const decades = Array.from({ length: Math.ceil(Math.log10(highUs + 1)) + 1 }, (_, k) => 10 ** k / 10);
  const all = [0, ...decades.flatMap((unit) => ladder.map((tenths) => tenths * unit))].filter(
    Number.isInteger,
  );
  const last = all.findIndex((bound) => bound > highUs);
  return all.slice(
    all.findLastIndex((bound) => bound <= lowUs),
    last + 1,
  );
}

/** @param {Bin[]} bins @returns {Bin[]} empty neighbours are one, so that a gap takes one line */
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
  return ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/**
 * @param {number} stepUs @param {number} highUs
 * @returns {(us: number) => string} all in one unit, with enough decimals for the step
 */
function evenText(stepUs, highUs) {
  const [unit, sizeUs] = highUs < 1000 ? ['µs', 1] : highUs < 1e6 ? ['ms', 1000] : ['s', 1e6];
  const decimals = Math.max(0, Math.ceil(Math.log10(Number(sizeUs) / stepUs) - 1e-9));
  return (us) => `${formatCount((us / Number(sizeUs)).toFixed(decimals))} ${unit}`;
}

/** @param {number} part of the longest bar @param {number} room columns @returns {string} nothing for nothing only */
function bar(part, room) {
  const halves = part === 0 ? 0 : Math.max(1, Math.round(part * room * 2));
  return FULL.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '▌' : '');
}
