/** A report as a bar chart: an SVG that stands alone, in a dark or a light page. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { ellipsize, textWidth } from '../../src/report/charts/frame.js';
import { escapeHtml } from '../../src/report/html/escape.js';
import { figure } from './table.js';

/** @import { SavedReport } from './table.js' */

/** Pixels. */
const [WIDTH, BAR, GAP, VALUE_WIDTH, HEAD] = [720, 16, 6, 70, 26];
/** Of the width, for the labels. */
const MAX_LABEL_SHARE = 0.45;

const STYLE = `text{font:13px system-ui,sans-serif;fill:#222}
.bar{fill:#9aa3ad}.ours{fill:#1f6feb}
@media(prefers-color-scheme:dark){text{fill:#ddd}.bar{fill:#6e7681}.ours{fill:#58a6ff}}`;

/** @typedef {{label: string, value: number, text: string}} Bar */

/** @param {SavedReport} report @returns {string} */
export function renderChart(report) {
  const { column, unit, isLog = false } = report.chart;
  const bars = barsOf(report);
  const values = bars.map(({ value }) => value);
  const highest = Math.max(...values, Number.MIN_VALUE);
  const labelRoom = WIDTH * MAX_LABEL_SHARE;
  const labelWidth = Math.min(
    Math.ceil(Math.max(0, ...bars.map(({ label }) => textWidth(label)))) + 10,
    labelRoom,
  );
  const lowest = Math.min(...values.filter((value) => value > 0));
  const scale = isLog ? scaleLog([lowest / 2, highest], [0, 1]) : scaleLinear([0, highest], [0, 1]);
  const room = WIDTH - labelWidth - VALUE_WIDTH;
  const lines = bars.map(({ label, value, text }, i) => {
    const y = HEAD + i * (BAR + GAP);
    const width = Math.round(room * (value > 0 ? scale(value) : 0));
    const className = isOurs(label) || !bars.some((bar) => isOurs(bar.label)) ? 'bar ours' : 'bar';
    const at = (/** @type {number} */ x, /** @type {string} */ anchor, /** @type {string} */ words) =>
      `<text x="${x}" y="${y + BAR - 3}" text-anchor="${anchor}">${escapeHtml(words)}</text>`;
    return [
      at(labelWidth - 8, 'end', ellipsize(label, labelWidth - 10)),
      `<rect class="${className}" x="${labelWidth}" y="${y}" width="${width}" height="${BAR}"/>`,
      at(labelWidth + width + 6, 'start', text),
    ].join('');
  });
  const height = HEAD + bars.length * (BAR + GAP);
  const title = escapeHtml(
    `${column}${unit === undefined ? '' : `, ${unit}`}${isLog ? ' (logarithmic)' : ''}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${title}">
<style>${STYLE}</style>
<text x="${labelWidth}" y="15">${title}</text>
${lines.join('\n')}
</svg>
`;
}

const isOurs = (/** @type {string} */ label) => /\bours\b/.test(label);

/** @param {SavedReport} report @returns {Bar[]} */
function barsOf({ columns, rows, chart: { column, named, bars } }) {
  if (bars !== undefined) return bars.map((bar) => ({ ...bar, text: figure(bar.value) }));
  const at = columns.indexOf(column);
  return rows.flatMap((row) => {
    const text = figure(row[at]);
    const value = Number(text.replace(/,| %$/g, ''));
    const label = row
      .slice(0, named)
      .map((cell, i) => (columns[i] === 'rate/s' ? `${figure(cell)}/s` : figure(cell)));
    return text === '' || Number.isNaN(value) ? [] : [{ label: label.join(', '), value, text }];
  });
}
