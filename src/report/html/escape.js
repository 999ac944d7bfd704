/** Text to markup. Every text from a server, a file or a user passes through here. */
import { sanitizeText } from '../../common/sanitize.js';

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @param {string} text @returns {string} safe between tags and within a quoted attribute, of HTML and of XML */
export const escapeHtml = (text) =>
  sanitizeText(text).replace(/[&<>"']/g, (character) => ENTITIES[character]);

/** @param {string} text @returns {string} markup: `never_sent` may break after the underscore, `12 ms` may not */
export function breakable(text) {
  return escapeHtml(text)
    .replace(/_(?=[^_])/g, '_<wbr>')
    .replace(/(\d) (?=(?:[mµn]?s|min|h|%)(?![\w]))/g, '$1\u00a0');
}
