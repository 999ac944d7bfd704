/**
 * The timeline as CSV. One row a second; times in milliseconds; a field is empty where nothing was measured, or where an older
 * result does not say.
 */
import { csv, rounded } from './csv-fields.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {import('./csv-fields.js').Field} Field */

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
export function render({ startedAt, timeline, stages = [] }) {
  const failures = failureNames(timeline);
  const start = Date.parse(startedAt);
  /** @type {Field[][]} */
  const rows = timeline.map((row) => [
    row.second,
    new Date(start + row.second * 1000).toISOString(),
    ...(stages.length === 0 ? [] : [stageAt(stages, row.second)]),
    row.due,
    row.sent,
    row.succeeded,
    row.failed,
    ...[row.p50, row.p90, row.p99, row.max, row.lag99].map(rounded),
    ...failures.map((name) => failedWith(row, name)),
  ]);
  const [second, time, ...others] = COLUMNS;
  const columns = stages.length === 0 ? COLUMNS : [second, time, 'stage', ...others];
  /** @type {Field[]} */
  const heading = [...columns, ...failures.map((name) => `failed_${name}`)];
  return csv([heading, ...rows]);
}

/**
 * @param {NonNullable<Result['stages']>} stages
 * @param {number} second
 * @returns {string | null} the one that it begins in; null: after the last of them
 */
function stageAt(stages, second) {
  const last = stages[stages.length - 1];
  if (second >= last.startSeconds + last.seconds) return null;
  return stages.findLast(({ startSeconds }) => startSeconds <= second)?.name ?? null;
}

/**
 * @param {TimelineRow} row
 * @param {string} name of an outcome, which may be that of a property of every object
 * @returns {number | null}
 */
function failedWith({ failures }, name) {
  if (failures === undefined) return null;
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/**
 * @param {TimelineRow[]} timeline
 * @returns {string[]} outcomes that some second failed with, in alphabetical order
 */
function failureNames(timeline) {
  return [...new Set(timeline.flatMap(({ failures }) => Object.keys(failures ?? {})))].sort();
}
