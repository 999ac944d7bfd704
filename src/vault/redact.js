/** Makes server text safe to print: one line, bounded, without secrets and without control characters. */
import { sanitizeText, withoutSecrets } from '../common/sanitize.js';

/** @param {string} text @returns {string} at most 300 characters */
export function redact(text) {
  const line = withoutSecrets(text).replace(/\s+/g, ' ').trim();
  const visible = sanitizeText(line.slice(0, 301));
  return visible.length > 300 ? `${visible.slice(0, 299)}…` : visible;
}
