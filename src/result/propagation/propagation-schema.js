/** How soon nodes reported revocations. A delay is an interval, so there are two distributions: of lower and of upper bounds. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { decodeHistogram, packHistogram } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { checkLatency, isAscending } from '../check/check-latency.js';
import { checkMeasurement, checkVerdict } from '../check/check-verdicts.js';
import { amount, count, each, ms, record, Target, Tool, text, validatorOf } from '../declared.js';
import { Result } from '../schema.js';
import {
  countOutcomes,
  createDelayJudge,
  delaysEverywhere,
  histogramOf,
  judgeMeasurement,
  outcomeOf,
  valuesOfDelay,
  withResponse,
} from './judge-delays.js';

/** @import { Measured } from './judge-delays.js' */

const counts = record(count);
const { response: Latency } = Result.shape.latencyMs.shape;

/** The revocation took effect after the lower and before the upper bound. */
const Bounds = z.object({ lower: Latency, upper: Latency }).meta({ id: 'Bounds' });

const Delay = z
  .object({
    /** Certificates reported revoked. */
    revoked: count,
    /** Of these, reported before the revoke call returned; 0 in `sinceAnswered`. */
    beforeAnswered: count,
    /** Since the tool read the head of the response to the revocation: too small if it read late. */
    sinceAnswered: Bounds,
    /** Since the revocation was sent: correct even if the tool read the response late. */
    sinceSent: Bounds,
    /** Upper minus lower bound. */
    widthMs: Latency,
  })
  .meta({ id: 'Delay' });

const Node = z.object({
  url: z.string(),
  version: text,
  /** From its sys/health before the first certificate; null: unknown. */
  state: z.enum(['active', 'standby', 'performance standby']).nullable(),
  /** Certificates by outcome at this node. */
  outcomes: counts,
  delay: Delay,
  /** OCSP requests: `looks` before revocations, and polls after them. */
  asked: z.object({ looks: count, polls: count, missed: count, skipped: count }),
  /** By outcome: OCSP status, rule broken, HTTP or transport error. */
  answers: counts,
});

const nodeOutcomes = /** @type {const} */ ([
  ...['revoked', 'never_revoked', 'never_answered', 'not_good_before', 'undecided'],
]);

const RowNode = z.object({
  outcome: z.enum(nodeOutcomes),
  /** Its status before the revocation, if not good. */
  before: z.string().optional(),
  /** Since the revocation was sent; null unless revoked. */
  interval: z.object({ lowerMs: z.number(), upperMs: z.number() }).nullable(),
});

const Row = z.object({
  certificate: count,
  /** `revoked`: at every node. */
  outcome: z.enum([...nodeOutcomes, 'issue_failed', 'revoke_failed']),
  failure: z.string().optional(),
  /** Duration of the revoke call up to the head of its response; null unless it succeeded. */
  revokeMs: amount.nullable(),
  nodes: z.array(RowNode),
});

export const Propagation = z
  .object({
    schema: z.literal('vault-pki-load/propagation/1'),
    tool: Tool,
    startedAt: z.iso.datetime(),
    durationSeconds: amount,
    interrupted: z.boolean(),
    command: z.string(),
    /** Never a token or a key. */
    plan: z.object({
      mount: z.string(),
      role: z.string(),
      ...each(['certificates', 'concurrency', 'seed'], count),
      ...each(['pauseMs', 'pollMs', 'giveUpMs', 'timeoutMs'], amount),
    }),
    /** Where certificates were issued and revoked. */
    target: Target,
    /** From the mount's config/crl; null: unreadable. */
    crl: z.object({ ...each(['autoRebuild', 'disabled'], z.boolean().nullable()), ocspExpiry: text }),
    /** The outcomes add up to `begun`. */
    certificates: z.object({ planned: count, begun: count, outcomes: counts }),
    /** Duration of the successful revoke calls. */
    revokeMs: Latency,
    /** Until the last node returned revoked. */
    everywhere: Delay,
    nodes: z.array(Node).min(1, 'must contain at least one node'),
    /** Of polls that were sent. */
    pollLagMs: z.object({ count, ...each(['min', 'p50', 'p99', 'max'], ms) }),
    rows: z.array(Row),
    /** Judged on the bounds of `everywhere.sinceAnswered`. */
    requirements: Result.shape.requirements,
    measurement: Result.shape.measurement.omit({ observed: true }),
    notes: z.array(z.string()),
    environment: Result.shape.environment,
  })
  .meta({ title: 'How soon nodes reported revocations, as vault-pki-load propagation measured it' });

/** @typedef {z.infer<typeof Propagation>} Propagation */
/** @typedef {z.infer<typeof Delay>} DelayBlock */
/** @typedef {z.infer<typeof Node>} PropagationNode */
/** @typedef {z.infer<typeof Row>} PropagationRow */

