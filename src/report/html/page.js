/** The page around a report: one file that fetches nothing, and may run only its own script and style. */
import { createHash } from 'node:crypto';
import { breakable, escapeHtml, jsonForScript } from './escape.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/** Characters of a window title that browsers show. */
const LONGEST_TITLE = 70;

/**
 * @param {object} parts
 * @param {string} parts.title text of the window
 * @param {string} parts.heading text of the h1
 * @param {string} parts.subject text below it
 * @param {string} parts.body HTML: sections, their headings h2
 * @param {Record<string, import('../charts/index.js').ReadOuts>} [parts.charts] read-outs by the id of their figure
 * @returns {string} the file; ends with a newline
 */
export function page({ title, heading, subject, body, charts = {} }) {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(shortened(title))}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${breakable(heading)}</h1>
${subject === '' ? '' : `<p class="subject">${breakable(subject)}</p>`}
</header>
<main>
${body}
</main>
<footer>
<p>Written by vault-pki-load. This file needs no network.</p>
</footer>
<script type="application/json" id="chart-data">${jsonForScript({ charts })}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** @param {string} title @returns {string} */
function shortened(title) {
  const characters = [...title];
  if (characters.length <= LONGEST_TITLE) return title;
  return `${characters
    .slice(0, LONGEST_TITLE - 1)
    .join('')
    .trimEnd()}…`;
}

/** The hashes name the one script and the one style; `data:` is for the empty icon, which keeps browsers from requesting one. */
function contentPolicy() {
  return [
    "default-src 'none'",
    `script-src '${hashSource(SCRIPT)}'`,
    `style-src '${hashSource(STYLE)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * @param {string} text
 * @returns {string} the source of an inline element: https://www.w3.org/TR/CSP3/#grammardef-hash-source
 */
function hashSource(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
