/**
 * The Result: one declaration that gives the type, the validation and the published JSON Schema. Every report is made
 * from it alone. Keys that are not named here are allowed, so that an older reader takes a newer file.
 */
import { z } from 'zod';
import { Measurement } from '../verdict/measurement-schema.js';
import { validatorOf } from './declared.js';
import { SCHEMA_ID } from './document.js';
import { MergeBlock, MergedPart, ShardPart } from './parts/merge-block-schema.js';

export { SCHEMA_ID };

const count = z.int().min(0);
const amount = z.number().min(0);

/** Milliseconds; null where nothing was recorded. */
const ms = amount.nullable();

/**
 * Error bar: the target's true figure lies between, at 95 % on either side. `high` is null where there are too few requests for
 * an upper bound. `tool`: so much of the figure may be the tool's own lateness.
 */
const Bar = z.object({ low: amount, high: amount.nullable(), tool: amount }).meta({ id: 'Bar' });

const Bars = z
  .object({ min: Bar, mean: Bar, p50: Bar, p90: Bar, p95: Bar, p99: Bar, p999: Bar, max: Bar })
  .meta({ id: 'Bars' });

const Latency = z
  .object({
    count,
    min: ms,
    mean: ms,
    p50: ms,
    p90: ms,
    p95: ms,
    p99: ms,
    p999: ms,
    max: ms,
    /** HDR V2 compressed, base64, in microseconds. */
    histogram: z.string().nullable(),
    /** Absent from outcomes, from older files, and where nothing was recorded. */
    bars: Bars.optional(),
  })
  .meta({ id: 'Latency' });

/** response = done - intended, service = done - sent, sendLag = sent - intended. */
const Latencies = z
  .object({ response: Latency, service: Latency, sendLag: Latency })
  .meta({ id: 'Latencies' });

/** sent + dropped + neverSent = planned; succeeded + failed = sent; failed + dropped + neverSentDue = errors. */
const Totals = z
  .object({
    planned: count,
    sent: count,
    succeeded: count,
    failed: count,
    dropped: count,
    neverSent: count,
    /** Those of `neverSent` that were due and still waiting at the end; they count in the response time. */
    neverSentDue: count,
    /** failed + dropped + neverSentDue: all that were due and had no good response. */
    errors: count,
  })
  .meta({ id: 'Totals' });

/** Successes. `bar`: the target's rate per second, at 95 % on either side. */
const Rates = z
  .object({
    perSecond: amount,
    perHour: amount,
    peakOneSecond: amount,
    /** `sampled`: the upper end for the size of the sample alone; the part above it may be the tool's own lateness. */
    bar: z.object({ low: amount, high: amount.nullable(), sampled: amount }).optional(),
  })
  .meta({ id: 'Rates' });

/** By name; `dropped` and `never_sent` may stand beside the outcomes of sent requests. */
const Outcomes = z.record(z.string(), count);

const OutcomeDetails = z
  .record(
    z.string(),
    z.object({ count, success: z.boolean(), meaning: z.string().optional(), latencyMs: Latencies }),
  )
  .meta({ id: 'OutcomeDetails' });

const Verification = z
  .object({
    /** Responses checked in full, and those of them that passed. */
    checked: count,
    passed: count,
    /** True when some responses were left unchecked for lack of time; `unchecked` is their number. */
    sampled: z.boolean(),
    unchecked: count,
    /** Rule -> responses that broke it; one response may break several. */
    failures: z.record(z.string(), count),
    notes: z.array(z.string()).optional(),
  })
  .meta({ id: 'Verification' });

const Block = z.object({
  totals: Totals,
  /** errors / (succeeded + errors), 0 to 1: of those that were due; null where none was. */
  errorShare: z.number().min(0).max(1).nullable(),
  errorShareBar: z.object({ low: amount, high: amount }).optional(),
  rates: Rates,
  latencyMs: Latencies,
  outcomes: Outcomes,
  outcomeDetails: OutcomeDetails,
  verification: Verification,
});

const Load = z.object({
  model: z.enum(['open', 'closed']),
  ratePerSecond: amount.nullable(),
  concurrency: count,
  threads: count,
  arrivals: z.enum(['constant', 'poisson']),
  seed: z.number().nullable(),
  timeoutMs: amount,
  overflow: z.enum(['queue', 'drop']),
  durationMs: amount.nullable(),
  requests: count.nullable(),
  warmupMs: amount,
  rampUpMs: amount,
  pacing: z.string(),
  connections: count.optional(),
  /** Number of stages; the plan has their shapes. `ratePerSecond` or `concurrency` is then the highest of them. */
  stageCount: count.optional(),
});

