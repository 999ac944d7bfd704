/** The general chart: series over a common x axis as SVG, with legend and table. */
import { frames } from './frame.js';
import {
  drawBars,
  drawHorizontalLines,
  drawLine,
  drawTooltips,
  drawVerticalLines,
  lineClass,
} from './lines.js';

/** @import { Table } from '../sections.js' */
/** @import { Axis } from './axes.js' */
/** @import { Plot, Setting } from './frame.js' */
/** @import { HorizontalLine, LineStyle, VerticalLine } from './lines.js' */

/** @typedef {LineStyle & {name: string, values: (number | null | undefined)[]}} Series null: a gap; undefined: the line continues */
/**
 * One SVG per size; `summary`: a sentence or two; `className`: of the line of an entry.
 * @typedef {{svg: string, summary: string, legend: {name: string, className: string}[], table: Table}} Drawn
 */
/**
 * `heading`: column heading of the moments, which ascend; the first series is on top, `stacked` ones are bars; `text` formats a value.
 * @typedef {{setting: Setting, summary: string, xAxis: Axis, yAxis: Axis, heading: string,
 *   moments: {name: string, x: number}[], series: Series[], text: (value: number) => string,
 *   horizontalLines?: readonly HorizontalLine[], verticalLines?: readonly VerticalLine[], over?: (plot: Plot) => string}} Declaration `over`: drawn last
 */

/** @param {Declaration} declaration @returns {Drawn} */
export function drawChart({ setting, summary, xAxis, yAxis, heading, moments, series, text, ...more }) {
  const { horizontalLines = [], verticalLines = [], over = () => '' } = more;
  const textOf = (/** @type {number | null | undefined} */ value) =>
    typeof value === 'number' ? text(value) : '–';
  const below = moments.map(() => 0);
  const lines = series
    .map(({ values, ...lineStyle }) => ({
      ...lineStyle,
      points: values.flatMap((value, i) => {
        if (value === undefined) return [];
        if (lineStyle.mark === 'stacked') below[i] += value ?? 0;
        return [{ x: moments[i].x, value: lineStyle.mark === 'stacked' ? below[i] : value }];
      }),
    }))
    .reverse();
  const rows = moments.map(({ name }, i) => [name, ...series.map(({ values }) => textOf(values[i]))]);
  const tooltips = rows.map(([name, ...texts], row) => ({
    x: moments[row].x,
    text: `${name}: ${series.map((one, i) => `${one.name} ${texts[i]}`).join(', ')}`,
  }));
  const draw = (/** @type {Plot} */ plot) =>
    [
      ...lines.map(({ points, ...lineStyle }) =>
        (lineStyle.mark === 'stacked' ? drawBars : drawLine)(points, lineStyle, plot),
      ),
      drawVerticalLines(verticalLines, plot),
      drawHorizontalLines(horizontalLines, plot),
      drawTooltips(tooltips, plot),
      over(plot),
    ].join('\n');
  return {
    svg: frames({ ...setting, summary, xAxis, yAxis, draw }),
    summary,
    legend: [...series, ...horizontalLines].map(({ name, ...lineStyle }) => ({
      name,
      className: lineClass(lineStyle),
    })),
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [{ name: heading, isText: true }, ...series.map(({ name }) => ({ name }))],
      rows,
    },
  };
}
