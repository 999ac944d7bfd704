/** How long revocations took to be seen, as a report: the answer first, then each node. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import {
  chart,
  facts,
  figureColumn,
  notes,
  report,
  section,
  sentence,
  table,
  textColumn,
  verdicts,
  worstVerdict,
} from '../sections.js';
import { spanText } from './bars.js';
import { invalidItem, requirementItem } from './result.js';
import { counted, joined, targetPhrase, timeText } from './words.js';

/** @import { DelayBlock, Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { Part, Report } from '../sections.js' */

/** @typedef {{name: string, delay: DelayBlock}} Place where a revocation is seen */

const DELAY_COLUMNS = Object.freeze(
  /** @type {const} */ (['min', 'mean', 'p50', 'p90', 'p95', 'p99', 'max']),
);

/** By outcome. @type {Readonly<Record<string, string>>} */
const OUTCOME_MEANINGS = Object.freeze({
  revoked: 'good before, and revoked afterwards',
  never_revoked: 'not revoked yet at the time of --give-up',
  never_answered: 'no usable response any more before the time of --give-up',
  not_good_before: 'not good before it was to be revoked, so it would prove nothing',
  issue_failed: 'the call to issue it failed',
  revoke_failed: 'the call to revoke it failed',
  undecided: 'under way when the measurement was interrupted',
});

/** @param {Propagation} found @returns {Report} */
export function describePropagation(found) {
  const { measurement, requirements } = found;
  return report({
    title: propagationHeadline(found),
    verdict: measurement.verdict === 'invalid' ? 'invalid' : worstVerdict(requirements),
    subject: subjectLine(found),
    sections: [
      section('answer', null, answer(found)),
      ...placesOf(found).map((place, i) => section(`place-${i}`, place.name, placeParts(place, i === 0))),
      section('outcomes', 'Outcomes', outcomes(found)),
      section('remarks', 'Remarks', remarks(found)),
      section('requests', 'Requests', requests(found)),
    ],
  });
}

/** @param {Propagation} found @returns {Part[]} */
function answer(found) {
  const { measurement, requirements, everywhere } = found;
  const { lower, upper } = everywhere.sinceAnswered;
  const keys = /** @type {const} */ (['p50', 'p99', 'max']);
  const items = keys.map((key) => {
    const [low, high] = [lower[key], upper[key]];
    return { name: key, value: low === null || high === null ? '–' : spanText(low, high, formatLatency) };
  });
  return [
    ...verdicts([...requirements.map(requirementItem), ...invalidItem(found)]),
    ...sentence(interruptedPhrase(found), true),
    ...sentence(`${propagationHeadline(found)}.`),
    ...(upper.count === 0 ? [] : [/** @type {const} */ ({ kind: 'figures', items })]),
    ...notes(measurement.verdict === 'invalid' ? [] : measurement.reasons.slice(0, 1)),
    ...delayChart(everywhere),
  ];
}

/** @param {DelayBlock} delay @returns {Part[]} none where nothing was seen */
function delayChart({ sinceAnswered: { lower, upper } }) {
  if (upper.count === 0) return [];
  const data = {
    axis: 'delay',
    isShaded: true,
    series: [
      { name: 'upper bound (first response revoked)', latency: upper },
      { name: 'lower bound (last response good)', latency: lower },
    ],
  };
  return [chart('percentiles', 'Delay by percentile', 'The delay lies between the two bounds.', data)];
}

/** @param {Place} place @param {boolean} isFirst its chart is in the answer @returns {Part[]} */
function placeParts({ name, delay }, isFirst) {
  return [
    ...sentence(`${seenPhrase(delay)}.`),
    ...delayTable(name, delay),
    ...(isFirst ? [] : delayChart(delay)),
  ];
}

/** @param {Propagation} found @returns {Part[]} */
function outcomes(found) {
  return table(
    'Certificates by outcome',
    [
      textColumn('Outcome', ({ outcome }) => outcome),
      figureColumn('certificates', ({ count }) => formatCount(count)),
      textColumn('meaning', ({ meaning }) => meaning),
    ],
    outcomesOf(found),
  );
}

/** @param {Propagation} found @returns {Part[]} */
function remarks({ measurement: { reasons }, notes: own }) {
  return notes([...reasons.slice(1), ...own]);
}

