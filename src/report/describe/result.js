/** The result of one run as a report. */
import { formatCount, formatDuration } from '../../common/units.js';
import { invalidReasonOf } from '../../result/document.js';
import { FIGURES } from '../../result/latency.js';
import { formatPercent } from '../../result/wording.js';
import { chart, facts, figures, notes, report, section, sentence, table, verdicts } from '../sections.js';
import { invalidItem, keyFigure, requirementItem, worstVerdict } from './bars.js';
import { nextSteps } from './next.js';
import { phasesOf } from './phases.js';
import {
  countColumns,
  counted,
  errorsPhrase,
  extent,
  headline,
  levelPhrase,
  pacePhrase,
  perHourText,
  perSecondText,
  statePhrase,
  subjectPhrase,
  timeColumns,
  unitName,
} from './words.js';

/** @import { OperationBlock, Result } from '../../result/schema.js' */
/** @import { Column, Part, Report } from '../sections.js' */

/** Columns of the key figures and of a table of latencies. */
const KEY_FIGURES = /** @type {const} */ (['p50', 'p95', 'p99']);
const LATENCIES = FIGURES.filter((figure) => figure !== 'min');

const OVER_TIME = 'p50, p90, p99 and max.';
const LATENCY =
  'Response time counts from when a request was due, service time from when it was sent; send lag is the difference.';
const PHASES = 'The service time of a complete response is connect + TLS + first byte + transfer.';
const CLOSED_LOOP =
  'A closed loop hides waiting: a slow target gets fewer requests. Use --rate to see how long users would wait.';

/** @param {Result} result @returns {Report} */
export function describeResult(result) {
  const { measurement, unfinished, requirements: required } = result;
  return report({
    title: headline(result),
    verdict: measurement.verdict === 'invalid' && !unfinished ? 'invalid' : worstVerdict(required),
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
      section('next', 'Next', facts(nextSteps(result), true)),
    ],
  });
}

/** @param {Result} result @returns {Part[]} */
function answer(result) {
  const { latencyMs, rates, errorShare, errorShareBar, measurement, requirements: required } = result;
  const { response } = latencyMs;
  const isMeasured = response.count > 0;
  const items = [
    ...KEY_FIGURES.map((key) => keyFigure(key, formatDuration, response[key], response.bars?.[key])),
    { ...keyFigure('max', formatDuration, response.max, response.bars?.max), range: undefined },
    { ...keyFigure('rate', perSecondText, rates.perSecond, rates.bar), isDetail: true },
    { ...keyFigure('errors', formatPercent, errorShare ?? 0, errorShareBar), isDetail: true },
  ];
  const [remark] = measurement.verdict === 'invalid' ? [] : remarksOf(result);
  return [
    ...verdicts([...required.map(requirementItem), ...invalidItem(result)]),
    ...sentence(statePhrase(result), true),
    ...sentence(summary(result)),
    ...figures(isMeasured ? items : []),
    ...notes(remark === undefined ? [] : [remark.text]),
    ...(isMeasured ? [chart('latency-over-time', 'Response time over time', OVER_TIME, result)] : []),
  ];
}

/** @param {Result} result @returns {string} `400 of 400 OCSP responses good, all checked, in 20 s at 20/s` */
function summary(result) {
  const { totals, verification, durationSeconds } = result;
  const { succeeded, errors } = totals;
  if (succeeded + errors === 0) return 'Nothing was measured.';
  const { checked, unchecked } = verification;
  const all = checked + unchecked;
  const number = errors === 0 ? 'all' : formatCount(checked);
  const share = checked === all ? `${number} checked` : `${formatPercent(checked / all)} checked`;
  const good = `${formatCount(succeeded)} of ${formatCount(succeeded + errors)} ${unitName(result)} good`;
  const time = `in ${formatDuration(durationSeconds * 1000)} ${pacePhrase(result)}`;
  const timed = totals.dropped < errors ? '; times include failed requests' : '';
  const failed = errors === 0 ? '' : `. Failed: ${errorsPhrase(result)}${timed}`;
  return `${[good, ...(all === 0 ? [] : [share]), time].join(', ')}${failed}`;
}

