/** Schema of a result's `measurement`: valid or not, why, and the run's observations of the tool. */
import { z } from 'zod';

const count = z.int().min(0);
const amount = z.number().min(0);

/** Milliseconds; null where nothing was recorded. */
const ms = amount.nullable();

const Spread = z.object({ count, min: ms, p50: ms, p99: ms, max: ms }).meta({ id: 'Spread' });

/** Of time, 0 to 1; null where this machine does not report it. */
const share = amount.nullable();

const Observed = z.object({
  /** How late the tool sent, excluding the wait for a free connection. */
  lagMs: Spread,
  /** Upper bound of the time that responses waited until the tool read them. */
  readLateMs: Spread.optional(),
  /** The response times less the time that the tool's own lateness may have added. */
  ownResponseMs: Spread.optional(),
  /** In older files: lateness of probes at random times, and response times less send lag. */
  reactionMs: Spread.optional(),
  unlaggedMs: Spread.optional(),
  /** Garbage collections of the sending threads. */
  gc: z.object({ count, totalMs: amount, longestMs: amount }),
  /** The worst sending thread's shares; the process's CPU time as a number of cores. */
  cpu: z.object({
    processCores: share,
    senderBusyShare: amount,
    /** Time spent spinning on an idle event loop. */
    senderSpinShare: amount,
    /** Time ready to run, but without a core. */
    senderRunQueueShare: share,
    machineIdleShare: share,
    /** Time in which some task on this machine was ready to run, but without a core. */
    machinePressureShare: share,
  }),
  /** Requests that had to open a connection first. */
  connectionSetups: count,
  /** Share of the samples that found requests waiting for a free connection. */
  backlogShare: amount,
});

const Reason = z.object({
  code: z.string(),
  text: z.string(),
  detail: z.string().optional(),
  remedy: z.string().optional(),
  grade: z.enum(['invalid', 'remark']).optional(),
});

export const Measurement = z.object({
  /** `suspect` only in older files, and while the run goes on. */
  verdict: z.enum(['valid', 'suspect', 'invalid']),
  /** What makes it invalid, and remarks; in older files all are remarks unless it is invalid. */
  reasons: z.array(Reason),
  observed: Observed.optional(),
});

/** @typedef {z.infer<typeof Measurement>} Measurement */
