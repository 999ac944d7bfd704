/** Marks of a chart: lines, bands, limits, names. Points that share a pixel column become an area; a missing value is a gap. */
import { area, line } from 'd3-shape';
import { median } from '../../common/median.js';
import { LINE_HEIGHT, textAt } from './frame.js';

/** @import { Axis } from './axes.js' */
/** @import { Place } from './frame.js' */

/** @typedef {{at: number, value: number | null}} Point `at` is 0 to 1 along the x axis */
/** @typedef {{at: number, low: number | null, high: number | null}} Band null: a gap */
/**
 * @typedef {object} Look
 * @property {number} style 1 to 6, a colour of the style sheet
 * @property {string} [mark] a class: `track`: broad and pale, below other lines; `under`, `over`, `behind`: drawn to be seen below
 *   or above another line; `headline`; `limit`: dotted; `dense`: never dashed
 */
/** @typedef {Look & {name: string, label?: string, value: number}} Level a horizontal line, e.g. a limit */
/** @typedef {{name: string, at: number}} Upright a vertical line with a name, `at` 0 to 1 along the x axis */

/** Pixels. */
const COLUMN_WIDTH = 2;

/** A line of no more points than this has a dot at each. */
const FEW = 30;

/** Of dots, where 2.5 does not suit the line. @type {Record<string, number>} */
const RADII = { track: 6, under: 4, over: 2 };

/** Pixels: between a level and the base line of its label; in less room the name of an upright is left out. */
const [LABEL_RISE, LEAST_NAME] = [5, 32];

/**
 * Puts the same number of points into each column. A column without a value is a gap.
 * @param {Point[]} points ascending
 * @param {number} columns at most
 * @returns {(Band & Point)[]} `value`: the median
 */
export function gather(points, columns) {
  const size = Math.max(1, Math.ceil(points.length / columns));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const own = points.slice(i * size, (i + 1) * size);
    const at = (own[0].at + own[own.length - 1].at) / 2;
    const values = own.flatMap(({ value }) => value ?? []).sort((a, b) => a - b);
    if (values.length === 0) return { at, low: null, high: null, value: null };
    return { at, low: values[0], high: values[values.length - 1], value: median(values) };
  });
}

/**
 * A path, and dots where points are few or stand alone between gaps. Where points share pixels, the area that they span, and a line
 * through their medians.
 * @param {Point[]} points ascending
 * @param {Look} look
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawLine(points, { style, mark }, yAxis, place) {
  const columns = gather(points, Math.max(1, Math.floor((place.right - place.left) / COLUMN_WIDTH)));
  const band = columns.length < points.length ? drawBand(columns, `area s${style}`, yAxis, place) : '';
  const x = (/** @type {Point} */ { at }) => place.x(at);
  const y = (/** @type {Point} */ { value }) => place.y(yAxis.at(Number(value)));
  const path = line(x, y).defined(({ value }) => value !== null)(columns);
  const isGap = (/** @type {number} */ i) => (columns[i]?.value ?? null) === null;
  const dots = columns.filter(
    (_, i) => !isGap(i) && (columns.length <= FEW || (isGap(i - 1) && isGap(i + 1))),
  );
  const dot = mark === 'track' ? `dot s${style} track` : `dot s${style}`;
  const radius = RADII[mark ?? ''] ?? 2.5;
  return [
    band,
    path === null ? '' : `<path class="${lineClass(style, mark)}" d="${path}"/>`,
    ...dots.map((point) => `<circle class="${dot}" cx="${x(point)}" cy="${y(point)}" r="${radius}"/>`),
  ].join('\n');
}

/**
 * @param {Band[]} bands @param {string} className @param {Axis} yAxis @param {Place} place
 * @returns {string} the area between low and high
 */
export function drawBand(bands, className, yAxis, place) {
  const y = (/** @type {number | null} */ value) => place.y(yAxis.at(Number(value)));
  const path = area(
    (/** @type {Band} */ { at }) => place.x(at),
    ({ low }) => y(low),
    ({ high }) => y(high),
  ).defined(({ low, high }) => low !== null && high !== null)(bands);
  return path === null ? '' : `<path class="${className}" d="${path}"/>`;
}

/** @param {number} style 1 to 6 @param {string} [mark] */
export function lineClass(style, mark) {
  return mark === undefined ? `line s${style}` : `line s${style} ${mark}`;
}

/**
 * Horizontal lines. A label stands at the right end, above its line, or as near to it as other labels allow.
 * @param {Level[]} levels
 * @param {Axis} yAxis
 * @param {Place} place
 */
export function drawLevels(levels, yAxis, { left, right, top, bottom, y: yOf }) {
  const placed = levels.map((level) => ({ ...level, y: yOf(yAxis.at(level.value)) }));
  const lines = placed.map(
    ({ style, mark, y }) =>
      `<line class="${lineClass(style, mark)}" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`,
  );
  const labelled = placed.filter(({ label }) => label !== undefined).sort((a, b) => a.y - b.y);
  let above = top - 5;
  const texts = labelled.map(({ label = '', y }, i) => {
    const lowest = bottom - LABEL_RISE - (labelled.length - 1 - i) * LINE_HEIGHT;
    above = Math.min(Math.max(y - LABEL_RISE, above + LINE_HEIGHT), lowest);
    return textAt({ x: right - 4, y: above, text: label, anchor: 'end', room: right - left - 8, halo: true });
  });
  return [...lines, ...texts].join('\n');
}

/** @param {readonly Upright[]} uprights ascending @param {Place} place */
export function drawUprights(uprights, { x: xOf, top, bottom }) {
  return uprights
    .map(({ name, at }, i) => {
      const x = xOf(Math.min(1, at));
      const room = xOf(Math.min(1, uprights[i + 1]?.at ?? 1)) - x - 8;
      const line = `<line class="upright" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`;
      if (room < LEAST_NAME) return line;
      return line + textAt({ x: x + 4, y: top + LINE_HEIGHT, text: name, room, halo: true });
    })
    .join('\n');
}
