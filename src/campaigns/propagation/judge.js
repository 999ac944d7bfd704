/**
 * Requirements on the delay until every node says revoked, judged on its upper bound since the answer: the truth is no longer than
 * that, but for what this program was late to see the answer. How late is not known; that its polls were as late at most is taken for
 * it, and what would not be met on bounds that are so much longer is not proven. A certificate of which nobody said revoked never helps.
 */
import { createHistogram, recordMs } from '../../common/histogram.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { judgeRequirement } from '../../result/requirements/judge.js';

/** @typedef {import('../../result/schema.js').RequirementVerdict} RequirementVerdict */
/** @typedef {import('hdr-histogram-js').Histogram} Histogram */
/**
 * @typedef {object} Seen
 * @property {Histogram} upper bounds since the revocation was answered
 * @property {{ms: number, upper: Histogram}} atLatest the largest lateness of polls, and the bounds with it
 * @property {{outcome: string, followedMs: number}[]} rows of all certificates that were begun
 * @property {boolean} measurementValid
 */

/**
 * @param {import('../../plan/requirements.js').Requirement} requirement of a time, or of errors
 * @param {Seen} seen
 * @returns {RequirementVerdict}
 */
export function judgeDelay(requirement, { upper, atLatest, ...seen }) {
  const judged = judgeOn(upper, requirement, seen);
  if (judged.verdict !== 'met' || judgeOn(atLatest.upper, requirement, seen).verdict === 'met') return judged;
  const late = `But polls were up to ${formatLatency(atLatest.ms)} late: had the answers to the revocations been read as late, it would not hold.`;
  return { ...judged, verdict: 'not proven', reason: `${judged.reason} ${late}` };
}

/**
 * @param {Histogram} upper
 * @param {import('../../plan/requirements.js').Requirement} requirement
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
 * @returns {import('../../result/requirements/judge.js').RunView}
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
 * What is judged elsewhere is requests.
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
