/** The parts of a section as HTML. Arguments named `html`, `svg` or ending in `Html` are markup; all others are text, escaped here. */
import { cellText } from '../sections.js';
import { breakable, escapeHtml } from './escape.js';

/** @import { Drawn } from '../charts/chart.js' */
/** @import { Bar, Cell, Facts, Figures, Note, Table, Verdicts } from '../sections.js' */

/** Good and bad verdicts; the others are neutral. */
const GOOD = ['met', 'valid', 'faster', 'better', 'best', 'passed', 'kept'];
const BAD = ['not met', 'invalid', 'slower', 'worse', 'failed', 'broken'];
const UNSURE = ['not proven', 'suspect', 'unfinished', 'interrupted', 'not enough runs', 'not comparable'];

const SIGNS = { good: '✓', unsure: '?', bad: '✕', neutral: '' };

/** Characters; longer cells may break into several lines. */
const LONG_CELL = 24;

/** Pixels. */
const VERDICT_WHISKER = 240;
const FIGURE_WHISKER = 120;

/** Below verdicts with bars. */
const BAR_KEY = 'Drawn from 0: the figure with its 95 % error bar, and the limit as an upright line.';

/** @param {string} verdict @returns {keyof SIGNS} */
function worthOf(verdict) {
  if (GOOD.includes(verdict)) return 'good';
  if (BAD.includes(verdict)) return 'bad';
  return UNSURE.includes(verdict) ? 'unsure' : 'neutral';
}

/** A verdict by colour, sign and word. @param {string} verdict @param {string} [text] */
export function badge(verdict, text = verdict) {
  const worth = worthOf(verdict);
  const sign = SIGNS[worth] === '' ? '' : `<span aria-hidden="true">${SIGNS[worth]}</span> `;
  return `<strong class="badge ${worth}">${sign}${escapeHtml(text)}</strong>`;
}

/** @param {string} text @param {string} [className] @returns {string} empty for an empty text */
export function paragraph(text, className) {
  if (text === '') return '';
  return `<p${className === undefined ? '' : ` class="${className}"`}>${breakable(text)}</p>`;
}

/** @param {Verdicts} part */
export function verdicts({ items }) {
  const hasBars = items.some(({ bar }) => bar !== undefined);
  const rows = items.map(({ verdict, name, text, reason = '', bar }) => {
    const cells = [
      badge(verdict),
      `<code>${breakable(name)}</code>`,
      bar === undefined ? '' : whisker(bar, VERDICT_WHISKER, worthOf(verdict)),
      `<span class="text">${breakable(text)}</span>`,
      paragraph(reason, 'reason'),
    ];
    return `<li>${cells.filter((html) => html !== '').join('\n')}</li>`;
  });
  const key = hasBars ? `\n${paragraph(BAR_KEY, 'key')}` : '';
  return `<ul class="verdicts${hasBars ? ' barred' : ''}">\n${rows.join('\n')}\n</ul>${key}`;
}

/** @param {Figures} part */
export function figures({ items }) {
  const tiles = items.map(({ name, value, range, bar }) => {
    const cells = [
      `<dd>${escapeHtml(value)}</dd>`,
      bar === undefined ? '' : `<dd class="whisker">${whisker(bar, FIGURE_WHISKER)}</dd>`,
      range === undefined ? '' : `<dd class="range">${escapeHtml(range)}</dd>`,
    ];
    return `<div><dt>${escapeHtml(name)}</dt>${cells.join('')}</div>`;
  });
  return `<dl class="tiles">\n${tiles.join('\n')}\n</dl>`;
}

/**
 * The first cell of a row is its heading. A table that is too wide scrolls below its caption, by keyboard too.
 * @param {Table} part
 */
