/** The figures of a run: the few that matter large, then all in tables, with what the outcomes mean. */
import { formatPercent } from '../../results/wording.js';
import { formatCount, formatDuration } from '../../units.js';
import {
  notePhrases,
  outcomeNames,
  perHourText,
  perSecondText,
  timeText,
  verificationPhrase,
} from '../phrases.js';
import { escapeHtml } from './escape.js';
import { facts, list, paragraph, section, table } from './parts.js';

/** @typedef {import('../../results/schema.js').Result} Result */
/** @typedef {import('../../results/schema.js').LatencyBlock} LatencyBlock */

const COLUMNS = /** @type {const} */ ([
  ['least', 'min'],
  ['mean', 'mean'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99.9', 'p999'],
  ['longest', 'max'],
]);

/** @param {Result} result */
export function figuresSection(result) {
  const { response, service, sendLag } = result.latencyMs;
  const latencies = table({
    caption:
      'Latency. Response time counts from when a request was due, service time from when it was sent, send lag from the one to the other.',
    columns: ['Time', ...['requests', ...COLUMNS.map(([label]) => label)].map(numeric)],
    rows: [
      ['Response time', ...latencyCells(response)],
      ['Service time', ...latencyCells(service)],
      ['Send lag', ...latencyCells(sendLag)],
    ],
  });
  const notes = notePhrases(result).map(escapeHtml);
  return section(
    'Figures',
    [
      tiles(result),
      latencies,
      requestsTable(result),
      operationsTable(result),
      notes.length === 0 ? '' : list(notes),
    ].join('\n'),
  );
}

/** @param {Result} result */
function tiles({ rates, totals, latencyMs: { response } }) {
  const { planned, sent, succeeded, failed } = totals;
  const failedShare = sent === 0 ? 'none was sent' : `${formatPercent(failed / sent)} of those sent`;
  const all = [
    tile('Rate of successes', perSecondText(rates.perSecond), `${perHourText(rates.perHour)} per hour`),
    tile('Succeeded', formatCount(succeeded), `of ${formatCount(planned)} planned`),
    tile('Failed', formatCount(failed), failedShare),
    tile('p50', timeText(response.p50), 'response time'),
    tile('p99', timeText(response.p99), 'response time'),
    tile('Longest', timeText(response.max), 'response time'),
  ];
  return facts(all, 'tiles');
}

/**
 * @param {string} name
 * @param {string} figure
 * @param {string} below
 * @returns {[string, {html: string}]}
 */
function tile(name, figure, below) {
  return [name, { html: `${escapeHtml(figure)} <small>${escapeHtml(below)}</small>` }];
}

/** @param {Result} result */
function requestsTable({ totals, rates, durationSeconds }) {
  const { planned, sent, succeeded, failed, dropped, neverSent } = totals;
  const html = table({
    caption: 'Requests. Those sent, dropped and never sent add up to those planned.',
    columns: ['Of all', ...['planned', 'sent', 'succeeded', 'failed', 'dropped', 'never sent'].map(numeric)],
    rows: [
      ['Requests', ...[planned, sent, succeeded, failed, dropped, neverSent].map((n) => formatCount(n))],
    ],
  });
  const rest = facts([
    ['Wall time', formatDuration(durationSeconds * 1000)],
    ['Most in one second', `${formatCount(Number(rates.peakOneSecond.toFixed(1)))} succeeded`],
  ]);
  return `${html}\n${rest}`;
}

/** @param {Result} result */
function operationsTable({ operations }) {
  const all = Object.entries(operations);
  if (all.length < 2) return '';
  return table({
    caption: 'Operations, latencies as response time',
    columns: ['Operation', ...['sent', 'succeeded', 'rate', 'p50', 'p99', 'longest'].map(numeric)],
    rows: all.map(
      ([
        name,
        {
          totals,
          rates,
          latencyMs: { response },
        },
      ]) => [
        name,
        formatCount(totals.sent),
        formatCount(totals.succeeded),
        perSecondText(rates.perSecond),
        timeText(response.p50),
        timeText(response.p99),
        timeText(response.max),
      ],
    ),
  });
}

/** @param {Result} result */
export function outcomesSection(result) {
  const names = outcomeNames(result);
  const columns = [
    'Outcome',
    ...['requests', 'share of planned', 'p50', 'p99', 'longest'].map(numeric),
    'What it means',
  ];
  const rows = names.map((name) => outcomeCells(result, name));
  const failures = Object.entries(result.verification.failures).sort(([, a], [, b]) => b - a);
  return section(
    'Outcomes',
    [
      rows.length === 0
        ? paragraph('No request had an outcome.')
        : table({ caption: 'Outcomes of the requests, latencies as response time', columns, rows }),
      paragraph(`Verified: ${verificationPhrase(result)}.`),
      failures.length === 0
        ? ''
        : table({
            caption: 'Rules that answers broke',
            columns: ['Rule', numeric('answers')],
            rows: failures.map(([rule, count]) => [rule, formatCount(count)]),
          }),
    ].join('\n'),
  );
}

/**
 * @param {Result} result
 * @param {string} name
 */
function outcomeCells({ outcomes, outcomeDetails, totals }, name) {
  const detail = Object.hasOwn(outcomeDetails, name) ? outcomeDetails[name] : undefined;
  const response = detail?.latencyMs.response;
  return [
    name,
    formatCount(outcomes[name]),
    formatPercent(outcomes[name] / Math.max(1, totals.planned)),
    timeText(response?.p50),
    timeText(response?.p99),
    timeText(response?.max),
    detail?.meaning ?? (detail?.success ? 'success' : '–'),
  ];
}

/** @param {LatencyBlock} latency */
function latencyCells(latency) {
  return [formatCount(latency.count), ...COLUMNS.map(([, key]) => timeText(latency[key]))];
}

/** @param {string} label */
function numeric(label) {
  return { label, numeric: true };
}
