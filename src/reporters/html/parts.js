/**
 * What pages are made of. Arguments called `html`, `svg` or ending in `Html` are markup and go in as they are; all others
 * are text and are escaped here.
 */
import { breakable, escapeHtml } from './escape.js';
import { lineClass } from './lines.js';

/** @typedef {string | {html: string}} Cell text, or markup that is safe already */
/** @typedef {string | {label: string, numeric?: boolean}} Column numeric ones stand to the right */
/** @typedef {{name: string, style: number, mark?: string, shape?: 'line' | 'box', value?: string}} LegendEntry `style` is 1 to 6 */

/** What a verdict is worth, by its text; any other is neutral. @type {Record<string, 'good' | 'unsure' | 'bad'>} */
const WORTH = {
  met: 'good',
  valid: 'good',
  faster: 'good',
  better: 'good',
  best: 'good',
  passed: 'good',
  'not proven': 'unsure',
  suspect: 'unsure',
  'not enough runs': 'unsure',
  'not comparable': 'unsure',
  'not met': 'bad',
  invalid: 'bad',
  slower: 'bad',
  worse: 'bad',
  failed: 'bad',
};

/** Characters: longer texts in tables break into several lines. */
const LONG_CELL = 16;

const SIGNS = { good: '✓', unsure: '?', bad: '✕' };

/**
 * @param {string} title
 * @param {string} html
 */
export function section(title, html) {
  return `<section>\n<h2>${breakable(title)}</h2>\n${html}\n</section>`;
}

/**
 * @param {string} text
 * @param {string} [className]
 */
export function paragraph(text, className) {
  return `<p${className === undefined ? '' : ` class="${escapeHtml(className)}"`}>${escapeHtml(text)}</p>`;
}

/**
 * Colour, sign and word say the same.
 *
 * @param {string} text e.g. `met`, `suspect`, `slower`
 */
export function verdictBadge(text) {
  const worth = Object.hasOwn(WORTH, text) ? WORTH[text] : undefined;
  const sign = worth === undefined ? '' : `<span aria-hidden="true">${SIGNS[worth]}</span> `;
  return `<strong class="badge ${worth ?? 'neutral'}">${sign}${escapeHtml(text)}</strong>`;
}

/**
 * The first cell of a row is its heading. Too wide a table scrolls below its caption, by keyboard too.
 *
 * @param {object} parts
 * @param {string} parts.caption
 * @param {Column[]} parts.columns
 * @param {Cell[][]} parts.rows
 */
export function table({ caption, columns, rows }) {
  const kinds = columns.map((column) =>
    typeof column !== 'string' && column.numeric === true ? ' class="number"' : '',
  );
  const heads = columns.map((column, i) => {
    const label = typeof column === 'string' ? column : column.label;
    return `<th scope="col"${kinds[i]}>${breakable(label)}</th>`;
  });
  const lines = rows.map((cells) => {
    const [first, ...others] = cells;
    const rest = others.map((content, i) => `<td${kinds[i + 1] || longClass(content)}>${cell(content)}</td>`);
    return `<tr><th scope="row"${longClass(first)}>${cell(first)}</th>${rest.join('')}</tr>`;
  });
  return `<div class="table">
<p class="caption">${escapeHtml(caption)}</p>
<div class="scroll" role="group" tabindex="0" aria-label="${escapeHtml(`Table: ${caption}`)}">
<table aria-label="${escapeHtml(caption)}">
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
</div>
</div>`;
}

/** @param {Cell} content */
function cell(content) {
  return typeof content === 'string' ? breakable(content) : content.html;
}

/** @param {Cell} content @returns {string} of text that takes room of its own, lest it be a column a word wide */
function longClass(content) {
  return typeof content === 'string' && content.length > LONG_CELL ? ' class="long"' : '';
}

/**
 * A chart with its title, what it says in a sentence, its legend and its data.
 *
 * @param {object} parts
 * @param {string} parts.id of the figure, unique in the page: letters, digits, hyphens
 * @param {string} parts.title
 * @param {string} parts.svg one SVG, or one for each width
 * @param {string} parts.summary a sentence or two: what is to be seen
 * @param {string} parts.tableHtml the data
 * @param {LegendEntry[]} [parts.legend]
 */
export function figure({ id, title, svg, summary, tableHtml, legend = [] }) {
  return `<figure id="${escapeHtml(id)}">
<figcaption>
<h3>${escapeHtml(title)}</h3>
<p>${escapeHtml(summary)}</p>
</figcaption>
<div class="plot">${svg}</div>
${legendHtml(legend)}
${details(`Data: ${title}`, tableHtml)}
</figure>`;
}

/**
 * Where there is nothing to draw.
 *
 * @param {{id: string, title: string, summary: string}} parts
 */
export function emptyFigure({ id, title, summary }) {
  return `<div class="figure" id="${escapeHtml(id)}">
<h3>${escapeHtml(title)}</h3>
<p>${escapeHtml(summary)}</p>
</div>`;
}

/** @param {LegendEntry[]} entries */
function legendHtml(entries) {
  if (entries.length === 0) return '';
  const items = entries.map(({ name, style, mark: kind, shape = 'line', value = '' }) => {
    const mark =
      shape === 'line'
        ? `<line class="${lineClass(style, kind)}" x1="0" y1="6" x2="24" y2="6"/>`
        : `<rect class="fill s${style}" x="6" y="0" width="12" height="12"/>`;
    const swatch = `<svg class="swatch" viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">${mark}</svg>`;
    return `<li>${swatch} <span class="name">${escapeHtml(name)}</span> <span class="value">${escapeHtml(value)}</span></li>`;
  });
  return `<ul class="legend">\n${items.join('\n')}\n</ul>`;
}

/**
 * @param {string} summary
 * @param {string} html
 */
export function details(summary, html) {
  return `<details>\n<summary>${escapeHtml(summary)}</summary>\n${html}\n</details>`;
}

/**
 * @param {[string, Cell][]} rows name and what it is
 * @param {string} [className] `facts` in rows, `tiles` large and side by side
 */
export function facts(rows, className = 'facts') {
  const lines = rows.map(
    ([name, content]) => `<div><dt>${escapeHtml(name)}</dt><dd>${cell(content)}</dd></div>`,
  );
  return `<dl class="${escapeHtml(className)}">\n${lines.join('\n')}\n</dl>`;
}

/**
 * @param {string[]} itemsHtml
 * @param {string} [className]
 */
export function list(itemsHtml, className = 'plain') {
  const items = itemsHtml.map((html) => `<li>${html}</li>`);
  return `<ul class="${escapeHtml(className)}">\n${items.join('\n')}\n</ul>`;
}
