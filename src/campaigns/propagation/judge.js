/**
 * Requirements on the delay until every node reports revoked, judged on its upper bound since the response: the truth is no longer than
 * that, but for what this program was late to see the answer. How late is not known; that its polls were as late at most is taken for
 * it, and what would not be met on bounds that are so much longer is not proven. A certificate that no node reported as revoked never helps.
 */
import { createHistogram, recordMs, valueAtShare } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { judgeRequirement } from '../../result/requirements/judge.js';
import { formatPercent } from '../../result/wording.js';
/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { RunView } from '../../result/requirements/judge.js' */
/** @import { RequirementVerdict } from '../../result/schema.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * @typedef {object} Seen
 * @property {Histogram} upper bounds since the revocation was answered
 * @property {{ms: number, upper: Histogram}} atLatest the largest lateness of polls, and the bounds with it
 * @property {{outcome: string, followedMs: number}[]} rows of all certificates that were begun
 * @property {boolean} measurementValid
 */

/**
 * @param {Requirement} requirement of a time, or of errors
 * @param {Seen} seen
 * @returns {RequirementVerdict}
 */
export function judgeDelay(requirement, { upper, atLatest, ...seen }) {
  const judged = judgeOn(upper, requirement, seen);
  if (judged.verdict !== 'met' || judgeOn(atLatest.upper, requirement, seen).verdict === 'met') return judged;
  const late = `But polls were up to ${formatLatency(atLatest.ms)} late: had the responses to the revocations been read as late, it would not hold.`;
  return { ...judged, verdict: 'not proven', reason: `${judged.reason} ${late}` };
}

/**
 * @param {Histogram} upper
 * @param {Requirement} requirement
 * @param {Pick<Seen, 'rows' | 'measurementValid'>} seen
 * @returns {RequirementVerdict}
 */
function judgeOn(upper, requirement, { rows, measurementValid }) {
  const undecided = rows.filter(({ outcome }) => outcome === 'undecided');
  const lost = rows.filter(({ outcome }) => outcome !== 'undecided' && outcome !== 'revoked');
  const judge = (/** @type {typeof rows} */ others) =>
    inWords(judgeRequirement(requirement, viewOf(upper, others, measurementValid)));
  const atWorst = judge([...lost, ...undecided]);
  if (undecided.length === 0 || atWorst.verdict === 'met') return atWorst;
  const without = judge(lost);
  if (without.verdict === 'not met') return without;
  const left = `${formatCount(undecided.length)} more ${undecided.length === 1 ? 'was' : 'were'} undecided when it was interrupted.`;
  return { ...without, verdict: 'not proven', reason: `${without.reason} But ${left}` };
}

/**
 * @param {Histogram} upper
 * @param {{followedMs: number}[]} lost with the age they reached
 * @param {boolean} measurementValid
 * @returns {RunView}
 */
function viewOf(upper, lost, measurementValid) {
  const withLost = createHistogram();
  withLost.add(upper);
  for (const { followedMs } of lost) recordMs(withLost, followedMs);
  const [own, all] = [upper, withLost].map((reported) => ({ reported, own: reported }));
  return {
    series: { response: own, service: own, sendLag: own },
    all: { response: all, service: all, sendLag: all },
    succeeded: upper.totalCount,
    failed: lost.length,
    dropped: 0,
    neverSentDue: 0,
    ratePerSecond: 0,
    rateBar: { low: 0, high: null, sampled: 0 },
    completedPerSecond: [],
    model: 'closed',
    offeredPerSecond: null,
    arrivals: 'constant',
    allOnTime: false,
    measurementValid,
  };
}

/**
 * Requests are judged elsewhere.
 *
 * @param {RequirementVerdict} verdict
 * @returns {RequirementVerdict}
 */
function inWords(verdict) {
  const reason = verdict.reason
    .replaceAll('requests had no good response', 'revocations were not seen everywhere')
    .replaceAll('a request without a good response', 'a revocation that was not seen everywhere')
    .replaceAll('requests', 'revocations');
  return { ...verdict, reason };
}

/** @typedef {Propagation['measurement']['reasons'][number]} Reason */
/**
 * @typedef {object} Observed
 * @property {Propagation['nodes']} nodes
 * @property {Histogram} lag of polls
 * @property {Pick<PropagationPlan, 'pollMs' | 'concurrency'>} plan
 * @property {number} revoked everywhere
 * @property {{outcome: string, failure?: string}[]} rows
 */

/** Of the polls. */
const REMARK_SHARE = 0.01;
const INVALID_SHARE = 0.1;

/** The statuses of a certificate. */
const STATUSES = new Set(['good', 'revoked', 'unknown']);

/** @param {Observed} observed @returns {Propagation['measurement']} */
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
      text: `${formatCount(failed)} of ${formatCount(all)} OCSP responses (${formatPercent(failed / all)}) were errors or failed a check (${names}) and say nothing of a certificate.`,
      remedy: 'See the responses of each node in the report, and the logs of those nodes.',
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
