/**
 * What every chart is drawn with: two SVGs, one for wide windows and one for phones, of which the style sheet shows the one
 * that keeps its text legible; axes, a grid and a line that marks what is read out.
 */
import { escapeHtml } from './escape.js';
import { ellipsize, textWidth } from './text-width.js';

/** @typedef {import('./axes.js').Axis} Axis */
/** @typedef {import('./axes.js').Tick} Tick */
/**
 * @typedef {object} Size
 * @property {'wide' | 'narrow'} name
 * @property {number} width of the whole
 * @property {number} height of the plot
 */
/**
 * @typedef {object} Place where the plot lies; its x and y take 0 to 1 along an axis
 * @property {number} left
 * @property {number} right
 * @property {number} top
 * @property {number} bottom
 * @property {(at: number) => number} x
 * @property {(at: number) => number} y
 */

/** Of all text in a chart. Shown at 0.9 to 1.3 times its size. */
export const FONT_SIZE = 13;

/** What a line of text takes, with a little air. */
export const LINE_HEIGHT = 20;

/** Between labels side by side. */
const LABEL_GAP = 12;

/** Above the plot: the title of the y axis. */
const HEAD = 38;

/** Below the plot: labels and title of the x axis. */
export const FOOT = 50;

/** @type {readonly Size[]} */
export const SIZES = [
  { name: 'wide', width: 640, height: 220 },
  { name: 'narrow', width: 340, height: 200 },
];

/**
 * @param {(size: Size) => string} draw
 * @returns {string} both SVGs
 */
export function inBothSizes(draw) {
  return SIZES.map((size) => draw(size)).join('\n');
}

/**
 * A chart with axes.
 *
 * @param {object} parts
 * @param {string} parts.id of the figure
 * @param {string} parts.title
 * @param {string} parts.summary
 * @param {Size} parts.size
 * @param {Axis} parts.xAxis
 * @param {Axis} parts.yAxis
 * @param {(place: Place) => string} parts.draw what is in the plot
 * @returns {string}
 */
export function frame({ id, title, summary, size, xAxis, yAxis, draw }) {
  const yTicks = yAxis.ticks(size.height, () => LINE_HEIGHT);
  const { left, right, ticks: xTicks } = layOutX(xAxis, 10 + widest(yTicks, 24), size.width);
  const place = makePlace({ left, right, top: HEAD, bottom: HEAD + size.height });
  const { top, bottom } = place;
  const content = [
    textAt({ x: 0, y: 16, text: yAxis.title, room: size.width }),
    ...yTicks.map(
      ({ at, label }) =>
        `<line class="grid" x1="${left}" x2="${right}" y1="${place.y(at)}" y2="${place.y(at)}"/>${textAt({ x: left - 8, y: round(place.y(at) + 4.5), text: label, anchor: 'end' })}`,
    ),
    xAxisMarks(xTicks, place),
    draw(place),
    `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    textAt({ x: right, y: bottom + 44, text: xAxis.title, anchor: 'end', room: right }),
    `<line class="cursor" x1="${left}" x2="${left}" y1="${top}" y2="${bottom}"/>`,
  ];
  return svgOf({ id, title, summary, size, height: bottom + FOOT, place, content: content.join('\n') });
}

/**
 * The plot begins and ends where half of the widest label still has room beside it.
 *
 * @param {Axis} axis
 * @param {number} least where the plot may begin
 * @param {number} width of the whole
 * @returns {{left: number, right: number, ticks: Tick[]}}
 */
export function layOutX(axis, least, width) {
  const room = (/** @type {string} */ label) => textWidth(label, FONT_SIZE) + LABEL_GAP;
  const halfOf = (/** @type {Tick[]} */ ticks) => Math.ceil(widest(ticks, 0) / 2) + 3;
  let half = halfOf(axis.ticks(width - least - 20, room));
  for (;;) {
    const [left, right] = [Math.max(least, half), width - Math.max(16, half)];
    const ticks = axis.ticks(right - left, room);
    // With less room other labels may be chosen, and wider ones.
    if (halfOf(ticks) <= half) return { left, right, ticks };
    half = halfOf(ticks);
  }
}

/**
 * @param {Tick[]} ticks
 * @param {Place} place
 */
export function xAxisMarks(ticks, { x, bottom }) {
  return ticks
    .map(
      ({ at, label }) =>
        `<line class="axis" x1="${x(at)}" x2="${x(at)}" y1="${bottom}" y2="${bottom + (label === '' ? 3 : 5)}"/>${textAt({ x: x(at), y: bottom + 23, text: label, anchor: 'middle' })}`,
    )
    .join('\n');
}

/**
 * @param {{left: number, right: number, top: number, bottom: number}} box
 * @returns {Place}
 */
export function makePlace({ left, right, top, bottom }) {
  return {
    left,
    right,
    top,
    bottom,
    x: (at) => round(left + at * (right - left)),
    y: (at) => round(bottom - at * (bottom - top)),
  };
}

/**
 * @param {object} parts
 * @param {string} parts.id of the figure
 * @param {string} parts.title
 * @param {string} parts.summary
 * @param {Size} parts.size
 * @param {number} parts.height of the whole
 * @param {Place} parts.place
 * @param {string} parts.content
 */
export function svgOf({ id, title, summary, size, height, place, content }) {
  const own = escapeHtml(`${id}-${size.name}`);
  return `<svg class="chart ${size.name}" viewBox="0 0 ${size.width} ${height}" font-size="${FONT_SIZE}" role="img" aria-labelledby="${own}-title" aria-describedby="${own}-desc" data-left="${place.left}" data-right="${place.right}">
<title id="${own}-title">${escapeHtml(title)}</title>
<desc id="${own}-desc">${escapeHtml(summary)}</desc>
${content}
</svg>`;
}

/**
 * @param {object} parts
 * @param {number} parts.x
 * @param {number} parts.y of the base line
 * @param {string} parts.text
 * @param {'start' | 'middle' | 'end'} [parts.anchor]
 * @param {number} [parts.room] cut to so much width; the whole is then its tooltip
 * @param {boolean} [parts.halo] it stands among lines
 */
export function textAt({ x, y, text, anchor = 'start', room = Number.POSITIVE_INFINITY, halo = false }) {
  if (text === '') return '';
  const shown = ellipsize(text, room, FONT_SIZE);
  const whole = shown === text ? '' : `<title>${escapeHtml(text)}</title>`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${halo ? ' class="halo"' : ''}>${escapeHtml(shown)}${whole}</text>`;
}

/** @param {number} value @returns {number} in tenths of a pixel */
export function round(value) {
  return Math.round(value * 10) / 10;
}

/** @param {Tick[]} ticks @param {number} least */
function widest(ticks, least) {
  return Math.ceil(Math.max(least, ...ticks.map(({ label }) => textWidth(label, FONT_SIZE))));
}
