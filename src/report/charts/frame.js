/**
 * The frame of a chart: axes, grid, and the cursor of the script. A chart is drawn once for each width, so that its text
 * stays legible; the style sheet shows one of them.
 */
import { escapeHtml } from '../html/escape.js';

/** @import { Axis, Tick } from './axes.js' */

/**
 * @typedef {object} Size
 * @property {'full' | 'wide' | 'narrow'} name
 * @property {number} width of the SVG
 * @property {number} height of the plot
 */
/** @typedef {{id: string, title: string, sizes: readonly Size[]}} Setting `id` of the figure, unique in the page */
/**
 * @typedef {object} Place the plot; x and y take 0 to 1 along an axis
 * @property {number} left
 * @property {number} right
 * @property {number} top
 * @property {number} bottom
 * @property {(at: number) => number} x
 * @property {(at: number) => number} y
 */

/** Of all text in a chart. Browsers show it at 0.85 to 1.3 times its size. */
const FONT_SIZE = 13;

/** Of a line of text. */
export const LINE_HEIGHT = 20;

/** Between labels side by side. */
const LABEL_GAP = 12;

/** Above the plot, with a title of the y axis and without; below it, with a title of the x axis and without. */
const HEAD = { titled: 34, bare: 8 };
const FOOT = { titled: 48, bare: 30 };

/** Share of the width that labels of the y axis may take. */
const WIDEST_LABELS = 0.3;

/** @type {readonly Size[]} */
export const SIZES = Object.freeze([
  Object.freeze({ name: 'wide', width: 640, height: 220 }),
  Object.freeze({ name: 'narrow', width: 340, height: 200 }),
]);

/** Of the main chart, which has the whole width of the page. @type {readonly Size[]} */
export const MAIN_SIZES = Object.freeze([
  Object.freeze({ name: 'full', width: 1240, height: 210 }),
  ...SIZES,
]);

/**
 * A chart with axes, in each size.
 *
 * @param {Setting & {summary: string, xAxis: Axis, yAxis: Axis, draw: (place: Place) => string, isUpright?: boolean}} parts `draw`
 *   fills the plot; `isUpright`: the grid is of the x axis
 */
export function frames(parts) {
  return parts.sizes.map((size) => frame(parts, size)).join('\n');
}

