/**
 * How long requests took by percentile, from their histograms. The percentile axis is logarithmic towards 100 %, so that each
 * further nine takes as much room as the one before.
 */
import { area } from 'd3-shape';
import { decodeHistogram, valueAtShare } from '../../../histogram.js';
import { formatCount, formatLatency } from '../../../units.js';
import { latencyAxis } from '../axes.js';
import { frame, inBothSizes } from '../chart.js';
import { drawPoints } from '../lines.js';
import { emptyFigure, figure, table } from '../parts.js';
import { percentileAxis, percentLabel } from '../percentile-axis.js';

/** @typedef {import('../../../results/schema.js').LatencyBlock} LatencyBlock */
/** @typedef {import('../axes.js').Axis} Axis */
/** @typedef {import('../chart.js').Place} Place */
/** @typedef {import('../lines.js').Point} Point */
/** @typedef {import('../time-figure.js').Drawn} Drawn */
/** @typedef {import('../lines.js').Look & {name: string, latency: LatencyBlock}} Series */
/** @typedef {Series & {at: (nines: number) => number, end: number}} Decoded `end` is how far it goes, in nines */

/** Percentiles that are drawn and can be read out, evenly along the axis. */
const STEPS = 240;

const TABLE_SHARES = Object.freeze([
  0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999999,
]);

/**
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.title
 * @param {string} parts.summary
 * @param {string} parts.empty said where nothing was recorded
 * @param {string} parts.yTitle
 * @param {Series[]} parts.series the last is drawn first, so that the first lies on top
 * @param {boolean} [parts.shaded] the space between the first two is a figure of its own
 * @returns {Drawn}
 */
export function distribution({ id, title, summary, empty, yTitle, series, shaded = false }) {
  const decoded = series.flatMap(decode);
  if (decoded.length === 0) return { html: emptyFigure({ id, title, summary: empty }), charts: {} };
  const end = Math.max(...decoded.map((one) => one.end));
  const nines = Array.from({ length: STEPS + 1 }, (_, i) => (i / STEPS) * end);
  const lines = decoded.map((one) => pointsOf(one, nines, end));
  const values = lines.flatMap((points) => points.map(({ value }) => value ?? 0));
  const [xAxis, yAxis] = [percentileAxis(end), latencyAxis(yTitle, values)];
  const svg = inBothSizes((size) =>
    frame({
      id,
      title,
      summary,
      size,
      xAxis,
      yAxis,
      draw: (place) =>
        [
          shaded && lines.length > 1 ? drawBetween(lines[0], lines[1], yAxis, place) : '',
          ...lines.map((points, i) => drawPoints(points, decoded[i], yAxis, place)).reverse(),
        ].join('\n'),
    }),
  );
  const legend = decoded.map(({ name, style, mark }) => ({ name, style, mark }));
  const html = figure({ id, title, svg, summary, tableHtml: dataTable(title, decoded), legend });
  const readOuts = {
    x: nines.map((value) => Number((value / end).toFixed(4))),
    at: nines.map((value) => (value === 0 ? 'The shortest' : `${percentLabel(value)} took no longer than`)),
    values: nines.map((_, i) => lines.map((points) => latencyText(points[i].value))),
  };
  return { html, charts: { [id]: readOuts } };
}

/** @param {Series} one @returns {Decoded[]} none where nothing was recorded */
function decode(one) {
  const { histogram: text, max } = one.latency;
  if (text === null) return [];
  const histogram = decodeHistogram(text);
  const count = histogram.totalCount;
  if (count === 0) return [];
  const longest = max ?? Number.POSITIVE_INFINITY;
  const at = (/** @type {number} */ nines) => Math.min(valueAtShare(histogram, 1 - 10 ** -nines), longest);
  // The longest of n requests stands where half a request is longer.
  return [{ ...one, at, end: Math.log10(2 * count) }];
}

/**
 * @param {Decoded} one
 * @param {number[]} nines
 * @param {number} end of the axis
 * @returns {Point[]} null beyond its longest
 */
function pointsOf(one, nines, end) {
  const beyond = one.end + end / STEPS;
  return nines.map((value) => ({ at: value / end, value: value < beyond ? one.at(value) : null }));
}

/**
 * @param {Point[]} first
 * @param {Point[]} second
 * @param {Axis} yAxis
 * @param {Place} place
 */
function drawBetween(first, second, yAxis, place) {
  const pairs = first
    .map(({ at, value }, i) => ({ at, upper: value, lower: second[i].value }))
    .filter(({ upper, lower }) => upper !== null && lower !== null);
  const y = (/** @type {number | null} */ value) => place.y(yAxis.at(Number(value)));
  const path = area(
    (/** @type {typeof pairs[number]} */ { at }) => place.x(at),
    (/** @type {typeof pairs[number]} */ { lower }) => y(lower),
    (/** @type {typeof pairs[number]} */ { upper }) => y(upper),
  )(pairs);
  return path === null ? '' : `<path class="between" d="${path}"/>`;
}

/**
 * @param {string} title
 * @param {Decoded[]} decoded
 */
function dataTable(title, decoded) {
  const most = Math.max(...decoded.map(({ latency }) => latency.count));
  // With n requests there is no telling what fewer than one in n take.
  const shares = TABLE_SHARES.filter((share) => share === 0 || 1 - share >= 1 / most - 1e-12);
  return table({
    caption: title,
    columns: ['Percentile', ...decoded.map(({ name }) => ({ label: name, numeric: true }))],
    rows: [
      ...shares.map((share) => [
        `${Number((share * 100).toFixed(4))} %`,
        ...decoded.map(({ at }) => latencyText(at(-Math.log10(1 - share)))),
      ]),
      ['100 %', ...decoded.map(({ latency }) => latencyText(latency.max))],
      ['Requests', ...decoded.map(({ latency }) => formatCount(latency.count))],
    ],
  });
}

/** @param {number | null} ms */
function latencyText(ms) {
  return ms === null ? '–' : formatLatency(ms);
}
