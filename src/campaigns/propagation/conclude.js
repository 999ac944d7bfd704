/** Turns the rows of certificates into the judged document. */
import { figures, valueAtShare } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { buildLatency } from '../../result/latency.js';
import {
  countOutcomes,
  createDelayJudge,
  delaysEverywhere,
  histogramOf,
  judgeMeasurement,
  outcomeOf,
  valuesOfDelay,
  withResponse,
} from '../../result/propagation/judge-delays.js';
/** @import { Measured } from '../../result/propagation/judge-delays.js' */
/** @import { DelayBlock, Propagation, PropagationNode } from '../../result/propagation/propagation-schema.js' */
/** @import { prepare } from './propagate.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Node } from './watch.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {Omit<import('./certificate.js').Row, 'left'>} Row */
/** @typedef {Pick<Propagation, 'command' | 'durationSeconds' | 'interrupted' | 'environment'>} Facts */
/**
 * `watched`: in the order of `found.nodes`; `lag`: of polls
 * @typedef {Facts & {plan: PropagationPlan, startedAt: Date, found: Awaited<ReturnType<typeof prepare>>,
 *   watched: Pick<Node, 'answers' | 'counts'>[], lag: Histogram, rows: Row[]}} Findings
 */

/** @param {Findings} findings @returns {Propagation} */
export function conclude({ plan, found, watched, lag, rows: findings, startedAt, ...facts }) {
  const rows = findings.map((row) => ({ ...row, outcome: outcomeOf(row) }));
  const delays = delaysEverywhere(rows);
  const nodes = found.nodes.map((node, i) => concludeNode({ ...node, ...watched[i] }, i, findings));
  const { target, role, certificates, concurrency, pauseMs, pollMs, giveUpMs, timeoutMs, seed } = plan;
  const { mount, url } = target;
  const { min, p50, p99, max } = { min: lag.totalCount === 0 ? null : valueAtShare(lag, 0), ...figures(lag) };
  const measurement = judgeMeasurement({ nodes, lateMs: p99, plan, rows });
  const isValid = measurement.verdict !== 'invalid';
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
    everywhere: delayOf(delays),
    nodes,
    pollLagMs: { count: lag.totalCount, min, p50, p99, max },
    rows: rows.map(({ certificate, outcome, failure, revokeMs, nodes: byNode }) => ({
      ...{ certificate, outcome },
      ...(failure === undefined ? {} : { failure }),
      ...{ revokeMs, nodes: byNode },
    })),
    requirements: plan.requirements.map(createDelayJudge({ delays, rows, lagMs: max ?? 0, isValid, plan })),
    measurement,
    notes: notesOf(plan, found.crl, nodes),
  };
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
    delay: delayOf(ofNode.flatMap(({ interval, revokeMs }) => withResponse(interval, revokeMs))),
    asked: { looks: total(Object.values(answers)) - sent, polls: sent, ...others },
    answers: { ...answers },
  };
}

/** @param {Measured[]} delays @returns {DelayBlock} */
function delayOf(delays) {
  const { sinceAnswered, sinceSent, widthMs, ...counts } = valuesOfDelay(delays);
  const ofBounds = (/** @type {typeof sinceSent} */ { lower, upper }) => {
    return { lower: latencyOf(lower), upper: latencyOf(upper) };
  };
  return {
    ...counts,
    sinceAnswered: ofBounds(sinceAnswered),
    sinceSent: ofBounds(sinceSent),
    widthMs: latencyOf(widthMs),
  };
}

/** @param {number[]} values ms */
const latencyOf = (values) => buildLatency(histogramOf(values));

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