/** @param {Parameters<typeof frames>[0]} parts @param {Size} size */
function frame({ id, title, summary, xAxis, yAxis, draw, isUpright = false }, size) {
  const yTicks = yAxis.ticks(size.height, () => LINE_HEIGHT);
  const room = Math.min(widest(yTicks, 24), Math.floor(size.width * WIDEST_LABELS));
  const { left, right, ticks: xTicks } = layOutX(xAxis, 10 + room, size.width);
  const top = yAxis.title === '' ? HEAD.bare : HEAD.titled;
  const place = makePlace({ left, right, top, bottom: top + size.height });
  const { bottom, x, y } = place;
  const grid = isUpright
    ? xTicks.map(({ at }) => `<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${bottom}"/>`)
    : yTicks.map(({ at }) => `<line class="grid" x1="${left}" x2="${right}" y1="${y(at)}" y2="${y(at)}"/>`);
  const content = [
    textAt({ x: 0, y: 14, text: yAxis.title, room: size.width }),
    ...grid,
    ...yTicks.map(({ at, label }) =>
      textAt({ x: left - 8, y: round(y(at) + 4.5), text: label, anchor: 'end', room: left - 10 }),
    ),
    xAxisMarks(xTicks, place),
    draw(place),
    `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    textAt({ x: right, y: bottom + 43, text: xAxis.title, anchor: 'end', room: right }),
    `<line class="cursor" x1="${left}" x2="${left}" y1="${top}" y2="${bottom}"/>`,
  ];
  const height = bottom + (xAxis.title === '' ? FOOT.bare : FOOT.titled);
  const own = escapeHtml(`${id}-${size.name}`);
  return `<svg class="chart ${size.name}" viewBox="0 0 ${size.width} ${height}" font-size="${FONT_SIZE}" role="img" aria-labelledby="${own}-title" aria-describedby="${own}-desc" data-left="${left}" data-right="${right}">
<title id="${own}-title">${escapeHtml(title)}</title>
<desc id="${own}-desc">${escapeHtml(summary)}</desc>
${content.join('\n')}
</svg>`;
}

/**
 * Both ends of the plot leave room for half of the widest label.
 *
 * @param {Axis} axis
 * @param {number} least x of the plot's start
 * @param {number} width of the SVG
 * @returns {{left: number, right: number, ticks: Tick[]}}
 */
function layOutX(axis, least, width) {
  const room = (/** @type {string} */ label) => textWidth(label, FONT_SIZE) + LABEL_GAP;
  const halfOf = (/** @type {Tick[]} */ ticks) => Math.ceil(widest(ticks, 0) / 2) + 3;
  let half = halfOf(axis.ticks(width - least - 20, room));
  for (;;) {
    const [left, right] = [Math.max(least, half), width - Math.max(16, half)];
    const ticks = axis.ticks(right - left, room);
    // A shorter axis may choose other labels, and wider ones.
    if (halfOf(ticks) <= half) return { left, right, ticks };
    half = halfOf(ticks);
  }
}

/** @param {Tick[]} ticks @param {Place} place */
function xAxisMarks(ticks, { x, bottom }) {
  return ticks
    .map(
      ({ at, label }) =>
        `<line class="axis" x1="${x(at)}" x2="${x(at)}" y1="${bottom}" y2="${bottom + (label === '' ? 3 : 5)}"/>${textAt({ x: x(at), y: bottom + 22, text: label, anchor: 'middle' })}`,
    )
    .join('\n');
}

/** @param {{left: number, right: number, top: number, bottom: number}} box @returns {Place} */
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
 * @param {number} parts.x
 * @param {number} parts.y of the base line
 * @param {string} parts.text
 * @param {'start' | 'middle' | 'end'} [parts.anchor]
 * @param {number} [parts.room] cut to this width; the tooltip has the whole text
 * @param {boolean} [parts.halo] set apart from the lines behind it
 */
export function textAt({ x, y, text, anchor = 'start', room = Number.POSITIVE_INFINITY, halo = false }) {
  if (text === '') return '';
  const shown = ellipsize(text, room, FONT_SIZE);
  const whole = shown === text ? '' : `<title>${escapeHtml(text)}</title>`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${halo ? ' class="halo"' : ''}>${escapeHtml(shown)}${whole}</text>`;
}

/** @param {number} value @returns {number} to a tenth of a pixel */
export function round(value) {
  return Math.round(value * 10) / 10;
}

/** @param {Tick[]} ticks @param {number} least */
function widest(ticks, least) {
  return Math.ceil(Math.max(least, ...ticks.map(({ label }) => textWidth(label, FONT_SIZE))));
}

/** In ems; the first match counts. @type {[RegExp, number][]} */
const WIDTHS = [
  [/[ijlI|.,:;']/, 0.36],
  [/[ftr()[\]/\\ "!-]/, 0.46],
  [/[0-9]/, 0.64],
  [/[mwMW@%…—]/, 1],
  [/[a-z_µ{}–]/, 0.65],
  [/[A-Z&<>=+~^#?*$]/, 0.84],
  [/[\u00c0-\u024f]/, 1.1],
];

/** Any other character: other scripts, emoji. */
const WIDE = 1.4;

/** @param {string} text @param {number} size of the font @returns {number} in the unit of `size` */
export function textWidth(text, size) {
  let ems = 0;
  for (const character of text) {
    ems += WIDTHS.find(([pattern]) => pattern.test(character))?.[1] ?? WIDE;
  }
  return ems * size;
}

/**
 * @param {string} text
 * @param {number} room in the unit of `size`
 * @param {number} size of the font
 * @returns {string} the text, or its beginning with an ellipsis
 */
export function ellipsize(text, room, size) {
  if (textWidth(text, size) <= room) return text;
  let kept = '';
  for (const character of text) {
    if (textWidth(`${kept}${character}…`, size) > room) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
