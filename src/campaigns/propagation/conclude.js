/**
 * Turns the rows of certificates into the judged document. Requirements apply to the upper bound of the delay
 * from the response to the revocation until every node reports revoked. The true delay exceeds this bound
 * only by the time the tool was late in reading that response. That time is unknown, so the largest poll lag
 * stands in for it: a requirement that fails with all bounds longer by that lag is "not proven". A
 * certificate that some node never reported as revoked always counts against the requirement.
 */
import { createHistogram, figures, recordMs, valueAtShare } from '../../common/histogram.js';
import { sumRecords, total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { buildLatency } from '../../result/latency.js';
import { judgeRequirement } from '../../result/requirements/judge.js';
import { formatPercent } from '../../result/wording.js';
/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { DelayBlock, Propagation, PropagationNode } from '../../result/propagation/propagation-schema.js' */
/** @import { RequirementVerdict } from '../../result/schema.js' */
/** @import { prepare } from './propagate.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Interval, Node } from './watch.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {Omit<import('./certificate.js').Row, 'left'>} Row */
/** @typedef {Interval & {respondedMs: number}} Measured ms from sending the revocation */
/** @typedef {Pick<Propagation, 'command' | 'durationSeconds' | 'interrupted' | 'environment'>} Facts */
/**
 * `watched`: in the order of `found.nodes`; `lag`: of polls
 * @typedef {Facts & {plan: PropagationPlan, startedAt: Date, found: Awaited<ReturnType<typeof prepare>>,
 *   watched: Pick<Node, 'answers' | 'counts'>[], lag: Histogram, rows: Row[]}} Findings
 */

/** @param {Findings} findings @returns {Propagation} */
export function conclude({ plan, found, watched, lag, rows: findings, startedAt, ...facts }) {
  const rows = findings.map((row) => ({ ...row, outcome: outcomeOf(row) }));
  const whole = rows.flatMap(({ outcome, revokeMs, nodes }) =>
    outcome === 'revoked'
      ? measured(everywhere(nodes.flatMap(({ interval }) => interval ?? [])), revokeMs)
      : [],
  );
  const nodes = found.nodes.map((node, i) => concludeNode({ ...node, ...watched[i] }, i, findings));
  const measurement = judgeMeasurement({ nodes, lag, plan, rows });
  const isValid = measurement.verdict !== 'invalid';
  const { target, role, certificates, concurrency, pauseMs, pollMs, giveUpMs, timeoutMs, seed } = plan;
  const { mount, url } = target;
  const { min, p50, p99, max } = { min: lag.totalCount === 0 ? null : valueAtShare(lag, 0), ...figures(lag) };
  return {
    schema: 'vault-pki-load/propagation/1',
    tool: { version: TOOL_VERSION },
    startedAt: startedAt.toISOString(),
    ...facts,
    plan: { mount, role, certificates, concurrency, pauseMs, pollMs, giveUpMs, timeoutMs, seed },
    target: { url, ...found.target },
    crl: found.crl,
    certificates: { planned: certificates, begun: rows.length, outcomes: countOutcomes(rows) },
    revokeMs: latencyOf(rows.flatMap(({ revokeMs }) => revokeMs ?? [])),
    everywhere: delayOf(whole),
    nodes,
    pollLagMs: { count: lag.totalCount, min, p50, p99, max },
    rows: rows.map(({ certificate, outcome, failure, revokeMs, nodes: byNode }) => ({
      ...{ certificate, outcome },
      ...(failure === undefined ? {} : { failure }),
      ...{ revokeMs, nodes: byNode },
    })),
    requirements: plan.requirements.map((req) => judgeDelay(req, { whole, rows, lagMs: max ?? 0, isValid })),
    measurement,
    notes: notesOf(plan, found.crl, nodes),
  };
}

/** A certificate's outcome is the first of these that any node has. */
const WORST_FIRST = /** @type {const} */ ([
  ...['never_revoked', 'never_answered', 'not_good_before', 'undecided'],
]);

/** @param {Row} row @returns {Propagation['rows'][number]['outcome']} */
function outcomeOf({ outcome, nodes }) {
  if (outcome !== 'followed') return outcome;
  return WORST_FIRST.find((worst) => nodes.some((node) => node.outcome === worst)) ?? 'revoked';
}

/**
 * @param {Pick<PropagationNode, 'url' | 'version' | 'state'> & Findings['watched'][number]} node
 * @param {number} number @param {Row[]} rows @returns {PropagationNode}
 */
function concludeNode({ answers, counts: { sent, ...others }, ...facts }, number, rows) {
  const ofNode = rows.flatMap(({ nodes, revokeMs }) =>
    nodes[number] === undefined ? [] : [{ ...nodes[number], revokeMs }],
  );
  return {
    ...facts,
    outcomes: countOutcomes(ofNode),
    delay: delayOf(ofNode.flatMap(({ interval, revokeMs }) => measured(interval, revokeMs))),
    asked: { looks: total(Object.values(answers)) - sent, polls: sent, ...others },
    answers: { ...answers },
  };
}

/** @param {Interval | null} interval @param {number | null} revokeMs @returns {Measured[]} */
const measured = (interval, revokeMs) =>
  interval === null || revokeMs === null ? [] : [{ ...interval, respondedMs: revokeMs }];

/** @param {Measured[]} delays @returns {DelayBlock} negative delays count as zero */
function delayOf(delays) {
  const valuesOf = (/** @type {(delay: Measured) => number} */ read) => latencyOf(delays.map(read));
  return {
    revoked: delays.length,
    beforeAnswered: delays.filter((delay) => upperSinceResponse(delay) <= 0).length,
    sinceAnswered: {
      lower: valuesOf(({ lowerMs, respondedMs }) => lowerMs - respondedMs),
      upper: valuesOf(upperSinceResponse),
    },
    sinceSent: { lower: valuesOf(({ lowerMs }) => lowerMs), upper: valuesOf(({ upperMs }) => upperMs) },
    widthMs: valuesOf(({ lowerMs, upperMs }) => upperMs - lowerMs),
  };
}

/** Negative if the node reported revoked before the response to the revocation. @param {Measured} measured */
const upperSinceResponse = ({ upperMs, respondedMs }) => upperMs - respondedMs;

/**
 * The revocation takes effect on the last node between the latest lower bound and the latest upper bound.
 * @param {readonly Interval[]} intervals at least one @returns {Interval}
 */
export const everywhere = (intervals) => ({
  lowerMs: Math.max(...intervals.map(({ lowerMs }) => lowerMs)),
  upperMs: Math.max(...intervals.map(({ upperMs }) => upperMs)),
});

/** @param {number[]} values ms */
function histogramOf(values) {
  const histogram = createHistogram();
  for (const ms of values) recordMs(histogram, ms);
  return histogram;
}

/** @param {number[]} values ms */
const latencyOf = (values) => buildLatency(histogramOf(values));

/** @param {{outcome: string}[]} rows */
const countOutcomes = (rows) => sumRecords(rows.map(({ outcome }) => ({ [outcome]: 1 })));

/**
 * @param {Requirement} requirement on a delay or on errors
 * @param {{whole: Measured[], rows: {outcome: string, followedMs: number}[], lagMs: number, isValid: boolean}} evidence
 *   `whole`: certificates that every node reported revoked; `rows`: all started; `lagMs`: max poll lag
 * @returns {RequirementVerdict}
 */
function judgeDelay(requirement, { whole, rows, lagMs, isValid }) {
  const undecided = rows.filter(({ outcome }) => outcome === 'undecided');
  const lost = rows.filter(({ outcome }) => !['undecided', 'revoked'].includes(outcome));
  const judgeAt = (/** @type {number} */ lateMs) => {
    const delays = whole.map((delay) => upperSinceResponse(delay) + lateMs);
    const judge = (/** @type {typeof rows} */ failed) => {
      const followed = failed.map(({ followedMs }) => followedMs);
      return judgeDelays(requirement, delays, followed, isValid);
    };
    const atWorst = judge([...lost, ...undecided]);
    if (undecided.length === 0 || atWorst.verdict === 'met') return atWorst;
    const without = judge(lost);
    if (without.verdict === 'not met') return without;
    const count = `${formatCount(undecided.length)} more ${undecided.length === 1 ? 'was' : 'were'}`;
    return notProven(without, `${count} undecided when the measurement was interrupted.`);
  };
  const judged = judgeAt(0);
  if (judged.verdict !== 'met' || judgeAt(lagMs).verdict === 'met') return judged;
  const late = `polls were up to ${formatLatency(lagMs)} late`;
  return notProven(judged, `${late}: if the responses to the revocations were as late, it would fail.`);
}

/** @param {RequirementVerdict} judged @param {string} but @returns {RequirementVerdict} */
const notProven = ({ reason, ...judged }, but) => ({
  ...judged,
  ...{ verdict: 'not proven', reason: `${reason} But ${but}` },
});

const REVOCATIONS = {
  unit: 'revocation',
  units: 'revocations',
  wereLost: 'were not reported by every node',
  oneLost: 'a revocation that not every node reported',
};

/**
 * Judges delays like response times in a closed loop.
 * @param {Requirement} requirement @param {number[]} delays @param {number[]} lost `followedMs` of the others
 * @param {boolean} isValid
 */
function judgeDelays(requirement, delays, lost, isValid) {
  const [succeeded, whole] = [delays, [...delays, ...lost]]
    .map(histogramOf)
    .map((histogram) => ({ reported: histogram, own: histogram }));
  return judgeRequirement(requirement, {
    series: { response: succeeded, service: succeeded, sendLag: succeeded },
    all: { response: whole, service: whole, sendLag: whole },
    ...{ succeeded: delays.length, failed: lost.length, dropped: 0, neverSentDue: 0 },
    ...{ ratePerSecond: 0, rateBar: { low: 0, high: null, sampled: 0 } },
    ...{ model: 'closed', offeredPerSecond: null, arrivals: 'constant', allOnTime: false },
    ...{ measurementValid: isValid, words: REVOCATIONS },
  });
}

/** Shares of the polls or responses. */
const [REMARK_SHARE, INVALID_SHARE] = [0.01, 0.1];

/**
 * @param {{nodes: PropagationNode[], lag: Histogram, plan: Pick<PropagationPlan, 'pollMs'>,
 *   rows: {outcome: string, failure?: string}[]}} observed `lag`: of polls
 * @returns {Propagation['measurement']}
 */
function judgeMeasurement({ nodes, lag, plan: { pollMs }, rows }) {
  const [sent, missed, skipped] = /** @type {const} */ (['polls', 'missed', 'skipped']).map((key) =>
    total(nodes.map(({ asked }) => asked[key])),
  );
  const due = Math.max(1, sent + missed + skipped);
  const lateMs = lag.totalCount === 0 ? 0 : valueAtShare(lag, 0.99);
  const answers = nodes.flatMap((node) => Object.entries(node.answers));
  const bad = answers.filter(([outcome]) => !['good', 'revoked', 'unknown'].includes(outcome));
  const [responses, failed] = [answers, bad].map((counts) => total(counts.map(([, count]) => count)));
  const kinds = [...new Set(bad.map(([outcome]) => outcome))].join(', ');
  const ends = [...new Set(rows.map(({ failure, outcome }) => failure ?? outcome))].join(', ');
  /** @type {[applies: boolean, grade: 'remark' | 'invalid', code: string, text: string, remedy: string][]} */
  const rules = [
    [
      // A node that never reports a revocation is still a valid observation.
      !rows.some(({ outcome }) => outcome === 'revoked' || outcome === 'never_revoked'),
      'invalid',
      'nothing_measured',
      `No revocation was followed to its end: ${ends === '' ? 'no certificate was started' : `all certificates ended as ${ends}`}.`,
      'Check the outcomes and the server log, then run it again.',
    ],
    [
      missed / due > REMARK_SHARE,
      missed / due > INVALID_SHARE ? 'invalid' : 'remark',
      'poll_lag',
      `The tool did not poll in time: ${formatPercent(missed / due)} of the polls were missed, and 1 % were over ${formatLatency(lateMs)} late, at an interval of ${formatLatency(pollMs)}.`,
      'Poll less often (--poll), follow fewer certificates at once (--concurrency), or use a faster machine.',
    ],
    [
      skipped / due > REMARK_SHARE,
      'remark',
      'slow_answers',
      `${formatPercent(skipped / due)} of the polls were skipped because earlier ones had no response yet.`,
      'Poll less often (--poll): the nodes respond too slowly, or the polls slow them down.',
    ],
    [
      failed / Math.max(1, responses) > REMARK_SHARE,
      'remark',
      'failed_answers',
      `${formatCount(failed)} of ${formatCount(responses)} OCSP responses (${formatPercent(failed / responses)}) were errors or failed a check (${kinds}), so they show no status.`,
      'See the responses of each node in the report, and the logs of those nodes.',
    ],
  ];
  const reasons = rules
    .filter(([applies]) => applies)
    .map(([, grade, code, text, remedy]) => ({ grade, code, text, remedy }));
  return { verdict: reasons.some(({ grade }) => grade === 'invalid') ? 'invalid' : 'valid', reasons };
}

/**
 * @param {Pick<PropagationPlan, 'pollMs' | 'concurrency' | 'target'>} plan
 * @param {Propagation['crl']} crl @param {Propagation['nodes']} nodes @returns {string[]} sentences
 */
function notesOf({ pollMs, concurrency, target }, crl, nodes) {
  const perSecond = formatCount(Number(((concurrency * 1000) / pollMs).toPrecision(2)));
  const standbys = nodes.filter(({ state }) => state === 'standby');
  return [
    'A delay is an interval: the revocation took effect after the tool sent the last poll that returned good (lower bound), and before the first revoked response arrived (upper bound). Delays that ended before the response to the revocation count as 0.',
    'Delays start when the tool has read the head of the response to the revocation. If it read late, they are too short, so a requirement is met only if it still passes with all bounds extended by the largest poll lag. Bounds measured from sending the request are unaffected.',
    `Each node was polled every ${formatLatency(pollMs)} about each certificate in progress, up to ${perSecond} requests a second: polls are load, too.`,
    'The tool first issued and revoked an extra certificate to warm up connections and code; it does not count.',
    rebuildNote(crl, target.mount),
    ...standbys.map(
      ({ url }) => `${url} is a standby: without Enterprise it forwards OCSP requests to the active node.`,
    ),
  ];
}

/** @param {Propagation['crl']} crl @param {string} mount */
function rebuildNote({ autoRebuild, disabled }, mount) {
  if (autoRebuild === null) return `The config/crl of ${mount} cannot be read: auto_rebuild is unknown.`;
  const ocsp = 'OCSP responses do not come from the CRL: Vault looks up each certificate.';
  if (disabled === true) return `${mount} builds no CRL (disable in its config/crl). ${ocsp}`;
  return autoRebuild
    ? `auto_rebuild is on in ${mount}: a revocation does not wait for a new CRL, which is built later. ${ocsp}`
    : `auto_rebuild is off in ${mount}: every revocation rebuilds the CRL before its response. ${ocsp}`;
}
