/** What it takes to run it again: the command line, the plan as it ran, and where it ran. Never a secret: the Result has none. */
import { escapeHtml } from './escape.js';
import { details, facts, paragraph, section, table } from './parts.js';

/** @typedef {import('../../results/schema.js').Result} Result */

/** Plans are not deeper than this; what is comes as JSON. */
const DEEPEST = 5;

/** @param {Result} result */
export function planSection(result) {
  const { command, plan, environment, startedAt, tool, target } = result;
  const settings = table({
    caption: 'The plan as it ran, defaults and all; times that end in Ms are milliseconds',
    columns: ['Setting', 'Value'],
    rows: flatten(plan, ''),
  });
  const where = facts([
    ['Started', instantText(startedAt)],
    ['Target', target.url],
    ['Product', [target.product, target.version].filter((part) => part).join(' ') || 'not known'],
    ['Tool', `vault-pki-load ${tool.version}`],
    ['Node.js', environment.node],
    ['Platform', environment.platform],
    ['Processors', String(environment.cpus)],
  ]);
  return section(
    'To run it again',
    [
      `<pre><code>${escapeHtml(command)}</code></pre>`,
      paragraph('The token comes from the environment; it is in no report.', 'muted'),
      where,
      details('The plan, setting by setting', settings),
    ].join('\n'),
  );
}

/**
 * @param {string} iso
 * @returns {string} `2026-01-02 03:04:05 UTC`
 */
export function instantText(iso) {
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
}

/**
 * @param {unknown} value
 * @param {string} path
 * @param {number} [depth]
 * @returns {[string, string][]} `load.concurrency` and what it is
 */
function flatten(value, path, depth = 0) {
  if (value === null || value === undefined) return [[path, 'not set']];
  if (typeof value !== 'object') return [[path, String(value)]];
  if (Array.isArray(value) || depth === DEEPEST) return [[path, textOf(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flatten(inner, path === '' ? key : `${path}.${key}`, depth + 1),
  );
}

/** @param {object} value */
function textOf(value) {
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.length === 0) return 'none';
  return value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ');
}
