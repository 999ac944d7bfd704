/**
 * Latency by percentile, from histograms. The axis is logarithmic towards 100 %: each further nine has the same length.
 */
import { decodeHistogram, valueAtShare } from '../../common/histogram.js';
import { formatLatency } from '../../common/units.js';
import { timeText } from '../describe/words.js';
import { percentileAxis, percentLabel, valueAxis } from './axes.js';
import { drawChart } from './chart.js';

/** @import { LatencyBlock } from '../../result/schema.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Setting } from './frame.js' */

/** @typedef {{axis: string, series: {name: string, latency: LatencyBlock}[]}} Data */

/** Points of a line. */
const POINTS = 240;

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where nothing was recorded */
export function percentiles({ axis, series }, setting) {
  const decoded = series.flatMap(decode);
  if (decoded.length === 0) return null;
  const [{ latency }] = decoded;
  const end = Math.max(...decoded.map((one) => one.end));
  const nines = Array.from({ length: POINTS }, (_, i) => (i / (POINTS - 1)) * end);
  const lines = decoded.map((one) =>
    nines.map((value) => (value < one.end + end / POINTS ? one.at(value) : null)),
  );
  return drawChart({
    setting,
    summary: `p50 ${timeText(latency.p50)}, p99 ${timeText(latency.p99)}, max ${timeText(latency.max)}.`,
    xAxis: percentileAxis(end),
    yAxis: valueAxis('ms', axis, lines.flat()),
    heading: 'Percentile',
    moments: nines.map((x) => ({
      name: x === 0 ? 'The shortest' : `${percentLabel(x)} took no longer than`,
      x,
    })),
    series: decoded.map(({ name }, i) => ({ name, style: 2 - (i % 2), values: lines[i] })),
    text: formatLatency,
  });
}

/** @param {Data['series'][number]} one @returns none where nothing was recorded */
function decode(one) {
  const { histogram: text, max } = one.latency;
  if (text === null) return [];
  const histogram = decodeHistogram(text);
  const count = histogram.totalCount;
  if (count === 0) return [];
  const longest = max ?? Number.POSITIVE_INFINITY;
  const at = (/** @type {number} */ nines) => Math.min(valueAtShare(histogram, 1 - 10 ** -nines), longest);
  // The largest of n values is in the middle of the last n-th.
  return [{ ...one, at, end: Math.log10(2 * count) }];
}
