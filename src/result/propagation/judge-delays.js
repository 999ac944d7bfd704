/**
 * Requirements apply to the delay from the response to the revocation until every node reports revoked: met if its upper
 * bounds meet them, not met if its lower bounds do not. The true delay is longer by however late the tool read that response. That
 * time is unknown, so the largest poll lag stands in for it: a requirement that would not be met with that lag added to every bound is "not proven".
 * A revocation that some node never reported always counts against the requirement.
 */
import { createHistogram, recordMs } from '../../common/histogram.js';
import { maxOf, sumRecords, total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { METRICS } from '../../plan/requirements.js';
import { judgeRequirement } from '../requirements/judge.js';
import { formatPercent } from '../wording.js';
/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { RequirementVerdict } from '../schema.js' */
/** @import { Propagation } from './propagation-schema.js' */

/** @typedef {{lowerMs: number, upperMs: number}} Interval ms from sending the revocation */
/** @typedef {Interval & {respondedMs: number}} Measured */

/** @param {Interval | null} interval @param {number | null} revokeMs @returns {Measured[]} */
export const withResponse = (interval, revokeMs) =>
  interval === null || revokeMs === null ? [] : [{ ...interval, respondedMs: revokeMs }];

/** Negative if the node reported revoked before the response to the revocation. @param {Measured} measured */
export const upperSinceResponse = ({ upperMs, respondedMs }) => upperMs - respondedMs;

/** On the last node, it takes effect between the latest bounds. @param {readonly Interval[]} intervals at least one */
export const lastBoundsOf = (intervals) => ({
  lowerMs: maxOf(intervals.map(({ lowerMs }) => lowerMs)),
  upperMs: maxOf(intervals.map(({ upperMs }) => upperMs)),
});

/** @param {Pick<Propagation['rows'][number], 'outcome' | 'revokeMs' | 'nodes'>[]} rows @returns {Measured[]} those that every node reported revoked */
export const delaysEverywhere = (rows) =>
  rows.flatMap(({ outcome, revokeMs, nodes }) =>
    outcome === 'revoked'
      ? withResponse(lastBoundsOf(nodes.flatMap(({ interval }) => interval ?? [])), revokeMs)
      : [],
  );

/** @param {Measured[]} delays @returns the values of each distribution; negative delays count as zero in histograms */
export function valuesOfDelay(delays) {
  const of = (/** @type {(delay: Measured) => number} */ read) => delays.map(read);
  return {
    revoked: delays.length,
    beforeAnswered: delays.filter((delay) => upperSinceResponse(delay) <= 0).length,
    sinceAnswered: {
      lower: of(({ lowerMs, respondedMs }) => lowerMs - respondedMs),
      upper: of(upperSinceResponse),
    },
    sinceSent: { lower: of(({ lowerMs }) => lowerMs), upper: of(({ upperMs }) => upperMs) },
    widthMs: of(({ lowerMs, upperMs }) => upperMs - lowerMs),
  };
}

/** A certificate's outcome is the first of these that any node has. */
const WORST_FIRST = /** @type {const} */ ([
  ...['never_revoked', 'never_answered', 'not_good_before', 'undecided'],
]);

/** @typedef {Propagation['rows'][number]['outcome']} RowOutcome */
/** @param {{outcome: RowOutcome | 'followed', nodes: {outcome: string}[]}} row @returns {RowOutcome} */
export function outcomeOf({ outcome, nodes }) {
  if (outcome !== 'followed' && nodes.length === 0) return outcome;
  return WORST_FIRST.find((worst) => nodes.some((node) => node.outcome === worst)) ?? 'revoked';
}

/** @param {{outcome: string}[]} rows */
export const countOutcomes = (rows) => sumRecords(rows.map(({ outcome }) => ({ [outcome]: 1 })));

/** @param {number[]} values ms */
export function histogramOf(values) {
  const histogram = createHistogram();
  for (const ms of values) recordMs(histogram, ms);
  return histogram;
}

/**
 * @param {{delays: Measured[], rows: {outcome: string, followedMs?: number}[], lagMs: number, isValid: boolean,
 *   plan: Pick<Propagation['plan'], 'giveUpMs' | 'timeoutMs'>}} evidence `delays`: of certificates that every node reported
 *   revoked; `rows`: every certificate started; in files, without `followedMs`; `lagMs`: max poll lag
 * @returns {(requirement: Requirement) => RequirementVerdict} of a requirement on a delay or on errors
 */
export function createDelayJudge({ delays, rows, lagMs, isValid, plan }) {
  // A poll sent before the tool gave up may be answered later.
  const longestMs = plan.giveUpMs + plan.timeoutMs;
  const bounds = valuesOfDelay(delays).sinceAnswered;
  const judgesOf = keep((/** @type {boolean} */ isDelay) => {
    // A certificate without a measured delay is an error all the same.
    const openOutcomes = ['undecided', ...(isDelay ? UNMEASURED : [])];
    const open = rows.filter(({ outcome }) => openOutcomes.includes(outcome));
    const lost = rows.filter(({ outcome }) => ![...openOutcomes, 'revoked'].includes(outcome));
    const judgeWith = keep((/** @type {number} */ lateMs) => {
      const others = { isValid, longestMs };
      const [without, atWorst] = [lost, [...lost, ...open]].map((failed) =>
        createJudge(
          bounds,
          lateMs,
          failed.map(({ followedMs = 0 }) => followedMs),
          others,
        ),
      );
      return { without, atWorst };
    });
    return { open, judgeWith };
  });
  return (requirement) => {
    const { open, judgeWith } = judgesOf(METRICS[requirement.metric].unit === 'ms');
    const judgeAt = (/** @type {number} */ lateMs) => {
      const judges = judgeWith(lateMs);
      const atWorst = judges.atWorst(requirement);
      if (open.length === 0 || atWorst.verdict === 'met') return atWorst;
      const without = judges.without(requirement);
      if (without.verdict === 'not met') return without;
      const undecided = open.filter(({ outcome }) => outcome === 'undecided').length;
      const counts = { undecided, 'not measured': open.length - undecided };
      const texts = Object.entries(counts).flatMap(([text, count]) =>
        count > 0 ? `${formatCount(count)} more ${count === 1 ? 'was' : 'were'} ${text}` : [],
      );
      return notProven(without, `${texts.join(' and ')}.`);
    };
    const judged = judgeAt(0);
    if (judged.verdict !== 'met' || judgeAt(lagMs).verdict === 'met') return judged;
    const late = `polls were up to ${formatLatency(lagMs)} late: if responses to revocations were read as late`;
    return notProven(judged, `${late}, the requirement would not be met.`);
  };
}

/** There may be many requirements. @template Key, Value @param {(key: Key) => Value} make @returns {(key: Key) => Value} */
function keep(make) {
  const made = /** @type {Map<Key, Value>} */ (new Map());
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** @param {RequirementVerdict} judged @param {string} but @returns {RequirementVerdict} */
const notProven = ({ reason, ...judged }, but) => ({
  ...judged,
  ...{ verdict: 'not proven', reason: `${reason} But ${but}` },
});

/** Outcomes of certificates, or nodes, on which a revocation shows nothing. */
const UNMEASURED = ['issue_failed', 'not_good_before'];

const REVOCATIONS = {
  unit: 'revocation',
  units: 'revocations',
  longest: '--give-up',
  wereErrors: 'were not reported by every node',
  oneError: 'a revocation that not every node reported',
  doubt:
    'the time from one poll to the response to the next: poll more often (--poll), if the nodes respond fast enough',
};

/**
 * Judges delays like response times in a closed loop.
 * @param {Record<'lower' | 'upper', number[]>} bounds of the delays, ms @param {number} lateMs added to them
 * @param {number[]} lost `followedMs` of the others @param {{isValid: boolean, longestMs: number}} measured `longestMs`: that a delay can take
 * @returns {(requirement: Requirement) => RequirementVerdict}
 */
function createJudge({ lower, upper }, lateMs, lost, { isValid, longestMs }) {
  const later = (/** @type {number[]} */ delays) => delays.map((ms) => ms + lateMs);
  const [succeeded, all] = [[], lost].map((others) => ({
    reported: histogramOf([...later(upper), ...others]),
    target: histogramOf([...later(lower), ...others]),
  }));
  return (requirement) =>
    judgeRequirement(requirement, {
      series: { response: succeeded, service: succeeded, sendLag: succeeded },
      all: { response: all, service: all, sendLag: all },
      ...{ succeeded: upper.length, failed: lost.length, dropped: 0, neverSentDue: 0 },
      ...{ ratePerSecond: 0, rateBar: { low: 0, high: null, sampled: 0 } },
      ...{ model: 'closed', offeredPerSecond: null, arrivals: 'constant', allOnTime: false },
      ...{ measurementValid: isValid, timeoutMs: longestMs, words: REVOCATIONS },
    });
}

/** Shares of the polls or responses. */
const [REMARK_SHARE, INVALID_SHARE] = [0.01, 0.1];

/**
 * @param {{nodes: Propagation['nodes'], lateMs: number | null, plan: Pick<Propagation['plan'], 'pollMs'>,
 *   rows: {outcome: string, failure?: string}[]}} observed `lateMs`: p99 of the poll lags
 * @returns {Propagation['measurement']}
 */
export function judgeMeasurement({ nodes, lateMs, plan: { pollMs }, rows }) {
  const [sent, missed, skipped] = /** @type {const} */ (['polls', 'missed', 'skipped']).map((key) =>
    total(nodes.map(({ asked }) => asked[key])),
  );
  const due = Math.max(1, sent + missed + skipped);
  const answers = nodes.flatMap((node) => Object.entries(node.answers));
  const bad = answers.filter(([outcome]) => !['good', 'revoked', 'unknown'].includes(outcome));
  const [responses, failed] = [answers, bad].map((counts) => total(counts.map(([, count]) => count)));
  const kinds = [...new Set(bad.map(([outcome]) => outcome))].join(', ');
  const ends = [...new Set(rows.map(({ failure, outcome }) => failure ?? outcome))].join(', ');
  /** @type {(Propagation['measurement']['reasons'][number] | false)[]} */
  const rules = [
    // A node that never reports a revocation is still a valid observation.
    !rows.some(({ outcome }) => outcome === 'revoked' || outcome === 'never_revoked') && {
      grade: 'invalid',
      code: 'nothing_measured',
      text: `No revocation was followed to its end: ${ends === '' ? 'no certificate was started' : `all certificates ended as ${ends}`}.`,
      remedy: 'Check the outcomes and the server log, then run it again.',
    },
    missed / due > REMARK_SHARE && {
      grade: missed / due > INVALID_SHARE ? 'invalid' : 'remark',
      code: 'poll_lag',
      text: `The tool did not poll in time: ${formatPercent(missed / due)} of the polls were missed, and 1 % were over ${formatLatency(lateMs ?? 0)} late, at an interval of ${formatLatency(pollMs)}.`,
      remedy:
        'Poll less often (--poll), follow fewer certificates at once (--concurrency), or use a faster machine.',
    },
    skipped / due > REMARK_SHARE && {
      grade: 'remark',
      code: 'slow_answers',
      text: `${formatPercent(skipped / due)} of the polls were skipped because earlier ones had no response yet.`,
      remedy: 'Poll less often (--poll): the nodes respond too slowly, or the polls slow them down.',
    },
    failed / Math.max(1, responses) > REMARK_SHARE && {
      grade: 'remark',
      code: 'failed_answers',
      text: `${formatCount(failed)} of ${formatCount(responses)} OCSP responses (${formatPercent(failed / responses)}) were errors or failed a check (${kinds}), so they show no status.`,
      remedy: 'See the responses of each node in the report, and the logs of those nodes.',
    },
  ];
  const reasons = rules.filter((rule) => rule !== false);
  return { verdict: reasons.some(({ grade }) => grade === 'invalid') ? 'invalid' : 'valid', reasons };
}
