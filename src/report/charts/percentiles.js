/** Latency by percentile, logarithmic towards 100 %; the first series has its error bars as whiskers. */
import { decodeHistogram, valueAtShare } from '../../common/histogram.js';
import { maxOf } from '../../common/sums.js';
import { formatLatency } from '../../common/units.js';
import { PERCENTILES } from '../../result/latency.js';
import { timeText } from '../describe/words.js';
import { percentileAxis, percentLabel, valueAxis } from './axes.js';
import { drawChart } from './chart.js';
import { round } from './frame.js';

/** @import { LatencyBlock } from '../../result/schema.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Plot, Setting } from './frame.js' */

/** @typedef {{axis: string, series: {name: string, latency: LatencyBlock}[]}} Data */

/** Number of points in a line. */
const POINTS = 240;

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null if nothing was recorded */
export function percentiles({ axis, series }, setting) {
  const decoded = series.flatMap(decode);
  if (decoded.length === 0) return null;
  const [{ latency, end: firstEnd }] = decoded;
  const whiskers = PERCENTILES.flatMap(({ figure, share }) => {
    const [x, bar] = [-Math.log10(1 - share), latency.bars?.[figure]];
    return bar === undefined || x > firstEnd ? [] : { x, ...bar };
  });
  const note = whiskers.length > 0 ? ' Whiskers: 95 % error bars.' : '';
  const end = maxOf(decoded.map((one) => one.end));
  const nines = Array.from({ length: POINTS }, (_, i) => (i / (POINTS - 1)) * end);
  const lines = decoded.map((one) =>
    nines.map((value) => (value < one.end + end / POINTS ? one.at(value) : null)),
  );
  return drawChart({
    setting,
    summary: `p50 ${timeText(latency.p50)}, p99 ${timeText(latency.p99)}, max ${timeText(latency.max)}.${note}`,
    xAxis: percentileAxis(end),
    yAxis: valueAxis('ms', axis, [...lines.flat(), ...whiskers.flatMap(({ low, high }) => [low, high])]),
    heading: 'Percentile',
    moments: nines.map((x) => ({
      name: x === 0 ? 'The shortest' : `${percentLabel(x)} took no longer than`,
      x,
    })),
    series: decoded.map(({ name }, i) => ({ name, style: 2 - (i % 2), values: lines[i] })),
    text: formatLatency,
    over: (plot) => whiskers.map((one) => drawWhisker(one, plot)).join('\n'),
  });
}

/** @param {Data['series'][number]} one @returns none if nothing was recorded */
function decode(one) {
  const { histogram: text, max } = one.latency;
  if (text === null) return [];
  const histogram = decodeHistogram(text);
  const count = histogram.totalCount;
  if (count === 0) return [];
  const longest = max ?? Number.POSITIVE_INFINITY;
  const at = (/** @type {number} */ nines) => Math.min(valueAtShare(histogram, 1 - 10 ** -nines), longest);
  // The largest of n values stands for the top 1/n, whose middle is at 1 - 1/(2n).
  return [{ ...one, at, end: Math.log10(2 * count) }];
}

/** An arrow if there is no upper bound. @param {{x: number, low: number, high: number | null}} whisker @param {Plot} plot */
function drawWhisker({ x: nines, low, high }, plot) {
  const [x, bottom] = [plot.x(nines), plot.y(low)];
  const top = high === null ? plot.top : plot.y(high);
  const [left, right, foot] = [x - 4, x + 4, top + 6].map(round);
  const head = high === null ? `M${left} ${foot}L${x} ${top}L${right} ${foot}` : `M${left} ${top}H${right}`;
  return `<path class="error" d="M${left} ${bottom}H${right}M${x} ${bottom}V${top}${head}"/>`;
}
