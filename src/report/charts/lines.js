/** Marks of a chart: lines, limits, names, tooltips. */
import { line as path } from 'd3-shape';
import { escapeHtml } from '../html/escape.js';
import { LINE_HEIGHT, line, round, textAt } from './frame.js';

/** @import { Plot } from './frame.js' */

/** @typedef {{x: number, value: number | null}} Point null: a gap */
/** @typedef {{style: number, mark?: string}} LineStyle `style`: colour 1 to 6; `mark`: class of the line; see the style sheet */
/** @typedef {LineStyle & {name: string, value: number}} HorizontalLine a horizontal line, e.g. a limit */
/** @typedef {{name: string, x: number}} VerticalLine a vertical line with a name */

/** Lines of at most this many points have dots. */
const FEW = 30;

/** Radii of dots, by class of the line. @type {Record<string, number>} */
const RADII = { track: 6, under: 4, over: 2 };

/** Limits beyond this multiple of the measured range would flatten the lines. */
const [MAX_LIMITS, LIMIT_REACH] = [3, 3];

/** Min pixels for the name of a vertical line. */
const MIN_NAME = 32;

/** A path, with dots where points are few or alone. @param {Point[]} points @param {LineStyle} lineStyle @param {Plot} plot */
export function drawLine(points, { style, mark }, plot) {
  const x = (/** @type {Point} */ point) => plot.x(point.x);
  const y = (/** @type {Point} */ { value }) => plot.y(Number(value));
  const d = path(x, y).defined(({ value }) => value !== null)(points);
  const isGap = (/** @type {number} */ i) => (points[i]?.value ?? null) === null;
  const isAlone = (/** @type {number} */ i) => isGap(i - 1) && isGap(i + 1);
  const dots = points.filter((_, i) => !isGap(i) && (points.length <= FEW || isAlone(i)));
  const dot = mark === 'track' ? `dot s${style} track` : `dot s${style}`;
  const radius = RADII[mark ?? ''] ?? 2.5;
  return [
    d === null ? '' : `<path class="${lineClass({ style, mark })}" d="${d}"/>`,
    ...dots.map((point) => `<circle class="${dot}" cx="${x(point)}" cy="${y(point)}" r="${radius}"/>`),
  ].join('\n');
}

/** @param {Point[]} points @param {LineStyle} lineStyle @param {Plot} plot @returns {string} a bar for each point above zero, at least a pixel high */
export function drawBars(points, lineStyle, { left, right, bottom, x, y }) {
  const bars = points.map((point) =>
    point.value ? `M${x(point.x)} ${bottom}V${Math.min(y(point.value), bottom - 1)}` : '',
  );
  const width = round((0.9 * (right - left)) / points.length);
  return `<path class="${lineClass(lineStyle)}" stroke-width="${width}" d="${bars.join('')}"/>`;
}

/** @param {LineStyle} lineStyle */
export function lineClass({ style, mark }) {
  if (mark === 'stacked') return `stacked s${style}`;
  return mark === undefined ? `line s${style}` : `line s${style} ${mark}`;
}

/** @param {(LineStyle & {text: string, value: number})[]} limits @param {[number, number]} measured lowest and highest */
export function limitsNear(limits, [low, high]) {
  return limits
    .filter(({ value }) => value > 0 && value >= low / LIMIT_REACH && value <= high * LIMIT_REACH)
    .slice(0, MAX_LIMITS)
    .map(({ text, ...limit }) => ({ ...limit, mark: 'limit', name: `limit: ${text}` }));
}

/** Horizontal lines; the legend has their names. @param {readonly HorizontalLine[]} horizontalLines @param {Plot} plot */
export function drawHorizontalLines(horizontalLines, { left, right, y: yOf }) {
  return horizontalLines
    .map((one) => line(lineClass(one), left, right, yOf(one.value), yOf(one.value)))
    .join('\n');
}

/** @param {readonly VerticalLine[]} verticalLines ascending @param {Plot} plot */
export function drawVerticalLines(verticalLines, { x: xOf, right, top, bottom }) {
  const places = verticalLines.map(({ x }) => Math.min(right, xOf(x)));
  return verticalLines
    .map(({ name }, i) => {
      const x = places[i];
      const room = (places[i + 1] ?? right) - x - 8;
      const rule = line('vertical', x, x, top, bottom);
      if (room < MIN_NAME) return rule;
      return rule + textAt({ x: x + 4, y: top + LINE_HEIGHT, text: name, room, hasHalo: true });
    })
    .join('\n');
}

/** Narrower plots are for phones, which have no pointer. */
const MIN_FOR_TOOLTIPS = 400;

/** Columns highlighted under the pointer. @param {{x: number, text: string}[]} tooltips ascending @param {Plot} plot */
export function drawTooltips(tooltips, { x: xOf, left, right, top, bottom }) {
  if (right - left < MIN_FOR_TOOLTIPS) return '';
  const places = tooltips.map(({ x }) => xOf(x));
  const ends = places.map((x, i) => (i === places.length - 1 ? right : round((x + places[i + 1]) / 2)));
  const columns = tooltips.map(({ text }, i) => {
    const start = ends[i - 1] ?? left;
    return `<path class="column" d="M${start} ${top}H${ends[i]}V${bottom}H${start}Z"><title>${escapeHtml(text)}</title></path>`;
  });
  return columns.join('\n');
}
