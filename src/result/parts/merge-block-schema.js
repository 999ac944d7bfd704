/** Schema of the block that a part of a plan (`--shard K/N`) has beside its figures, so that `merge` adds parts exactly. */
import { z } from 'zod';

const count = z.int().min(0);
const amount = z.number().min(0);
const counts = z.array(count);

/** HDR V2 compressed, base64, in microseconds. */
const histogram = z.string();

/** Which part it is: index from 0. */
export const ShardPart = z
  .object({ index: count, of: z.int().min(1) })
  .refine(({ index, of }) => index < of, { error: 'there is no such part: they count from 0' })
  .meta({ id: 'ShardPart' });

/** Of one operation. Times are milliseconds from the start of the measured part. */
const MergeOperation = z.object({
  warmup: count,
  /** Second by second, from the start of the measured part. */
  perSecond: z.object({ sent: counts, succeeded: counts, failed: counts }),
  lastSuccessMs: amount,
  /** Successes in the first half of the measured part, and the sum of their response times. */
  firstHalf: z.object({ count, responseMs: z.number() }),
  /** Successes after the measured part was to end. */
  successesAfter: count,
  /** By outcome: the target's own times at least, had the tool been late at nothing. */
  own: z.record(z.string(), z.object({ response: histogram, service: histogram })).optional(),
});

/** What the verdict on the measurement is judged on; histograms in microseconds. */
const MergeWatch = z.object({
  /** How late the tool sent; waiting for a free connection left out. */
  lag: histogram,
  /** How long responses waited until the tool read them, at most; older files have none. */
  readLate: histogram.optional(),
  gc: z.object({ count, totalMs: amount, longestMs: amount }),
  busyShare: amount,
  spinShare: amount,
  runQueueShare: amount.nullable(),
  droppedLate: count,
  /** Requests sent in another second, and in another tenth of one, than the tool should have sent them. */
  displaced: z.object({ second: amount, tenth: amount }).optional(),
  /** Requests that were due and never sent, and would have been had the tool never been late, at most. */
  forgone: count.optional(),
  leftWhileFree: z.boolean(),
  dialled: count,
  backlog: z.object({
    looks: count,
    waitingLooks: count,
    quarterMins: z.array(count.nullable()),
    atEnd: count,
  }),
  machine: z.object({
    wallMs: amount,
    processCpuMs: amount,
    cores: count,
    idleShare: amount.nullable(),
    pressureShare: amount.nullable(),
  }),
});

export const MergeBlock = z
  .object({
    /** When the last response was in, and the planned length, of the measured part. */
    endedMs: amount,
    windowMs: amount,
    operations: z.record(z.string(), MergeOperation),
    /** Send lags of requests done in each second, the longest in milliseconds; null where none was. */
    lags: z.array(z.object({ histogram, max: amount }).nullable()),
    watch: MergeWatch,
  })
  .meta({ id: 'MergeBlock' });

/** The merged parts. */
export const MergedPart = z
  .object({
    index: count,
    startedAt: z.iso.datetime(),
    durationSeconds: amount,
    command: z.string(),
    tool: z.object({ version: z.string() }),
    sent: count,
    threads: count,
    environment: z.object({ node: z.string(), platform: z.string(), cpus: count }),
    /** Its own, before merging. */
    verdict: z.enum(['valid', 'suspect', 'invalid']),
  })
  .meta({ id: 'MergedPart' });

/** @typedef {z.infer<typeof MergeBlock>} MergeBlock */
/** @typedef {z.infer<typeof MergedPart>} MergedPart */
