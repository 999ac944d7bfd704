/**
 * A result's timeline as CSV, a row a second; a set of runs, a row a run; propagation, a row a certificate and node. Times are in
 * milliseconds; a field without a value, or missing in an older file, is empty. RFC 4180: CRLF, fields with a comma
 * or quote in quotes, quotes doubled.
 */
import { kindOf } from '../../result/document.js';

/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { RunSet } from '../../result/runs/run-set.js' */
/** @import { Result, TimelineRow } from '../../result/schema.js' */

/** @typedef {string | number | null | undefined} Field */
/** @template Row @typedef {[heading: string, read: (row: Row) => Field]} Column */

/** By kind. @type {Record<string, (document: any) => Field[][]>} */
const ROWS = { result: timelineRows, 'run-set': runRows, propagation: certificateRows };

/** @param {Result | RunSet | Propagation} document @returns {string} ends with a line break */
export function render(document) {
  return ROWS[kindOf(document)](document)
    .map((fields) => `${fields.map(field).join(',')}\r\n`)
    .join('');
}

/** @template Row @param {Column<Row>[]} columns @param {Row[]} rows @returns {Field[][]} the first is the heading */
function tableOf(columns, rows) {
  return [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, read]) => read(row)))];
}

/** @param {Result} result `sent` is by the second of sending, all that follow by the second of the response */
function timelineRows({ startedAt, timeline, stages = [] }) {
  const failures = [...new Set(timeline.flatMap((row) => Object.keys(row.failures ?? {})))].sort();
  const start = Date.parse(startedAt);
  /** @type {Column<TimelineRow>} */
  const stage = ['stage', ({ second }) => stageAt(stages, second)];
  /** @type {Column<TimelineRow>[]} */
  const columns = [
    ['second', ({ second }) => second],
    ['time_utc', ({ second }) => new Date(start + second * 1000).toISOString()],
    ...(stages.length === 0 ? [] : [stage]),
    ['due', ({ due }) => due],
    ['sent', ({ sent }) => sent],
    ['succeeded', ({ succeeded }) => succeeded],
    ['failed', ({ failed }) => failed],
    ['p50_ms', ({ p50 }) => rounded(p50)],
    ['p90_ms', ({ p90 }) => rounded(p90)],
    ['p99_ms', ({ p99 }) => rounded(p99)],
    ['max_ms', ({ max }) => rounded(max)],
    ['send_lag_p99_ms', ({ lag99 }) => rounded(lag99)],
    ...failures.map(
      (name) => /** @type {Column<TimelineRow>} */ ([`failed_${name}`, (row) => failedWith(row, name)]),
    ),
  ];
  return tableOf(columns, timeline);
}

/**
 * @param {NonNullable<Result['stages']>} stages @param {number} second
 * @returns {string | null} the one that it begins in; null: after the last
 */
function stageAt(stages, second) {
  const last = stages[stages.length - 1];
  if (second >= last.startSeconds + last.seconds) return null;
  return stages.findLast(({ startSeconds }) => startSeconds <= second)?.name ?? null;
}

/** @param {TimelineRow} row @param {string} name of an outcome, which may be that of a property of every object */
function failedWith({ failures }, name) {
  if (failures === undefined) return null;
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

const LATENCIES = /** @type {const} */ (['mean', 'min', 'p50', 'p90', 'p95', 'p99', 'p999', 'max']);

/** @param {RunSet} runSet */
function runRows({ runs, summary }) {
  /** @typedef {{result: Result, name: string}} Run */
  const count = (
    /** @type {string} */ heading,
    /** @type {keyof Result['totals']} */ key = /** @type {any} */ (heading),
  ) => /** @type {Column<Run>} */ ([heading, ({ result }) => result.totals[key]]);
  const time = (
    /** @type {string} */ heading,
    /** @type {keyof Result['latencyMs']} */ series,
    /** @type {typeof LATENCIES[number]} */ key,
  ) => /** @type {Column<Run>} */ ([heading, ({ result }) => rounded(result.latencyMs[series][key])]);
  const requirements = [...new Set(runs.flatMap((run) => run.requirements.map(({ text }) => text)))];
  /** @type {Column<Run>[]} */
  const columns = [
    ['run', ({ name }) => name.replace('run ', '')],
    ['left_out', ({ name }) => summary.leftOut.find(({ run }) => run === name)?.why],
    ['started_utc', ({ result }) => result.startedAt],
    ['duration_s', ({ result }) => rounded(result.durationSeconds)],
    ['measurement', ({ result }) => result.measurement.verdict],
    ...[count('planned'), count('sent'), count('succeeded'), count('failed'), count('dropped')],
    count('never_sent', 'neverSent'),
    ['succeeded_per_second', ({ result }) => Number(result.rates.perSecond.toPrecision(12))],
    ...LATENCIES.map((key) => time(`${key}_ms`, 'response', key)),
    time('service_p99_ms', 'service', 'p99'),
    time('send_lag_p99_ms', 'sendLag', 'p99'),
    ...requirements.map(
      (text) =>
        /** @type {Column<Run>} */ ([
          `requirement_${text}`,
          ({ result }) => result.requirements.find((one) => one.text === text)?.verdict,
        ]),
    ),
  ];
  return tableOf(
    columns,
    runs.map((result, i) => ({ result, name: `run ${i + 1}` })),
  );
}

/** @param {Propagation} found */
function certificateRows({ rows, nodes }) {
  const lines = rows.flatMap((row) =>
    (row.nodes.length === 0 ? [undefined] : row.nodes).map((node, i) => ({
      row,
      node,
      url: node && nodes[i].url,
    })),
  );
  return tableOf(
    [
      ['certificate', ({ row }) => row.certificate],
      ['outcome', ({ row }) => row.outcome],
      ['failure', ({ row }) => row.failure],
      ['revoke_ms', ({ row }) => rounded(row.revokeMs)],
      ['node', ({ url }) => url],
      ['node_outcome', ({ node }) => node?.outcome],
      ['before', ({ node }) => node?.before],
      ['lower_ms', ({ node }) => rounded(node?.interval?.lowerMs)],
      ['upper_ms', ({ node }) => rounded(node?.interval?.upperMs)],
    ],
    lines,
  );
}

/** @param {Field} value */
function field(value) {
  const text = String(value ?? '');
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {number | null | undefined} ms @returns {number | null} to the microsecond */
function rounded(ms) {
  return ms === null || ms === undefined ? null : Number(ms.toFixed(3));
}
