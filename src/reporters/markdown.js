/**
 * A result as GitHub-flavoured Markdown, for a pull request, a wiki or $GITHUB_STEP_SUMMARY: the answer first, then
 * tables. No HTML; what may come from a server is escaped.
 */
import { decodeHistogram } from '../histogram.js';
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration } from '../units.js';
import { code, codeCell, escapeMarkdown, markdownTable } from './markdown-text.js';
import { nextSteps } from './next-steps.js';
import {
  counted,
  errorsPhrase,
  headline,
  LATENCY_COLUMNS,
  levelName,
  levelPhrase,
  neverSentPhrase,
  notePhrases,
  outcomeNames,
  perHourText,
  perSecondText,
  planPhrase,
  ratePhrase,
  statePhrase,
  timeText,
  verificationPhrase,
} from './phrases.js';
import { textHistogram } from './text-histogram.js';

/** @typedef {import('../results/schema.js').Result} Result */

/**
 * @param {Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  const state = statePhrase(result);
  const sections = [
    [`## ${escapeMarkdown(headline(result))}`],
    state === '' ? [] : [`**${escapeMarkdown(state)}**`],
    requirements(result),
    measurement(result),
    [subject(result)],
    reached(result),
    requests(result),
    latencies(result),
    distribution(result),
    operations(result),
    stages(result),
    outcomes(result),
    verification(result),
    notes(result),
    next(result),
    [footer(result)],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Result} result */
function requirements({ requirements: all }) {
  if (all.length === 0) return [];
  const rows = all.map(({ text, verdict, reason }) => [
    codeCell(text),
    `**${verdict}**`,
    escapeMarkdown(reason),
  ]);
  return markdownTable(['Requirement', 'Verdict', 'Why'], rows, 3);
}

