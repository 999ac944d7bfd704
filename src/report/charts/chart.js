/** The general chart: series over a common x axis as SVG that needs no script, with legend, table and read-outs. */
import { formatCount } from '../../common/units.js';
import { frames } from './frame.js';
import { drawLevels, drawLine, drawUprights, lineClass } from './lines.js';

/** @import { Table } from '../sections.js' */
/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Level, Look, Upright } from './lines.js' */

/** @typedef {Look & {name: string, values: (number | null | undefined)[]}} Series null: a gap; undefined: the line goes on */
/**
 * For the script: places along the x axis, 0 to 1, ascending; the name of each, e.g. `second 12`; its values, one per
 * entry of the legend.
 * @typedef {{x: number[], at: string[], values: string[][]}} ReadOuts
 */
/**
 * An SVG for each size; the summary is a sentence or two; `className` of the line or box of an entry.
 * @typedef {{svg: string, summary: string, legend: {name: string, className: string, isBox?: boolean}[], table: Table,
 *   readOuts: ReadOuts}} Drawn
 */
/**
 * The moments, which ascend, have a `heading`; the first series is drawn on top; `text` of a value in table and
 * read-outs; `over` the lines; `drawBars` instead of lines; `table` instead of one of the moments.
 * @typedef {{setting: Setting, summary: string, xAxis: Axis, yAxis: Axis, heading: string,
 *   moments: {name: string, x: number}[], series: Series[], text: (value: number) => string,
 *   levels?: readonly Level[], uprights?: readonly Upright[], table?: Table,
 *   over?: (place: Place) => string, drawBars?: (place: Place) => string[]}} Declaration
 */

/** Rows of a data table, and places the script can read out. */
const MOST_ROWS = 240;

/** @param {Declaration} declaration @returns {Drawn} */
export function drawChart({ setting, summary, xAxis, yAxis, heading, moments, series, text, ...more }) {
  const { levels = [], uprights = [], over, drawBars } = more;
  const isTrack = (/** @type {Look} */ { mark }) => Number(mark !== 'track');
  const lines = [...series]
    .reverse()
    .sort((a, b) => isTrack(a) - isTrack(b))
    .map(({ values, ...look }) => ({
      look,
      points: values.flatMap((value, i) => (value === undefined ? [] : [{ x: moments[i].x, value }])),
    }));
  const draw = (/** @type {Place} */ place) =>
    [
      ...(drawBars?.(place) ?? lines.map(({ points, look }) => drawLine(points, look, place))),
      drawUprights(uprights, place),
      over?.(place) ?? '',
      drawLevels(levels, place),
    ].join('\n');
  const rows = heaviest(series, moments.length);
  const textOf = (/** @type {number | null | undefined} */ value) =>
    typeof value === 'number' ? text(value) : '–';
  const cells = rows.map((row) => series.map(({ values }) => textOf(values[row])));
  const note = `${formatCount(rows.length)} of ${formatCount(moments.length)} rows, those with the largest values; JSON and CSV have all.`;
  return {
    svg: frames({ ...setting, summary, xAxis, yAxis, draw }),
    summary,
    legend: [...series, ...levels].map(({ name, ...look }) =>
      drawBars === undefined
        ? { name, className: lineClass(look) }
        : { name, className: `fill s${look.style}`, isBox: true },
    ),
    table: more.table ?? {
      kind: 'table',
      caption: rows.length === moments.length ? setting.title : `${setting.title}. ${note}`,
      columns: [{ name: heading, isText: true }, ...series.map(({ name }) => ({ name }))],
      rows: rows.map((row, i) => [moments[row].name, ...cells[i]]),
    },
    readOuts: {
      x: rows.map((row) => Number(xAxis.at(moments[row].x).toFixed(4))),
      at: rows.map((row) => moments[row].name),
      values: cells.map((own) => [...own, ...levels.map(({ value }) => text(value))]),
    },
  };
}

/**
 * Cuts the moments into at most MOST_ROWS stretches of equal length and takes the one with the largest values of each.
 * @param {Series[]} series @param {number} count of moments @returns {number[]} their indexes, ascending
 */
function heaviest(series, count) {
  const size = Math.max(1, Math.ceil(count / MOST_ROWS));
  const weight = (/** @type {number} */ i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0);
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => {
    const stretch = Array.from({ length: Math.min(size, count - i * size) }, (_, k) => i * size + k);
    return stretch.reduce((best, one) => (weight(one) > weight(best) ? one : best));
  });
}
