/** The chart of text and Markdown: the distribution of response times, with block characters of code page 437 as bars. */
import { decodeHistogram } from '../common/histogram.js';
import { formatCount, formatLatency } from '../common/units.js';
import { formatPercent } from '../result/wording.js';
import { bucketsOf, countsUpTo } from './data/buckets.js';
import { table, WIDTH } from './layout.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { Data as Percentiles } from './charts/percentiles.js' */
/** @import { Chart } from './sections.js' */

/** From the shortest time to p99; longer times share one more bin. */
const BINS = 10;

/** @param {Chart} part @returns {string[]} none for charts without a text form */
export function textChart({ chart, data }) {
  if (chart !== 'percentiles') return [];
  const { axis, series } = /** @type {Percentiles} */ (data);
  const [{ latency }] = series;
  return axis !== 'latency' || latency.histogram === null
    ? []
    : textHistogram(decodeHistogram(latency.histogram));
}

/** @param {Histogram} histogram @returns {string[]} at most 80 columns, the heading first; none for an empty histogram */
export function textHistogram(histogram) {
  if (histogram.totalCount === 0) return [];
  const bins = binsOf(histogram);
  const text = (/** @type {number} */ us) => formatLatency(us / 1000);
  const rows = bins.map(({ fromUs, toUs, count }) => [
    toUs === null ? `${text(fromUs)} or more` : `${text(fromUs)} to ${text(toUs)}`,
    formatCount(count),
    formatPercent(count / histogram.totalCount),
  ]);
  const lines = table([['Response time', 'count', 'share'], ...rows]).flat();
  const room = WIDTH - lines[0].length - 2;
  const max = Math.max(...bins.map(({ count }) => count));
  return lines.map((line, i) => `${line}  ${i === 0 ? '' : bar(bins[i - 1].count / max, room)}`.trimEnd());
}

/** Equal steps on a log scale, rounded as in their labels; `toUs` is exclusive, null: no end. @param {Histogram} histogram not empty */
export function binsOf(histogram) {
  const buckets = bucketsOf(histogram);
  const lowUs = Math.max(1, buckets[0].toUs);
  const factor = (histogram.getValueAtPercentile(99) / lowUs) ** (1 / BINS);
  const bounds = Array.from({ length: BINS + 1 }, (_, i) => roundedDown(lowUs * Math.max(1, factor) ** i));
  const next = roundedDown(bounds[BINS] * 1.011 + 1);
  const starts = [...new Set([buckets[0].toUs === 0 ? 0 : bounds[0], ...bounds.slice(1, -1), next])];
  const below = countsUpTo(buckets, [...starts.map((us) => us - 1), Number.POSITIVE_INFINITY]);
  const bins = starts.map((fromUs, i) => ({
    fromUs,
    toUs: starts[i + 1] ?? null,
    count: below[i + 1] - below[i],
  }));
  return bins.slice(0, bins.findLastIndex(({ count }) => count > 0) + 1);
}

/** @param {number} us @returns {number} a whole number with the digits that formatLatency shows */
function roundedDown(us) {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(us)) - (us < 1000 ? 1 : 2));
  return Math.floor(us / step + 1e-9) * step;
}

/** At least half a block, unless the share is 0. @param {number} share of the longest @param {number} room columns */
function bar(share, room) {
  const halves = share === 0 ? 0 : Math.max(1, Math.round(share * room * 2));
  return '█'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '▌' : '');
}
