/** Marks of a chart: lines, bands, limits, names. Points that share a pixel column become an area; a missing value is a gap. */
import { area, line as path } from 'd3-shape';
import { median } from '../../common/sums.js';
import { LINE_HEIGHT, line, textAt } from './frame.js';

/** @import { Place } from './frame.js' */

/** @typedef {{x: number, value: number | null}} Point */
/** @typedef {{x: number, low: number | null, high: number | null}} Band null: a gap */
/** @typedef {{style: number, mark?: string}} Look a colour, 1 to 6, and a class of lines, both of the style sheet */
/** @typedef {Look & {name: string, value: number}} Level a horizontal line, e.g. a limit */
/** @typedef {{name: string, x: number}} Upright a vertical line with a name */

/** Pixels. */
const COLUMN_WIDTH = 2;

/** A line of no more points than this has a dot at each. */
const FEW = 30;

/** Of dots on broad and narrow lines. @type {Record<string, number>} */
const RADII = { track: 6, under: 4, over: 2 };

/** Limits beyond this multiple of the measured range would flatten the lines. */
const [MOST_LIMITS, LIMIT_REACH] = [3, 3];

/** Pixels: in less room the name of an upright is left out. */
const LEAST_NAME = 32;

/**
 * Puts the same number of points into each column. A column without a value is a gap.
 * @param {Point[]} points ascending @param {number} columns at most
 * @returns {(Band & Point)[]} `value`: the median
 */
export function gather(points, columns) {
  const size = Math.max(1, Math.ceil(points.length / columns));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const own = points.slice(i * size, (i + 1) * size);
    const x = (own[0].x + own[own.length - 1].x) / 2;
    const values = own.flatMap(({ value }) => value ?? []).sort((a, b) => a - b);
    if (values.length === 0) return { x, low: null, high: null, value: null };
    return { x, low: values[0], high: values[values.length - 1], value: median(values) };
  });
}

/**
 * A path, with dots where points are few or stand alone between gaps. Points that share pixels become the area
 * that they span, and a line through their medians.
 * @param {Point[]} points ascending @param {Look} look @param {Place} place
 */
export function drawLine(points, { style, mark }, place) {
  const columns = gather(points, Math.max(1, Math.floor((place.right - place.left) / COLUMN_WIDTH)));
  const x = (/** @type {Point} */ point) => place.x(point.x);
  const y = (/** @type {Point} */ { value }) => place.y(Number(value));
  const d = path(x, y).defined(({ value }) => value !== null)(columns);
  const isGap = (/** @type {number} */ i) => (columns[i]?.value ?? null) === null;
  const isAlone = (/** @type {number} */ i) => isGap(i - 1) && isGap(i + 1);
  const dots = columns.filter((_, i) => !isGap(i) && (columns.length <= FEW || isAlone(i)));
  const dot = mark === 'track' ? `dot s${style} track` : `dot s${style}`;
  const radius = RADII[mark ?? ''] ?? 2.5;
  return [
    columns.length < points.length ? drawBand(columns, `area s${style}`, place) : '',
    d === null ? '' : `<path class="${lineClass({ style, mark })}" d="${d}"/>`,
    ...dots.map((point) => `<circle class="${dot}" cx="${x(point)}" cy="${y(point)}" r="${radius}"/>`),
  ].join('\n');
}

/** @param {Band[]} bands @param {string} className @param {Place} place @returns {string} the area between low and high */
export function drawBand(bands, className, place) {
  const d = area(
    (/** @type {Band} */ { x }) => place.x(x),
    ({ low }) => place.y(Number(low)),
    ({ high }) => place.y(Number(high)),
  ).defined(({ low, high }) => low !== null && high !== null)(bands);
  return d === null ? '' : `<path class="${className}" d="${d}"/>`;
}

/** @param {Look} look */
export function lineClass({ style, mark }) {
  return mark === undefined ? `line s${style}` : `line s${style} ${mark}`;
}

/**
 * @param {(Look & {text: string, value: number})[]} limits @param {[number, number]} measured lowest and highest
 * @returns {Level[]} the first few of those near the measured range
 */
export function limitsNear(limits, [low, high]) {
  return limits
    .filter(({ value }) => value > 0 && value >= low / LIMIT_REACH && value <= high * LIMIT_REACH)
    .slice(0, MOST_LIMITS)
    .map(({ text, ...limit }) => ({ ...limit, mark: 'limit', name: `limit: ${text}` }));
}

/** Horizontal lines; the legend has their names. @param {readonly Level[]} levels @param {Place} place */
export function drawLevels(levels, { left, right, y: yOf }) {
  return levels
    .map((level) => line(lineClass(level), left, right, yOf(level.value), yOf(level.value)))
    .join('\n');
}

/** @param {readonly Upright[]} uprights ascending @param {Place} place */
export function drawUprights(uprights, { x: xOf, right, top, bottom }) {
  const places = uprights.map(({ x }) => Math.min(right, xOf(x)));
  return uprights
    .map(({ name }, i) => {
      const x = places[i];
      const room = (places[i + 1] ?? right) - x - 8;
      const upright = line('upright', x, x, top, bottom);
      if (room < LEAST_NAME) return upright;
      return upright + textAt({ x: x + 4, y: top + LINE_HEIGHT, text: name, room, hasHalo: true });
    })
    .join('\n');
}
