/** A propagation measurement as a report: the answer, then each node. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { FIGURES } from '../../result/latency.js';
import { chart, facts, figures, notes, report, section, sentence, table, verdicts } from '../sections.js';
import { invalidItem, requirementItem, spanText, worstVerdict } from './bars.js';
import { counted, joined, targetPhrase, timeColumns, timeText } from './words.js';

/** @import { DelayBlock, Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { Part, Report } from '../sections.js' */

/** @typedef {{name: string, delay: DelayBlock}} NodeDelay a node, or all of them */

/** By outcome. @type {Readonly<Record<string, string>>} */
const OUTCOME_MEANINGS = {
  revoked: 'good before the revocation, and revoked afterwards',
  never_revoked: 'not reported revoked within --give-up',
  never_answered: 'no usable response shortly before --give-up',
  not_good_before: 'not good before the revocation, so it would prove nothing',
  issue_failed: 'the call to issue it failed',
  revoke_failed: 'the call to revoke it failed',
  undecided: 'in progress when the measurement was interrupted, or the token or the certificate expired',
};

/** @param {Propagation} found @returns {Report} */
export function describePropagation(found) {
  const { measurement, requirements, target, plan, notes: own } = found;
  const title = headline(found);
  return report({
    title,
    verdict: measurement.verdict === 'invalid' ? 'invalid' : worstVerdict(requirements),
    subject: `Revocations on ${targetPhrase(target)}, mount ${plan.mount}, role ${plan.role}`,
    sections: [
      section('answer', null, answer(found, title)),
      ...nodeDelaysOf(found).map((one, i) => section(`place-${i}`, one.name, delayParts(one, i === 0))),
      section('outcomes', 'Outcomes', outcomes(found)),
      section('remarks', 'Remarks', notes([...measurement.reasons.slice(1), ...own])),
      section('requests', 'Requests', requests(found)),
    ],
  });
}

/** @param {Propagation} found @param {string} title @returns {Part[]} */
function answer(found, title) {
  const { measurement, requirements, everywhere, interrupted, certificates } = found;
  const { lower, upper } = everywhere.sinceAnswered;
  const items = /** @type {const} */ (['p50', 'p99', 'max']).map((key) => {
    const [low, high] = [lower[key], upper[key]];
    return { name: key, value: low === null || high === null ? '–' : spanText(low, high, formatLatency) };
  });
  const started = `${formatCount(certificates.begun)} of ${formatCount(certificates.planned)}`;
  return [
    ...verdicts([...requirements.map(requirementItem), ...invalidItem(found)]),
    ...sentence(interrupted ? `Interrupted after ${started} certificates.` : '', true),
    ...sentence(`${title}.`),
    ...figures(upper.count === 0 ? [] : items),
    ...notes(measurement.verdict === 'invalid' ? [] : measurement.reasons.slice(0, 1)),
    ...delayChart(everywhere),
  ];
}

/** @param {DelayBlock} delay @returns {Part[]} none without a revocation */
function delayChart({ sinceAnswered: { lower, upper } }) {
  if (upper.count === 0) return [];
  const series = [
    { name: 'upper bound (first response revoked)', latency: upper },
    { name: 'lower bound (last response good)', latency: lower },
  ];
  const text = 'The delay lies between the two bounds.';
  return [chart('percentiles', 'Delay by percentile', text, { axis: 'delay', series })];
}

/** @param {NodeDelay} one @param {boolean} isFirst its chart is part of the answer @returns {Part[]} */
function delayParts({ name, delay }, isFirst) {
  const { sinceAnswered, sinceSent, widthMs, revoked, beforeAnswered } = delay;
  const rows = Object.entries({
    ...{ 'response, lower': sinceAnswered.lower, 'response, upper': sinceAnswered.upper },
    ...{ 'request, lower': sinceSent.lower, 'request, upper': sinceSent.upper },
    'interval width': widthMs,
  });
  const some = beforeAnswered === 0 ? 'none' : formatCount(beforeAnswered);
  const early = `, ${some} of them before the revoke call returned`;
  return [
    ...sentence(`${counted(revoked, 'revocation')} seen${revoked === 0 ? '' : early}.`),
    ...table(
      `Delay at ${name}`,
      [
        ['Delay since', ([label]) => label],
        ...timeColumns(FIGURES, (/** @type {typeof rows[number]} */ [, block]) => block, ['p90']),
      ],
      rows,
    ),
    ...(isFirst ? [] : delayChart(delay)),
  ];
}

