/**
 * Metrics -> Prometheus text exposition 0.0.4.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { distinct } from '../layout.js';

/** @typedef {import('./metrics.js').Labels} Labels */
/** @typedef {{labels: Labels, value: number, suffix?: string}} Sample */
/** @typedef {{name: string, type: 'counter' | 'gauge' | 'histogram' | 'summary', help: string, samples: Sample[]}} Family */

const PREFIX = 'vault_pki_load_';

/**
 * @param {Family[]} families those without a sample are left out
 * @returns {string} ends with a newline
 */
export function exposition(families) {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(familyText)
    .join('');
}

/** @param {Family} family */
function familyText({ name, type, help, samples }) {
  const lines = samples.map(({ labels, value, suffix = '' }) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
    const set = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    return `${PREFIX}${name}${suffix}${set} ${valueText(value)}\n`;
  });
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n${lines.join('')}`;
}

/**
 * Two outcomes are two series, however alike they look: the same series twice is refused by promtool, and dropped by Prometheus.
 * Line breaks, which would have to be escaped too, are gone with the other control characters.
 *
 * @param {string} text
 */
function escapeLabel(text) {
  return distinct(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

/** @param {number} value */
function valueText(value) {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

/**
 * @param {number} value
 * @param {Labels} [labels]
 * @param {string} [suffix] of the family's name
 * @returns {Sample}
 */
export function sample(value, labels = {}, suffix = '') {
  return { labels, value, suffix };
}