/** A second of the measured part, or of the wait for the last responses. Times are of the requests done in it. */
const TimelineRow = z.object({
  second: count,
  /** Open loop: arrivals that the plan has in this second. */
  due: count.optional(),
  sent: count,
  succeeded: count,
  failed: count,
  /** By outcome. */
  failures: Outcomes.optional(),
  p50: ms,
  p90: ms.optional(),
  p99: ms,
  max: ms,
  /** p99 of the send lag. */
  lag99: ms.optional(),
  /** Response times: HDR V2 compressed, base64, in microseconds. After the first hour several seconds share one. */
  histogram: z.string().nullable().optional(),
  /** How many seconds up to this one the histogram covers; left out for 1. */
  histogramSeconds: count.optional(),
});

const StageBlock = Block.extend({
  name: z.string(),
  /** From the start of the measured part. */
  startSeconds: amount,
  /** As long as it was, to its planned end at most. */
  seconds: amount,
  /** Lowest and highest planned level: requests a second, or in flight in a closed loop. */
  level: z.object({ least: amount, most: amount }),
  /** Length as its rates are reckoned, as of the whole. */
  windowSeconds: amount,
  operations: z.record(z.string(), Block),
}).meta({ id: 'StageBlock' });

const RequirementVerdict = z.object({
  text: z.string(),
  /** Its scope, where that is not the whole run. */
  operation: z.string().optional(),
  stage: z.string().optional(),
  verdict: z.enum(['met', 'not met', 'not proven']),
  /** In `unit`; null where there is no number, e.g. when the percentile falls on a failed request. */
  actual: z.number().nullable(),
  limit: z.number(),
  unit: z.enum(['ms', '/s', 'fraction']),
  reason: z.string(),
  /** The error bar it was judged on, in `unit`; null: no bound. */
  low: z.number().nullable().optional(),
  high: z.number().nullable().optional(),
  /** Of `not proven`: what keeps it from being decided. */
  doubt: z.enum(['sample', 'tool', 'both', 'failures', 'unchecked', 'invalid']).optional(),
});

export const Result = z
  .object({
    schema: z.literal(SCHEMA_ID),
    tool: z.object({ version: z.string() }),
    startedAt: z.iso.datetime(),
    /**
     * The same instant on this machine's monotonic clock (Linux: CLOCK_MONOTONIC), so that a target on the same machine
     * can compute how late a request came.
     */
    startedAtMonotonicNs: z.string().regex(/^\d+$/).optional(),
    /** Wall time of the measured part: the wait for the last responses included, the warm-up excluded. */
    durationSeconds: amount,
    /** Length of the measured part as the rates are reckoned: planned, or until the last success where a backlog came last. */
    windowSeconds: amount.optional(),
    interrupted: z.boolean(),
    /** Written while the run went on; `neverSent` is then what had not been answered yet. */
    unfinished: z.literal(true).optional(),
    command: z.string(),
    /** The plan as it ran; never a token or a key. */
    plan: z.record(z.string(), z.unknown()),
    /** Which part of the plan this is (`--shard 0/4`). */
    shard: ShardPart.optional(),
    target: z.object({ url: z.string(), product: z.string().nullable(), version: z.string().nullable() }),
    load: Load,
    warmup: z.object({ seconds: amount, sent: count }),
    ...Block.shape,
    /** `unit` of its responses, in the plural: `certificates`; `things` in older files. */
    operations: z.record(
      z.string(),
      Block.extend({ unit: z.string().optional(), things: z.string().optional() }),
    ),
    /** Of a plan in stages: requests by the stage in which they were due. */
    stages: z.array(StageBlock).optional(),
    timeline: z.array(TimelineRow),
    requirements: z.array(RequirementVerdict),
    measurement: Measurement,
    environment: z.object({ node: z.string(), platform: z.string(), cpus: count }),
    /** Of a part: what `merge` needs to add it to the others exactly. */
    merge: MergeBlock.optional(),
    /** The parts of a merged result. */
    merged: z.array(MergedPart).optional(),
  })
  .meta({ title: 'Result of a vault-pki-load run' });

/** @typedef {z.infer<typeof Result>} Result */
/** @typedef {z.infer<typeof Block>} OperationBlock of the whole and of each operation */
/** @typedef {z.infer<typeof Bar>} Bar */
/** @typedef {z.infer<typeof Latency>} LatencyBlock */
/** @typedef {z.infer<typeof Latencies>} LatencyBlocks */
/** @typedef {z.infer<typeof Verification>} VerificationBlock */
/** @typedef {z.infer<typeof StageBlock>} StageBlock */
/** @typedef {z.infer<typeof TimelineRow>} TimelineRow */
/** @typedef {z.infer<typeof RequirementVerdict>} RequirementVerdict */

/** As {@link validatorOf} says; code `bad_result`. */
export const validateResult = validatorOf(Result, {
  code: 'bad_result',
  called: 'The result',
  writtenWith: '--out FILE.json',
});
