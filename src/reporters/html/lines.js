/** Lines in a chart: thinned so that nothing seen is lost, broken where there is no value. */
import { area, line } from 'd3-shape';
import { median } from '../../results/median.js';
import { LINE_HEIGHT, textAt } from './chart.js';

/** @typedef {import('./axes.js').Axis} Axis */
/** @typedef {import('./chart.js').Place} Place */
/** @typedef {{at: number, value: number | null}} Point `at` is 0 to 1 along the x axis */
/** @typedef {{at: number, least: number, middle: number, greatest: number} | {at: number, least: null}} Column */
/**
 * @typedef {object} Look
 * @property {number} style 1 to 6
 * @property {string} [mark] a class: `track`: broad and pale, for others to lie on; `under`, `over`, `behind`: to be seen on or below
 *   another; `headline`; `limit`: dotted; `dense`: without dashes
 * @property {'all' | 'greatest'} [shows] where points are too close to be told apart: all of them, or the greatest only
 */
/** @typedef {{name: string, label?: string, style: number, mark?: string, value: number}} Level a line across, e.g. a limit */

/** What a column of points takes, where there are more points than that. */
const COLUMN_WIDTH = 2;

/** So few points are drawn as dots too. */
const FEW = 30;

/** Of the dots of lines that are made to lie on others; 2.5 of any other. @type {Record<string, number>} */
const RADII = { track: 6, under: 4, over: 2 };

/** Between a line across and its label. */
const LABEL_RISE = 5;

/**
 * @param {{left: number, right: number}} place
 * @returns {number} into which points that lie closer together are gathered
 */
export function columnsIn({ left, right }) {
  return Math.max(1, Math.floor((right - left) / COLUMN_WIDTH));
}

/**
 * As many points to each column, from the least to the greatest of them. A column without any value is a gap.
 *
 * @param {Point[]} points ascending
 * @param {number} columns at most
 * @returns {Column[] | null} null where no two points need share a column
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
 * @returns {string} a path, and dots where the points are few or stand alone between gaps; of many points an area from the
 *   least to the greatest under a line through their middle
 */
export function drawLine(points, look, yAxis, place) {
  const columns = gather(points, columnsIn(place));
  if (columns === null) return drawPoints(points, look, yAxis, place);
  const key = look.shows === 'greatest' ? 'greatest' : 'middle';
  const middles = columns.map((one) => ({ at: one.at, value: one.least === null ? null : one[key] }));
  return [
    look.shows === 'greatest' ? '' : drawArea(columns, look.style, yAxis, place),
    drawPoints(middles, look, yAxis, place),
  ].join('\n');
}

/**
 * @param {Column[]} columns
 * @param {number} style
 * @param {Axis} yAxis
 * @param {Place} place
 */
function drawArea(columns, style, yAxis, place) {
  const y = (/** @type {number} */ value) => place.y(yAxis.at(value));
  const path = area(
    (/** @type {Column} */ { at }) => place.x(at),
    (one) => y(one.least === null ? 0 : one.least),
    (one) => y(one.least === null ? 0 : one.greatest),
  ).defined(({ least }) => least !== null)(columns);
  return path === null ? '' : `<path class="area s${style}" d="${path}"/>`;
}

/**
 * @param {Point[]} points ascending; each is drawn
 * @param {Look} look
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawPoints(points, { style, mark }, yAxis, place) {
  const x = (/** @type {Point} */ { at }) => place.x(at);
  const y = (/** @type {Point} */ { value }) => place.y(yAxis.at(Number(value)));
  const path = line(x, y).defined(({ value }) => value !== null)(points);
  const dots = points.filter(
    (point, i) =>
      point.value !== null &&
      (points.length <= FEW ||
        ((points[i - 1]?.value ?? null) === null && (points[i + 1]?.value ?? null) === null)),
  );
  const [dot, radius] = [
    mark === 'track' ? `dot s${style} track` : `dot s${style}`,
    RADII[mark ?? ''] ?? 2.5,
  ];
  return [
    path === null ? '' : `<path class="${lineClass(style, mark)}" d="${path}"/>`,
    ...dots.map((point) => `<circle class="${dot}" cx="${x(point)}" cy="${y(point)}" r="${radius}"/>`),
  ].join('\n');
}

/**
 * @param {number} style 1 to 6
 * @param {string} [mark]
 */
export function lineClass(style, mark) {
  return mark === undefined ? `line s${style}` : `line s${style} ${mark}`;
}

/**
 * Lines across the plot, those with a label named at their right end: above the line, or where that is taken as near to it
 * as there is room.
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
  const texts = baseLines(labelled, place).map((y, i) => {
    const room = place.right - place.left - 8;
    return textAt({
      x: place.right - 4,
      y,
      text: String(labelled[i].label),
      anchor: 'end',
      room,
      halo: true,
    });
  });
  return [...lines, ...texts].join('\n');
}

/**
 * @param {{y: number}[]} levels from the top
 * @param {Place} place
 * @returns {number[]} of their labels, in order, none nearer than a line of text to the next, all in the plot
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