/** @param {Result} result */
function measurement({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return ['The measurement is judged when the run has ended.'];
  const because = reasons.map(
    ({ text, remedy }) => `- ${escapeMarkdown(remedy === undefined ? text : `${text} ${remedy}`)}`,
  );
  return [`The measurement is **${verdict}**.`, ...(because.length === 0 ? [] : ['', ...because])];
}

/** @param {Result} result */
function subject(result) {
  const { operations: blocks, command, target } = result;
  const names = (Object.keys(blocks).length === 0 ? [command] : Object.keys(blocks)).map(code).join(', ');
  const product = [target.product, target.version].filter((part) => part).join(' ');
  const behind = product === '' ? '' : ` (${escapeMarkdown(product)})`;
  return `${names} on ${code(target.url)}${behind}, ${escapeMarkdown(planPhrase(result))}.`;
}

/** @param {Result} result */
function reached(result) {
  return [
    `- Steady rate: **${escapeMarkdown(ratePhrase(result))}**`,
    `- Errors: ${escapeMarkdown(errorsPhrase(result))}`,
  ];
}

/** @param {Result} result */
function requests(result) {
  const { totals, rates, durationSeconds } = result;
  const { planned, sent, succeeded, failed, dropped, neverSent } = totals;
  const heading = ['planned', 'sent', 'succeeded', 'failed', 'dropped', neverSentPhrase(result)];
  const peak = formatCount(Number(rates.peakOneSecond.toFixed(1)));
  return markdownTable(
    [...heading, 'in', 'a second', 'an hour', 'most in a second'],
    [
      [
        ...[planned, sent, succeeded, failed, dropped, neverSent].map(formatCount),
        formatDuration(durationSeconds * 1000),
        perSecondText(rates.perSecond).replace(/\/s$/, ''),
        perHourText(rates.perHour),
        peak,
      ],
    ],
    0,
  );
}

/** @param {Result} result */
function latencies({ latencyMs: { response, service, sendLag } }) {
  const rows = /** @type {const} */ ([
    ['response time', response],
    ['service time', service],
    ['send lag', sendLag],
  ]).map(([name, latency]) => [name, ...LATENCY_COLUMNS.map(([, key]) => timeText(latency[key]))]);
  return markdownTable(['Latency', ...LATENCY_COLUMNS.map(([heading]) => heading)], rows);
}

/** @param {Result} result */
function distribution({ latencyMs: { response } }) {
  if (response.histogram === null) return [];
  return ['```text', ...textHistogram(decodeHistogram(response.histogram)), '```'];
}

/** @param {Result} result */
function operations({ operations: blocks }) {
  const all = Object.entries(blocks);
  if (all.length < 2) return [];
  const rows = all.map(([name, { totals, rates, latencyMs }]) => [
    codeCell(name),
    formatCount(totals.sent),
    formatCount(totals.succeeded),
    perSecondText(rates.perSecond),
    `${perHourText(rates.perHour)}/h`,
    timeText(latencyMs.response.p50),
    timeText(latencyMs.response.p99),
  ]);
  return markdownTable(['Operation', 'sent', 'succeeded', 'a second', 'an hour', 'p50', 'p99'], rows);
}

/** @param {Result} result */
function stages({ stages: all = [], load }) {
  if (all.length === 0) return [];
  const rowOf = (
    /** @type {string} */ name,
    /** @type {string} */ level,
    /** @type {import('../results/schema.js').OperationBlock} */ { totals, rates, latencyMs: { response } },
  ) => [
    name,
    level,
    formatCount(totals.sent),
    formatCount(totals.succeeded),
    formatCount(totals.errors),
    perSecondText(rates.perSecond),
    timeText(response.p50),
    timeText(response.p99),
    timeText(response.max),
  ];
  const rows = all.flatMap(({ name, level, operations: own, ...block }) => {
    const each = Object.entries(own).map(([operation, one]) => rowOf(`– ${codeCell(operation)}`, '', one));
    return [rowOf(codeCell(name), levelPhrase(load, level), block), ...(each.length < 2 ? [] : each)];
  });
  const columns = ['Stage', levelName(load), 'sent', 'succeeded', 'errors', 'a second', 'p50', 'p99', 'max'];
  return markdownTable(columns, rows);
}

/** @param {Result} result */
function outcomes(result) {
  const { outcomes: counts, outcomeDetails, totals } = result;
  const rows = outcomeNames(result).map((name) => {
    const detail = outcomeDetails[name];
    return [
      codeCell(name),
      escapeMarkdown(detail?.meaning ?? (detail?.success ? 'succeeded' : '')),
      formatCount(counts[name]),
      escapeMarkdown(formatPercent(counts[name] / Math.max(1, totals.planned))),
      timeText(detail?.latencyMs.response.p50),
      timeText(detail?.latencyMs.response.p99),
      timeText(detail?.latencyMs.response.max),
    ];
  });
  if (rows.length === 0) return [];
  return markdownTable(['Outcome', 'Meaning', 'count', 'share', 'p50', 'p99', 'max'], rows, 2);
}

/** @param {Result} result */
function verification(result) {
  const failures = Object.entries(result.verification.failures).sort(([, a], [, b]) => b - a);
  const list = failures.map(([rule, count]) => `- ${formatCount(count)} ${code(rule)}`);
  const phrase = `Verified: ${escapeMarkdown(verificationPhrase(result))}.`;
  return [phrase, ...(list.length === 0 ? [] : ['', ...list])];
}

/** @param {Result} result */
function notes(result) {
  return notePhrases(result).map((note) => `- Note: ${escapeMarkdown(note)}`);
}

/** @param {Result} result */
function next(result) {
  const steps = nextSteps(result);
  if (steps.length === 0) return [];
  const list = steps.map(({ point, text }) =>
    point === '' ? `- ${escapeMarkdown(text)}` : `- ${code(point)}: ${escapeMarkdown(text)}`,
  );
  return ['Next:', '', ...list];
}

/** @param {Result} result */
function footer({ tool, startedAt, environment: { node, platform, cpus } }) {
  const text = `vault-pki-load ${tool.version}, started ${startedAt}, Node ${node} on ${platform}, ${counted(cpus, 'core')}`;
  return escapeMarkdown(`${text}.`);
}
