/** The sections of a result below its answer. */
import { formatCount, formatDuration } from '../../common/units.js';
import { invalidReasonOf } from '../../result/measurement.js';
import { formatPercent } from '../../result/wording.js';
import { chart, details, facts, figures, notes, sentence, table, texts } from '../sections.js';
import {
  counted,
  isKept,
  LATENCY_COLUMNS,
  levelName,
  levelPhrase,
  loadNotes,
  neverSentPhrase,
  outcomeNames,
  perHourText,
  perSecondText,
  thingsName,
  timeText,
  verificationPhrase,
} from './words.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {import('../../result/schema.js').OperationBlock} OperationBlock */
/** @typedef {import('../sections.js').Part} Part */

/** @param {Result} result @returns {Part[]} */
export function latency({ latencyMs: { response, service, sendLag } }) {
  if (response.count + service.count + sendLag.count === 0) return [];
  const rows = /** @type {const} */ ([
    ['response', response],
    ['service', service],
    ['send lag', sendLag],
  ]).map(([name, block]) => [name, ...LATENCY_COLUMNS.map(([, key]) => timeText(block[key]))]);
  const series = [
    { name: 'response time', latency: response },
    { name: 'service time', latency: service },
  ];
  return [
    ...table(
      'Response time counts from when a request was due, service time from when it was sent; send lag is between.',
      [...texts('Latency'), ...figures(...LATENCY_COLUMNS.map(([heading]) => heading))],
      rows,
    ),
    chart('percentiles', 'Response times', 'By percentile.', {
      axis: 'latency',
      series,
      isShaded: true,
    }),
  ];
}

/** @param {Result} result @returns {Part[]} */
export function overTime(result) {
  if (result.timeline.length === 0) return [];
  const failed = result.timeline.some((row) => row.failed > 0);
  return [
    chart('rates', 'Rates', 'Requests offered, sent and succeeded.', result),
    ...(failed ? [chart('errors', 'Errors', 'By outcome.', result)] : []),
    chart('send-lag', 'Send lag', 'p99 of each second.', result),
  ];
}

/** @param {Result} result @returns {Part[]} only where some were not sent, or failed */
export function requests(result) {
  const { planned, sent, succeeded, failed, dropped, neverSent } = result.totals;
  if (planned === succeeded) return [];
  return table(
    'Requests',
    [
      ...texts('Requests'),
      ...figures('planned', 'sent', 'succeeded', 'failed', 'dropped', neverSentPhrase(result)),
    ],
    [['all', ...[planned, sent, succeeded, failed, dropped, neverSent].map(formatCount)]],
  );
}

/** @param {Result} result @returns {Part[]} only where there are several, or failures */
export function outcomes(result) {
  const { outcomes: counts, outcomeDetails, totals, verification } = result;
  const names = outcomeNames(result);
  const isAllGood = names.length === 1 && outcomeDetails[names[0]]?.success !== false;
  const broken = Object.entries(verification.failures).sort(([, a], [, b]) => b - a);
  if ((names.length === 0 || isAllGood) && broken.length === 0) return [];
  const rows = names.map((name) => {
    const detail = outcomeDetails[name];
    const response = detail?.latencyMs.response;
    return [
      name,
      formatCount(counts[name]),
      formatPercent(counts[name] / Math.max(1, totals.planned)),
      ...[response?.p50, response?.p99, response?.max].map(timeText),
      detail?.meaning ?? '',
    ];
  });
  const columns = [
    ...texts('Outcome'),
    ...figures('count', 'share', 'p50', 'p99', 'max'),
    ...texts('meaning'),
  ];
  const rules = broken.map(([rule, count]) => [rule, formatCount(count)]);
  return [
    ...table('Outcomes', columns, rows),
    ...table('Rules that responses broke', [...texts('Broken rule'), ...figures('responses')], rules),
  ];
}

/** Columns of operations and stages. */
const BLOCK_COLUMNS = [
  ...figures('sent', 'succeeded', 'errors', 'rate'),
  ...details(...figures('per hour')),
  ...figures('p50', 'p99', 'max'),
];

/** @param {Pick<OperationBlock, 'totals' | 'rates' | 'latencyMs'>} block @returns {string[]} as BLOCK_COLUMNS */
function blockCells({ totals, rates, latencyMs: { response } }) {
  return [
    formatCount(totals.sent),
    formatCount(totals.succeeded),
    formatCount(totals.errors),
    perSecondText(rates.perSecond),
    `${perHourText(rates.perHour)}/h`,
    ...[response.p50, response.p99, response.max].map(timeText),
  ];
}

