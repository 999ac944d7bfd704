/** The document of a search: one declaration defines the type, the validation and the JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { quote } from '../../common/errors.js';
import { maxOf, minOf } from '../../common/sums.js';
import { requirementOf } from '../check/check-verdicts.js';
import { amount, count, each, ms, share, Target, Tool, Unit, validatorOf } from '../declared.js';
import { verdictOn } from '../requirements/judge-figures.js';
import { Result } from '../schema.js';
import { findBracket, whyEnded } from './explain.js';

const ENDS = /** @type {const} */ ([
  ...['bracketed', 'flat', 'requirement', 'highest', 'generator'],
  ...['lowest', 'unconfirmed', 'interrupted', 'broken off', 'going on'],
]);
/** Without an answer; after `generator` there may be one. @type {readonly (typeof ENDS)[number][]} */
const UNANSWERED = ['lowest', 'unconfirmed', 'interrupted', 'broken off', 'going on'];
const Verdict = z.enum(['met', 'not met', 'not proven', 'not offered']).meta({ id: 'StepVerdict' });

/** Far more than any search makes. */
const MAX_STEPS = 10_000;

/** A run at one level. */
const Step = z
  .object({
    /** Requests per second, or in flight. */
    level: amount,
    phase: z.enum(['coarse', 'bisection', 'confirmation']),
    /** From 1: a failed level is tried again. */
    attempt: z.int().min(1),
    /** `not offered`: the tool could not offer it, so the step shows nothing about the target. */
    verdict: Verdict,
    reason: z.string(),
    /** `not proven`, and the run was too short to prove it. */
    isStarved: z.boolean(),
    startedAt: z.iso.datetime(),
    seconds: amount,
    ...each(['connections', 'requests'], count),
    /** Successes. */
    perSecond: amount,
    /** Response times. */
    ...each(['p50Ms', 'p99Ms', 'maxMs'], ms),
    errorShare: share,
    measurement: Result.shape.measurement.shape.verdict,
    /** The wait for the target before the step. */
    recovery: z.object({ seconds: amount, recovered: z.boolean() }),
  })
  .meta({ id: 'SearchStep' });

export const Search = z
  .object({
    schema: z.literal('vault-pki-load/search/1'),
    tool: Tool,
    name: z.string(),
    startedAt: z.iso.datetime(),
    durationSeconds: amount,
    command: z.string(),
    /** Written before the search ended. */
    unfinished: z.literal(true).optional(),
    interrupted: z.boolean(),
    /** Without secrets; each step changed its load. */
    plan: z.record(z.string(), z.unknown()),
    /** Null if there was no step. */
    target: Target.nullable(),
    /** Levels are requests per second (open loop) or in flight (closed loop). */
    searched: z.enum(['rate', 'concurrency']),
    settings: z.object({
      ...each(['start', 'highest', 'stepSeconds', 'confirmationSeconds'], amount),
      /** The bisection ends when the ends of the bracket are at most this share apart. */
      tolerance: amount,
    }),
    requirements: z.array(
      z.object({
        /** In a mix, preceded by its operation: `reads: p99<1s`. */
        text: z.string(),
        operation: z.string().optional(),
        limit: z.number(),
        unit: Unit,
        /** The confirmation did not show it to be met. */
        beyond: z.literal(true).optional(),
      }),
    ),
    /** The step that confirmed the level; null if none did. */
    answer: Step.nullable(),
    bracket: z.object({
      confirmed: amount.nullable(),
      /** By any step; may be above the confirmed level. */
      highestMet: amount.nullable(),
      /** The lowest failed level above the confirmed one, else above the highest met; null: none. */
      above: z.object({ level: amount, verdict: Verdict }).nullable(),
    }),
    /** Closed loop: the highest throughput of any step that met every requirement. */
    peakPerSecond: amount.nullable(),
    why: z.enum(ENDS),
    /** The error that ended the search. */
    failure: z.object({ code: z.string(), text: z.string() }).optional(),
    /** `why` in sentences. */
    explanation: z.string(),
    /** In order of time. */
    steps: z.array(Step).max(MAX_STEPS),
    /** The result of the run that confirmed the answer. */
    confirmation: Result.nullable(),
  })
  .meta({ title: 'vault-pki-load search for the highest rate that a target can sustain' });

