/** A figure of lines over the time of a run: chart, legend, table and read-outs, all from one list of series. */
import { formatCount } from '../../units.js';
import { timeAxis } from './axes.js';
import { frame, inBothSizes } from './chart.js';
import { drawLevel, drawLine } from './lines.js';
import { figure, paragraph, table } from './parts.js';
import { MOST_READ_OUTS, MOST_ROWS, pick, thinnedNote } from './thin.js';

/** @typedef {import('./axes.js').Axis} Axis */
/** @typedef {import('./chart.js').Place} Place */
/** @typedef {{html: string, charts: Record<string, import('./page.js').ReadOuts>}} Drawn a part of a page */
/**
 * @template Row
 * @typedef {object} Series
 * @property {string} name
 * @property {number} style 1 to 6
 * @property {(row: Row) => number | null | undefined} value
 */
/** @typedef {{name: string, style: number, value: number}} Level a line across, e.g. a limit */

/**
 * @template {{second: number, span?: number}} Row
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.title
 * @param {string} parts.summary
 * @param {Row[]} parts.rows in order, without a gap; each stands for `span` seconds, one unless it says more
 * @param {Series<Row>[]} parts.series
 * @param {Axis} parts.yAxis
 * @param {(value: number) => string} parts.text of a value in table, legend and read-outs
 * @param {(row: Row) => number} parts.weight which rows a table must not leave out
 * @param {string} parts.heaviest says so: `the one with the longest p99`
 * @param {Level[]} [parts.levels]
 * @param {number | null} [parts.measuredSeconds] what comes later is shaded
 * @returns {Drawn}
 */
export function timeFigure(parts) {
  const { id, title, summary, rows, series, yAxis, text, levels = [], measuredSeconds = null } = parts;
  const last = rows[rows.length - 1];
  const seconds = last.second + spanOf(last);
  const xAxis = timeAxis(seconds);
  const middle = (/** @type {Row} */ row) => (row.second + spanOf(row) / 2) / seconds;
  const lines = series.map(({ style, value }) => ({
    style,
    points: rows.map((row) => ({ at: middle(row), value: value(row) ?? null })),
  }));
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
          drawAfter(measuredSeconds, seconds, place),
          ...levels.map((level) => drawLevel(level.value, level.style, yAxis, place)),
          ...lines.map(({ style, points }) => drawLine(points, style, yAxis, place)),
        ].join('\n'),
    }),
  );
  const legend = [
    ...series.map(({ name, style }) => ({ name, style })),
    ...levels.map(({ name, style }) => ({ name, style })),
  ];
  const html = figure({ id, title, svg, summary, tableHtml: dataTable(parts), legend });
  const read = pick(rows, MOST_READ_OUTS, parts.weight);
  const readOuts = {
    x: read.map((row) => Number(middle(row).toFixed(4))),
    at: read.map((row) => `Second ${nameOf(row)}`),
    values: read.map((row) => [
      ...series.map(({ value }) => textOf(value(row), text)),
      ...levels.map(({ value }) => text(value)),
    ]),
  };
  return { html, charts: { [id]: readOuts } };
}

/**
 * The wait for the last answers, after the measured part.
 *
 * @param {number | null} measuredSeconds
 * @param {number} seconds
 * @param {Place} place
 */
function drawAfter(measuredSeconds, seconds, place) {
  if (!hasAfter(measuredSeconds, seconds)) return '';
  const x = place.x(Number(measuredSeconds) / seconds);
  const width = (place.right - x).toFixed(1);
  return `<rect class="after" x="${x}" y="${place.top}" width="${width}" height="${place.bottom - place.top}"/>`;
}

/**
 * @param {number | null | undefined} measuredSeconds
 * @param {number} seconds
 * @returns {boolean} whether a chart so long has a shaded part
 */
export function hasAfter(measuredSeconds, seconds) {
  return typeof measuredSeconds === 'number' && measuredSeconds > 0 && measuredSeconds < seconds - 0.5;
}

/**
 * @template {{second: number, span?: number}} Row
 * @param {object} parts
 * @param {string} parts.title
 * @param {Row[]} parts.rows
 * @param {Series<Row>[]} parts.series
 * @param {(value: number) => string} parts.text
 * @param {(row: Row) => number} parts.weight
 * @param {string} parts.heaviest
 */
function dataTable({ title, rows, series, text, weight, heaviest }) {
  const note = thinnedNote(rows.length, heaviest, spanOf(rows[0]));
  const html = table({
    caption: title,
    columns: ['Second', ...series.map(({ name }) => ({ label: name, numeric: true }))],
    rows: pick(rows, MOST_ROWS, weight).map((row) => [
      nameOf(row),
      ...series.map(({ value }) => textOf(value(row), text)),
    ]),
  });
  return note === '' ? html : `${paragraph(note, 'muted')}\n${html}`;
}

/** @param {{span?: number}} row @returns {number} seconds */
function spanOf({ span = 1 }) {
  return span;
}

/** @param {{second: number, span?: number}} row @returns {string} `12`, `10 to 19` */
export function nameOf({ second, span = 1 }) {
  return span === 1 ? formatCount(second) : `${formatCount(second)} to ${formatCount(second + span - 1)}`;
}

/**
 * @param {number | null | undefined} value
 * @param {(value: number) => string} text
 */
function textOf(value, text) {
  return value === null || value === undefined ? '–' : text(value);
}
