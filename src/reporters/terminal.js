/**
 * The summary at the end of a run: plain text, 80 columns. First the answer, then the figures, then what to look at next.
 */
import { decodeHistogram } from '../histogram.js';
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration } from '../units.js';
import { labelled, table, wrap } from './layout.js';
import { nextSteps } from './next-steps.js';
import {
  errorsPhrase,
  LATENCY_COLUMNS,
  levelName,
  levelPhrase,
  neverSentPhrase,
  notePhrases,
  outcomeNames,
  perSecondText,
  ratePhrase,
  statePhrase,
  subjectPhrase,
  timeText,
  verificationPhrase,
} from './phrases.js';
import { textHistogram } from './text-histogram.js';
import { requirementLines, verdictLines } from './verdict-lines.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/schema.js').LatencyBlock} LatencyBlock */

/**
 * @param {Result} result
 * @param {import('../report/index.js').RenderOptions} [options]
 * @returns {string} ends with a newline
 */
export function render(result, { color = false } = {}) {
  const state = statePhrase(result);
  const sections = [
    state === '' ? [] : wrap(state),
    [...requirementLines(result.requirements, color), ...measurement(result, color)],
    reached(result),
    wrap(subjectPhrase(result)),
    requests(result),
    latencies(result),
    distribution(result),
    operations(result),
    stages(result),
    outcomes(result),
    verification(result),
    notePhrases(result).flatMap((note) => labelled('Note', note)),
    next(result),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * @param {Result} result
 * @param {boolean} color
 */
function measurement({ measurement: { verdict, reasons }, unfinished }, color) {
  if (unfinished) return labelled('Measurement', 'judged when the run has ended');
  const lines = verdictLines('Measurement', verdict, verdict, color);
  return [...lines, ...reasons.flatMap(({ text }) => labelled('', text))];
}

/** @param {Result} result */
function reached(result) {
  const { count, p50, p99, max } = result.latencyMs.response;
  const times = `p50 ${timeText(p50)}, p99 ${timeText(p99)}, max ${timeText(max)}`;
  return [
    ...labelled('Steady rate', ratePhrase(result)),
    ...labelled('Response', count === 0 ? 'nothing was measured' : times),
    ...labelled('Errors', errorsPhrase(result)),
  ];
}

/** @param {Result} result */
function requests(result) {
  const { totals, rates, durationSeconds } = result;
  const { planned, sent, succeeded, failed, dropped, neverSent } = totals;
  return [
    ...table([
      ['Requests', 'planned', 'sent', 'succeeded', 'failed', 'dropped', neverSentPhrase(result)],
      ['', ...[planned, sent, succeeded, failed, dropped, neverSent].map(formatCount)],
    ]),
    ...labelled('Wall time', formatDuration(durationSeconds * 1000)),
    ...labelled('Peak', `${formatCount(Number(rates.peakOneSecond.toFixed(1)))} succeeded in one second`),
  ];
}

/** @param {Result} result */
function latencies({ latencyMs: { response, service, sendLag } }) {
  return table([
    ['Latency', ...LATENCY_COLUMNS.map(([heading]) => heading)],
    ['response', ...figures(response)],
    ['service', ...figures(service)],
    ['send lag', ...figures(sendLag)],
  ]);
}

/** @param {LatencyBlock} latency */
function figures(latency) {
  return LATENCY_COLUMNS.map(([, key]) => timeText(latency[key]));
}

/** @param {Result} result */
function distribution({ latencyMs: { response } }) {
  return response.histogram === null ? [] : textHistogram(decodeHistogram(response.histogram));
}

/** @param {Result} result */
function operations({ operations: blocks }) {
  const all = Object.entries(blocks);
  if (all.length < 2) return [];
  const rows = all.map(([name, { totals, rates, latencyMs }]) => [
    name,
    formatCount(totals.sent),
    formatCount(totals.succeeded),
    perSecondText(rates.perSecond),
    timeText(latencyMs.response.p50),
    timeText(latencyMs.response.p99),
  ]);
  return table([['Operations', 'sent', 'succeeded', 'rate', 'p50', 'p99'], ...rows]);
}

/** @param {Result} result */
function stages({ stages: all = [], load }) {
  if (all.length === 0) return [];
  const rows = all.map(({ name, level, totals, rates, latencyMs: { response } }) => [
    name,
    levelPhrase(load, level),
    formatCount(totals.sent),
    formatCount(totals.errors),
    perSecondText(rates.perSecond),
    timeText(response.p50),
    timeText(response.p99),
  ]);
  return table([['Stages', levelName(load), 'sent', 'errors', 'rate', 'p50', 'p99'], ...rows]);
}

/** @param {Result} result */
function outcomes(result) {
  const { outcomes: counts, outcomeDetails, totals } = result;
  const names = outcomeNames(result);
  if (names.length === 0) return [];
  const rows = names.map((name) => {
    const response = outcomeDetails[name]?.latencyMs.response;
    return [
      name,
      formatCount(counts[name]),
      formatPercent(counts[name] / Math.max(1, totals.planned)),
      timeText(response?.p50),
      timeText(response?.p99),
      timeText(response?.max),
    ];
  });
  const meanings = names.flatMap((name) => {
    const meaning = outcomeDetails[name]?.meaning;
    return meaning === undefined ? [] : labelled('', `${name}: ${meaning}`);
  });
  return [...table([['Outcomes', 'count', 'share', 'p50', 'p99', 'max'], ...rows]), ...meanings];
}

/** @param {Result} result */
function verification(result) {
  const failures = Object.entries(result.verification.failures).sort(([, a], [, b]) => b - a);
  return [
    ...labelled('Verified', verificationPhrase(result)),
    ...failures.flatMap(([rule, count]) => labelled('', `${formatCount(count)} ${rule}`)),
  ];
}

/** @param {Result} result */
function next(result) {
  return nextSteps(result).flatMap(({ point, text }, i) =>
    labelled(i === 0 ? 'Next' : '', point === '' ? text : `${point}: ${text}`),
  );
}
