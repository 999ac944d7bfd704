/**
 * Can the measurement be believed? Its intervals since the sending always hold, as they come from what was sent and what arrived;
 * those since the answer but for what this program was late to see it, which judge.js allows for. Where polls were late, left out or not answered they are
 * wider than --poll promises.
 */
import { valueAtShare } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { formatPercent } from '../../result/wording.js';

/** @typedef {import('../../result/propagation/propagation-schema.js').Propagation} Propagation */
/** @typedef {Propagation['measurement']['reasons'][number]} Reason */
/**
 * @typedef {object} Observed
 * @property {Propagation['nodes']} nodes
 * @property {import('hdr-histogram-js').Histogram} lag of polls
 * @property {Pick<import('./propagation-plan.js').PropagationPlan, 'pollMs' | 'concurrency'>} plan
 * @property {number} revoked everywhere
 * @property {{outcome: string, failure?: string}[]} rows
 */

/** Of the polls. */
const REMARK_SHARE = 0.01;
const INVALID_SHARE = 0.1;

/** What a responder says of a certificate. */
const STATUSES = new Set(['good', 'revoked', 'unknown']);

/**
 * @param {Observed} observed
 * @returns {Propagation['measurement']}
 */
export function judgeMeasurement(observed) {
  const reasons = [nothingMeasured, pollLag, slowAnswers, failedAnswers].flatMap((rule) => rule(observed));
  const isInvalid = reasons.some(({ grade }) => grade === 'invalid');
  return { verdict: isInvalid ? 'invalid' : 'valid', reasons };
}

/** @param {Observed} observed @returns {Reason[]} */
function nothingMeasured({ revoked, rows }) {
  // Where revocations were never seen, that has been measured.
  if (revoked > 0 || rows.some(({ outcome }) => outcome === 'never_revoked')) return [];
  const failures = [...new Set(rows.flatMap(({ failure, outcome }) => failure ?? outcome))];
  const what =
    rows.length === 0 ? 'no certificate was begun' : `all certificates ended as ${failures.join(', ')}`;
  return [
    {
      grade: 'invalid',
      code: 'nothing_measured',
      text: `No revocation was followed to its end: ${what}.`,
      remedy: 'Look at the outcomes and at the log of the server, and run it again.',
    },
  ];
}

/** @param {Observed} observed @returns {Reason[]} */
function pollLag({ nodes, lag, plan: { pollMs } }) {
  const { missed, due } = pollsOf(nodes);
  const share = due === 0 ? 0 : missed / due;
  const p99 = lag.totalCount === 0 ? 0 : valueAtShare(lag, 0.99);
  if (share <= REMARK_SHARE) return [];
  return [
    {
      grade: share > INVALID_SHARE ? 'invalid' : 'remark',
      code: 'poll_lag',
      text: `This program did not poll in time: ${formatPercent(share)} of the polls were missed, and 1 % were over ${formatLatency(p99)} late, at an interval of ${formatLatency(pollMs)}.`,
      remedy:
        'Poll less often (--poll), follow fewer certificates at once (--concurrency), or use a machine with more to spare.',
    },
  ];
}

/** @param {Observed} observed @returns {Reason[]} */
function slowAnswers({ nodes }) {
  const { skipped, due } = pollsOf(nodes);
  if (due === 0 || skipped / due <= REMARK_SHARE) return [];
  return [
    {
      grade: 'remark',
      code: 'slow_answers',
      text: `${formatPercent(skipped / due)} of the polls were left out, as those before them had not been answered.`,
      remedy:
        'Poll less often (--poll): the nodes do not answer that fast, or the polls are what slows them.',
    },
  ];
}

/** @param {Observed} observed @returns {Reason[]} */
function failedAnswers({ nodes }) {
  const answers = nodes.flatMap((node) => Object.entries(node.answers));
  const all = total(answers.map(([, count]) => count));
  const bad = answers.filter(([outcome]) => !STATUSES.has(outcome));
  const failed = total(bad.map(([, count]) => count));
  if (all === 0 || failed / all <= REMARK_SHARE) return [];
  const names = [...new Set(bad.map(([outcome]) => outcome))].join(', ');
  return [
    {
      grade: 'remark',
      code: 'failed_answers',
      text: `${formatCount(failed)} of ${formatCount(all)} OCSP answers (${formatPercent(failed / all)}) were errors or failed a check (${names}) and say nothing of a certificate.`,
      remedy: 'Look at the answers of each node in the report, and at the log of the nodes that gave them.',
    },
  ];
}

/** @param {Propagation['nodes']} nodes */
function pollsOf(nodes) {
  const sumOf = (/** @type {'polls' | 'missed' | 'skipped'} */ key) =>
    total(nodes.map(({ asked }) => asked[key]));
  const [sent, missed, skipped] = [sumOf('polls'), sumOf('missed'), sumOf('skipped')];
  return { missed, skipped, due: sent + missed + skipped };
}