/** @typedef {z.infer<typeof Search>} Search */
/** @typedef {z.infer<typeof Step>} SearchStep */

export const validateSearch = validatorOf(Search, checkAnswer);

/** Figures of a step that a requirement may limit. @type {Record<string, 'p50Ms' | 'p99Ms' | 'maxMs' | 'errorShare'>} */
const LIMITED = { p50: 'p50Ms', p99: 'p99Ms', max: 'maxMs', errors: 'errorShare' };

/** @param {Search} search @returns {Generator<string, void>} where it contradicts its steps or its confirmation */
function* checkAnswer(search) {
  const { answer, steps, confirmation, why, searched } = search;
  const level = answer?.level ?? null;
  const ends = [search.interrupted, search.failure !== undefined, search.unfinished ?? false];
  const isUnanswered = UNANSWERED.includes(why);
  if (!isDeepStrictEqual(ends, [why === 'interrupted', why === 'broken off', why === 'going on']))
    yield 'its why contradicts its failure, or whether it was interrupted or finished';
  const { bracket, peakPerSecond } = findBracket(searched, steps, level);
  const isEnd = searched === 'concurrency' || level === null || why === whyEnded(bracket.above);
  if (!isEnd || (why !== 'generator' && isUnanswered !== (level === null)))
    yield 'its why does not follow from its answer and its steps';
  if (!isDeepStrictEqual([search.bracket, search.peakPerSecond], [bracket, peakPerSecond]))
    yield 'its bracket or its peak is not that of its steps';
  if (steps.some((step) => step.level > search.settings.highest)) yield 'a step is above the highest level';
  yield* checkRequirements(search);
  if ((answer === null) !== (confirmation === null))
    yield 'it lacks its answer, or the result that confirms it';
  if (answer === null || confirmation === null) return;
  const confirmed = steps.filter(({ phase, verdict }) => phase === 'confirmation' && verdict === 'met');
  if (!confirmed.some((step) => isDeepStrictEqual(step, answer))) yield 'no step confirms its answer';
  const { rates, latencyMs, errorShare, measurement, load } = confirmation;
  const { p50, p99, max } = latencyMs.response;
  const offered = searched === 'rate' ? load.ratePerSecond : load.concurrency;
  const model = searched === 'rate' ? 'open' : 'closed';
  const figures = [load.model, offered, rates.perSecond, p50, p99, max, errorShare, measurement.verdict];
  const { perSecond, p50Ms, p99Ms, maxMs } = answer;
  const own = [model, level, perSecond, p50Ms, p99Ms, maxMs, answer.errorShare, answer.measurement];
  if (!isDeepStrictEqual(figures, own))
    yield 'the level and the figures of its answer are not those of the result that confirms it';
}

/** @param {Search} search @returns {Generator<string, void>} */
function* checkRequirements({ requirements, confirmation, steps }) {
  const met = steps.filter(({ verdict }) => verdict === 'met');
  if (met.some(({ measurement }) => measurement === 'invalid'))
    yield 'a step met the requirements, but its measurement is invalid';
  const ranges = new Map(
    Object.entries(LIMITED).map(([figure, key]) => {
      const values = met.flatMap((step) => step[key] ?? []);
      return [figure, { low: minOf(values), high: maxOf(values) }];
    }),
  );
  const judged = confirmation?.requirements ?? requirements;
  for (const [i, required] of requirements.entries()) {
    const { text, operation, beyond = false } = required;
    const requirement = requirementOf(required);
    if (requirement === null) yield `${quote(text)} is not a requirement with this limit and unit`;
    if (confirmation === null ? beyond : beyond !== (confirmation.requirements[i]?.verdict !== 'met'))
      yield `${text} is ${beyond ? '' : 'not '}marked as beyond the answer, but the result that confirms it disagrees`;
    const [figure] = text.split(/[<>]/);
    const range = operation === undefined ? ranges.get(figure.trim()) : undefined;
    if (requirement !== null && range !== undefined && verdictOn(requirement, range) !== 'met')
      yield `a step met ${text}, but its ${figure} is beyond the limit`;
  }
  const told = [requirements, judged].map((all) =>
    all.map(({ text, operation, limit, unit }) => [text, operation, limit, unit]),
  );
  if (!isDeepStrictEqual(told[0], told[1]))
    yield 'its requirements are not those of the result that confirms it';
}
