/** The Result, source of every report. Unknown keys are allowed, so that older readers accept newer files. */
import { z } from 'zod';
import { total } from '../common/sums.js';
import { PHASES } from '../engine/recording/tally.js';
import { MAX_REQUIREMENTS } from '../plan/requirements.js';
import {
  amount,
  count,
  Environment,
  each,
  MeasurementVerdictName,
  ms,
  named,
  number,
  RequirementVerdictName,
  record,
  share,
  Target,
  Tool,
  Unit,
  validatorOf,
} from './declared.js';
import { FIGURES, SERIES } from './latency.js';

/** HDR V2 compressed, base64, in microseconds. */
const histogram = z.string();

/** Index from 0. */
const ShardPart = z
  .object({ index: count, of: z.int().min(1) })
  .refine(({ index, of }) => index < of, { error: 'there is no such part: parts are numbered from 0' })
  .meta({ id: 'ShardPart' });

const MAX_PARTS = 100_000;
const PartTimes = z
  .object({ count: z.array(count).max(MAX_PARTS), sumMs: z.array(amount).max(MAX_PARTS) })
  .refine((times) => times.count.length === times.sumMs.length, {
    error: 'there is not one sum for each count',
  });
export const SuccessTimes = z
  .object(each(['due', 'done'], PartTimes))
  .refine(({ due, done }) => total(due.count) === total(done.count), {
    error: 'not as many were done as were due',
  });

/** Times are milliseconds from the start of the measured phase. */
export const MergeOperation = z.object({
  warmup: count,
  perSecond: z.object(each(['sent', 'succeeded', 'failed'], z.array(count))),
  lastSuccessMs: amount,
  /** When successes were due, and when done, in equal parts of the measured phase; absent in older files. */
  successTimes: SuccessTimes.optional(),
  /** Successes after the planned end of the measured phase. */
  successesAfter: count,
  /** By outcome: lower bounds of the target's own times, without the tool's lateness. */
  own: record(z.object(each(['response', 'service'], histogram))).optional(),
});

const MergeOperations = record(MergeOperation);

/** Garbage collections of the sender threads. */
const Gc = z.object({ count, ...each(['totalMs', 'longestMs'], amount) });

/** Load that the tool did not offer as planned. */
const NotOffered = z.object({
  droppedLate: count,
  /** Requests sent in a different second, and tenth of a second, than they were due in. */
  displaced: z.object({ second: amount, tenth: amount }),
  /** Upper bound of due requests never sent because the tool was late. */
  forgone: count,
  /** Estimate: further requests of a closed loop, on connections that a limit of the sending machine kept closed; absent in older files. */
  limited: count.optional(),
  /** Planned requests remained unsent although connections were free. */
  leftWhileFree: z.boolean(),
  /** Time in which a sender thread stood still; absent in older files. */
  stalledMs: amount.optional(),
  /** Time of the measured phase that the connections spent with requests of the warm-up, in all; absent in older files. */
  warmupOverlapMs: amount.optional(),
  /** `stalledMs` in the stage with the largest share of it; null: none; absent in older files. */
  stalledStage: z
    .object({ stage: z.string(), ...each(['stalledMs', 'windowMs'], amount) })
    .nullable()
    .optional(),
});

/** TLS handshakes by version, cipher suite and HTTP version (`-`: not negotiated), those before the run included. */
const Handshakes = record(z.object(each(['count', 'resumed'], count)));

/** The basis of the verdict on the measurement; histograms in microseconds. */
const MergeWatch = z.object({
  /** How late the tool sent, excluding the wait for a free connection. */
  lag: histogram,
  /** Upper bound of the time that responses waited until the tool read them; absent in older files. */
  readLate: histogram.optional(),
  gc: Gc,
  ...each(['busyShare', 'spinShare'], amount),
  runQueueShare: amount.nullable(),
  ...NotOffered.partial({ displaced: true, forgone: true }).shape,
  dialled: count,
  handshakes: Handshakes.optional(),
  backlog: z.object({
    ...each(['looks', 'waitingLooks'], count),
    quarterMins: z.array(count.nullable()),
    atEnd: count,
  }),
  machine: z.object({
    ...each(['wallMs', 'processCpuMs'], amount),
    cores: count,
    ...each(['idleShare', 'pressureShare'], amount.nullable()),
  }),
});

