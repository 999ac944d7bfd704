/** The figures of a run: the few that matter large, then all in tables, with what the outcomes mean. */
import { formatPercent } from '../../results/wording.js';
import { formatCount, formatDuration } from '../../units.js';
import {
  levelName,
  levelPhrase,
  neverSentPhrase,
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

const ROWS = /** @type {const} */ ([
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
  const notes = notePhrases(result).map(escapeHtml);
  return section(
    'Figures',
    [
      tiles(result),
      `<div class="columns">\n${latencyTable(result)}\n${requestsTable(result)}\n</div>`,
      operationsTable(result),
      stagesTable(result),
      notes.length === 0 ? '' : list(notes),
    ].join('\n'),
  );
}

/** @param {Result} result */
function tiles({ rates, totals, errorShare, latencyMs: { response } }) {
  const { planned, succeeded, errors } = totals;
  const share =
    errorShare === null
      ? 'none was due'
      : `${formatPercent(errorShare)} of ${formatCount(succeeded + errors)} due`;
  const all = [
    tile('Rate of successes', perSecondText(rates.perSecond), `${perHourText(rates.perHour)} per hour`),
    tile('Succeeded', formatCount(succeeded), `of ${formatCount(planned)} planned`),
    tile('Errors', formatCount(errors), share),
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

/** Upright, so that it fits on a phone. @param {Result} result */
function latencyTable({ latencyMs: { response, service, sendLag } }) {
  const all = [response, service, sendLag];
  return table({
    caption:
      'Latency. Response time counts from when a request was due, service time from when it was sent, send lag from the one to the other.',
    columns: ['Figure', ...['response', 'service', 'send lag'].map(numeric)],
    rows: [
      ['requests', ...all.map(({ count }) => formatCount(count))],
      ...ROWS.map(([label, key]) => [label, ...all.map((latency) => timeText(latency[key]))]),
    ],
  });
}

/** @param {Result} result */
function requestsTable(result) {
  const { totals, rates, durationSeconds, unfinished } = result;
  const { planned, sent, succeeded, failed, dropped, neverSent, neverSentDue, errors } = totals;
  const notSent = neverSentPhrase(result);
  const html = table({
    caption: `Requests. Those sent, dropped and ${notSent} add up to those planned; failed, dropped and due but ${notSent} are errors.`,
    columns: ['Requests', ...['number', 'share of planned'].map(numeric)],
    rows: Object.entries({
      planned,
      sent,
      succeeded,
      failed,
      dropped,
      [notSent]: neverSent,
      ...(neverSentDue === neverSent ? {} : { [`due but ${notSent}`]: neverSentDue }),
      errors,
    }).map(([name, count]) => [
      name,
      formatCount(count),
      planned === 0 ? '–' : formatPercent(count / planned),
    ]),
  });
  const rest = facts([
    [unfinished ? 'Wall time so far' : 'Wall time', formatDuration(durationSeconds * 1000)],
    ['Most in one second', `${formatCount(Number(rates.peakOneSecond.toFixed(1)))} succeeded`],
  ]);
  return `<div>\n${html}\n${rest}\n</div>`;
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
function stagesTable({ stages = [], load, operations }) {
  if (stages.length === 0) return '';
  const several = Object.keys(operations).length > 1;
  const cellsOf = (
    /** @type {import('../../results/schema.js').OperationBlock} */ {
      totals,
      rates,
      latencyMs: { response },
    },
  ) => [
    formatCount(totals.sent),
    formatCount(totals.succeeded),
    formatCount(totals.errors),
    perSecondText(rates.perSecond),
    timeText(response.p50),
    timeText(response.p99),
    timeText(response.max),
  ];
  return table({
    caption: 'Stages, by when requests were due; latencies as response time',
    columns: [
      'Stage',
      ...(several ? ['Operation'] : []),
      ...['starts', levelName(load), 'sent', 'succeeded', 'errors', 'rate', 'p50', 'p99', 'longest'].map(
        numeric,
      ),
    ],
    rows: stages.flatMap(({ name, startSeconds, level, operations: own, ...block }) => {
      const head = [formatDuration(startSeconds * 1000), levelPhrase(load, level)];
      const whole = [name, ...(several ? ['all'] : []), ...head, ...cellsOf(block)];
      const each = Object.entries(own).map(([operation, one]) => [name, operation, '', '', ...cellsOf(one)]);
      return [whole, ...(several ? each : [])];
    }),
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

/** @param {string} label */
function numeric(label) {
  return { label, numeric: true };
}
