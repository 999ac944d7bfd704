/** Axes and grid of a chart. Each width has its own drawing, so that text stays legible; the style sheet shows one. */
import { escapeHtml } from '../html/escape.js';

/** @import { Axis, Tick } from './axes.js' */

/** @typedef {{name: 'full' | 'wide' | 'narrow', width: number, height: number}} Size width of the SVG, height of the plot */
/** @typedef {{id: string, title: string, sizes: readonly Size[]}} Setting `id` of the figure, unique in the page */
/** @typedef {ReturnType<typeof makePlot>} Plot */
/** @typedef {Pick<Axis, 'title' | 'at'> & {ticks: (length: number, widthOf: (label: string) => number) => Tick[]}} Rows a y axis */

/** Font size of all text in a chart; browsers scale it by 0.85 to 1.3. */
const FONT_SIZE = 13;

/** Height of a line of text, in pixels. */
export const LINE_HEIGHT = 20;

/** Pixels between adjacent labels, and between the plot and the edges of the chart. */
const [LABEL_GAP, EDGE] = [12, 26];

/** Pixels above the plot, with and without a y-axis title; below it, with and without an x-axis title. */
const HEAD = { titled: 34, bare: 8 };
const FOOT = { titled: 48, bare: 30 };

/** Share of the width that labels of the y axis may take. */
const MAX_LABEL_SHARE = 0.3;

/** @type {readonly Size[]} */
export const SIZES = [
  { name: 'wide', width: 640, height: 220 },
  { name: 'narrow', width: 340, height: 200 },
];

/** Sizes of the main chart, which spans the whole page. @type {readonly Size[]} */
export const MAIN_SIZES = [{ name: 'full', width: 1240, height: 210 }, ...SIZES];

/**
 * A chart with axes, in each size. `draw` fills the plot; `hasXGrid`: the grid is that of the x axis.
 * @param {Setting & {summary: string, xAxis: Axis, yAxis: Rows, draw: (plot: Plot) => string, hasXGrid?: boolean}} parts
 */
export const frames = (parts) => parts.sizes.map((size) => frame(parts, size)).join('\n');

/** @param {Parameters<typeof frames>[0]} parts @param {Size} size */
function frame({ id, title, summary, xAxis, yAxis, draw, hasXGrid = false }, { name, width, height }) {
  const yTicks = yAxis.ticks(height, () => LINE_HEIGHT);
  const labels = Math.min(Math.max(...yTicks.map(({ label }) => textWidth(label))), width * MAX_LABEL_SHARE);
  const [left, right] = [Math.max(EDGE, Math.ceil(10 + labels)), width - EDGE];
  const xTicks = xAxis.ticks(right - left, (label) => textWidth(label) + LABEL_GAP, [left, EDGE]);
  const top = yAxis.title === '' ? HEAD.bare : HEAD.titled;
  const bottom = top + height;
  const xAt = (/** @type {Tick} */ { at }) => round(left + at * (right - left));
  const yAt = (/** @type {Tick} */ { at }) => round(bottom - at * height);
  const content = [
    textAt({ x: 0, y: 14, text: yAxis.title, room: width }),
    ...(hasXGrid
      ? xTicks.map((tick) => line('grid', xAt(tick), xAt(tick), top, bottom))
      : yTicks.map((tick) => line('grid', left, right, yAt(tick), yAt(tick)))),
    ...yTicks.map((tick) =>
      textAt({ x: left - 8, y: round(yAt(tick) + 4.5), text: tick.label, anchor: 'end', room: left - 10 }),
    ),
    ...xTicks.flatMap((tick) => [
      line('axis', xAt(tick), xAt(tick), bottom, bottom + 5),
      textAt({ x: round(left + tick.middle), y: bottom + 22, text: tick.label, anchor: 'middle' }),
    ]),
    draw(makePlot({ left, right, top, bottom }, xAxis, yAxis)),
    line('axis', left, right, bottom, bottom),
    textAt({ x: right, y: bottom + 43, text: xAxis.title, anchor: 'end', room: right }),
  ];
  const totalHeight = bottom + (xAxis.title === '' ? FOOT.bare : FOOT.titled);
  const descriptionId = escapeHtml(`${id}-${name}`);
  const described = `role="img" aria-label="${escapeHtml(title)}" aria-describedby="${descriptionId}"`;
  return `<svg class="chart ${name}" viewBox="0 0 ${width} ${totalHeight}" font-size="${FONT_SIZE}" ${described}>
<desc id="${descriptionId}">${escapeHtml(summary)}</desc>
${content.join('\n')}
</svg>`;
}

/** @param {string} className @param {number} x1 @param {number} x2 @param {number} y1 @param {number} y2 */
export function line(className, x1, x2, y1, y2) {
  return `<line class="${className}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
}

/** @param {{left: number, right: number, top: number, bottom: number}} box pixels @param {Rows} xAxis @param {Rows} yAxis */
export function makePlot({ left, right, top, bottom }, xAxis, yAxis) {
  const x = (/** @type {number} */ value) => round(left + xAxis.at(value) * (right - left));
  const y = (/** @type {number} */ value) => round(bottom - yAxis.at(value) * (bottom - top));
  return { left, right, top, bottom, x, y };
}

/**
 * Text truncated to `room`, with the full text as its tooltip; `y`: baseline; a halo separates it from lines.
 * @param {{x: number, y: number, text: string, anchor?: 'start' | 'middle' | 'end', room?: number, hasHalo?: boolean}} parts
 */
export function textAt({ x, y, text, anchor = 'start', room = Number.POSITIVE_INFINITY, hasHalo = false }) {
  if (text === '') return '';
  const shown = ellipsize(text, room);
  const whole = shown === text ? '' : `<title>${escapeHtml(text)}</title>`;
  const halo = hasHalo ? ' class="halo"' : '';
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${halo}>${escapeHtml(shown)}${whole}</text>`;
}

/** @param {number} value @returns {number} to a tenth of a pixel */
export const round = (value) => Math.round(value * 10) / 10;

const NARROW = /[ijlftrI|.,:;'()[\]/\\ "!-]/;
const MEDIUM = /[0-9a-z_µ{}–]/;
const WIDE = /[\u0020-\u024f…—]/;

/** @param {string} text @returns {number} pixels: at least the width in common fonts */
export function textWidth(text) {
  const ems = [...text].map((character) => {
    if (NARROW.test(character)) return 0.46;
    if (/[mw]/.test(character)) return 1;
    if (MEDIUM.test(character)) return 0.65;
    return WIDE.test(character) ? 1 : 1.4;
  });
  return ems.reduce((sum, em) => sum + em, 0) * FONT_SIZE;
}

/** @param {string} text @param {number} room pixels @returns {string} the text, or its beginning with an ellipsis */
export function ellipsize(text, room) {
  if (textWidth(text) <= room) return text;
  let kept = '';
  for (const character of text) {
    if (textWidth(`${kept}${character}…`) > room) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
