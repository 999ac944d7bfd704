/**
 * Latency by percentile, from histograms. The axis is logarithmic towards 100 %: each further nine takes the same room. The
 * first series carries its error bars as whiskers.
 */
import { decodeHistogram, valueAtShare } from '../../common/histogram.js';
import { formatLatency } from '../../common/units.js';
import { joined, timeText } from '../describe/words.js';
import { percentileAxis, percentLabel, valueAxis } from './axes.js';
import { drawChart } from './chart.js';
import { round } from './frame.js';

/** @import { LatencyBlock } from '../../result/schema.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Place, Setting } from './frame.js' */

/** @typedef {{axis: string, series: {name: string, latency: LatencyBlock}[]}} Data */
/** @typedef {ReturnType<typeof whiskersOf>[number]} Whisker milliseconds; null: no upper bound */

/** Points along the axis that are drawn and can be read out. */
const POINTS = 240;

/** Of the first series, drawn on top, and of the second; of a single one. */
const LOOKS = [
  { style: 2, mark: 'headline' },
  { style: 1, mark: 'behind' },
];
const ONLY = [{ style: 5 }];

/** Percentiles with an error bar, by share. */
const BARS = /** @type {const} */ ({ p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 });

/** Pixels: half the cap of a whisker, and the height of the arrow of an open one. */
const [CAP, ARROW] = [4, 6];

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where nothing was recorded */
export function percentiles({ axis, series }, setting) {
  const decoded = series.flatMap(decode);
  if (decoded.length === 0) return null;
  const [{ latency, end: firstEnd }] = decoded;
  const end = Math.max(...decoded.map((one) => one.end));
  const nines = Array.from({ length: POINTS }, (_, i) => (i / (POINTS - 1)) * end);
  const lines = decoded.map((one) =>
    nines.map((value) => (value < one.end + end / POINTS ? one.at(value) : null)),
  );
  const whiskers = whiskersOf(latency, firstEnd);
  const looks = series.length === 1 ? ONLY : LOOKS;
  return drawChart({
    setting,
    summary: summarise(latency, whiskers),
    xAxis: percentileAxis(end),
    yAxis: valueAxis('ms', axis, [...lines.flat(), ...whiskers.flatMap(({ low, high }) => [low, high])]),
    heading: 'Percentile',
    moments: nines.map((x) => ({
      name: x === 0 ? 'The shortest' : `${percentLabel(x)} took no longer than`,
      x,
    })),
    series: decoded.map(({ name }, i) => ({ name, ...looks[i % looks.length], values: lines[i] })),
    text: formatLatency,
    over: (place) => whiskers.map((one) => drawWhisker(one, place)).join('\n'),
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
  // The largest of n values stands in the middle of the last n-th.
  return [{ ...one, at, end: Math.log10(2 * count) }];
}

/** @param {LatencyBlock} latency @param {number} end nines */
function whiskersOf({ bars }, end) {
  return /** @type {(keyof typeof BARS)[]} */ (Object.keys(BARS)).flatMap((key) => {
    const [nines, bar] = [-Math.log10(1 - BARS[key]), bars?.[key]];
    return bar === undefined || nines > end ? [] : [{ key, nines, low: bar.low, high: bar.high }];
  });
}

/** @param {Whisker} whisker open at the top where it has no upper bound @param {Place} place */
function drawWhisker({ nines, low, high }, place) {
  const [x, bottom] = [place.x(nines), place.y(low)];
  const top = high === null ? place.top : place.y(high);
  const [left, right, foot] = [x - CAP, x + CAP, top + ARROW].map(round);
  const head = high === null ? `M${left} ${foot}L${x} ${top}L${right} ${foot}` : `M${left} ${top}H${right}`;
  return `<path class="error" d="M${left} ${bottom}H${right}M${x} ${bottom}V${top}${head}"/>`;
}

/** @param {LatencyBlock} latency @param {Whisker[]} whiskers */
function summarise({ p50, p99, max }, whiskers) {
  const isOpen = whiskers.some(({ high }) => high === null);
  return joined(
    [
      `p50 ${timeText(p50)}, p99 ${timeText(p99)}, max ${timeText(max)}.`,
      whiskers.length > 0 && 'Whiskers: 95 % error bars.',
      isOpen && 'An arrow: too few samples for an upper bound.',
    ],
    ' ',
  );
}
