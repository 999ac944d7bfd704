/**
 * Latency by percentile, from histograms. The axis is logarithmic towards 100 %: each further nine takes the same room. The
 * first series carries its error bars as whiskers.
 */

import { decodeHistogram, valueAtShare } from '../../common/histogram.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { sentences, timeText } from '../describe/words.js';
import { latencyAxis, percentileAxis, percentLabel } from './axes.js';
import { frames, round } from './frame.js';
import { drawBand, drawPoints, lineClass } from './lines.js';

/** @import { Table } from '../sections.js' */
/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */
/** @import { Look, Point } from './lines.js' */

/** @typedef {{low: number, high: number | null}} Bar milliseconds; null: no upper bound */
/** @typedef {import('../../result/schema.js').LatencyBlock} Latency */
/** @typedef {{name: string, latency: Latency}} Series */
/** @typedef {Look & Series & {at: (nines: number) => number, end: number}} Decoded `end`: nines of its largest value */
/** @typedef {Bar & {share: number, nines: number}} Whisker */

/** Points along the axis that are drawn and can be read out. */
const STEPS = 240;

/** Of the first series, drawn on top, and of the second. */
const LOOKS = Object.freeze([
  { style: 2, mark: 'headline' },
  { style: 1, mark: 'behind' },
]);
const ONLY = Object.freeze([{ style: 5 }]);

const TABLE_SHARES = Object.freeze([
  0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999999,
]);

/** Percentiles with an error bar: key and share. */
const BARS = /** @type {const} */ ([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
]);

/** Pixels: half the cap of a whisker, and the height of the arrow of an open one. */
const CAP = 4;
const ARROW = 6;

/**
 * @param {{axis: string, series: Series[], isShaded?: boolean}} data
 * @param {Setting} setting
 * @returns {Drawn | null} null where nothing was recorded
 */
export function percentiles({ axis, series, isShaded = false }, setting) {
  const looks = series.length === 1 ? ONLY : LOOKS;
  const decoded = series.flatMap((one, i) => decode({ ...one, ...looks[i % looks.length] }));
  if (decoded.length === 0) return null;
  const end = Math.max(...decoded.map((one) => one.end));
  const nines = Array.from({ length: STEPS + 1 }, (_, i) => (i / STEPS) * end);
  const lines = decoded.map((one) => pointsOf(one, nines, end));
  const whiskers = whiskersOf(decoded[0].latency, decoded[0].end);
  const values = [
    ...lines.flatMap((points) => points.map(({ value }) => value ?? 0)),
    ...whiskers.flatMap(({ low, high }) => [low, high ?? low]),
  ];
  const yAxis = latencyAxis(axis, values);
  const between = nines.map((value, i) => ({
    at: value / end,
    low: lines[1]?.[i].value ?? null,
    high: lines[0][i].value,
  }));
  // Of different requests, as where some were never sent, the room between means nothing.
  const isBetween = isShaded && decoded[0].latency.count === decoded[1]?.latency.count;
  const draw = (/** @type {Place} */ place) =>
    [
      isBetween ? drawBand(between, 'between', yAxis, place) : '',
      ...lines.map((points, i) => drawPoints(points, decoded[i], yAxis, place)).reverse(),
      ...whiskers.map((one) => drawWhisker(one, end, yAxis, place)),
    ].join('\n');
  const summary = summarise(decoded[0].latency, whiskers);
  return {
    svg: frames({ ...setting, summary, xAxis: percentileAxis(end), yAxis, draw }),
    summary,
    legend: decoded.map(({ name, style, mark }) => ({ name, className: lineClass(style, mark) })),
    table: tableOf(setting.title, decoded, whiskers),
    readOuts: {
      x: nines.map((value) => Number((value / end).toFixed(4))),
      at: nines.map((value) => (value === 0 ? 'The shortest' : `${percentLabel(value)} took no longer than`)),
      values: nines.map((_, i) => lines.map((points) => timeText(points[i].value))),
    },
  };
}

/** @param {Look & Series} one @returns {Decoded[]} none where nothing was recorded */
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

/**
 * @param {Decoded} one
 * @param {number[]} nines
 * @param {number} end of the axis
 * @returns {Point[]} null beyond its largest value
 */
function pointsOf(one, nines, end) {
  const beyond = one.end + end / STEPS;
  return nines.map((value) => ({ at: value / end, value: value < beyond ? one.at(value) : null }));
}

/** @param {Latency} latency @param {number} end nines @returns {Whisker[]} */
function whiskersOf({ bars }, end) {
  if (bars === undefined) return [];
  return BARS.map(([key, share]) => ({ share, nines: -Math.log10(1 - share), ...bars[key] })).filter(
    ({ nines }) => nines <= end,
  );
}

/**
 * @param {Whisker} whisker open at the top where it has no upper bound
 * @param {number} end nines
 * @param {Axis} yAxis
 * @param {Place} place
 */
function drawWhisker({ nines, low, high }, end, yAxis, place) {
  const [x, bottom] = [place.x(nines / end), place.y(yAxis.at(low))];
  const top = high === null ? place.top : place.y(yAxis.at(high));
  const [left, right] = [round(x - CAP), round(x + CAP)];
  const head =
    high === null
      ? `M${left} ${round(top + ARROW)}L${x} ${top}L${right} ${round(top + ARROW)}`
      : `M${left} ${top}H${right}`;
  return `<path class="error" d="M${left} ${bottom}H${right}M${x} ${bottom}V${top}${head}"/>`;
}

/** @param {Latency} latency @param {Whisker[]} whiskers */
function summarise({ count, p50, p99, max }, whiskers) {
  if (p50 === null || p99 === null || max === null) return '';
  const [half, most, longest] = [p50, p99, max].map(formatLatency);
  return sentences(
    count === 1
      ? `The only one took ${longest}.`
      : `Half took no longer than ${half}, 99 % no longer than ${most}, the longest ${longest}.`,
    whiskers.length > 0 && 'Whiskers: 95 % error bars.',
    whiskers.some(({ high }) => high === null) && 'An arrow: too few samples for an upper bound.',
  );
}

/**
 * @param {string} caption
 * @param {Decoded[]} decoded
 * @param {Whisker[]} whiskers of the first
 * @returns {Table}
 */
function tableOf(caption, decoded, whiskers) {
  const most = Math.max(...decoded.map(({ latency }) => latency.count));
  // n requests have no percentile beyond 1 - 1/n.
  const shares = TABLE_SHARES.filter((share) => share === 0 || 1 - share >= 1 / most - 1e-12);
  const range = (/** @type {number} */ share) => {
    const found = whiskers.find((one) => one.share === share);
    if (found === undefined) return '–';
    return found.high === null
      ? `${formatLatency(found.low)} or more`
      : `${formatLatency(found.low)} to ${formatLatency(found.high)}`;
  };
  const rangeCells = (/** @type {number} */ share) => (whiskers.length > 0 ? [range(share)] : []);
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
        ...decoded.map(({ at }) => timeText(at(-Math.log10(1 - share)))),
        ...rangeCells(share),
      ]),
      ['100 %', ...decoded.map(({ latency }) => timeText(latency.max)), ...rangeCells(1)],
      ['Requests', ...decoded.map(({ latency }) => formatCount(latency.count)), ...rangeCells(1)],
    ],
  };
}
