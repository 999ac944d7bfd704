/** The general chart: series over a common x axis as SVG that needs no script, with legend, table and read-outs. */
import { frames } from './frame.js';
import { drawBars, drawLevels, drawLine, drawUprights, lineClass } from './lines.js';

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
 * An SVG for each size; the summary is a sentence or two; `className` of the line of an entry.
 * @typedef {{svg: string, summary: string, legend: {name: string, className: string}[], table: Table,
 *   readOuts: ReadOuts}} Drawn
 */
/**
 * The moments, which ascend, have a `heading`; the first series is drawn on top, `stacked` ones as bars; `text` of a value in table and
 * read-outs; `over` is drawn above the lines.
 * @typedef {{setting: Setting, summary: string, xAxis: Axis, yAxis: Axis, heading: string,
 *   moments: {name: string, x: number}[], series: Series[], text: (value: number) => string,
 *   levels?: readonly Level[], uprights?: readonly Upright[], over?: (place: Place) => string}} Declaration
 */

/** @param {Declaration} declaration @returns {Drawn} */
export function drawChart({ setting, summary, xAxis, yAxis, heading, moments, series, text, ...more }) {
  const { levels = [], uprights = [], over } = more;
  const isTrack = (/** @type {Look} */ { mark }) => Number(mark !== 'track');
  const below = moments.map(() => 0);
  const lines = series
    .map(({ values, ...look }) => ({
      ...look,
      points: values.flatMap((value, i) => {
        if (value === undefined) return [];
        if (look.mark === 'stacked') below[i] += value ?? 0;
        return [{ x: moments[i].x, value: look.mark === 'stacked' ? below[i] : value }];
      }),
    }))
    .reverse()
    .sort((a, b) => isTrack(a) - isTrack(b));
  const draw = (/** @type {Place} */ place) =>
    [
      ...lines.map(({ points, ...look }) =>
        (look.mark === 'stacked' ? drawBars : drawLine)(points, look, place),
      ),
      drawUprights(uprights, place),
      over?.(place) ?? '',
      drawLevels(levels, place),
    ].join('\n');
  const cells = moments.map((_, i) =>
    series.map(({ values }) => (typeof values[i] === 'number' ? text(values[i]) : '–')),
  );
  return {
    svg: frames({ ...setting, summary, xAxis, yAxis, draw }),
    summary,
    legend: [...series, ...levels].map(({ name, ...look }) => ({ name, className: lineClass(look) })),
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [{ name: heading, isText: true }, ...series.map(({ name }) => ({ name }))],
      rows: moments.map(({ name }, i) => [name, ...cells[i]]),
    },
    readOuts: {
      x: moments.map(({ x }) => Number(xAxis.at(x).toFixed(4))),
      at: moments.map(({ name }) => name),
      values: cells.map((own) => [...own, ...levels.map(({ value }) => text(value))]),
    },
  };
}