export const MergeBlock = named('MergeBlock', {
  /** Of the measured phase: the time of the last response, and the planned length. */
  ...each(['endedMs', 'windowMs'], amount),
  /** Empty in a plan with stages, which have their own. */
  operations: MergeOperations,
  stages: z.array(MergeOperations).optional(),
  /** Send lags of requests done in each second, max in milliseconds; null: none. */
  lags: z.array(z.object({ histogram, max: amount }).nullable()),
  watch: MergeWatch,
});

const MergedPart = named('MergedPart', {
  index: count,
  /** Parts of the plan, lost ones included; absent in older files. */
  of: z.int().min(1).optional(),
  startedAt: z.iso.datetime(),
  durationSeconds: amount,
  command: z.string(),
  tool: Tool,
  ...each(['sent', 'threads'], count),
  environment: Environment,
  /** Its own, before merging. */
  verdict: MeasurementVerdictName,
});

/**
 * Error bar of the target's true figure: each end is a one-sided 95 % confidence bound. `high` is null if there
 * are too few requests for an upper bound. `tool`: the part of the figure that may be the tool's lateness.
 */
const Bar = named('Bar', { low: amount, high: amount.nullable(), tool: amount });

const Latency = named('Latency', {
  count,
  ...each(FIGURES, ms),
  histogram: histogram.nullable(),
  /** Absent in outcomes and older files, and if nothing was recorded. */
  bars: named('Bars', each(FIGURES, Bar.optional())).optional(),
});

/**
 * response = done - intended, service = done - sent, sendLag = sent - intended; of complete responses, service = connect + tls +
 * firstByte + transfer, each over the requests that had this phase.
 */
const Latencies = named('Latencies', { ...each(SERIES, Latency), ...each(PHASES, Latency.optional()) });

/** sent + dropped + neverSent = planned; succeeded + failed = sent; failed + dropped + neverSentDue = errors. */
const Totals = named('Totals', {
  ...each(['planned', 'sent', 'succeeded', 'failed', 'dropped', 'neverSent'], count),
  /** Of `neverSent`: due and still waiting at the end; they count in the response time. */
  neverSentDue: count,
  /** Due requests without a good response. */
  errors: count,
  /** Estimate: further requests of a closed loop, on connections that rested after a failed connect; absent in older files. */
  rested: count.optional(),
});

/** Successes. `bar`: the target's rate per second, with 95 % bounds. */
const Rates = named('Rates', {
  ...each(['perSecond', 'perHour', 'peakOneSecond'], amount),
  /** `sampled`: the upper end from the sample size alone; `tool`: by how much the tool may have lowered the rate; null: unknown. */
  bar: z
    .object({ low: amount, high: amount.nullable(), sampled: amount, tool: amount.nullable().optional() })
    .optional(),
  /** TLS handshakes of requests with a complete response. */
  handshakesPerSecond: amount.optional(),
});

/** By name, with `dropped` and `never_sent`. */
export const Outcomes = record(count);

const OutcomeDetails = record(
  named('OutcomeDetail', {
    count,
    success: z.boolean(),
    meaning: z.string().optional(),
    latencyMs: Latencies,
  }),
);

export const Verification = named('Verification', {
  /** Responses checked in full, and how many of them passed. */
  ...each(['checked', 'passed'], count),
  /** True if some responses were not checked for lack of time; `unchecked` is their number. */
  sampled: z.boolean(),
  unchecked: count,
  /** Rule -> responses that broke it; a response counts only for the first rule that it broke. */
  failures: record(count),
  notes: z.array(z.string()).optional(),
});

