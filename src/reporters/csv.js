/**
 * The timeline as CSV (RFC 4180: CRLF, fields with a comma, quote or line break in quotes, quotes doubled). One row a
 * second; times in milliseconds; a field is empty where nothing was measured, or where an older result does not say.
 */
import { clean } from './layout.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {string | number | null | undefined} Field */

/** `sent` is by the second of sending, all that follow by the second of the answer. */
const COLUMNS = [
  'second',
  'time_utc',
  'due',
  'sent',
  'succeeded',
  'failed',
  'p50_ms',
  'p90_ms',
  'p99_ms',
  'max_ms',
  'send_lag_p99_ms',
];

/**
 * @param {Result} result
 * @returns {string} ends with a line break
 */
export function render({ startedAt, timeline }) {
  const failures = failureNames(timeline);
  const start = Date.parse(startedAt);
  /** @type {Field[][]} */
  const rows = timeline.map((row) => [
    row.second,
    new Date(start + row.second * 1000).toISOString(),
    row.due,
    row.sent,
    row.succeeded,
    row.failed,
    ...[row.p50, row.p90, row.p99, row.max, row.lag99].map(rounded),
    ...failures.map((name) => row.failures?.[name] ?? (row.failures === undefined ? null : 0)),
  ]);
  /** @type {Field[]} */
  const heading = [...COLUMNS, ...failures.map((name) => `failed_${name}`)];
  return [heading, ...rows].map((fields) => `${fields.map(field).join(',')}\r\n`).join('');
}

/**
 * @param {TimelineRow[]} timeline
 * @returns {string[]} outcomes that some second failed with, in alphabetical order
 */
function failureNames(timeline) {
  return [...new Set(timeline.flatMap(({ failures }) => Object.keys(failures ?? {})))].sort();
}

/**
 * @param {number | null | undefined} ms
 * @returns {number | null} to the microsecond
 */
function rounded(ms) {
  return ms === null || ms === undefined ? null : Number(ms.toFixed(3));
}

/** @param {Field} value */
function field(value) {
  const text = clean(String(value ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
