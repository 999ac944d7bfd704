/** Findings at the nodes -> the document, judged. */
import { createHistogram, recordMs, valueAtShare } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { TOOL_VERSION } from '../../common/version.js';
import { buildLatency } from '../../result/build.js';
import { PROPAGATION_SCHEMA_ID } from '../../result/document.js';
import { judgeDelay, judgeMeasurement } from './judge.js';
import { everywhere, sinceAnswer } from './watch.js';

/** @import { DelayBlock, Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { NodeWatch } from './certificate.js' */
/** @import { CrlFacts, NodeFacts } from './prepare.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Interval } from './watch.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {Omit<import('./certificate.js').Row, 'left'>} Row */
/** @typedef {{interval: Interval, answeredMs: number}} Measured both from when the revocation was sent */
/**
 * @typedef {object} Findings
 * @property {PropagationPlan} plan as it was carried out
 * @property {string} command
 * @property {Date} startedAt
 * @property {number} durationSeconds
 * @property {boolean} interrupted
 * @property {Awaited<ReturnType<typeof import('./prepare.js').prepare>>} found
 * @property {Pick<NodeWatch, 'answers' | 'counts'>[]} watched in the order of `found.nodes`
 * @property {Histogram} lag of polls
 * @property {Row[]} rows
 * @property {Propagation['environment']} environment
 */

/** The outcome of a certificate over several nodes: the first of these that any of them has. */
const WORST_FIRST = /** @type {const} */ ([
  'never_revoked',
  'never_answered',
  'not_good_before',
  'undecided',
]);

/** @param {Findings} findings @returns {Propagation} */
export function conclude(findings) {
  const { plan, command, startedAt, durationSeconds, interrupted, found, watched, lag, environment } =
    findings;
  const rows = findings.rows.map((row) => ({ ...row, outcome: outcomeOf(row) }));
  const whole = rows.flatMap(wholeOf);
  const { block, upper } = delayOf(whole);
  const atLatest = lateBounds(whole, lag);
  const nodes = found.nodes.map((node, i) => nodeOf(node, i, watched[i], findings.rows));
  const measurement = judgeMeasurement({ nodes, lag, plan, revoked: whole.length, rows });
  const revokes = createHistogram();
  for (const { revokeMs } of rows) if (revokeMs !== null) recordMs(revokes, revokeMs);
  return {
    schema: PROPAGATION_SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    startedAt: startedAt.toISOString(),
    durationSeconds,
    interrupted,
    command,
    plan: planOf(plan),
    target: { url: plan.target.url, ...found.target },
    crl: found.crl,
    certificates: {
      planned: plan.certificates,
      begun: rows.length,
      outcomes: countsOf(rows.map(({ outcome }) => outcome)),
    },
    revokeMs: buildLatency(revokes),
    everywhere: block,
    nodes,
    pollLagMs: spreadOf(lag),
    rows: rows.map(({ certificate, outcome, failure, revokeMs, nodes: own }) => ({
      certificate,
      outcome,
      ...(failure === undefined ? {} : { failure }),
      revokeMs,
      nodes: own,
    })),
    requirements: plan.requirements.map((requirement) =>
      judgeDelay(requirement, {
        ...{ upper, atLatest, rows },
        measurementValid: measurement.verdict !== 'invalid',
      }),
    ),
    measurement,
    notes: notesOf({ plan, found, nodes }),
    environment,
  };
}

/** @param {PropagationPlan} plan */
function planOf({
  target: { mount },
  role,
  certificates,
  concurrency,
  pauseMs,
  pollMs,
  giveUpMs,
  timeoutMs,
  seed,
}) {
  return { mount, role, certificates, concurrency, pauseMs, pollMs, giveUpMs, timeoutMs, seed };
}

/** @param {Row} row @returns {Propagation['rows'][number]['outcome']} */
function outcomeOf({ outcome, nodes }) {
  if (outcome !== 'followed') return outcome;
  return WORST_FIRST.find((worst) => nodes.some((node) => node.outcome === worst)) ?? 'revoked';
}

/** @param {Omit<Row, 'outcome'> & {outcome: string}} row @returns {Measured[]} none where a node did not say revoked */
function wholeOf({ outcome, revokeMs, nodes }) {
  if (outcome !== 'revoked' || revokeMs === null) return [];
  return [{ interval: everywhere(nodes.flatMap(({ interval }) => interval ?? [])), answeredMs: revokeMs }];
}

/**
 * @param {NodeFacts} facts
 * @param {number} number
 * @param {Findings['watched'][number]} watched
 * @param {Row[]} rows
 * @returns {Propagation['nodes'][number]}
 */
