/** Lines over the time of a run: SVG, legend, table and read-outs from one list of series. */

import { formatCount, formatDuration } from '../../common/units.js';
import { titled } from '../describe/words.js';
import { timeAxis } from './axes.js';
import { frames, LINE_HEIGHT, SIZES, textAt } from './frame.js';
import { columnsIn, drawLevels, drawLine, lineClass } from './lines.js';
/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */
/** @import { Level, Look, Point } from './lines.js' */

/** Of a chart with a shaded end. */
export const AFTER_NOTE = 'Shaded: the wait for the last responses.';

/** Of a chart with more moments than pixels. */
export const DENSE_NOTE =
  'Where seconds share a pixel, the area spans their smallest to largest value, and the line follows the median.';

/**
 * @template Row
 * @typedef {Look & {name: string, value: (row: Row) => number | null | undefined}} Series of `value`, null
 *   is a gap, and the line skips undefined
 */
/** @typedef {{name: string, startSeconds: number}} Mark a vertical line with a name */

/** Pixels; in less room a name is left out. */
const LEAST_NAME = 32;

/**
 * @template {{second: number, span?: number}} Row
 * @param {object} parts
 * @param {Setting} parts.setting
 * @param {string} parts.summary
 * @param {Row[]} parts.rows in order, without a gap; each covers `span` seconds, 1 by default
 * @param {Series<Row>[]} parts.series the first is drawn on top
 * @param {(place: Place) => string[]} [parts.drawBars] instead of lines
 * @param {Axis} parts.yAxis
 * @param {(value: number) => string} parts.text of a value in table, legend and read-outs
 * @param {(row: Row) => number} parts.weight of a row, where there are too many for table and read-outs
 * @param {string} parts.heaviest what weighs: `the one with the longest p99`
 * @param {Level[]} [parts.levels]
 * @param {number | null} [parts.measuredSeconds] the time after it is shaded
 * @param {readonly Mark[]} [parts.marks]
 * @returns {Drawn}
 */
export function timeChart(parts) {
  const { setting, summary, rows, drawBars, yAxis, text } = parts;
  const { levels = [], marks = [], measuredSeconds = null } = parts;
  const last = rows[rows.length - 1];
  const seconds = last.second + spanOf(last);
  const clock = clockOf(seconds);
  const middle = (/** @type {Row} */ row) => (row.second + spanOf(row) / 2) / seconds;
  const series = isDense(rows)
    ? parts.series.map((one) => ({ ...one, mark: one.mark ?? 'dense' }))
    : parts.series;
  const lines = bottomUp(series).map((look) => ({ look, points: pointsOf(rows, look.value, middle) }));
  const draw = (/** @type {Place} */ place) =>
    [
      drawAfter(measuredSeconds, seconds, place),
      ...(drawBars?.(place) ?? lines.map(({ look, points }) => drawLine(points, look, yAxis, place))),
      ...drawMarks(marks, seconds, place),
      drawLevels(levels, yAxis, place),
    ].join('\n');
  const shown = pick(rows, MOST_ROWS, parts.weight);
  const cells = shown.map((row) => series.map(({ value }) => textOf(value(row), text)));
  const note = thinnedNote(rows.length, parts.heaviest, spanOf(rows[0]));
  return {
    svg: frames({ ...setting, summary, xAxis: timeAxis(seconds), yAxis, draw }),
    summary,
    legend: [...series, ...levels].map(({ name, style, mark }) =>
      drawBars === undefined
        ? { name, className: lineClass(style, mark) }
        : { name, className: `fill s${style}`, isBox: true },
    ),
    table: {
      kind: 'table',
      caption: note === '' ? setting.title : `${setting.title}. ${note}`,
      columns: [{ name: clock.heading, isText: true }, ...series.map(({ name }) => ({ name }))],
      rows: shown.map((row, i) => [clock.name(row), ...cells[i]]),
    },
    readOuts: {
      x: shown.map((row) => Number(middle(row).toFixed(4))),
      at: shown.map((row) => titled(clock.phrase(row))),
      values: cells.map((own) => [...own, ...levels.map(({ value }) => text(value))]),
    },
  };
}

/** @param {number | null | undefined} value @param {(value: number) => string} text */
function textOf(value, text) {
  return value === null || value === undefined ? '–' : text(value);
}

/**
 * @param {{second: number}[]} rows
 * @returns {boolean} whether rows share a pixel column, in the narrow chart at least
 */
export function isDense(rows) {
  return SIZES.some(({ width }) => rows.length > columnsIn({ left: width / 4, right: width }));
}

/**
 * @template {{mark?: string}} Look
 * @param {Look[]} looks
 * @returns {Look[]} in drawing order: tracks, then the others, the first last
 */
function bottomUp(looks) {
  const rank = (/** @type {Look} */ { mark }) => (mark === 'track' ? 0 : 1);
  return [...looks].reverse().sort((a, b) => rank(a) - rank(b));
}

/**
 * @template Row
 * @param {Row[]} rows
 * @param {Series<Row>['value']} value
 * @param {(row: Row) => number} middle
 * @returns {Point[]}
 */
