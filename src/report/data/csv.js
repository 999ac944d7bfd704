/**
 * A result's timeline as CSV, a row per second; a set of runs, a row per run; propagation, a row per certificate and node. Times are in
 * milliseconds; a field without a value, or missing in an older file, is empty. RFC 4180: CRLF, fields with a comma
 * or quote in quotes, quotes doubled.
 */
import { sumRecords, total } from '../../common/sums.js';
import { kindOf } from '../../result/document.js';
import { FIGURES } from '../../result/latency.js';
import { truncate } from '../../result/runs/run-differences.js';
import { namedRuns } from '../../result/runs/run-set.js';

/** @import { Figure } from '../../result/latency.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { NamedRun } from '../../result/runs/run-set.js' */
/** @import { RunSet } from '../../result/runs/run-set-schema.js' */
/** @import { Result, TimelineRow } from '../../result/schema.js' */

/** @typedef {string | number | null | undefined} Field */
/** @template Row @typedef {[heading: string, read: (row: Row) => Field]} Column */

/** Columns for names from a file, and characters of a field, at most: a row would else be as long as the whole file. */
const [MAX_NAMES, MAX_CHARACTERS] = [100, 1000];

/** By kind. @type {Record<string, (document: any) => Iterable<Field[]>>} */
const ROWS = { result: timelineRows, 'run-set': runRows, propagation: certificateRows };

/** @param {Result | RunSet | Propagation} document @returns {string} ends with a line break */
export function render(document) {
  const line = (/** @type {Field[]} */ fields) => `${fields.map(escapeField).join(',')}\r\n`;
  return Array.from(ROWS[kindOf(document)](document), line).join('');
}

/** @template Row @param {Column<Row>[]} columns @param {Row[]} rows @returns {Generator<Field[]>} the first is the heading */
function* tableOf(columns, rows) {
  yield columns.map(([heading]) => heading);
  for (const row of rows) yield columns.map(([, read]) => read(row));
}

/** @param {Result} result `sent` counts by the second of sending, later columns by the second of the response */
function timelineRows({ startedAt, timeline, stages = [] }) {
  const counts = Object.entries(sumRecords(timeline.map(({ failures = {} }) => failures)));
  const frequent = counts.toSorted(([, a], [, b]) => b - a).slice(0, MAX_NAMES);
  const names = new Set(frequent.map(([name]) => name).sort());
  const start = Date.parse(startedAt);
  /** @type {Column<TimelineRow>} */
  const stage = [
    'stage',
    ({ second: at }) =>
      stages.findLast(({ startSeconds, seconds }) => startSeconds <= at && at < startSeconds + seconds)?.name,
  ];
  /** @type {(name: string) => Column<TimelineRow>} */
  const failedColumn = (name) => [`failed_${name}`, (row) => failedWith(row, name)];
  /** @type {Column<TimelineRow>} */
  const others = [
    'failed_others',
    ({ failures = {} }) =>
      total(Object.entries(failures).map(([name, count]) => (names.has(name) ? 0 : count))),
  ];
  return tableOf(
    [
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
      ...[...names].map(failedColumn),
      ...(names.size === counts.length ? [] : [others]),
    ],
    timeline,
  );
}

/** @param {TimelineRow} row @param {string} name of an outcome: any text, even `constructor` */
function failedWith({ failures }, name) {
  if (failures === undefined) return null;
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/** @param {RunSet} runSet */
function runRows({ runs, summary }) {
  /** @type {(heading: string, key: keyof Result['totals']) => Column<NamedRun>} */
  const count = (heading, key) => [heading, ({ result }) => result.totals[key]];
  /** @type {(heading: string, series: keyof Result['latencyMs'], key: Figure) => Column<NamedRun>} */
  const time = (heading, series, key) => [
    heading,
    ({ result }) => rounded(result.latencyMs[series]?.[key] ?? null),
  ];
  /** @type {(text: string) => Column<NamedRun>} */
  const verdict = (text) => [
    `requirement_${text}`,
    ({ result }) => result.requirements.find((one) => one.text === text)?.verdict,
  ];
  const requirements = [...new Set(runs.flatMap((run) => run.requirements.map(({ text }) => text)))];
  return tableOf(
    [
      ['run', ({ name }) => name.replace('run ', '')],
      ['left_out', ({ name }) => summary.leftOut.find(({ run }) => run === name)?.why],
      ['started_utc', ({ result }) => result.startedAt],
      ['duration_s', ({ result }) => rounded(result.durationSeconds)],
      ['measurement', ({ result }) => result.measurement.verdict],
      ...[count('planned', 'planned'), count('sent', 'sent'), count('succeeded', 'succeeded')],
      ...[count('failed', 'failed'), count('dropped', 'dropped'), count('never_sent', 'neverSent')],
      ['succeeded_per_second', ({ result }) => Number(result.rates.perSecond.toPrecision(12))],
      ...FIGURES.map((figure) => time(`${figure}_ms`, 'response', figure)),
      ...[time('service_p99_ms', 'service', 'p99'), time('send_lag_p99_ms', 'sendLag', 'p99')],
      ...requirements.slice(0, MAX_NAMES).map(verdict),
    ],
    namedRuns(runs),
  );
}

/** @param {Propagation} propagation */
function certificateRows({ rows, nodes }) {
  return tableOf(
    [
      ['certificate', ({ row }) => row.certificate],
      ['outcome', ({ row }) => row.outcome],
      ['failure', ({ row }) => row.failure],
      ['revoke_ms', ({ row }) => rounded(row.revokeMs)],
      ['node', ({ node, i }) => node && nodes[i].url],
      ['node_outcome', ({ node }) => node?.outcome],
      ['before', ({ node }) => node?.before],
      ['lower_ms', ({ node }) => rounded(node?.interval?.lowerMs)],
      ['upper_ms', ({ node }) => rounded(node?.interval?.upperMs)],
    ],
    rows.flatMap((row) =>
      (row.nodes.length === 0 ? [undefined] : row.nodes).map((node, i) => ({ row, node, i })),
    ),
  );
}

/** @param {Field} value */
function escapeField(value) {
  const text = truncate(String(value ?? ''), MAX_CHARACTERS);
  // Spreadsheets evaluate such text as a formula. In some locales a semicolon separates fields, whatever the quotes around it.
  const safe = typeof value === 'string' ? text.replaceAll(/(?=[=+@\t\r＝＋－＠-])(?<=^|;"*)/g, "'") : text;
  return /[",;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {number | null | undefined} ms @returns {number | null} to the microsecond */
const rounded = (ms) => (ms === null || ms === undefined ? null : Number(ms.toFixed(3)));
