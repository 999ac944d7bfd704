/** The summary at the end of a run: plain text, 80 columns, the answer first. */
import { styleText } from 'node:util';
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration, formatLatency } from '../units.js';
import { labelled, table, wrap } from './layout.js';
import { loadPhrase, notePhrases, perSecondText, targetPhrase, verificationPhrase } from './phrases.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('../results/schema.js').LatencyBlock} LatencyBlock */

/** @type {Record<string, 'green' | 'yellow' | 'red'>} */
const COLOURS = {
  met: 'green',
  valid: 'green',
  'not proven': 'yellow',
  suspect: 'yellow',
  'not met': 'red',
  invalid: 'red',
};

const COLUMNS = /** @type {const} */ ([
  ['mean', 'mean'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99.9', 'p999'],
  ['max', 'max'],
]);

/**
 * @param {Result} result
 * @param {{color?: boolean}} [options]
 * @returns {string} ends with a newline
 */
export function render(result, { color = false } = {}) {
  const sections = [
    head(result),
    requirements(result, color),
    measurement(result, color),
    requests(result),
    latencies(result),
    operations(result),
    outcomes(result),
    verification(result),
    notePhrases(result).flatMap((note) => labelled('Note', note)),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Result} result */
function head(result) {
  const { target, load, interrupted } = result;
  const command = Object.keys(result.operations).join(', ') || result.command;
  const lines = wrap(`${command} on ${targetPhrase(target)}, ${loadPhrase(load)}`);
  return interrupted ? [...lines, 'Interrupted: this is what was measured until then.'] : lines;
}

/**
 * @param {Result} result
 * @param {boolean} color
 */
function requirements(result, color) {
  return result.requirements.flatMap(({ text, verdict, reason }) => {
    const lines = labelled(verdict, text);
    lines[0] = paint(lines[0], verdict, color);
    return [...lines, ...labelled('', reason)];
  });
}

/**
 * @param {Result} result
 * @param {boolean} color
 */
function measurement({ measurement: { verdict, reasons } }, color) {
  const lines = labelled('Measurement', verdict);
  lines[0] = paint(lines[0], verdict, color);
  const because = reasons.flatMap(({ text, remedy }) =>
    labelled('', remedy === undefined ? text : `${text} ${remedy}`),
  );
  return [...lines, ...because];
}

/** @param {Result} result */
function requests({ totals, rates, durationSeconds }) {
  const { planned, sent, succeeded, failed, dropped, neverSent } = totals;
  return [
    ...table([
      ['Requests', 'planned', 'sent', 'succeeded', 'failed', 'dropped', 'never sent'],
      ['', ...[planned, sent, succeeded, failed, dropped, neverSent].map(formatCount)],
    ]),
    ...labelled('Wall time', formatDuration(durationSeconds * 1000)),
    ...labelled(
      'Steady rate',
      `${perSecondText(rates.perSecond)} = ${formatCount(Math.round(rates.perHour))}/h succeeded`,
    ),
    ...labelled('Peak', `${formatCount(Number(rates.peakOneSecond.toFixed(1)))} succeeded in one second`),
  ];
}

/** @param {Result} result */
function latencies({ latencyMs: { response, service, sendLag } }) {
  return table([
    ['Latency', ...COLUMNS.map(([heading]) => heading)],
    ['response', ...figures(response)],
    ['service', ...figures(service)],
    ['send lag', ...figures(sendLag)],
  ]);
}

/** @param {LatencyBlock} latency */
function figures(latency) {
  return COLUMNS.map(([, key]) => time(latency[key]));
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
    time(latencyMs.response.p50),
    time(latencyMs.response.p99),
  ]);
  return table([['Operations', 'sent', 'succeeded', 'rate', 'p50', 'p99'], ...rows]);
}

/** Successes first, then the most frequent. @param {Result} result */
function outcomes({ outcomes: counts, outcomeDetails, totals }) {
  const names = Object.keys(counts).sort(
    (a, b) =>
      Number(outcomeDetails[b]?.success ?? false) - Number(outcomeDetails[a]?.success ?? false) ||
      counts[b] - counts[a],
  );
  if (names.length === 0) return [];
  const rows = names.map((name) => {
    const response = outcomeDetails[name]?.latencyMs.response;
    const share = formatPercent(counts[name] / Math.max(1, totals.planned));
    return [
      name,
      formatCount(counts[name]),
      share,
      time(response?.p50),
      time(response?.p99),
      time(response?.max),
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

/** @param {number | null | undefined} ms */
function time(ms) {
  return ms === null || ms === undefined ? '–' : formatLatency(ms);
}

/**
 * @param {string} line
 * @param {string} verdict
 * @param {boolean} color
 */
function paint(line, verdict, color) {
  if (!color) return line;
  return line.replace(verdict, styleText(COLOURS[verdict], verdict, { validateStream: false }));
}