const Block = z.object({
  totals: Totals,
  /** errors / (succeeded + errors); null if no request was due. */
  errorShare: share,
  /** `tool`: the share that the tool or its machine may have caused. */
  errorShareBar: z.object({ low: amount, high: amount, tool: amount.optional() }).optional(),
  /** Basis of the rates: the planned time, until the last response of a number of requests, or until the last success of a backlog. */
  windowSeconds: amount.optional(),
  rates: Rates,
  latencyMs: Latencies,
  outcomes: Outcomes,
  outcomeDetails: OutcomeDetails,
  verification: Verification,
});

const Load = z.object({
  model: z.enum(['open', 'closed']),
  ratePerSecond: amount.nullable(),
  ...each(['concurrency', 'threads'], count),
  /** Of HTTP/2; null: HTTP/1.1. */
  streamsPerConnection: count.nullable().optional(),
  requestsPerConnection: count.nullable().optional(),
  /** Host and port of the proxy on the way; null: none. */
  proxy: z.string().nullable().optional(),
  resolveEveryMs: amount.nullable().optional(),
  arrivals: z.enum(['constant', 'poisson']),
  seed: number,
  timeoutMs: amount,
  overflow: z.enum(['queue', 'drop']),
  durationMs: amount.nullable(),
  requests: count.nullable(),
  ...each(['warmupMs', 'rampUpMs'], amount),
  pacing: z.string(),
  connections: count.optional(),
  /** Number of stages; the plan has their shapes. `ratePerSecond` or `concurrency` is then the highest of them. */
  stageCount: count.optional(),
});

/** A second of the measured phase, or of the wait for the last responses. Times are of the requests done in it. */
const TimelineRow = z.object({
  second: count,
  /** Open loop: planned arrivals in this second. */
  due: count.optional(),
  ...each(['sent', 'succeeded', 'failed'], count),
  /** By outcome. */
  failures: Outcomes.optional(),
  p50: ms,
  p90: ms.optional(),
  ...each(['p99', 'max'], ms),
  /** p99 of the send lag. */
  lag99: ms.optional(),
  /** Response times. After the first ten minutes several seconds share one. */
  histogram: histogram.nullable().optional(),
  /** How many seconds up to this one the histogram covers; left out for 1. */
  histogramSeconds: count.optional(),
});

/** Reports rely on this even if other figures do not add up. @param {z.infer<typeof TimelineRow>[]} rows */
const isWhole = (rows) =>
  rows.every(({ second }, at) => second === at) &&
  rows.reduce((more, { histogramSeconds = 1 }) => more + histogramSeconds - 1, 0) <= rows.length;

const StageBlock = Block.extend({
  name: z.string(),
  /** From the start of the measured phase. */
  startSeconds: amount,
  /** The stage's actual length, capped at its planned end. */
  seconds: amount,
  /** Lowest and highest planned level: requests per second or, in a closed loop, in flight. */
  level: z.object({ least: amount, most: amount }),
  operations: record(Block),
}).meta({ id: 'StageBlock' });

const RequirementVerdict = z.object({
  text: z.string(),
  /** Its scope, if not the whole run. */
  ...each(['operation', 'stage'], z.string().optional()),
  verdict: RequirementVerdictName,
  /** In `unit`; null without a number, e.g. if the percentile falls on a failed request. */
  actual: number,
  limit: z.number(),
  unit: Unit,
  reason: z.string(),
  /** The error bar it was judged on, in `unit`; null: no bound. */
  ...each(['low', 'high'], number.optional()),
  /** For `not proven`: why it is undecided. */
  doubt: z.enum(['sample', 'tool', 'both', 'failures', 'unchecked', 'rested', 'invalid']).optional(),
});

/** Milliseconds; null if nothing was recorded. */
const Spread = named('Spread', { count, ...each(['min', 'p50', 'p99', 'max'], ms) });

/** Share of time, 0 to 1; null if this machine does not report it. */
const timeShare = amount.nullable();