export const validatePropagation = validatorOf(Propagation, checkPropagation);

/** @param {Propagation} document valid by its schema @returns {Generator<string, void>} one sentence per contradiction */
export function* checkPropagation(document) {
  const { certificates, rows, nodes, pollLagMs } = document;
  const { begun, planned, outcomes } = certificates;
  if (begun !== rows.length) yield 'certificates.begun is not the number of rows';
  if (!isDeepStrictEqual(outcomes, countOutcomes(rows)))
    yield 'certificates.outcomes are not those of its rows';
  if (planned !== document.plan.certificates) yield 'certificates.planned is not that of the plan';
  if (begun > planned) yield 'more certificates were started than planned';
  if (rows.some((row) => row.outcome !== outcomeOf(row)))
    yield 'the outcome of a row is not the worst at its nodes';
  if (rows.some((row) => row.nodes.length > 0 && row.nodes.length !== nodes.length))
    yield 'a row has a different number of nodes than the document';
  if (rows.some((row) => row.nodes.some(({ interval }) => interval && interval.lowerMs > interval.upperMs)))
    yield 'an interval ends before it begins';
  const { min, p50, p99, max } = pollLagMs;
  if (!isAscending([min, p50, p99, max]) || (max === null) !== (pollLagMs.count === 0))
    yield 'pollLagMs: its figures are not in ascending order, or there are none';
  const delays = delaysEverywhere(rows);
  yield* checkDelay('everywhere', document.everywhere, delays);
  const responses = rows.flatMap(({ revokeMs }) => revokeMs ?? []);
  yield* checkDistribution('revokeMs', document.revokeMs, responses);
  // The others may be many more than the document has nodes.
  const followed = rows.filter((row) => row.nodes.length > 0);
  for (const [i, node] of nodes.entries()) {
    const { delay, asked, answers } = node;
    const name = `nodes.${i}`;
    const atNode = followed.flatMap((row) => withResponse(row.nodes[i]?.interval ?? null, row.revokeMs));
    yield* checkDelay(`${name}.delay`, delay, atNode);
    if (delay.revoked !== (node.outcomes.revoked ?? 0))
      yield `${name}.delay.revoked is not ${name}.outcomes.revoked`;
    const ofNode = followed.flatMap((row) => row.nodes[i] ?? []);
    if (!isDeepStrictEqual(node.outcomes, countOutcomes(ofNode)))
      yield `${name}.outcomes are not those of its rows`;
    if (sumOf(answers) !== asked.looks + asked.polls)
      yield `${name}.answers do not add up to the requests that were sent`;
  }
  yield* checkMeasurement(document);
  const { verdict } = judgeMeasurement({ ...document, lateMs: null });
  if (verdict === 'invalid' && document.measurement.verdict !== verdict)
    yield `measurement.verdict is ${document.measurement.verdict}, but its figures make it invalid`;
  const isValid = document.measurement.verdict !== 'invalid';
  const judge = createDelayJudge({ delays, rows, lagMs: max ?? 0, isValid, plan: document.plan });
  // The file lacks how long the others were followed. They can only count against a requirement, so `met` is checked.
  const isWhole = rows.every(({ outcome }) => outcome === 'revoked');
  for (const judged of document.requirements)
    if (isWhole || judged.verdict === 'met')
      yield* checkVerdict(judged, (requirement) => [judge(requirement)]);
}

/** @param {string} name @param {DelayBlock} delay @param {Measured[]} delays by the rows */
function* checkDelay(name, delay, delays) {
  const values = valuesOfDelay(delays);
  for (const key of /** @type {const} */ (['revoked', 'beforeAnswered']))
    if (delay[key] !== values[key]) yield `${name}.${key} is ${delay[key]}, but its rows have ${values[key]}`;
  for (const since of /** @type {const} */ (['sinceAnswered', 'sinceSent']))
    for (const key of /** @type {const} */ (['lower', 'upper']))
      yield* checkDistribution(`${name}.${since}.${key}`, delay[since][key], values[since][key]);
  yield* checkDistribution(`${name}.widthMs`, delay.widthMs, values.widthMs);
}

/** @param {string} name @param {z.infer<typeof Latency>} block @param {number[]} values by the rows @returns {Generator<string, void>} */
function* checkDistribution(name, block, values) {
  yield* checkLatency(block, values.length, name);
  const packed = block.histogram === null ? [] : [...packHistogram(decodeHistogram(block.histogram))];
  if (!isDeepStrictEqual(packed, [...packHistogram(histogramOf(values))]))
    yield `${name} is not that of the rows`;
}

/** @param {Record<string, number>} counts */
const sumOf = (counts) => total(Object.values(counts));
