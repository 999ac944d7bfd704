/** The sections of a result below its answer, down to the commands to try next. */
import { formatCount, formatDuration } from '../../common/units.js';
import { invalidReasonOf } from '../../result/document.js';
import { formatPercent } from '../../result/wording.js';
import { chart, detailColumn, facts, figureColumn, notes, sentence, table, textColumn } from '../sections.js';
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
  timeText,
  unitName,
  verificationPhrase,
} from './words.js';
/** @import { OperationBlock, Result } from '../../result/schema.js' */
/** @import { Part } from '../sections.js' */

/** @typedef {Pick<OperationBlock, 'totals' | 'rates' | 'latencyMs'>} Block */
/** @template Row @typedef {import('../sections.js').TableColumn<Row>} TableColumn */

/** @param {Result} result @returns {Part[]} */
export function latency({ latencyMs: { response, service, sendLag } }) {
  if (response.count + service.count + sendLag.count === 0) return [];
  const rows = Object.entries({ response, service, 'send lag': sendLag });
  const series = [
    { name: 'response time', latency: response },
    { name: 'service time', latency: service },
  ];
  return [
    ...table(
      'Response time counts from when a request was due, service time from when it was sent; send lag is between.',
      [
        textColumn('Latency', ([name]) => name),
        ...LATENCY_COLUMNS.map(([heading, key]) =>
          figureColumn(heading, (/** @type {typeof rows[number]} */ [, block]) => timeText(block[key])),
        ),
      ],
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
  const { totals } = result;
  if (totals.planned === totals.succeeded) return [];
  return table(
    'Requests',
    [
      textColumn('Requests', () => 'all'),
      figureColumn('planned', ({ planned }) => formatCount(planned)),
      figureColumn('sent', ({ sent }) => formatCount(sent)),
      figureColumn('succeeded', ({ succeeded }) => formatCount(succeeded)),
      figureColumn('failed', ({ failed }) => formatCount(failed)),
      figureColumn('dropped', ({ dropped }) => formatCount(dropped)),
      figureColumn(neverSentPhrase(result), ({ neverSent }) => formatCount(neverSent)),
    ],
    [totals],
  );
}

/** @param {Result} result @returns {Part[]} only where there are several, or failures */
export function outcomes(result) {
  const { outcomes: counts, outcomeDetails, totals, verification } = result;
  const names = outcomeNames(result);
  const isAllGood = names.length === 1 && outcomeDetails[names[0]]?.success !== false;
  const broken = Object.entries(verification.failures).sort(([, a], [, b]) => b - a);
  if ((names.length === 0 || isAllGood) && broken.length === 0) return [];
  const rows = names.map((name) => ({
    name,
    count: counts[name],
    times: outcomeDetails[name]?.latencyMs.response,
    meaning: outcomeDetails[name]?.meaning ?? '',
  }));
  return [
    ...table(
      'Outcomes',
      [
        textColumn('Outcome', ({ name }) => name),
        figureColumn('count', ({ count }) => formatCount(count)),
        figureColumn('share', ({ count }) => formatPercent(count / Math.max(1, totals.planned))),
        figureColumn('p50', ({ times }) => timeText(times?.p50)),
        figureColumn('p99', ({ times }) => timeText(times?.p99)),
        figureColumn('max', ({ times }) => timeText(times?.max)),
        textColumn('meaning', ({ meaning }) => meaning),
      ],
      rows,
    ),
    ...table(
      'Rules that responses broke',
      [
        textColumn('Broken rule', ([rule]) => rule),
        figureColumn('responses', ([, count]) => formatCount(count)),
      ],
      broken,
    ),
  ];
}

/** Of operations and stages. @type {readonly TableColumn<{block: Block}>[]} */
const BLOCK_COLUMNS = [
  figureColumn('sent', ({ block }) => formatCount(block.totals.sent)),
  figureColumn('succeeded', ({ block }) => formatCount(block.totals.succeeded)),
  figureColumn('errors', ({ block }) => formatCount(block.totals.errors)),
  figureColumn('rate', ({ block }) => perSecondText(block.rates.perSecond)),
  detailColumn('per hour', ({ block }) => `${perHourText(block.rates.perHour)}/h`),
  figureColumn('p50', ({ block }) => timeText(block.latencyMs.response.p50)),
  figureColumn('p99', ({ block }) => timeText(block.latencyMs.response.p99)),
  figureColumn('max', ({ block }) => timeText(block.latencyMs.response.max)),
];

/** @param {Result} result @returns {Part[]} only where there are several */
export function operations({ operations: blocks }) {
  const rows = Object.entries(blocks).map(([name, block]) => ({ name, block }));
  if (rows.length < 2) return [];
  return table('Operations', [textColumn('Operation', ({ name }) => name), ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} stage by stage, and its operations where there are several */
export function stages({ stages: all = [], load }) {
  const rows = all.flatMap(({ name, level, operations: own, ...block }) => {
    const each = Object.entries(own).map(([operation, one]) => ({
      name: `– ${operation}`,
      level: '',
      block: one,
    }));
    return [{ name, level: levelPhrase(load, level), block }, ...(each.length < 2 ? [] : each)];
  });
  return table(
    'Stages',
    [
      textColumn('Stage', ({ name }) => name),
      figureColumn(levelName(load), ({ level }) => level),
      ...BLOCK_COLUMNS,
    ],
    rows,
  );
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
  return notes([...remarks, ...texts]);
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
    ? `Succeeded: all ${formatCount(result.totals.succeeded)} ${unitName(result)} are good.`
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

/** @param {string} command as it was typed @returns {Step} the page of the run, or how to get one */
function page(command) {
  const [, file] = PAGE.exec(command) ?? [];
  if (file === undefined) return step('--out result.html', 'draws when responses were slow, and how slow');
  return step(`--out ${file}`, 'this page draws when responses were slow, and how slow');
}

/** @param {string} command @param {string} text @returns {Step} */
function step(command, text) {
  return { command, text };
}
