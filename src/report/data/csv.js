/**
 * A result's timeline as CSV, a row a second; a set of runs, a row a run; propagation, a row a certificate and node. Times are in
 * milliseconds; a field without a value, or missing in an older file, is empty. RFC 4180: CRLF, fields with a comma
 * or quote in quotes, quotes doubled.
 */
import { kindOf } from '../../result/document.js';
import { distinct } from '../layout.js';

/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { RunSet } from '../../result/runs/run-set.js' */
/** @import { Result, TimelineRow } from '../../result/schema.js' */

/** @typedef {string | number | null | undefined} Field */

/** By kind. @type {Record<string, (document: any) => Field[][]>} */
const ROWS = { result: timelineRows, 'run-set': runRows, propagation: certificateRows };

/** `sent` is by the second of sending, all that follow by the second of the response. */
const SECOND_COLUMNS = [
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

/** By heading. @type {[string, (result: Result) => Field][]} */
const RUN_COLUMNS = [
  ['started_utc', ({ startedAt }) => startedAt],
  ['duration_s', ({ durationSeconds }) => rounded(durationSeconds)],
  ['measurement', ({ measurement }) => measurement.verdict],
  ['planned', ({ totals }) => totals.planned],
  ['sent', ({ totals }) => totals.sent],
  ['succeeded', ({ totals }) => totals.succeeded],
  ['failed', ({ totals }) => totals.failed],
  ['dropped', ({ totals }) => totals.dropped],
  ['never_sent', ({ totals }) => totals.neverSent],
  ['succeeded_per_second', ({ rates }) => Number(rates.perSecond.toPrecision(12))],
  ['mean_ms', ({ latencyMs }) => rounded(latencyMs.response.mean)],
  ['min_ms', ({ latencyMs }) => rounded(latencyMs.response.min)],
  ['p50_ms', ({ latencyMs }) => rounded(latencyMs.response.p50)],
  ['p90_ms', ({ latencyMs }) => rounded(latencyMs.response.p90)],
  ['p95_ms', ({ latencyMs }) => rounded(latencyMs.response.p95)],
  ['p99_ms', ({ latencyMs }) => rounded(latencyMs.response.p99)],
  ['p999_ms', ({ latencyMs }) => rounded(latencyMs.response.p999)],
  ['max_ms', ({ latencyMs }) => rounded(latencyMs.response.max)],
  ['service_p99_ms', ({ latencyMs }) => rounded(latencyMs.service.p99)],
  ['send_lag_p99_ms', ({ latencyMs }) => rounded(latencyMs.sendLag.p99)],
];

/** @param {Result | RunSet | Propagation} document @returns {string} ends with a line break */
export function render(document) {
  return ROWS[kindOf(document)](document)
    .map((fields) => `${fields.map(field).join(',')}\r\n`)
    .join('');
}

/** @param {Result} result @returns {Field[][]} the first is the heading */
function timelineRows({ startedAt, timeline, stages = [] }) {
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
  const [second, time, ...others] = SECOND_COLUMNS;
  const columns = stages.length === 0 ? SECOND_COLUMNS : [second, time, 'stage', ...others];
  /** @type {Field[]} */
  const heading = [...columns, ...failures.map((name) => `failed_${name}`)];
  return [heading, ...rows];
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

/** @param {RunSet} runSet @returns {Field[][]} the first is the heading */
function runRows({ runs, summary }) {
  const requirements = [...new Set(runs.flatMap((run) => run.requirements.map(({ text }) => text)))];
  const rows = runs.map((result, i) => [
    i + 1,
    leftOutFor(summary, `run ${i + 1}`),
    ...RUN_COLUMNS.map(([, read]) => read(result)),
    ...requirements.map((text) => result.requirements.find((one) => one.text === text)?.verdict),
  ]);
  const headings = RUN_COLUMNS.map(([heading]) => heading);
  return [['run', 'left_out', ...headings, ...requirements.map((text) => `requirement_${text}`)], ...rows];
}

/**
 * @param {RunSet['summary']} summary
 * @param {string} name
 * @returns {Field} why; empty where the run counts
 */
function leftOutFor({ leftOut }, name) {
  return leftOut.find(({ run }) => run === name)?.why;
}

/** @param {Propagation} found @returns {Field[][]} the first is the heading */
function certificateRows({ rows, nodes }) {
  return [
    [
      'certificate',
      'outcome',
      'failure',
      'revoke_ms',
      'node',
      'node_outcome',
      'before',
      'lower_ms',
      'upper_ms',
    ],
    ...rows.flatMap(({ certificate, outcome, failure, revokeMs, nodes: own }) => {
      /** @type {Field[]} */
      const head = [certificate, outcome, failure, rounded(revokeMs)];
      if (own.length === 0) return [[...head, null, null, null, null, null]];
      return own.map((node, i) => [
        ...head,
        nodes[i].url,
        node.outcome,
        node.before,
        rounded(node.interval?.lowerMs),
        rounded(node.interval?.upperMs),
      ]);
    }),
  ];
}

/** @param {Field} value */
function field(value) {
  const text = distinct(String(value ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {number | null | undefined} ms @returns {number | null} to the microsecond */
function rounded(ms) {
  return ms === null || ms === undefined ? null : Number(ms.toFixed(3));
}
