/** The result of one run as a report. */
import { formatPercent } from '../../results/wording.js';
import { formatCount, formatDuration } from '../../units.js';
import { latencyBar, rangeText, requirementBar, requirementClause } from './bars.js';
import { nextSteps } from './next-steps.js';
import {
  chart,
  details,
  facts,
  figures,
  notes,
  report,
  section,
  sentence,
  table,
  texts,
  verdicts,
} from './parts.js';
import {
  counted,
  errorsPhrase,
  headline,
  isKept,
  LATENCY_COLUMNS,
  levelName,
  levelPhrase,
  loadNotes,
  neverSentPhrase,
  outcomeNames,
  pacePhrase,
  perHourText,
  perSecondText,
  statePhrase,
  subjectPhrase,
  thingsName,
  timeText,
  verificationPhrase,
} from './words.js';

/** @typedef {import('../../results/schema.js').Result} Result */
/** @typedef {import('../../results/schema.js').OperationBlock} OperationBlock */
/** @typedef {import('../sections.js').Part} Part */
/** @typedef {import('../sections.js').Verdicts['items'][number]} VerdictItem */

/** Of the line of key figures. */
const KEY_FIGURES = /** @type {const} */ (['p50', 'p95', 'p99', 'max']);

/**
 * @param {Result} result
 * @returns {import('../sections.js').Report}
 */
export function describeResult(result) {
  const verdict = worstVerdict(result);
  return report({
    title: headline(result),
    ...(verdict === undefined ? {} : { verdict }),
    subject: subjectPhrase(result),
    sections: [
      section('answer', null, answer(result)),
      section('latency', 'Latency', latency(result)),
      section('over-time', 'Over time', overTime(result)),
      section('requests', 'Requests', requests(result)),
      section('outcomes', 'Outcomes', outcomes(result)),
      section('operations', 'Operations', operations(result)),
      section('stages', 'Stages', stages(result)),
      section('remarks', 'Remarks', remarks(result)),
      section('run', 'Run', run(result)),
      section('next', 'Next', next(result)),
    ],
  });
}

/** @param {Result} result */
function worstVerdict({ requirements, measurement: { verdict }, unfinished }) {
  if (verdict === 'invalid' && !unfinished) return 'invalid';
  const worst = ['not met', 'not proven', 'met'];
  return worst.find((one) => requirements.some((requirement) => requirement.verdict === one));
}

/** @param {Result} result @returns {Part[]} */
function answer(result) {
  return [
    ...verdicts([...result.requirements.map(requirementItem), ...invalidItem(result)]),
    ...sentence(statePhrase(result), true),
    ...sentence(summary(result)),
    ...keyFigures(result),
    ...notes(result.measurement.verdict === 'invalid' ? [] : remarksOf(result).slice(0, 1)),
    ...(result.latencyMs.response.count === 0
      ? []
      : [
          chart(
            'latency-over-time',
            'Response time over time',
            'p50, p90, p99 and max of each second.',
            result,
          ),
        ]),
  ];
}

/**
 * @param {Result['requirements'][number]} requirement
 * @returns {VerdictItem}
 */
export function requirementItem(requirement) {
  const { text, verdict, reason } = requirement;
  const { doubt } = /** @type {{doubt?: string}} */ (requirement);
  const bar = requirementBar(requirement);
  return {
    verdict,
    name: text,
    text: requirementClause(requirement),
    ...(verdict === 'met' || doubt === 'invalid' ? {} : { reason }),
    ...(bar === undefined ? {} : { bar }),
  };
}

/** @param {Pick<Result, 'measurement' | 'unfinished'>} result @returns {VerdictItem[]} why no verdict can be believed */
export function invalidItem({ measurement: { verdict, reasons }, unfinished }) {
  if (verdict !== 'invalid' || unfinished) return [];
  const first = invalidReason(reasons);
  if (first === undefined) return [{ verdict, name: 'measurement', text: 'no reason is given' }];
  const { text, remedy } = first;
  return [{ verdict, name: 'measurement', text, ...(remedy === undefined ? {} : { reason: remedy }) }];
}

/** @param {Result['measurement']['reasons']} reasons @returns {Result['measurement']['reasons'][number] | undefined} the main one */
function invalidReason(reasons) {
  return reasons.find((reason) => gradeOf(reason) === 'invalid') ?? reasons[0];
}

/** @param {Result['measurement']['reasons'][number]} reason */
function gradeOf(reason) {
  return /** @type {{grade?: string}} */ (reason).grade;
}