export function table({ caption, columns, rows }) {
  const classOf = (/** @type {number} */ i, /** @type {Cell} */ content) =>
    classes(
      columns[i]?.isText !== true && i > 0 && 'number',
      columns[i]?.isDetail === true && 'detail',
      columns[i]?.isText === true && cellText(content).length > LONG_CELL && 'long',
    );
  const heads = columns.map(({ name }, i) => `<th scope="col"${classOf(i, '')}>${breakable(name)}</th>`);
  const lines = rows.map((cells) => {
    const [first, ...others] = cells;
    const rest = others.map((content, i) => `<td${classOf(i + 1, content)}>${cell(content)}</td>`);
    return `<tr><th scope="row"${classOf(0, first)}>${cell(first)}</th>${rest.join('')}</tr>`;
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

/** @param {(string | false)[]} names */
function classes(...names) {
  const all = names.filter((name) => name !== false);
  return all.length === 0 ? '' : ` class="${all.join(' ')}"`;
}

/** @param {Cell} content */
function cell(content) {
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

/**
 * A chart with its title, legend, summary and data.
 * @param {object} parts
 * @param {string} parts.id of the figure, unique in the page
 * @param {2 | 3} parts.level of the heading
 * @param {string} parts.title
 * @param {string} parts.text
 * @param {Drawn | null} parts.drawn null: only the text
 * @param {boolean} [parts.isMain]
 */
export function figure({ id, level, title, text, drawn, isMain = false }) {
  const heading = `<h${level}>${escapeHtml(title)}</h${level}>`;
  if (drawn === null) return `<div class="figure" id="${id}">\n${heading}\n${paragraph(text)}\n</div>`;
  return `<figure id="${id}"${isMain ? ' class="main"' : ''}>
<figcaption>
${heading}
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
  const items = entries.map(({ name, className, isBox = false }) => {
    const mark = isBox
      ? `<rect class="${className}" x="6" y="0" width="12" height="12"/>`
      : `<path class="${className}" d="M0 6H24"/>`;
    const swatch = `<svg class="swatch" viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">${mark}</svg>`;
    return `<li>${swatch} <span class="name">${escapeHtml(name)}</span> <span class="value"></span></li>`;
  });
  return `<ul class="legend">\n${items.join('\n')}\n</ul>`;
}

/** Of the drawing, and of the line at its middle; pixels. */
const HEIGHT = 20;
const MIDDLE = 10;

/** Room for a dot at either end. */
const EDGE = 5;

/** Half the height of caps, and of the mark of the limit. */
const CAP = 4;
const LIMIT = 9;

/** The largest figure lies this far along, so that what lies beyond it shows. */
const REACH = 0.92;

/** The shortest bar that is seen as one. */
const LEAST_WIDTH = 3;

/**
 * @param {Bar} bar
 * @param {number} width
 * @param {string} [worth] `good`, `bad` or `unsure`: with a limit, the side of it that the bar keeps to is shaded
 * @returns {string} SVG
 */
export function whisker({ value, low, high, limit }, width, worth = 'neutral') {
  const most = Math.max(low, high ?? 0, value ?? 0, limit ?? 0);
  const end = width - EDGE;
  const x = (/** @type {number} */ at) => {
    const share = most > 0 ? Math.min(1, Math.max(0, at / most) * REACH) : 0;
    return Math.round((EDGE + share * (end - EDGE)) * 10) / 10;
  };
  const mark = limit === undefined ? null : x(limit);
  const right = high === null ? end : x(high);
  const left = Math.min(x(low), right - LEAST_WIDTH);
  const parts = [
    mark === null || worth === 'unsure' ? '' : side(mark, (left + right) / 2 < mark ? EDGE : end),
    `<path class="track" d="M${EDGE} ${MIDDLE}H${end}"/>`,
    mark === null ? '' : `<path class="mark" d="M${mark} ${MIDDLE - LIMIT}V${MIDDLE + LIMIT}"/>`,
    `<path class="bar" d="M${left} ${MIDDLE - CAP}v${2 * CAP}M${left} ${MIDDLE}H${right}${tip(right, high === null)}"/>`,
    value === null ? '' : `<circle class="value" cx="${x(value)}" cy="${MIDDLE}" r="3.5"/>`,
  ];
  return `<svg class="bars ${worth}" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" aria-hidden="true">${parts.join('')}</svg>`;
}

/** @param {number} mark @param {number} edge of the scale on the bar's side */
function side(mark, edge) {
  const [left, right] = [Math.min(mark, edge), Math.max(mark, edge)];
  return `<rect class="side" x="${left}" y="${MIDDLE - 6}" width="${(right - left).toFixed(1)}" height="12"/>`;
}

/** @param {number} right @param {boolean} isOpen it has no upper bound */
function tip(right, isOpen) {
  if (isOpen) return `M${right - CAP} ${MIDDLE - CAP}L${right} ${MIDDLE}L${right - CAP} ${MIDDLE + CAP}`;
  return `M${right} ${MIDDLE - CAP}v${2 * CAP}`;
}