/** @param {Result} result @returns {Part[]} only where there are several */
export function operations({ operations: blocks }) {
  const all = Object.entries(blocks);
  if (all.length < 2) return [];
  const rows = all.map(([name, block]) => [name, ...blockCells(block)]);
  return table('Operations', [...texts('Operation'), ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} stage by stage, and its operations where there are several */
export function stages({ stages: all = [], load }) {
  const rows = all.flatMap(({ name, level, operations: own, ...block }) => {
    const each = Object.entries(own).map(([operation, one]) => [`– ${operation}`, '', ...blockCells(one)]);
    return [[name, levelPhrase(load, level), ...blockCells(block)], ...(each.length < 2 ? [] : each)];
  });
  return table('Stages', [...texts('Stage'), ...figures(levelName(load)), ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} with their details and remedies; why a measurement is invalid is all in the answer */
export function remarks(result) {
  const texts = [
    ...(result.unfinished ? ['The measurement is judged when the run has ended.'] : []),
    ...(result.verification.notes ?? []),
    ...loadNotes(result),
  ];
  const all = remarksOf(result);
  const remarks = (result.measurement.verdict === 'invalid' ? all.slice(1) : all).map(
    ({ text, detail, remedy }) => ({
      text: detail === undefined ? text : `${text} ${detail}`,
      ...(remedy === undefined ? {} : { remedy }),
    }),
  );
  return notes([...remarks, ...texts.map((text) => ({ text }))]);
}

/** @param {Result} result @returns {Part[]} */
export function run(result) {
  const { rates, durationSeconds, startedAt, tool, environment } = result;
  const { node, platform, cpus } = environment;
  const peak = formatCount(Number(rates.peakOneSecond.toFixed(1)));
  return facts([
    [
      'Rate',
      `${perSecondText(rates.perSecond)}, ${perHourText(rates.perHour)} an hour; peak ${peak} in one second`,
    ],
    ['Checked', verificationPhrase(result)],
    ['Time', `${formatDuration(durationSeconds * 1000)} from ${startedAt}`],
    ['Tool', `vault-pki-load ${tool.version}, Node ${node} on ${platform}, ${counted(cpus, 'core')}`],
  ]);
}

/** @param {Result} result @returns {Part[]} */
export function next(result) {
  const steps = nextSteps(result);
  const done = isKept(result)
    ? `Succeeded: all ${formatCount(result.totals.succeeded)} ${thingsName(result)} are good.`
    : '';
  return [
    ...sentence(done),
    ...steps.map(({ command, text }) => /** @type {const} */ ({ kind: 'command', text, command })),
  ];
}

/** @param {Result} result @returns {Result['measurement']['reasons']} the first of a valid one belongs to the answer */
export function remarksOf({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const main = invalidReasonOf({ verdict, reasons }) ?? reasons[0];
  return main === undefined ? [] : [main, ...reasons.filter((reason) => reason !== main)];
}

/** @typedef {{command: string, text: string}} Step a flag, or a command; `text`: why */

/** Kinds of errors that get a step, the most frequent first. */
const MAX_ERRORS = 2;

/** A page that was written, in quotes or without. */
const PAGE = /\s--out(?:=|\s+)('[^']+\.html'|"[^"]+\.html"|[^\s'"]+\.html)(?=\s|$)/i;

/** By outcome. @type {Record<string, (result: Result) => Step>} */
const BY_OUTCOME = {
  timeout: ({ load }) =>
    step('--timeout', `more than ${formatDuration(load.timeoutMs)} shows how long these responses take`),
  connection_refused: () => step('--url', 'nothing listens there, or it accepts no more connections'),
  permission_denied: () => step('vault token lookup', 'the token is not allowed to do this, or has expired'),
  not_found: () => step('--mount', 'there is no such mount, role or path; see --role too'),
  rate_limited: () => step('vault list sys/quotas/rate-limit', 'a quota refuses requests'),
  standby: () => step('--url', 'a standby node refused; use the address of the active node'),
  unavailable: () => step('vault status', 'the target is sealed, overloaded or without a leader'),
  server_error: () => step('vault monitor', "the server's log says why it failed"),
  dropped: () => step('--concurrency', 'every connection was busy: raise it, or lower --rate'),
  never_sent: () => step('--concurrency', 'requests waited for a connection: raise it, or lower --rate'),
};

/** @param {Result} result @returns {Step[]} the most pressing first */
export function nextSteps(result) {
  if (result.unfinished) return [];
  const steps = [...fromErrors(result), ...fromRequirements(result)];
  return steps.filter(({ command }, i) => steps.findIndex((one) => one.command === command) === i);
}

/** @param {Result} result */
function fromErrors(result) {
  return Object.entries(result.outcomeDetails)
    .filter(([name, { success, count }]) => !success && count > 0 && Object.hasOwn(BY_OUTCOME, name))
    .sort(([, a], [, b]) => b.count - a.count)
    .slice(0, MAX_ERRORS)
    .map(([name]) => BY_OUTCOME[name](result));
}

/** @param {Result} result @returns {Step[]} */
function fromRequirements({ requirements, measurement, totals, command, load }) {
  if (totals.sent === 0 || measurement.verdict === 'invalid') return [];
  if (requirements.length === 0) {
    return [step("--require 'p99<200ms'", 'makes this run a test that passes or fails')];
  }
  if (requirements.some(({ verdict }) => verdict === 'not met')) return [page(command)];
  const unproven = requirements.find(({ verdict }) => verdict === 'not proven');
  if (unproven?.doubt === 'tool')
    return [step('--threads', 'or more CPU: the doubt is lateness of this tool')];
  if (unproven?.doubt === 'unchecked')
    return [step('--rate', 'a lower one leaves time to check every response')];
  if (unproven?.doubt === 'failures') return [page(command)];
  if (unproven !== undefined) {
    const flag = (load.stageCount ?? 0) > 0 ? 'longer stages' : '--duration';
    return [step(flag, 'a longer run narrows the doubt')];
  }
  return [step('--repeat 10', 'several runs show how much they differ')];
}

/**
 * @param {string} command as it was typed
 * @returns {Step} the page of the run, or how to get one
 */
function page(command) {
  const [, file] = PAGE.exec(command) ?? [];
  if (file === undefined) return step('--out result.html', 'draws when responses were slow, and how slow');
  return step(`--out ${file}`, 'this page draws when responses were slow, and how slow');
}

/**
 * @param {string} command
 * @param {string} text
 * @returns {Step}
 */
function step(command, text) {
  return { command, text };
}