function nodeOf(facts, number, { answers, counts }, rows) {
  const own = rows.flatMap((row) => row.nodes[number] ?? []);
  const measured = rows.flatMap(({ nodes, revokeMs }) => {
    const interval = nodes[number]?.interval ?? null;
    return interval === null || revokeMs === null ? [] : [{ interval, answeredMs: revokeMs }];
  });
  const { sent, missed, skipped } = counts;
  return {
    ...facts,
    outcomes: countsOf(own.map(({ outcome }) => outcome)),
    delay: delayOf(measured).block,
    asked: { looks: total(Object.values(answers)) - sent, polls: sent, missed, skipped },
    answers: { ...answers },
  };
}

/**
 * @param {Measured[]} measured
 * @returns {{block: DelayBlock, upper: Histogram}} `upper`: bounds since the answer
 */
function delayOf(measured) {
  const recorded = Array.from({ length: 5 }, createHistogram);
  const [answeredLower, answeredUpper, sentLower, sentUpper, width] = recorded;
  let beforeAnswered = 0;
  for (const { interval, answeredMs } of measured) {
    const { lowerMs, upperMs } = sinceAnswer(interval, answeredMs);
    if (upperMs <= 0) beforeAnswered++;
    // Values below zero count as zero.
    recordMs(answeredLower, lowerMs);
    recordMs(answeredUpper, upperMs);
    recordMs(sentLower, interval.lowerMs);
    recordMs(sentUpper, interval.upperMs);
    recordMs(width, upperMs - lowerMs);
  }
  const [answerFrom, answerTo, sentFrom, sentTo, open] = recorded.map(buildLatency);
  const block = {
    revoked: measured.length,
    beforeAnswered,
    sinceAnswered: { lower: answerFrom, upper: answerTo },
    sinceSent: { lower: sentFrom, upper: sentTo },
    widthMs: open,
  };
  return { block, upper: answeredUpper };
}

/**
 * @param {Measured[]} measured
 * @param {Histogram} lag of polls
 * @returns {{ms: number, upper: Histogram}} upper bounds since the answer, had each been read as late as any poll was
 */
function lateBounds(measured, lag) {
  const ms = lag.totalCount === 0 ? 0 : lag.maxValue / 1000;
  const upper = createHistogram();
  for (const { interval, answeredMs } of measured) {
    recordMs(upper, sinceAnswer(interval, answeredMs).upperMs + ms);
  }
  return { ms, upper };
}

/** @param {Histogram} histogram @returns {Propagation['pollLagMs']} */
function spreadOf(histogram) {
  const { totalCount: count, maxValue } = histogram;
  if (count === 0) return { count, min: null, p50: null, p99: null, max: null };
  const at = (/** @type {number} */ share) => valueAtShare(histogram, share);
  return { count, min: at(0), p50: at(0.5), p99: at(0.99), max: maxValue / 1000 };
}

/** @param {string[]} names @returns {Record<string, number>} */
function countsOf(names) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/**
 * @param {object} facts
 * @param {Pick<PropagationPlan, 'pollMs' | 'concurrency' | 'target'>} facts.plan
 * @param {Pick<Awaited<ReturnType<typeof import('./prepare.js').prepare>>, 'crl'>} facts.found
 * @param {Propagation['nodes']} facts.nodes
 * @returns {string[]} sentences
 */
function notesOf({ plan: { pollMs, concurrency, target }, found: { crl }, nodes }) {
  const perSecond = formatCount(Number(((concurrency * 1000) / pollMs).toPrecision(2)));
  return [
    'A delay is an interval: the revocation took effect after the last request that was still answered good was sent (lower bound), and before the first answer revoked arrived (upper bound). Delays that ended before the revocation was answered count as 0 since the answer.',
    'A revocation was answered when this program had read the head of the response. Where it read that late, bounds since the response are too small by as much; what is required counts as met only if it were also on bounds that are longer by the largest lateness of a poll. Bounds since the sending do not depend on it.',
    `Each node was asked every ${formatLatency(pollMs)} about each certificate under way, up to ${perSecond} requests a second: polling is load, too.`,
    'One more certificate was issued and revoked beforehand, lest connections and code that were used for the first time count.',
    rebuildNote(crl, target.mount),
    ...nodes.flatMap(({ url, state }) =>
      state === 'standby'
        ? [
            `${url} is a standby. Vault without Enterprise passes OCSP requests on to the active node, so its answers are the active node's, and take longer by the way there.`,
          ]
        : [],
    ),
  ];
}

/** @param {CrlFacts} crl @param {string} mount */
function rebuildNote({ autoRebuild, disabled }, mount) {
  if (autoRebuild === null)
    return `Whether ${mount} rebuilds its CRL by itself (auto_rebuild) could not be seen.`;
  const ocsp = 'OCSP answers do not come from the CRL: Vault looks each certificate up.';
  if (disabled === true) return `${mount} builds no CRL (disable in its config/crl). ${ocsp}`;
  return autoRebuild
    ? `auto_rebuild is on in ${mount}: a revocation does not wait for a new CRL, which is built later. ${ocsp}`
    : `auto_rebuild is off in ${mount}: every revocation builds the CRL anew before it is answered. ${ocsp}`;
}
