/** Rows -> CSV (RFC 4180: CRLF, fields with a comma or quote in quotes, quotes doubled). */
import { distinct } from './layout.js';

/** @typedef {string | number | null | undefined} Field */

/**
 * @param {Field[][]} rows the first is the heading
 * @returns {string} ends with a line break
 */
export function csv(rows) {
  return rows.map((fields) => `${fields.map(field).join(',')}\r\n`).join('');
}

/** @param {Field} value */
function field(value) {
  const text = distinct(String(value ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param {number | null | undefined} ms
 * @returns {number | null} to the microsecond
 */
export function rounded(ms) {
  return ms === null || ms === undefined ? null : Number(ms.toFixed(3));
}