/** @param {Result} result @returns {string} `400 of 400 OCSP responses good, all checked, in 20 s at 20/s` */
function summary(result) {
  const { totals, verification, durationSeconds } = result;
  const { succeeded, errors } = totals;
  if (succeeded + errors === 0) return 'Nothing was measured.';
  const { checked, unchecked } = verification;
  const all = checked + unchecked;
  const share = checked === all ? 'all checked' : `${formatPercent(checked / all)} checked`;
  const good = `${formatCount(succeeded)} of ${formatCount(succeeded + errors)} ${thingsName(result)} good`;
  const time = `in ${formatDuration(durationSeconds * 1000)} ${pacePhrase(result)}`;
  const failed = errors === 0 ? '' : `. Failed: ${errorsPhrase(result)}`;
  return `${[good, ...(all === 0 ? [] : [share]), time].join(', ')}${failed}`;
}

/** @param {Result} result @returns {Part[]} */
function keyFigures({ latencyMs: { response }, rates, errorShare, ...result }) {
  if (response.count === 0) return [];
  const { bar: rateBar } = /** @type {{bar?: {low: number, high: number | null}}} */ (rates);
  const { errorShareBar } = /** @type {{errorShareBar?: {low: number, high: number}}} */ (result);
  const details = [
    detail('rate', perSecondText, rates.perSecond, rateBar),
    detail('errors', formatPercent, errorShare ?? 0, errorShareBar),
  ];
  const items = KEY_FIGURES.map((key) => {
    const bar = latencyBar(response, key);
    const range = key === 'max' ? undefined : rangeText(bar, formatDuration);
    return {
      name: key,
      value: response[key] === null ? '–' : formatDuration(response[key]),
      ...(range === undefined ? {} : { range }),
      ...(bar === undefined ? {} : { bar }),
    };
  });
  return [{ kind: 'figures', items: [...items, ...details] }];
}

/**
 * @param {string} name
 * @param {(value: number) => string} format
 * @param {number} value
 * @param {{low: number, high: number | null}} [bar]
 */
function detail(name, format, value, bar) {
  const whole = bar === undefined ? undefined : { value, ...bar };
  const range = rangeText(whole, format);
  return {
    name,
    value: format(value),
    isDetail: true,
    ...(range === undefined ? {} : { range }),
    ...(whole === undefined ? {} : { bar: whole }),
  };
}

/** @param {Result} result @returns {Result['measurement']['reasons']} the first of a valid one belongs to the answer */
function remarksOf({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const main = verdict === 'invalid' ? invalidReason(reasons) : reasons[0];
  return main === undefined ? [] : [main, ...reasons.filter((reason) => reason !== main)];
}

/** @param {Result} result @returns {Part[]} */
function latency({ latencyMs: { response, service, sendLag } }) {
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
function overTime(result) {
  if (result.timeline.length === 0) return [];
  const failed = result.timeline.some((row) => row.failed > 0);
  return [
    chart('rates', 'Rates', 'Requests offered, sent and succeeded.', result),
    ...(failed ? [chart('errors', 'Errors', 'By outcome.', result)] : []),
    chart('send-lag', 'Send lag', 'p99 of each second.', result),
  ];
}

/** @param {Result} result @returns {Part[]} only where some were not sent, or failed */
function requests(result) {
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
function outcomes(result) {
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
function operations({ operations: blocks }) {
  const all = Object.entries(blocks);
  if (all.length < 2) return [];
  const rows = all.map(([name, block]) => [name, ...blockCells(block)]);
  return table('Operations', [...texts('Operation'), ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} stage by stage, and its operations where there are several */
function stages({ stages: all = [], load }) {
  const rows = all.flatMap(({ name, level, operations: own, ...block }) => {
    const each = Object.entries(own).map(([operation, one]) => [`– ${operation}`, '', ...blockCells(one)]);
    return [[name, levelPhrase(load, level), ...blockCells(block)], ...(each.length < 2 ? [] : each)];
  });
  return table('Stages', [...texts('Stage'), ...figures(levelName(load)), ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} apart from the one in the answer */
function remarks(result) {
  const texts = [
    ...(result.unfinished ? ['The measurement is judged when the run has ended.'] : []),
    ...(result.verification.notes ?? []),
    ...loadNotes(result),
  ];
  return notes([...remarksOf(result).slice(1), ...texts.map((text) => ({ text }))]);
}

/** @param {Result} result @returns {Part[]} */
function run(result) {
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
function next(result) {
  const steps = nextSteps(result);
  const done = isKept(result)
    ? `Succeeded: all ${formatCount(result.totals.succeeded)} ${thingsName(result)} are good.`
    : '';
  return [
    ...sentence(done),
    ...steps.map(({ command, text }) => /** @type {const} */ ({ kind: 'command', text, command })),
  ];
}
