/**
 * Latency by percentile, from histograms. The axis is logarithmic towards 100 %: each further nine takes the same room. The
 * first series carries its error bars as whiskers.
 */

import { decodeHistogram, valueAtShare } from '../../common/histogram.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { spanText } from '../describe/bars.js';
import { joined, timeText } from '../describe/words.js';
import { percentileAxis, percentLabel, valueAxis } from './axes.js';
import { drawChart } from './chart.js';
import { round } from './frame.js';
import { drawBand } from './lines.js';

/** @import { LatencyBlock } from '../../result/schema.js' */
/** @import { Table } from '../sections.js' */
/** @import { Axis } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Place, Setting } from './frame.js' */

/** @typedef {{axis: string, series: {name: string, latency: LatencyBlock}[], isShaded?: boolean}} Data */
/** @typedef {{low: number, high: number | null, share: number, nines: number}} Whisker milliseconds; null: no upper bound */
/** @typedef {{name: string, latency: LatencyBlock, at: (nines: number) => number, end: number}} Decoded `end`: nines of its largest value */

/** Points along the axis that are drawn and can be read out. */
const POINTS = 240;

/** Of the first series, drawn on top, and of the second. */
const LOOKS = [
  { style: 2, mark: 'headline' },
  { style: 1, mark: 'behind' },
];
const ONLY = [{ style: 5 }];

const TABLE_SHARES = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999999];

/** Percentiles with an error bar: key and share. */
const BARS = /** @type {const} */ ([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
]);

/** Pixels: half the cap of a whisker, and the height of the arrow of an open one. */
const [CAP, ARROW] = [4, 6];

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where nothing was recorded */
export function percentiles({ axis, series, isShaded = false }, setting) {
  const decoded = series.flatMap(decode);
  if (decoded.length === 0) return null;
  const [{ latency, end: firstEnd }, second] = decoded;
  const end = Math.max(...decoded.map((one) => one.end));
  const nines = Array.from({ length: POINTS }, (_, i) => (i / (POINTS - 1)) * end);
  const lines = decoded.map((one) =>
    nines.map((value) => (value < one.end + end / POINTS ? one.at(value) : null)),
  );
  const whiskers = whiskersOf(latency, firstEnd);
  const whiskerEnds = whiskers.flatMap(({ low, high }) => [low, high]);
  const yAxis = valueAxis('ms', axis, [...lines.flat(), ...whiskerEnds]);
  const xAxis = percentileAxis(end);
  // Of different requests, as where some were never sent, the room between means nothing.
  const isBetween = isShaded && latency.count === second?.latency.count;
  const bands = nines.map((value, i) => ({ at: value / end, low: lines[1]?.[i] ?? null, high: lines[0][i] }));
  const looks = series.length === 1 ? ONLY : LOOKS;
  return drawChart({
    setting,
    summary: summarise(latency, whiskers),
    xAxis,
    yAxis,
    heading: 'Percentile',
    moments: nines.map((value) => ({
      name: value === 0 ? 'The shortest' : `${percentLabel(value)} took no longer than`,
      at: value / end,
    })),
    series: decoded.map(({ name }, i) => ({ name, ...looks[i % looks.length], values: lines[i] })),
    text: formatLatency,
    under: (place) => (isBetween ? drawBand(bands, 'between', yAxis, place) : ''),
    over: (place) => whiskers.map((one) => drawWhisker(one, xAxis, yAxis, place)).join('\n'),
    table: tableOf(setting.title, decoded, whiskers),
  });
}

/** @param {Data['series'][number]} one @returns {Decoded[]} none where nothing was recorded */
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

/** @param {LatencyBlock} latency @param {number} end nines @returns {Whisker[]} */
function whiskersOf({ bars }, end) {
  return BARS.flatMap(([key, share]) => {
    const nines = -Math.log10(1 - share);
    const bar = bars?.[key];
    return bar === undefined || nines > end ? [] : [{ share, nines, low: bar.low, high: bar.high }];
  });
}

/**
 * @param {Whisker} whisker open at the top where it has no upper bound @param {Axis} xAxis
 * @param {Axis} yAxis @param {Place} place
 */
function drawWhisker({ nines, low, high }, xAxis, yAxis, place) {
  const [x, bottom] = [place.x(xAxis.at(nines)), place.y(yAxis.at(low))];
  const top = high === null ? place.top : place.y(yAxis.at(high));
  const [left, right] = [round(x - CAP), round(x + CAP)];
  const foot = round(top + ARROW);
  const head = high === null ? `M${left} ${foot}L${x} ${top}L${right} ${foot}` : `M${left} ${top}H${right}`;
  return `<path class="error" d="M${left} ${bottom}H${right}M${x} ${bottom}V${top}${head}"/>`;
}

/** @param {LatencyBlock} latency @param {Whisker[]} whiskers */
function summarise({ p50, p99, max }, whiskers) {
  const figures = [`p50 ${timeText(p50)}`, `p99 ${timeText(p99)}`, `max ${timeText(max)}`];
  return joined(
    [
      `${figures.join(', ')}.`,
      whiskers.length > 0 && 'Whiskers: 95 % error bars.',
      whiskers.some(({ high }) => high === null) && 'An arrow: too few samples for an upper bound.',
    ],
    ' ',
  );
}

/** @param {string} caption @param {Decoded[]} decoded @param {Whisker[]} whiskers of the first @returns {Table} */
function tableOf(caption, decoded, whiskers) {
  const most = Math.max(...decoded.map(({ latency }) => latency.count));
  // n requests have no percentile beyond 1 - 1/n.
  const shares = TABLE_SHARES.filter((share) => share === 0 || 1 - share >= 1 / most - 1e-12);
  const range = (/** @type {number} */ share) => {
    if (whiskers.length === 0) return [];
    const { low, high } = whiskers.find((one) => one.share === share) ?? { low: null, high: null };
    if (low === null) return ['–'];
    return [high === null ? `${formatLatency(low)} or more` : spanText(low, high, formatLatency)];
  };
  return {
    kind: 'table',
    caption,
    columns: [
      { name: 'Percentile', isText: true },
      ...decoded.map(({ name }) => ({ name })),
      ...(whiskers.length > 0 ? [{ name: `95 % range, ${decoded[0].name}` }] : []),
    ],
    rows: [
      ...shares.map((share) => [
        `${Number((share * 100).toFixed(4))} %`,
        ...decoded.map(({ at }) => formatLatency(at(-Math.log10(1 - share)))),
        ...range(share),
      ]),
      ['100 %', ...decoded.map(({ latency }) => timeText(latency.max)), ...range(1)],
      ['Requests', ...decoded.map(({ latency }) => formatCount(latency.count)), ...range(1)],
    ],
  };
}