function pointsOf(rows, value, middle) {
  return rows.flatMap((row) => {
    const one = value(row);
    return one === undefined ? [] : [{ at: middle(row), value: one }];
  });
}

/** @param {number | null} measuredSeconds @param {number} seconds @param {Place} place */
function drawAfter(measuredSeconds, seconds, place) {
  if (!hasAfter(measuredSeconds, seconds)) return '';
  const x = place.x(Number(measuredSeconds) / seconds);
  const width = (place.right - x).toFixed(1);
  return `<rect class="after" x="${x}" y="${place.top}" width="${width}" height="${place.bottom - place.top}"/>`;
}

/** @param {readonly Mark[]} marks in order @param {number} seconds @param {Place} place */
function drawMarks(marks, seconds, place) {
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
 * @param {number} seconds length of the chart
 * @returns {boolean} whether its end is shaded
 */
export function hasAfter(measuredSeconds, seconds) {
  return typeof measuredSeconds === 'number' && measuredSeconds > 0 && measuredSeconds < seconds - 0.5;
}

/** @param {{span?: number}} row @returns {number} seconds */
function spanOf({ span = 1 }) {
  return span;
}

/** Longer runs use the clock. */
const LONGEST_IN_SECONDS = 180;

/** @typedef {{second: number, span?: number}} Moment a second, or the first of `span` seconds */
/**
 * @typedef {object} Clock
 * @property {string} heading of a column of moments
 * @property {(moment: Moment) => string} name in that column: `12`, `10 to 19`, `11:00:00 to 11:14:59`
 * @property {(moment: Moment) => string} phrase in a sentence: `second 12`, `seconds 10 to 19`, `11:00:00 to 11:14:59`
 * @property {(moment: Moment) => string} place `in second 12`, `at 11:00:00`, `between 11:00:00 and 11:14:59`
 */

/** @param {number} seconds length of the run @returns {Clock} */
export function clockOf(seconds) {
  const isLong = seconds > LONGEST_IN_SECONDS;
  const text = isLong ? clockText : formatCount;
  const ends = (/** @type {Moment} */ { second, span = 1 }) =>
    span === 1 ? [text(second)] : [text(second), text(second + span - 1)];
  const name = (/** @type {Moment} */ moment) => ends(moment).join(' to ');
  const phrase = (/** @type {Moment} */ moment) =>
    isLong ? name(moment) : `second${ends(moment).length > 1 ? 's' : ''} ${name(moment)}`;
  return {
    heading: isLong ? 'Time since the start' : 'Second',
    name,
    phrase,
    place(moment) {
      if (!isLong) return `in ${phrase(moment)}`;
      return ends(moment).length > 1 ? `between ${ends(moment).join(' and ')}` : `at ${name(moment)}`;
    },
  };
}

/** @param {number} second @returns {string} `0:03:20` */
function clockText(second) {
  const twoDigits = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(second / 3600), Math.floor((second % 3600) / 60)];
  return `${formatCount(hours)}:${twoDigits(minutes)}:${twoDigits(second % 60)}`;
}

/** Rows of a data table, and places the script can read out. */
const MOST_ROWS = 240;

/** Spans to add up over, in seconds. */
const SPANS = Object.freeze([
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400,
]);

/**
 * Cuts the rows into at most `most` stretches of equal length and takes the heaviest of each.
 *
 * @template Row
 * @param {Row[]} rows
 * @param {number} most
 * @param {(row: Row) => number} weight
 * @returns {Row[]} in their order
 */
export function pick(rows, most, weight) {
  const size = Math.max(1, Math.ceil(rows.length / most));
  if (size === 1) return rows;
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => {
    const part = rows.slice(i * size, (i + 1) * size);
    return part.reduce((heaviest, row) => (weight(row) > weight(heaviest) ? row : heaviest));
  });
}

/**
 * @param {number} count rows before `pick`
 * @param {string} heaviest e.g. `the one with the longest p99`
 * @param {number} [seconds] that each covers
 * @returns {string} the note of a table of picked rows; empty where it has all of them
 */
export function thinnedNote(count, heaviest, seconds = 1) {
  const size = Math.max(1, Math.ceil(count / MOST_ROWS));
  if (size === 1) return '';
  const shown = Math.ceil(count / size);
  return `${formatCount(shown)} of ${formatCount(count)} rows: of every ${formatDuration(size * seconds * 1000)} ${heaviest}. JSON and CSV have all.`;
}

/**
 * @param {number} seconds
 * @param {number} most
 * @returns {number} seconds to add up over, so that there are no more than `most` sums
 */
export function spanFor(seconds, most) {
  return SPANS.find((span) => Math.ceil(seconds / span) <= most) ?? Math.ceil(seconds / most);
}

/**
 * @template Row
 * @param {Row[]} rows one a second
 * @param {number} span seconds
 * @returns {{second: number, span: number, rows: Row[]}[]} the last may be shorter
 */
export function binned(rows, span) {
  return Array.from({ length: Math.ceil(rows.length / span) }, (_, i) => {
    const part = rows.slice(i * span, (i + 1) * span);
    return { second: i * span, span: part.length, rows: part };
  });
}
