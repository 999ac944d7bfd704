/** A set of runs as CSV, a row a run; times in milliseconds, a field is empty where nothing was measured. */
import { csv, rounded } from './csv-fields.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/runs/run-set.js').RunSet} RunSet */
/** @typedef {import('./csv-fields.js').Field} Field */

/** By heading. @type {[string, (result: Result) => Field][]} */
const COLUMNS = [
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

/**
 * @param {RunSet} runSet
 * @returns {string} ends with a line break
 */
export function render({ runs, summary }) {
  const requirements = [...new Set(runs.flatMap((run) => run.requirements.map(({ text }) => text)))];
  const rows = runs.map((result, i) => [
    i + 1,
    leftOutFor(summary, `run ${i + 1}`),
    ...COLUMNS.map(([, read]) => read(result)),
    ...requirements.map((text) => result.requirements.find((one) => one.text === text)?.verdict),
  ]);
  const headings = COLUMNS.map(([heading]) => heading);
  return csv([
    ['run', 'left_out', ...headings, ...requirements.map((text) => `requirement_${text}`)],
    ...rows,
  ]);
}

/**
 * @param {RunSet['summary']} summary
 * @param {string} name
 * @returns {Field} why; empty where the run counts
 */
function leftOutFor({ leftOut }, name) {
  return leftOut.find(({ run }) => run === name)?.why;
}
