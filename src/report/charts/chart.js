/** The general chart: series over a common x axis as SVG that needs no script, with legend, table and read-outs. */
import { formatCount } from '../../common/units.js';
import { frames } from './frame.js';
import { drawLevels, drawLine, drawUprights, lineClass } from './lines.js';

/** @import { Table } from '../sections.js' */
/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Level, Look, Upright } from './lines.js' */

/** @typedef {Look & {name: string, values: (number | null | undefined)[]}} Series a value for each moment: null is a gap, and the line skips undefined */
/** @typedef {{name: string, className: string, isBox?: boolean}} LegendEntry `className` of its line or box */
/**
 * What the script reads out.
 * @typedef {object} ReadOuts
 * @property {number[]} [x] places along the x axis, 0 to 1, ascending; without them `at` names the dots of class `run`, in drawing order
 * @property {string[]} at the name of each, e.g. `second 12`
 * @property {string[][]} values of each, one per entry of the legend
 */
/**
 * @typedef {object} Drawn
 * @property {string} svg one SVG for each size
 * @property {string} summary a sentence or two: what the chart shows
 * @property {LegendEntry[]} legend
 * @property {Table} table its data
 * @property {ReadOuts} readOuts
 */

/** Rows of a data table, and places the script can read out. */
const MOST_ROWS = 240;

/**
 * @param {object} parts
 * @param {Setting} parts.setting
 * @param {string} parts.summary
 * @param {Axis} parts.xAxis
 * @param {Axis} parts.yAxis
 * @param {string} parts.heading of the moments
 * @param {{name: string, at: number}[]} parts.moments `at`: 0 to 1 along the x axis, ascending
 * @param {Series[]} parts.series the first is drawn on top
 * @param {(value: number) => string} parts.text of a value in table and read-outs
 * @param {Level[]} [parts.levels]
 * @param {readonly Upright[]} [parts.uprights]
 * @param {(place: Place) => string} [parts.under] the lines
 * @param {(place: Place) => string} [parts.over] the lines
 * @param {(place: Place) => string[]} [parts.drawBars] instead of lines
 * @param {Table} [parts.table] instead of one of the moments
 * @returns {Drawn}
 */
export function drawChart({ setting, summary, xAxis, yAxis, heading, moments, series, text, ...more }) {
  const { levels = [], uprights = [], under, over, drawBars } = more;
  const isTrack = (/** @type {Look} */ { mark }) => Number(mark !== 'track');
  const bottomUp = [...series].reverse().sort((a, b) => isTrack(a) - isTrack(b));
  const lines = bottomUp.map(({ values, ...look }) => ({
    look,
    points: values.flatMap((value, i) => (value === undefined ? [] : [{ at: moments[i].at, value }])),
  }));
  const draw = (/** @type {Place} */ place) =>
    [
      under?.(place) ?? '',
      ...(drawBars?.(place) ?? lines.map(({ points, look }) => drawLine(points, look, yAxis, place))),
      drawUprights(uprights, place),
      over?.(place) ?? '',
      drawLevels(levels, yAxis, place),
    ].join('\n');
  const rows = heaviest(series, moments.length);
  const cells = rows.map((row) => series.map(({ values }) => textOf(values[row], text)));
  const note = `${formatCount(rows.length)} of ${formatCount(moments.length)} rows, those with the largest values; JSON and CSV have all.`;
  return {
    svg: frames({ ...setting, summary, xAxis, yAxis, draw }),
    summary,
    legend: [...series, ...levels].map(({ name, style, mark }) =>
      drawBars === undefined
        ? { name, className: lineClass(style, mark) }
        : { name, className: `fill s${style}`, isBox: true },
    ),
    table: more.table ?? {
      kind: 'table',
      caption: rows.length === moments.length ? setting.title : `${setting.title}. ${note}`,
      columns: [{ name: heading, isText: true }, ...series.map(({ name }) => ({ name }))],
      rows: rows.map((row, i) => [moments[row].name, ...cells[i]]),
    },
    readOuts: {
      x: rows.map((row) => Number(moments[row].at.toFixed(4))),
      at: rows.map((row) => moments[row].name),
      values: cells.map((own) => [...own, ...levels.map(({ value }) => text(value))]),
    },
  };
}

/** @param {number | null | undefined} value @param {(value: number) => string} text */
function textOf(value, text) {
  return value === null || value === undefined ? '–' : text(value);
}

/**
 * Cuts the moments into at most MOST_ROWS stretches of equal length and takes the one with the largest values of each.
 * @param {Series[]} series
 * @param {number} count of moments
 * @returns {number[]} their indexes, ascending
 */
export function heaviest(series, count) {
  const size = Math.max(1, Math.ceil(count / MOST_ROWS));
  const weight = (/** @type {number} */ i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0);
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => {
    const stretch = Array.from({ length: Math.min(size, count - i * size) }, (_, k) => i * size + k);
    return stretch.reduce((best, one) => (weight(one) > weight(best) ? one : best));
  });
}
