/** A figure of lines over the time of a run: chart, legend, table and read-outs, all from one list of series. */
import { frame, inBothSizes, LINE_HEIGHT, SIZES, textAt } from './chart.js';
import { clockOf } from './clock.js';
import { columnsIn, drawLevels, drawLine } from './lines.js';
import { figure, paragraph, table } from './parts.js';
import { MOST_READ_OUTS, MOST_ROWS, pick, thinnedNote } from './thin.js';
import { timeAxis } from './time-axis.js';
import { titled } from './words.js';

/** @typedef {import('./axes.js').Axis} Axis */
/** @typedef {import('./chart.js').Place} Place */
/** @typedef {{html: string, charts: Record<string, import('./page.js').ReadOuts>}} Drawn a part of a page */
/** @typedef {import('./lines.js').Level} Level */
/**
 * @template Row
 * @typedef {import('./lines.js').Look & {name: string, value: (row: Row) => number | null | undefined}} Series `value`: null
 *   is a gap, undefined nothing to be seen
 */

/** @typedef {{name: string, startSeconds: number}} Mark */

/** Less would show no more of a name than a letter or two. */
const LEAST_NAME = 32;

/**
 * @template {{second: number, span?: number}} Row
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.title
 * @param {string} parts.summary
 * @param {Row[]} parts.rows in order, without a gap; each stands for `span` seconds, one unless it says more
 * @param {Series<Row>[]} parts.series the last is drawn first, so that the first lies on top
 * @param {Axis} parts.yAxis
 * @param {(value: number) => string} parts.text of a value in table, legend and read-outs
 * @param {(row: Row) => number} parts.weight which rows a table must not leave out
 * @param {string} parts.heaviest says so: `the one with the longest p99`
 * @param {Level[]} [parts.levels]
 * @param {number | null} [parts.measuredSeconds] what comes later is shaded
 * @param {readonly Mark[]} [parts.marks] where something begins: a line with its name
 * @returns {Drawn}
 */
export function timeFigure(parts) {
  const { id, title, summary, rows, series, yAxis, text, levels = [], measuredSeconds = null } = parts;
  const { marks = [] } = parts;
  const last = rows[rows.length - 1];
  const seconds = last.second + spanOf(last);
  const [xAxis, clock] = [timeAxis(seconds), clockOf(seconds)];
  const middle = (/** @type {Row} */ row) => (row.second + spanOf(row) / 2) / seconds;
  const looks = isDense(rows) ? series.map((one) => ({ ...one, mark: one.mark ?? 'dense' })) : series;
  const lines = inDrawingOrder(looks).map((look) => ({ look, points: pointsOf(rows, look.value, middle) }));
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
          ...drawMarks(marks, seconds, place),
          drawLevels(
            levels.filter(({ mark }) => mark === 'track'),
            yAxis,
            place,
          ),
          ...lines.map(({ look, points }) => drawLine(points, look, yAxis, place)),
          drawLevels(
            levels.filter(({ mark }) => mark !== 'track'),
            yAxis,
            place,
          ),
        ].join('\n'),
    }),
  );
  const legend = [
    ...looks.map(({ name, style, mark }) => ({ name, style, mark })),
    ...levels.map(({ name, style, mark }) => ({ name, style, mark })),
  ];
  const html = figure({ id, title, svg, summary, tableHtml: dataTable(parts), legend });
  const read = pick(rows, MOST_READ_OUTS, parts.weight);
  const readOuts = {
    x: read.map((row) => Number(middle(row).toFixed(4))),
    at: read.map((row) => titled(clock.phrase(row))),
    values: read.map((row) => [
      ...series.map(({ value }) => textOf(value(row), text)),
      ...levels.map(({ value }) => text(value)),
    ]),
  };
  return { html, charts: { [id]: readOuts } };
}

/**
 * @param {{second: number}[]} rows
 * @returns {boolean} whether they lie too close together to be told apart, in the narrow chart at least
 */
export function isDense(rows) {
  return SIZES.some(({ width }) => rows.length > columnsIn({ left: width / 4, right: width }));
}

/**
 * @template {{mark?: string}} Line
 * @param {Line[]} lines
 * @returns {Line[]} tracks below all, the first on top
 */
function inDrawingOrder(lines) {
  const reversed = [...lines].reverse();
  return [
    ...reversed.filter(({ mark }) => mark === 'track'),
    ...reversed.filter(({ mark }) => mark !== 'track'),
  ];
}

/**
 * @template Row
 * @param {Row[]} rows
 * @param {Series<Row>['value']} value
 * @param {(row: Row) => number} middle
 * @returns {import('./lines.js').Point[]}
 */
function pointsOf(rows, value, middle) {
  return rows.flatMap((row) => {
    const one = value(row);
    return one === undefined ? [] : [{ at: middle(row), value: one }];
  });
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
 * @param {readonly Mark[]} marks in order
 * @param {number} seconds
 * @param {Place} place
 * @returns {string[]} a name only where there is room for some of it
 */
export function drawMarks(marks, seconds, place) {
  return marks.map(({ name, startSeconds }, i) => {
    const x = place.x(Math.min(1, startSeconds / seconds));
    const next = place.x(Math.min(1, (marks[i + 1]?.startSeconds ?? seconds) / seconds));
    const room = next - x - 8;
    const line = `<line class="stage" x1="${x}" x2="${x}" y1="${place.top}" y2="${place.bottom}"/>`;
    return room < LEAST_NAME
      ? line
      : `${line}${textAt({ x: x + 4, y: place.top + LINE_HEIGHT, text: name, room, halo: true })}`;
  });
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
  const last = rows[rows.length - 1];
  const clock = clockOf(last.second + spanOf(last));
  const html = table({
    caption: title,
    columns: [clock.heading, ...series.map(({ name }) => ({ label: name, numeric: true }))],
    rows: pick(rows, MOST_ROWS, weight).map((row) => [
      clock.name(row),
      ...series.map(({ value }) => textOf(value(row), text)),
    ]),
  });
  return note === '' ? html : `${paragraph(note, 'muted')}\n${html}`;
}

/** @param {{span?: number}} row @returns {number} seconds */
function spanOf({ span = 1 }) {
  return span;
}

/**
 * @param {number | null | undefined} value
 * @param {(value: number) => string} text
 */
function textOf(value, text) {
  return value === null || value === undefined ? '–' : text(value);
}