/** @param {Propagation} found @returns {Part[]} the most frequent first */
function outcomes({ certificates, rows }) {
  const lines = byCount(certificates.outcomes).map(([outcome, count]) => {
    const own = rows.filter((row) => row.outcome === outcome);
    const why = new Set(own.flatMap(({ failure, nodes }) => [failure, ...nodes.map(({ before }) => before)]));
    const reasons = [...why].filter((one) => one !== undefined).join(', ');
    const meaning = OUTCOME_MEANINGS[outcome] ?? '';
    return { outcome, count, meaning: reasons === '' ? meaning : `${meaning} (${reasons})` };
  });
  return table(
    'Certificates by outcome',
    [
      ['Outcome', ({ outcome }) => outcome],
      ['certificates', ({ count }) => formatCount(count)],
      ['meaning', ({ meaning }) => meaning, 'text'],
    ],
    lines,
  );
}

/** @param {Propagation} found @returns {Part[]} */
function requests({ certificates, crl, nodes, plan, pollLagMs, revokeMs, tool, startedAt, command }) {
  const { concurrency, pollMs, giveUpMs, pauseMs, seed } = plan;
  const polling = joined([
    `${formatCount(concurrency)} at once`,
    pauseMs > 0 && `${formatDuration(pauseMs)} between them`,
  ]);
  const each = `every node polled every ${formatDuration(pollMs)}, giving up after ${formatDuration(giveUpMs)}`;
  return facts([
    ['Certificates', `${formatCount(certificates.begun)}, ${polling}; ${each}; seed ${seed}`],
    ['auto_rebuild', crl.autoRebuild === null ? 'unknown' : crl.autoRebuild ? 'on' : 'off'],
    ['Revoke calls', revokeMs.count === 0 ? '' : timesPhrase(revokeMs)],
    ...nodes.map((node) => ['OCSP', `${node.url}: ${pollsPhrase(node)}`]),
    ['Lateness', pollLagMs.count === 0 ? 'no poll was due' : `polls were ${timesPhrase(pollLagMs)} late`],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}, started ${startedAt}`],
  ]);
}

/** @param {Propagation['pollLagMs']} times */
const timesPhrase = ({ p50, p99, max }) =>
  `${timeText(p50)} (p50), ${timeText(p99)} (p99), ${timeText(max)} (max)`;

/** @param {Propagation} found */
function headline({ everywhere, nodes, certificates: { begun } }) {
  const { revoked, beforeAnswered, sinceAnswered } = everywhere;
  const where = ['', 'at one node', 'at both nodes'][nodes.length] ?? `at all ${nodes.length} nodes`;
  const { p50, p99 } = sinceAnswered.upper;
  if (revoked === 0 || p50 === null || p99 === null) return `No revocation was seen ${where}`;
  const some = `${formatCount(revoked)} of ${formatCount(begun)} revocations`;
  const seen = revoked === begun ? 'Revocations were seen' : `${some} ${revoked === 1 ? 'was' : 'were'} seen`;
  if (beforeAnswered === revoked) return `${seen} ${where} before the revoke call returned`;
  const [half, most] = [formatLatency(p50), formatLatency(p99)];
  if (half === most) return `${seen} ${where} within ${most} (p50 and p99)`;
  return `${seen} ${where} within ${most} (p99), half within ${half}`;
}

/** @param {Propagation} found @returns {NodeDelay[]} for several nodes, first all of them together */
function nodeDelaysOf({ nodes, everywhere }) {
  const nameOf = (/** @type {typeof nodes[number]} */ { url, state }) =>
    state === null ? url : `${url} (${state})`;
  const own = nodes.map((node) => ({ name: nameOf(node), delay: node.delay }));
  return own.length === 1 ? own : [{ name: 'Every node', delay: everywhere }, ...own];
}

/** @param {Record<string, number>} counts @returns {[string, number][]} the highest count first */
const byCount = (counts) => Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));

/** @param {Propagation['nodes'][number]} node */
function pollsPhrase({ asked: { looks, polls, missed, skipped }, answers }) {
  const requests = joined([
    `${counted(looks, 'request')} before, ${counted(polls, 'poll')}`,
    missed > 0 && `${formatCount(missed)} missed`,
    skipped > 0 && `${formatCount(skipped)} skipped`,
  ]);
  const responses = byCount(answers).map(([outcome, count]) => `${formatCount(count)} ${outcome}`);
  return joined([requests, joined(responses)], ': ');
}