/** @param {Propagation} found @returns {Part[]} */
function requests(found) {
  const { certificates, crl, nodes, pollLagMs, revokeMs, tool, startedAt, command } = found;
  const took = `${timeText(revokeMs.p50)} (p50), ${timeText(revokeMs.p99)} (p99), ${timeText(revokeMs.max)} (max)`;
  return facts([
    ['Certificates', `${formatCount(certificates.begun)}, ${pollingPhrase(found)}`],
    ['auto_rebuild', rebuildText(crl)],
    ['Revoke calls', revokeMs.count === 0 ? '' : took],
    ...nodes.map(
      (node) =>
        /** @type {[string, string]} */ ([
          'OCSP',
          nodes.length === 1 ? pollsPhrase(node) : `${node.url}: ${pollsPhrase(node)}`,
        ]),
    ),
    ['Lateness', lagPhrase(pollLagMs)],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}, started ${startedAt}`],
  ]);
}

/** @param {Propagation} found */
function propagationHeadline({ everywhere, nodes, certificates: { begun } }) {
  const { revoked, beforeAnswered, sinceAnswered } = everywhere;
  const where =
    nodes.length === 1
      ? 'at one node'
      : nodes.length === 2
        ? 'at both nodes'
        : `at all ${nodes.length} nodes`;
  const { p50, p99 } = sinceAnswered.upper;
  if (revoked === 0 || p50 === null || p99 === null) return `No revocation was seen ${where}`;
  const what =
    revoked === begun
      ? 'Revocations were seen'
      : `${formatCount(revoked)} of ${formatCount(begun)} revocations ${revoked === 1 ? 'was' : 'were'} seen`;
  if (beforeAnswered === revoked) return `${what} ${where} before the revoke call returned`;
  return `${what} ${where} within ${formatLatency(p99)} (p99), half within ${formatLatency(p50)}`;
}

/** @param {Propagation} found @returns {string} empty where it is whole */
function interruptedPhrase({ interrupted, certificates: { planned, begun } }) {
  if (!interrupted) return '';
  return `Interrupted: ${formatCount(begun)} of ${formatCount(planned)} certificates were begun.`;
}

/** @param {Propagation} found */
function subjectLine({ target, plan }) {
  return `Revocations on ${targetPhrase(target)}, mount ${plan.mount}, role ${plan.role}`;
}

/** @param {Propagation} found */
function pollingPhrase({ plan: { concurrency, pollMs, giveUpMs, pauseMs, seed } }) {
  const paused = pauseMs > 0 ? `, ${formatDuration(pauseMs)} between them` : '';
  return `${formatCount(concurrency)} at once${paused}; every node polled every ${formatDuration(pollMs)}, given up after ${formatDuration(giveUpMs)}; seed ${seed}`;
}

/** @param {Propagation['crl']} crl */
function rebuildText({ autoRebuild }) {
  return autoRebuild === null ? 'could not be seen' : autoRebuild ? 'on' : 'off';
}

/** @param {Propagation} found @returns {Place[]} the whole first, where there are several nodes */
function placesOf({ nodes, everywhere }) {
  const own = nodes.map(({ url, state, delay }) => ({
    name: state === null ? url : `${url} (${state})`,
    delay,
  }));
  return own.length === 1 ? own : [{ name: 'Every node', delay: everywhere }, ...own];
}

/** @param {string} place @param {DelayBlock} delay @returns {Part[]} */
function delayTable(place, { sinceAnswered, sinceSent, widthMs }) {
  const rows = Object.entries({
    'answered, lower': sinceAnswered.lower,
    'answered, upper': sinceAnswered.upper,
    'sent, lower': sinceSent.lower,
    'sent, upper': sinceSent.upper,
    'left open': widthMs,
  });
  const columns = DELAY_COLUMNS.map((key) =>
    figureColumn(key, (/** @type {typeof rows[number]} */ [, block]) => timeText(block[key])),
  );
  return table(`Delay at ${place}`, [textColumn('Delay since', ([label]) => label), ...columns], rows);
}

/** @param {DelayBlock} delay */
function seenPhrase({ revoked, beforeAnswered }) {
  const seen = `${counted(revoked, 'revocation')} seen`;
  if (revoked === 0) return seen;
  const early =
    beforeAnswered === 0 ? 'none' : beforeAnswered === revoked ? 'all' : `${formatCount(beforeAnswered)}`;
  return `${seen}, ${early} of them before the revoke call returned`;
}

/**
 * @param {Propagation} found
 * @returns {{outcome: string, count: number, meaning: string}[]} the most first
 */
function outcomesOf({ certificates, rows }) {
  return byCount(certificates.outcomes).map(([outcome, count]) => {
    const own = rows.filter((row) => row.outcome === outcome);
    const why = new Set(own.flatMap(({ failure, nodes }) => [failure, ...nodes.map(({ before }) => before)]));
    const reasons = [...why].filter((one) => one !== undefined);
    const meaning = OUTCOME_MEANINGS[outcome] ?? '';
    return { outcome, count, meaning: reasons.length === 0 ? meaning : `${meaning} (${reasons.join(', ')})` };
  });
}

/** @param {Record<string, number>} counts @returns {[string, number][]} the most first */
function byCount(counts) {
  return Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** @param {Propagation['nodes'][number]} node */
function pollsPhrase({ asked: { looks, polls, missed, skipped }, answers }) {
  const requests = joined([
    `${counted(looks, 'request')} before, ${counted(polls, 'poll')}`,
    missed > 0 && `${formatCount(missed)} missed`,
    skipped > 0 && `${formatCount(skipped)} left out`,
  ]);
  const responses = byCount(answers).map(([outcome, count]) => `${formatCount(count)} ${outcome}`);
  return joined([requests, joined(responses)], ': ');
}

/** @param {Propagation['pollLagMs']} lag */
function lagPhrase({ count, p50, p99, max }) {
  if (count === 0) return 'no poll was due';
  return `polls were ${timeText(p50)} (p50), ${timeText(p99)} (p99), ${timeText(max)} (max) late`;
}
