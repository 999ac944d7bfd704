/** Long timelines made short: tables and read-outs skip rows, counts are added up. */
import { formatCount, formatDuration } from '../../../common/units.js';

/** Rows of a data table, and places the script can read out. */
export const MOST_ROWS = 240;

/** Spans to add up over, in seconds. */
const SPANS = Object.freeze([
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400,
]);

/**
 * Cuts the rows into at most `most` stretches of equal length and takes the heaviest of each.
 *
 * @template Row
 * @param {Row[]} rows
 * @param {number} most
 * @param {(row: Row) => number} weight
 * @returns {Row[]} in their order
 */
export function pick(rows, most, weight) {
  const size = Math.max(1, Math.ceil(rows.length / most));
  if (size === 1) return rows;
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => {
    const part = rows.slice(i * size, (i + 1) * size);
    return part.reduce((heaviest, row) => (weight(row) > weight(heaviest) ? row : heaviest));
  });
}

/**
 * @param {number} count rows before `pick`
 * @param {string} heaviest e.g. `the one with the longest p99`
 * @param {number} [seconds] that each covers
 * @returns {string} the note of a table of picked rows; empty where it has all of them
 */
export function thinnedNote(count, heaviest, seconds = 1) {
  const size = Math.max(1, Math.ceil(count / MOST_ROWS));
  if (size === 1) return '';
  const shown = Math.ceil(count / size);
  return `${formatCount(shown)} of ${formatCount(count)} rows: of every ${formatDuration(size * seconds * 1000)} ${heaviest}. JSON and CSV have all.`;
}

/**
 * @param {number} seconds
 * @param {number} most
 * @returns {number} seconds to add up over, so that there are no more than `most` sums
 */
export function spanFor(seconds, most) {
  return SPANS.find((span) => Math.ceil(seconds / span) <= most) ?? Math.ceil(seconds / most);
}

/**
 * @template Row
 * @param {Row[]} rows one a second
 * @param {number} span seconds
 * @returns {{second: number, span: number, rows: Row[]}[]} the last may be shorter
 */
export function binned(rows, span) {
  return Array.from({ length: Math.ceil(rows.length / span) }, (_, i) => {
    const part = rows.slice(i * span, (i + 1) * span);
    return { second: i * span, span: part.length, rows: part };
  });
}
