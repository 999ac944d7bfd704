/** Lines of a chart. Points that share a pixel column become an area; a missing value is a gap. */
import { area, line } from 'd3-shape';
import { median } from '../../common/median.js';
import { LINE_HEIGHT, textAt } from './frame.js';

/** @import { Axis } from './axes.js' */
/** @import { Place } from './frame.js' */

/** @typedef {{at: number, value: number | null}} Point `at` is 0 to 1 along the x axis */
/** @typedef {{at: number, least: number, middle: number, greatest: number} | {at: number, least: null}} Column */
/**
 * @typedef {object} Look
 * @property {number} style 1 to 6, a colour of the style sheet
 * @property {string} [mark] a class: `track`: broad and pale, below other lines; `under`, `over`, `behind`: drawn to be seen below
 *   or above another line; `headline`; `limit`: dotted; `dense`: never dashed
 * @property {'all' | 'greatest'} [shows] which of the points that share a column: all, or the greatest only
 */
/** @typedef {{name: string, label?: string, style: number, mark?: string, value: number}} Level a horizontal line, e.g. a limit */

/** Pixels. */
const COLUMN_WIDTH = 2;

/** A line of no more points than this has a dot at each. */
const FEW = 30;

/** Of dots, where 2.5 does not suit the line. @type {Record<string, number>} */
const RADII = { track: 6, under: 4, over: 2 };

/** Between a level and the base line of its label. */
const LABEL_RISE = 5;

/** @param {{left: number, right: number}} place @returns {number} pixel columns */
export function columnsIn({ left, right }) {
  return Math.max(1, Math.floor((right - left) / COLUMN_WIDTH));
}

/**
 * Puts the same number of points into each column. A column without a value is a gap.
 *
 * @param {Point[]} points ascending
 * @param {number} columns at most
 * @returns {Column[] | null} null where each point has a column of its own
 */
export function gather(points, columns) {
  const size = Math.ceil(points.length / columns);
  if (size <= 1) return null;
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) =>
    columnOf(points.slice(i * size, (i + 1) * size)),
  );
}

/** @param {Point[]} points at least one @returns {Column} */
function columnOf(points) {
  const at = (points[0].at + points[points.length - 1].at) / 2;
  const values = points.flatMap(({ value }) => (value === null ? [] : [value])).sort((a, b) => a - b);
  if (values.length === 0) return { at, least: null };
  return { at, least: values[0], middle: median(values), greatest: values[values.length - 1] };
}

/**
 * @param {Point[]} points ascending
 * @param {Look} look
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawLine(points, look, yAxis, place) {
  const columns = gather(points, columnsIn(place));
  if (columns === null) return drawPoints(points, look, yAxis, place);
  const key = look.shows === 'greatest' ? 'greatest' : 'middle';
  const middles = columns.map((one) => ({ at: one.at, value: one.least === null ? null : one[key] }));
  const bands = columns.map((one) => ({
    at: one.at,
    low: one.least,
    high: one.least === null ? null : one.greatest,
  }));
  return [
    look.shows === 'greatest' ? '' : drawBand(bands, `area s${look.style}`, yAxis, place),
    drawPoints(middles, look, yAxis, place),
  ].join('\n');
}

/**
 * @param {{at: number, low: number | null, high: number | null}[]} bands null: a gap
 * @param {string} className
 * @param {Axis} yAxis
 * @param {Place} place
 * @returns {string} the area between low and high
 */
export function drawBand(bands, className, yAxis, place) {
  const y = (/** @type {number | null} */ value) => place.y(yAxis.at(Number(value)));
  const path = area(
    (/** @type {typeof bands[number]} */ { at }) => place.x(at),
    ({ low }) => y(low),
    ({ high }) => y(high),
  ).defined(({ low, high }) => low !== null && high !== null)(bands);
  return path === null ? '' : `<path class="${className}" d="${path}"/>`;
}

/**
 * A path, and dots where points are few or stand alone between gaps.
 *
 * @param {Point[]} points ascending
 * @param {Look} look
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawPoints(points, { style, mark }, yAxis, place) {
  const x = (/** @type {Point} */ { at }) => place.x(at);
  const y = (/** @type {Point} */ { value }) => place.y(yAxis.at(Number(value)));
  const path = line(x, y).defined(({ value }) => value !== null)(points);
  const isGap = (/** @type {number} */ i) => (points[i]?.value ?? null) === null;
  const dots = points.filter((_, i) => !isGap(i) && (points.length <= FEW || (isGap(i - 1) && isGap(i + 1))));
  const dot = mark === 'track' ? `dot s${style} track` : `dot s${style}`;
  const radius = RADII[mark ?? ''] ?? 2.5;
  return [
    path === null ? '' : `<path class="${lineClass(style, mark)}" d="${path}"/>`,
    ...dots.map((point) => `<circle class="${dot}" cx="${x(point)}" cy="${y(point)}" r="${radius}"/>`),
  ].join('\n');
}

/** @param {number} style 1 to 6 @param {string} [mark] */
export function lineClass(style, mark) {
  return mark === undefined ? `line s${style}` : `line s${style} ${mark}`;
}

/**
 * Horizontal lines. A label stands at the right end, above its line, or as near to it as other labels allow.
 *
 * @param {Level[]} levels
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawLevels(levels, yAxis, place) {
  const placed = levels.map((level) => ({ ...level, y: place.y(yAxis.at(level.value)) }));
  const lines = placed.map(
    ({ style, mark, y }) =>
      `<line class="${lineClass(style, mark)}" x1="${place.left}" x2="${place.right}" y1="${y}" y2="${y}"/>`,
  );
  const labelled = placed.filter(({ label }) => label !== undefined).sort((a, b) => a.y - b.y);
  const room = place.right - place.left - 8;
  const texts = baseLines(labelled, place).map((y, i) =>
    textAt({ x: place.right - 4, y, text: String(labelled[i].label), anchor: 'end', room, halo: true }),
  );
  return [...lines, ...texts].join('\n');
}

/**
 * @param {{y: number}[]} levels from the top
 * @param {Place} place
 * @returns {number[]} of their labels, in order, a line of text apart, all inside the plot
 */
function baseLines(levels, { top, bottom }) {
  /** @type {number[]} */
  const down = [];
  for (const { y } of levels) {
    down.push(Math.max(y - LABEL_RISE, (down.at(-1) ?? top - 5) + LINE_HEIGHT));
  }
  const lowest = bottom - LABEL_RISE;
  return down.map((y, i) => Math.min(y, lowest - (down.length - 1 - i) * LINE_HEIGHT));
}