/** @param {Result} result @returns {Part[]} */
function latency({ latencyMs, operations }) {
  const { response, service, sendLag, connect, tls, firstByte, transfer } = latencyMs;
  if (response.count + service.count + sendLag.count === 0) return [];
  // Otherwise the first byte is the whole service time.
  const isSplit = connect !== undefined || transfer !== undefined;
  const phases = isSplit ? { connect, TLS: tls, 'first byte': firstByte, transfer } : {};
  const rows = Object.entries({ response, service, 'send lag': sendLag, ...phases }).flatMap(
    ([name, block]) => (block === undefined ? [] : [{ name, block }]),
  );
  const series = [
    { name: 'response time', latency: response },
    { name: 'service time', latency: service },
  ];
  return [
    ...table(
      isSplit ? `${LATENCY} ${PHASES}` : LATENCY,
      [
        ['Latency', ({ name }) => name],
        ...timeColumns(LATENCIES, (/** @type {typeof rows[number]} */ { block }) => block),
      ],
      rows,
    ),
    chart('percentiles', 'Response times', 'By percentile.', { axis: 'latency', series }),
    ...(isSplit ? [whereTimeWent(operations)] : []),
  ];
}

/** @param {Result['operations']} operations */
function whereTimeWent(operations) {
  const sent = Object.entries(operations).filter(([, { latencyMs }]) => latencyMs.service.count > 0);
  const rows = sent.map(([name, { latencyMs }]) => phasesOf(name, latencyMs));
  return chart('phases', 'Where the time went', 'Mean of all requests.', rows);
}

/** @param {Result} result @returns {Part[]} */
function overTime(result) {
  if (result.totals.sent === 0) return [];
  const hasFailed = result.timeline.some((row) => row.failed > 0);
  return [
    chart('rates', 'Rates', 'Requests offered, sent and succeeded.', result),
    ...(hasFailed ? [chart('errors', 'Errors', 'By outcome.', result)] : []),
    chart('send-lag', 'Send lag', 'p99 of each second.', result),
  ];
}

/** @param {Result} result @returns {Part[]} only if some were not sent or failed */
function requests({ totals, unfinished }) {
  return table(
    'Requests',
    [
      ['Requests', () => 'all'],
      ...countColumns(
        ['planned', 'sent', 'succeeded', 'failed', 'dropped'],
        (/** @type {typeof totals} */ row) => row,
      ),
      [unfinished ? 'unanswered' : 'never sent', ({ neverSent }) => formatCount(neverSent)],
    ],
    totals.planned === totals.succeeded ? [] : [totals],
  );
}

/** @param {Result} result @returns {Part[]} only for several outcomes or failures */
function outcomes({ outcomeDetails, totals, verification }) {
  const rows = Object.entries(outcomeDetails).sort(([, a], [, b]) => b.count - a.count);
  const failedChecks = Object.entries(verification.failures).sort(([, a], [, b]) => b - a);
  const isAllGood = rows.length < 2 && rows.every(([, { success }]) => success) && failedChecks.length === 0;
  return [
    ...table(
      'Outcomes',
      [
        ['Outcome', ([name]) => name],
        ['count', ([, { count }]) => formatCount(count)],
        ['share', ([, { count }]) => formatPercent(count / Math.max(1, totals.planned))],
        ...timeColumns(
          ['p50', 'p99', 'max'],
          (/** @type {typeof rows[number]} */ [, { latencyMs }]) => latencyMs.response,
        ),
        ['meaning', ([, { meaning = '' }]) => meaning, 'text'],
      ],
      isAllGood ? [] : rows,
    ),
    ...table(
      'Failed checks',
      [
        ['Failed check', ([rule]) => rule],
        ['responses', ([, count]) => formatCount(count)],
      ],
      failedChecks,
    ),
  ];
}

/** @typedef {{name: string, level?: string, block: Pick<OperationBlock, 'totals' | 'rates' | 'latencyMs'>}} BlockRow */

/** Of operations and stages. @type {Column<BlockRow>[]} */
const BLOCK_COLUMNS = [
  ...countColumns(['sent', 'succeeded', 'errors'], (/** @type {BlockRow} */ { block }) => block.totals),
  ['rate', ({ block }) => perSecondText(block.rates.perSecond)],
  ['per hour', ({ block }) => `${perHourText(block.rates.perHour)}/h`, 'detail'],
  ...timeColumns(['p50', 'p99', 'max'], (/** @type {BlockRow} */ { block }) => block.latencyMs.response),
];

/** @param {Result} result @returns {Part[]} only for several operations */
function operations({ operations: blocks }) {
  const rows = Object.entries(blocks).map(([name, block]) => ({ name, block }));
  if (rows.length < 2) return [];
  return table('Operations', [['Operation', ({ name }) => name], ...BLOCK_COLUMNS], rows);
}

/** @param {Result} result @returns {Part[]} each stage, and its operations if there are several */
function stages({ stages: all = [], load }) {
  /** @type {BlockRow[]} */
  const rows = all.flatMap(({ name, level: { least, most }, operations: own, ...block }) => {
    const inner = Object.entries(own).map(([operation, one]) => ({ name: `– ${operation}`, block: one }));
    const whole = { name, level: levelPhrase(load, least, most), block };
    return inner.length < 2 ? [whole] : [whole, ...inner];
  });
  const level = load.model === 'open' ? 'offered' : 'in flight';
  return table(
    'Stages',
    [['Stage', ({ name }) => name], [level, (row) => row.level ?? ''], ...BLOCK_COLUMNS],
    rows,
  );
}

