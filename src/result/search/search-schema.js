/** The document of a search: one declaration defines the type, the validation and the JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { amount, count, each, ms, share, Target, Tool, Unit, validatorOf } from '../declared.js';
import { Result } from '../schema.js';

const ENDS = /** @type {const} */ ([
  ...['bracketed', 'flat', 'requirement', 'highest', 'generator'],
  ...['lowest', 'unconfirmed', 'interrupted', 'broken off', 'going on'],
]);
const Verdict = z.enum(['met', 'not met', 'not proven', 'not offered']).meta({ id: 'StepVerdict' });

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
    steps: z.array(Step),
    /** The result of the run that confirmed the answer. */
    confirmation: Result.nullable(),
  })
  .meta({ title: 'vault-pki-load search for the highest rate that a target can sustain' });

/** @typedef {z.infer<typeof Search>} Search */
/** @typedef {z.infer<typeof Step>} SearchStep */

export const validateSearch = validatorOf(Search, checkAnswer);

/** @param {Search} search @returns {Generator<string, void>} where its answer contradicts its steps */
function* checkAnswer({ answer, bracket, steps, confirmation, why, failure, requirements }) {
  const isBroken = why === 'broken off';
  if (isBroken !== (failure !== undefined)) yield 'its why and its failure contradict each other';
  if (isBroken && answer !== null) yield 'it was cut short, but has an answer';
  if ((answer?.level ?? null) !== bracket.confirmed)
    yield 'its answer is not the level that it calls confirmed';
  if (answer === null) return;
  const { level } = answer;
  const confirmed = steps.filter(({ phase, verdict }) => phase === 'confirmation' && verdict === 'met');
  if (!confirmed.some((step) => isDeepStrictEqual(step, answer))) yield 'no step confirms its answer';
  if (Number(bracket.highestMet) < level) yield 'its answer is above the highest level that it calls met';
  if (bracket.above !== null && bracket.above.level <= level)
    yield 'the upper level of its bracket is not above the lower one';
  if (confirmation === null) return yield 'it has an answer, but not the result that confirms it';
  const { rates, latencyMs, errorShare, measurement } = confirmation;
  const { p50, p99, max } = latencyMs.response;
  const figures = [rates.perSecond, p50, p99, max, errorShare, measurement.verdict];
  const { perSecond, p50Ms, p99Ms, maxMs } = answer;
  if (!isDeepStrictEqual(figures, [perSecond, p50Ms, p99Ms, maxMs, answer.errorShare, answer.measurement]))
    yield 'the figures of its answer are not those of the result that confirms it';
  for (const [i, { text, beyond = false }] of requirements.entries())
    if (beyond !== (confirmation.requirements[i]?.verdict !== 'met'))
      yield `${text} is ${beyond ? '' : 'not '}marked as beyond the answer, but the result that confirms it disagrees`;
}
