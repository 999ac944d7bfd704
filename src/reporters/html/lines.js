/** Lines in a chart: thinned so that nothing seen is lost, broken where there is no value. */
import { line } from 'd3-shape';

/** @typedef {import('./axes.js').Axis} Axis */
/** @typedef {import('./chart.js').Place} Place */
/** @typedef {{at: number, value: number | null}} Point `at` is 0 to 1 along the x axis */

/** Columns of which the least and the greatest value are drawn: about two pixels of the wide chart. */
const COLUMNS = 300;

/** So few points are drawn as dots too. */
const FEW = 30;

/**
 * The least and the greatest of each column, in their order: drawn as lines they look like all of them. A column without
 * any value stays a gap.
 *
 * @param {Point[]} points ascending
 * @param {number} [columns]
 * @returns {Point[]} at most two to the column; all of them where they are no more than that
 */
export function decimate(points, columns = COLUMNS) {
  if (points.length <= 2 * columns) return points;
  const size = points.length / columns;
  return Array.from({ length: columns }, (_, i) =>
    extremes(points.slice(Math.floor(i * size), Math.floor((i + 1) * size))),
  ).flat();
}

/** @param {Point[]} points at least one @returns {Point[]} */
function extremes(points) {
  const present = points.filter(({ value }) => value !== null);
  if (present.length === 0) return [points[0]];
  let [least, greatest] = [0, 0];
  for (let i = 1; i < present.length; i++) {
    if (Number(present[i].value) < Number(present[least].value)) least = i;
    if (Number(present[i].value) > Number(present[greatest].value)) greatest = i;
  }
  if (least === greatest) return [present[least]];
  return [present[Math.min(least, greatest)], present[Math.max(least, greatest)]];
}

/**
 * @param {Point[]} points ascending
 * @param {number} style 1 to 6
 * @param {Axis} yAxis
 * @param {Place} place
 * @returns {string} a path, and dots where the points are few or stand alone between gaps
 */
export function drawLine(points, style, yAxis, place) {
  const drawn = decimate(points);
  const x = (/** @type {Point} */ { at }) => place.x(at);
  const y = (/** @type {Point} */ { value }) => place.y(yAxis.at(Number(value)));
  const path = line(x, y).defined(({ value }) => value !== null)(drawn);
  const dots = drawn.filter(
    (point, i) =>
      point.value !== null &&
      (drawn.length <= FEW ||
        ((drawn[i - 1]?.value ?? null) === null && (drawn[i + 1]?.value ?? null) === null)),
  );
  return [
    path === null ? '' : `<path class="line s${style}" d="${path}"/>`,
    ...dots.map((point) => `<circle class="dot s${style}" cx="${x(point)}" cy="${y(point)}" r="2.5"/>`),
  ].join('\n');
}

/**
 * A line across the plot.
 *
 * @param {number} value
 * @param {number} style 1 to 6
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawLevel(value, style, yAxis, place) {
  const y = place.y(yAxis.at(value));
  return `<line class="line s${style}" x1="${place.left}" x2="${place.right}" y1="${y}" y2="${y}"/>`;
}
