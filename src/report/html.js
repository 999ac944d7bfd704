/** Report -> one self-contained HTML file: no scripts, nothing to fetch. */
import { createHash } from 'node:crypto';
import { MAIN_SIZES, SIZES } from './charts/frame.js';
import { CHARTS } from './charts/index.js';
import { breakable, escapeHtml } from './html/escape.js';
import { facts, figure, figures, note, paragraph, table, verdicts } from './html/parts.js';
import { STYLE } from './html/style.js';
import { withoutTitle } from './sections.js';

/** @import { Chart, Part, Report, Section } from './sections.js' */

/** Allows only this style sheet and an empty icon, which stops browsers from requesting a favicon. */
const POLICY = [
  "default-src 'none'",
  // https://www.w3.org/TR/CSP3/#grammardef-hash-source
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** @type {Record<Exclude<Part['kind'], 'chart' | 'table'>, (part: any) => string>} */
const PARTS = {
  sentence: ({ text, isStrong }) => paragraph(text, isStrong ? 'answer' : undefined),
  ...{ verdicts, figures, note, facts },
};

/** Adjacent parts of these kinds go side by side if they fit. @type {Part['kind'][]} */
const SIDE_BY_SIDE = ['chart', 'table'];

/** Each takes 0.1 MB of memory: a small file could name any number of figures. */
const MAX_CHARTS = 1000;

/** @param {Report} report @returns {string} ends with a newline */
export function render({ title, verdict, subject, sections }) {
  let charts = 0;
  const isShown = (/** @type {Part} */ { kind }) => kind !== 'chart' || ++charts <= MAX_CHARTS;
  const body = sections
    .map(({ parts, ...one }, i) =>
      sectionHtml({ ...one, parts: withoutTitle(title, parts).filter(isShown) }, i === 0),
    )
    .join('\n');
  const windowTitle = verdict === undefined ? title : `${verdict}: ${title}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(windowTitle)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${breakable(title)}</h1>
${subject === '' ? '' : `<p class="subject">${breakable(subject)}</p>`}
</header>
<main>
${body}
</main>
<footer>
${charts > MAX_CHARTS ? `<p>This page shows only the first ${MAX_CHARTS} charts.</p>\n` : ''}<p>Written by vault-pki-load. This file works offline.</p>
</footer>
</body>
</html>
`;
}

/** @param {Section} section @param {boolean} isFirst its first chart is the main one */
function sectionHtml({ id, heading, parts, isDetail = false }, isFirst) {
  const level = heading === null ? 2 : 3;
  let drawn = 0;
  const htmlOf = (/** @type {Part} */ part) => {
    if (part.kind === 'table') return table(part, part.caption !== heading);
    if (part.kind !== 'chart') return PARTS[part.kind](part);
    drawn++;
    return chartHtml(part, { id: `${id}-chart-${drawn}`, level, isMain: isFirst && drawn === 1 });
  };
  const html = grouped(parts)
    .map((group) => {
      const inner = group.map(htmlOf).join('\n');
      return SIDE_BY_SIDE.includes(group[0].kind) ? `<div class="rows">\n${inner}\n</div>` : inner;
    })
    .join('\n');
  if (heading === null) return `<section id="${escapeHtml(id)}" aria-label="Answer">\n${html}\n</section>`;
  const title = `<h2>${breakable(heading)}</h2>`;
  const body = isDetail ? `<details>\n<summary>${title}</summary>\n${html}\n</details>` : `${title}\n${html}`;
  return `<section id="${escapeHtml(id)}">\n${body}\n</section>`;
}

/** @param {Part[]} parts @returns {Part[][]} adjacent charts and tables in one group, other parts alone */
function grouped(parts) {
  /** @type {Part[][]} */
  const groups = [];
  for (const part of parts) {
    const last = groups.at(-1);
    const isBeside = last !== undefined && [last[0], part].every(({ kind }) => SIDE_BY_SIDE.includes(kind));
    if (isBeside) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

/** @param {Chart} part @param {{id: string, level: 2 | 3, isMain: boolean}} place @returns empty if there is nothing to draw */
function chartHtml({ chart, title, text, data }, { id, level, isMain }) {
  const drawn = CHARTS[chart](data, { id, title, sizes: isMain ? MAIN_SIZES : SIZES });
  return drawn === null ? '' : figure({ id: escapeHtml(id), level, title, text, drawn, isMain });
}
