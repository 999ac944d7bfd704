/** The Search: one declaration that gives the type, the validation and the JSON Schema. `src/campaigns/search/find-max.js` makes it. */
import { z } from 'zod';
import {
  amount,
  count,
  each,
  MeasurementWord,
  ms,
  share,
  Target,
  Tool,
  Unit,
  validatorOf,
} from '../declared.js';
import { Result } from '../schema.js';

const Verdict = z.enum(['met', 'not met', 'not proven', 'not offered']).meta({ id: 'StepVerdict' });

/** A run at one level. */
const Step = z
  .object({
    /** Requests a second, or in flight. */
    level: amount,
    phase: z.enum(['coarse', 'bisection', 'confirmation']),
    /** From 1: what has failed is tried once more. */
    attempt: z.int().min(1),
    /** `not offered`: the generator could not offer it, so the step shows nothing of the target. */
    verdict: Verdict,
    reason: z.string(),
    /** `not proven`: a run so short could have proven it by luck at most, so that nothing speaks against it. */
    isStarved: z.boolean(),
    startedAt: z.iso.datetime(),
    seconds: amount,
    connections: count,
    requests: count,
    /** Successes. */
    perSecond: amount,
    /** Response times. */
    ...each(['p50Ms', 'p99Ms', 'maxMs'], ms),
    errorShare: share,
    measurement: MeasurementWord,
    /** What the target was given before it. */
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
    /** Written while the search went on. */
    unfinished: z.literal(true).optional(),
    interrupted: z.boolean(),
    /** Each step changed its load; never a token or a key. */
    plan: z.record(z.string(), z.unknown()),
    /** Null where no step was made. */
    target: Target.nullable(),
    /** Levels are requests a second (open loop), or requests in flight (closed loop). */
    searched: z.enum(['rate', 'concurrency']),
    settings: z.object({
      ...each(['start', 'highest', 'stepSeconds', 'confirmationSeconds'], amount),
      /** The bisection ends when the ends of the bracket are at most this share apart. */
      tolerance: amount,
    }),
    requirements: z.array(
      z.object({
        /** In a mix with its operation: `reads: p99<1s`. */
        text: z.string(),
        operation: z.string().optional(),
        limit: z.number(),
        unit: Unit,
        /** A rate that the result was not shown to reach: it is higher, or too near, or of a closed loop. */
        beyond: z.literal(true).optional(),
      }),
    ),
    /** The step that confirmed it; null where no level was confirmed. */
    answer: Step.nullable(),
    bracket: z.object({
      confirmed: amount.nullable(),
      /** In any step: higher than the confirmed level where a longer run did not confirm it. */
      highestMet: amount.nullable(),
      /** The lowest failed level above the confirmed one, else above the highest met; null: none. */
      above: z.object({ level: amount, verdict: Verdict }).nullable(),
    }),
    /** Closed loop: the highest throughput of a step, be it short, in which every requirement was met. */
    peakPerSecond: amount.nullable(),
    why: z.enum([
      'bracketed',
      'flat',
      'requirement',
      'highest',
      'generator',
      'lowest',
      'unconfirmed',
      'interrupted',
      'broken off',
      'going on',
    ]),
    /** Why it broke off. */
    failure: z.object({ code: z.string(), text: z.string() }).optional(),
    /** The same in sentences. */
    explanation: z.string(),
    /** In the order in which they were made. */
    steps: z.array(Step),
    /** The result of the run that confirmed the answer. */
    confirmation: Result.nullable(),
  })
  .meta({ title: 'Search of vault-pki-load for the highest rate that a target can take' });

/** @typedef {z.infer<typeof Search>} Search */
/** @typedef {z.infer<typeof Step>} SearchStep */

export const validateSearch = validatorOf(Search, checkAnswer);

/** @param {Search} search @returns {Generator<string, void>} where its answer is not that of its steps */
function* checkAnswer({ answer, bracket, steps, confirmation, why, failure }) {
  const isBroken = why === 'broken off';
  if (isBroken !== (failure !== undefined)) yield 'its end and its failure contradict each other';
  if (isBroken && answer !== null) yield 'it broke off, but has an answer';
  if ((answer?.level ?? null) !== bracket.confirmed)
    yield 'its answer is not the level that it calls confirmed';
  if (answer === null) return;
  const { level } = answer;
  const confirmed = steps.filter(({ phase, verdict }) => phase === 'confirmation' && verdict === 'met');
  if (!confirmed.some((step) => step.level === level)) yield 'no step confirms its answer';
  if (Number(bracket.highestMet) < level) yield 'its answer is above the highest level that it calls met';
  if (bracket.above !== null && bracket.above.level <= level) yield 'its bracket is upside down';
  if (confirmation === null) yield 'it has an answer, but not the result that confirms it';
}