/** @param {Result} result @returns with details and remedies; omits the reason of an invalid measurement, which the answer has */
function remarks(result) {
  const { measurement, verification, unfinished, load, warmup } = result;
  const all = remarksOf(result).slice(measurement.verdict === 'invalid' ? 1 : 0);
  const warmedUp = `${formatDuration(warmup.seconds * 1000)}, ${counted(warmup.sent, 'request')}`;
  return notes([
    ...all.map(({ text, detail = '', remedy }) => ({ text: `${text} ${detail}`.trimEnd(), remedy })),
    ...(unfinished ? ['The measurement is judged at the end of the run.'] : []),
    ...(verification.notes ?? []),
    ...(load.model === 'closed' ? [CLOSED_LOOP] : []),
    ...(warmup.seconds > 0 ? [`The warm-up (${warmedUp}) is not counted.`] : []),
  ]);
}

/** @param {Result} result @returns {Result['measurement']['reasons']} the main one first: the answer shows it */
function remarksOf({ measurement, unfinished }) {
  if (unfinished) return [];
  const { reasons } = measurement;
  const main = invalidReasonOf(measurement) ?? reasons[0];
  return main === undefined ? [] : [main, ...reasons.filter((reason) => reason !== main)];
}

/** @param {Result} result @returns {Part[]} */
function run(result) {
  const { rates, durationSeconds, startedAt, tool, environment } = result;
  const rate = `${perSecondText(rates.perSecond)}, ${perHourText(rates.perHour)} an hour`;
  const peak = formatCount(Number(rates.peakOneSecond.toFixed(1)));
  return facts([
    ['Rate', `${rate}; peak ${peak} in one second`],
    ['Checked', verificationPhrase(result)],
    ['Connections', connectionsPhrase(result)],
    ['Time', `${formatDuration(durationSeconds * 1000)} from ${startedAt}`],
    [
      'Tool',
      `vault-pki-load ${tool.version}, Node ${environment.node} on ${environment.platform}, ${coresPhrase(result)}`,
    ],
  ]);
}

/** @param {Result} result @returns {string} `2 cores`; of parts, `2 to 8 cores per part` */
function coresPhrase({ environment, merged }) {
  if (merged === undefined) return counted(environment.cpus, 'core');
  const [least, most] = extent(merged.map((part) => part.environment.cpus));
  return `${least < most ? `${least} to ` : ''}${counted(most, 'core')} per part`;
}

/** @param {Result} result @returns {string} `a new one for each request; TLSv1.3 TLS_AES_128_GCM_SHA256 http/1.1: 400 handshakes, 99 % resumed; 20/s with a response` */
function connectionsPhrase({ load, rates, measurement }) {
  const { requestsPerConnection: most = null, streamsPerConnection: streams = null, concurrency } = load;
  const { proxy = null } = load;
  const handshakes = Object.entries(measurement.observed?.handshakes ?? {});
  if (most === null && handshakes.length === 0 && proxy === null) return '';
  const keptOpen = streams === null ? `${formatCount(concurrency)}, kept open` : 'kept open';
  const kept = most === null ? keptOpen : `a new one after ${counted(most, 'request')}`;
  const { handshakesPerSecond } = rates;
  return [
    most === 1 ? 'a new one for each request' : kept,
    ...(streams === null ? [] : [`HTTP/2, up to ${counted(streams, 'stream')} each`]),
    ...(proxy === null ? [] : [`through the proxy ${proxy}`]),
    ...handshakes.map(
      ([name, { count, resumed }]) =>
        `${name}: ${counted(count, 'handshake')}, ${resumed === 0 ? 'none' : formatPercent(resumed / count)} resumed`,
    ),
    ...(handshakesPerSecond === undefined ? [] : [`${perSecondText(handshakesPerSecond)} with a response`]),
  ].join('; ');
}

/** @param {Result} result @returns {string} `12 of 400 OCSP responses (3 %, sampled), all passed` */
function verificationPhrase(result) {
  const { checked, passed, sampled, unchecked } = result.verification;
  const all = checked + unchecked;
  if (all === 0) return 'nothing: no response could be checked';
  const share = sampled ? ` (${formatPercent(checked / all)}, sampled)` : '';
  const found = checked === passed ? 'all passed' : `${formatCount(checked - passed)} did not pass`;
  return `${formatCount(checked)} of ${formatCount(all)} ${unitName(result)}${share}, ${found}`;
}
