/** The page round every HTML report: one file that fetches nothing, and is allowed nothing but its own script and style. */
import { createHash } from 'node:crypto';
import { breakable, escapeHtml, jsonForScript } from './escape.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/**
 * What the script reads: for each chart the places along its x axis where there is something to read out.
 *
 * @typedef {object} ReadOuts
 * @property {number[]} x 0 to 1, ascending
 * @property {string[]} at what that place is called, e.g. `second 12`
 * @property {string[][]} values one per entry of the chart's legend
 */
/** @typedef {{at: string[]}} DotReadOuts what each dot of class `run` is called, and its value, in the order of the chart */
/** @typedef {{charts?: Record<string, ReadOuts | DotReadOuts>}} PageData charts by the id of their figure */

/** Characters of the title of a window. */
const LONGEST_TITLE = 70;

/**
 * @param {object} parts
 * @param {string} parts.title text: of the window
 * @param {string} parts.heading text: the h1
 * @param {string} [parts.lead] HTML below the heading
 * @param {string} parts.body HTML: sections, their headings h2
 * @param {PageData} [parts.data]
 * @param {string} [parts.footer] text: who wrote this, and when
 * @returns {string} the file; ends with a newline
 */
export function page({ title, heading, lead = '', body, data = {}, footer = 'Written by vault-pki-load.' }) {
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
${lead}
</header>
<main>
${body}
</main>
<footer>
<p>${escapeHtml(footer)}</p>
</footer>
<script type="application/json" id="chart-data">${jsonForScript(data)}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** @param {string} title @returns {string} no longer than browsers and search engines show */
function shortened(title) {
  const characters = [...title];
  if (characters.length <= LONGEST_TITLE) return title;
  return `${characters
    .slice(0, LONGEST_TITLE - 1)
    .join('')
    .trimEnd()}…`;
}

/** The hashes name the one script and the one style; `data:` is for the empty icon, lest a browser ask for one. */
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
 * @returns {string} as CSP names what is inline: https://www.w3.org/TR/CSP3/#grammardef-hash-source
 */
function hashSource(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
