/** Section parts as HTML. Arguments named `html`, `svg` or `...Html` are markup; others are text, escaped here. */
import { cellText, toneOf } from '../sections.js';
import { breakable, escapeHtml } from './escape.js';

/** @import { Drawn } from '../charts/chart.js' */
/** @import { Bar, Cell, Facts, Figures, Note, Table, Verdicts } from '../sections.js' */

const SIGNS = { good: '✓', unsure: '?', bad: '✕', neutral: '' };

/** Characters; longer cells may break into several lines. */
const LONG_CELL = 24;

/** Pixels. */
const [VERDICT_WHISKER, FIGURE_WHISKER] = [240, 120];

const BAR_KEY = 'Scale from 0: the figure with its 95 % error bar; the vertical line is the limit.';

/** A verdict by colour, sign and word. @param {string} verdict @param {string} [text] */
function badge(verdict, text = verdict) {
  const tone = toneOf(verdict);
  const sign = SIGNS[tone] === '' ? '' : `<span aria-hidden="true">${SIGNS[tone]}</span> `;
  return `<strong class="badge ${tone}">${sign}${escapeHtml(text)}</strong>`;
}

/** @param {string} text @param {string} [className] @returns {string} empty for an empty text */
export function paragraph(text, className) {
  return text === '' ? '' : `<p${classes(className)}>${breakable(text)}</p>`;
}

/** @param {(string | false | undefined)[]} names */
function classes(...names) {
  const joined = names.filter(Boolean).join(' ');
  return joined === '' ? '' : ` class="${joined}"`;
}

/** @param {Verdicts} part */
export function verdicts({ items }) {
  const rows = items.map(({ verdict, name, text, reason = '', bar }) => {
    const drawn = bar === undefined ? '' : `${whisker(bar, VERDICT_WHISKER, toneOf(verdict))}\n`;
    return `<li>${badge(verdict)}
<code>${breakable(name)}</code>
${drawn}<span class="text">${breakable(text)}</span>
${paragraph(reason, 'reason')}</li>`;
  });
  const key = items.some(({ bar }) => bar !== undefined) ? `\n${paragraph(BAR_KEY, 'key')}` : '';
  return `<ul class="verdicts">\n${rows.join('\n')}\n</ul>${key}`;
}

/** @param {Figures} part */
export function figures({ items }) {
  const tiles = items.map(({ name, value, range, bar }) => {
    const drawn = bar === undefined ? '' : `<dd class="whisker">${whisker(bar, FIGURE_WHISKER)}</dd>`;
    const limits = range === undefined ? '' : `<dd class="range">${escapeHtml(range)}</dd>`;
    return `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>${drawn}${limits}</div>`;
  });
  return `<dl class="tiles">\n${tiles.join('\n')}\n</dl>`;
}