/** The tool's observations of itself. */
const Observed = z.object({
  ...NotOffered.partial().shape,
  /** How late the tool sent, excluding the wait for a free connection. */
  lagMs: Spread,
  /** Upper bound of the time that responses waited until the tool read them. */
  readLateMs: Spread.optional(),
  /** Response times minus the time that the tool's own lateness may have added. */
  ownResponseMs: Spread.optional(),
  /** In older files: lateness of probes at random times, and response times minus send lag. */
  ...each(['reactionMs', 'unlaggedMs'], Spread.optional()),
  gc: Gc,
  /** The worst sender thread's shares; the process's CPU time as a number of cores. */
  cpu: z.object({
    processCores: timeShare,
    senderBusyShare: amount,
    /** Time spent spinning on an idle event loop. */
    senderSpinShare: amount,
    /** Time ready to run, but waiting for a core. */
    senderRunQueueShare: timeShare,
    machineIdleShare: timeShare,
    /** Time in which some task on this machine was ready to run, but waiting for a core. */
    machinePressureShare: timeShare,
  }),
  /** Requests that had to open a connection first. */
  connectionSetups: count,
  handshakes: Handshakes.optional(),
  /** Share of the samples that found requests waiting for a free connection. */
  backlogShare: amount,
});

const Measurement = z.object({
  /** `suspect` only in older files, and during the run. */
  verdict: MeasurementVerdictName,
  /** Reasons why it is invalid, and remarks; in older files all are remarks unless it is invalid. */
  reasons: z.array(
    z.object({
      ...each(['code', 'text'], z.string()),
      ...each(['detail', 'remedy'], z.string().optional()),
      grade: z.enum(['invalid', 'remark']).optional(),
    }),
  ),
  observed: Observed.optional(),
});

export const Result = z
  .object({
    schema: z.literal('vault-pki-load/result/1'),
    tool: Tool,
    startedAt: z.iso.datetime(),
    /** The same instant on the monotonic clock (Linux: CLOCK_MONOTONIC), for targets on the same machine. */
    startedAtMonotonicNs: z.string().regex(/^\d+$/).optional(),
    /** Of a joined part: its `startedAt` is by the clock of part 0, to within so much. */
    clockErrorMs: amount.optional(),
    /** Wall time of the measured phase: the wait for the last responses included, the warm-up excluded. */
    durationSeconds: amount,
    interrupted: z.boolean(),
    /** Written during the run; `neverSent` then counts the requests without a response so far. */
    unfinished: z.literal(true).optional(),
    command: z.string(),
    /** The plan as it ran; never a token or a key. */
    plan: z.record(z.string(), z.unknown()),
    /** Which part of the plan this is (`--shard 0/4`). */
    shard: ShardPart.optional(),
    target: Target,
    load: Load,
    warmup: z.object({ seconds: amount, sent: count }),
    ...Block.shape,
    /** `unit` of its responses: `certificates`; `things` in older files. */
    operations: record(Block.extend(each(['unit', 'things'], z.string().optional()))),
    /** Of a plan with stages: requests by the stage in which they were due. */
    stages: z.array(StageBlock).optional(),
    timeline: z.array(TimelineRow).refine(isWhole, { error: 'seconds are missing, or counted twice' }),
    requirements: z.array(RequirementVerdict).max(MAX_REQUIREMENTS),
    measurement: Measurement,
    environment: Environment,
    /** Of a part: the data that `merge` needs to combine it exactly with the other parts. */
    merge: MergeBlock.optional(),
    /** The parts of a merged result. */
    merged: z.array(MergedPart).min(1).optional(),
  })
  .meta({ title: 'Result of a vault-pki-load run' });

/** @typedef {z.infer<typeof Result>} Result */
/** @typedef {z.infer<typeof Block>} OperationBlock of the whole and of each operation */
/** @typedef {z.infer<typeof Bar>} Bar */
/** @typedef {z.infer<typeof Latency>} LatencyBlock */
/** @typedef {z.infer<typeof Latencies>} LatencyBlocks */
/** @typedef {z.infer<typeof StageBlock>} StageBlock */
/** @typedef {z.infer<typeof TimelineRow>} TimelineRow */
/** @typedef {z.infer<typeof RequirementVerdict>} RequirementVerdict */
/** @typedef {z.infer<typeof MergeBlock>} MergeBlock */
/** @typedef {z.infer<typeof Measurement>} Measurement */

export const validateResult = validatorOf(Result);