/** The first cell of a row is its heading. A wide table scrolls, by keyboard too. @param {Table} part @param {boolean} [isCaptioned] */
export function table({ caption, columns, rows }, isCaptioned = true) {
  const classOf = (/** @type {number} */ i, /** @type {Cell} */ content) =>
    classes(
      !columns[i].isText && i > 0 && 'number',
      columns[i].isDetail && 'detail',
      columns[i].isText && cellText(content).length > LONG_CELL && 'long',
    );
  const heads = columns.map(({ name }, i) => `<th scope="col"${classOf(i, '')}>${breakable(name)}</th>`);
  const lines = rows.map((cells) => {
    const [first, ...others] = cells.map((content, i) => `${classOf(i, content)}>${cellHtml(content)}`);
    return `<tr><th scope="row"${first}</th>${others.map((html) => `<td${html}</td>`).join('')}</tr>`;
  });
  const title = isCaptioned ? `<p class="caption">${escapeHtml(caption)}</p>\n` : '';
  return `<div class="table">
${title}<div class="scroll" role="group" tabindex="0" aria-label="${escapeHtml(`Table: ${caption}`)}">
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
function cellHtml(content) {
  if (typeof content === 'string') return breakable(content);
  const { text, verdict, isStrong } = content;
  if (verdict !== undefined) return badge(verdict, text);
  return isStrong ? `<strong>${breakable(text)}</strong>` : breakable(text);
}

/** @param {Facts} part */
export function facts({ items, isCode = false }) {
  const lines = items.map(({ name, text }) => {
    const label = isCode ? `<code>${escapeHtml(name)}</code>` : escapeHtml(name);
    return `<div><dt>${label}</dt><dd>${breakable(text)}</dd></div>`;
  });
  return `<dl class="facts">\n${lines.join('\n')}\n</dl>`;
}

/** @param {Note} part */
export function note({ text, remedy = '' }) {
  return `<div class="note">${paragraph(text)}${paragraph(remedy, 'muted')}</div>`;
}

/** `id` is unique in the page. @param {{id: string, level: 2 | 3, title: string, text: string, drawn: Drawn, isMain: boolean}} parts */
export function figure({ id, level, title, text, drawn, isMain }) {
  return `<figure id="${id}"${classes(isMain && 'main')}>
<figcaption>
<h${level}>${escapeHtml(title)}</h${level}>
${paragraph(text)}
</figcaption>
${legend(drawn.legend)}
<div class="plot">${drawn.svg}</div>
${paragraph(drawn.summary, 'summary')}
<details>
<summary>${escapeHtml(`Data: ${title}`)}</summary>
${table(drawn.table)}
</details>
</figure>`;
}

/** @param {Drawn['legend']} entries */
function legend(entries) {
  if (entries.length === 0) return '';
  const items = entries.map(({ name, className }) => {
    const mark = `<path class="${className}" d="M0 6H24"/>`;
    const swatch = `<svg class="swatch" viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">${mark}</svg>`;
    return `<li>${swatch} ${escapeHtml(name)}</li>`;
  });
  return `<ul class="legend">\n${items.join('\n')}\n</ul>`;
}

/** Pixels: height, y of the middle line, room for a dot at either end, half the height of caps and of the limit. */
const [HEIGHT, MIDDLE, EDGE, CAP, LIMIT] = [20, 10, 5, 4, 9];

/** Share of the width up to the largest figure; minimum length of a bar, in pixels. */
const [REACH, MIN_WIDTH] = [0.92, 3];

/** @param {Bar} bar @param {number} width @param {string} [tone] shades the bar's side of the limit, unless unsure */
export function whisker({ value, low, high, limit }, width, tone = 'neutral') {
  const max = Math.max(low, high ?? 0, value ?? 0, limit ?? 0) || 1;
  const end = width - EDGE;
  const x = (/** @type {number} */ at) =>
    Math.round((EDGE + (Math.max(0, at) / max) * REACH * (end - EDGE)) * 10) / 10;
  const right = high === null ? end : x(high);
  const left = Math.min(x(low), right - MIN_WIDTH);
  const arrow = `M${right - CAP} ${MIDDLE - CAP}L${right} ${MIDDLE}L${right - CAP} ${MIDDLE + CAP}`;
  const tip = high === null ? arrow : `M${right} ${MIDDLE - CAP}v${2 * CAP}`;
  const mark = limit === undefined ? null : x(limit);
  const [from, to] = mark === null || (left + right) / 2 < mark ? [EDGE, mark ?? EDGE] : [mark, end];
  const parts = [
    mark !== null &&
      tone !== 'unsure' &&
      `<rect class="side" x="${from}" y="4" width="${(to - from).toFixed(1)}" height="12"/>`,
    `<path class="track" d="M${EDGE} ${MIDDLE}H${end}"/>`,
    mark !== null && `<path class="mark" d="M${mark} ${MIDDLE - LIMIT}V${MIDDLE + LIMIT}"/>`,
    `<path class="bar" d="M${left} ${MIDDLE - CAP}v${2 * CAP}M${left} ${MIDDLE}H${right}${tip}"/>`,
    value !== null && `<circle class="value" cx="${x(value)}" cy="${MIDDLE}" r="3.5"/>`,
  ].filter(Boolean);
  const size = `viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}"`;
  return `<svg class="bars ${tone}" ${size} aria-hidden="true">${parts.join('')}</svg>`;
}
