/** A run's time zero (as soon as possible, or at `--start-at`) and its once-a-second interval event. */
import { setTimeout as sleep } from 'node:timers/promises';
import { usageError } from '../common/errors.js';
import { total } from '../common/sums.js';
import { timerMs } from '../common/timers.js';
import { formatDuration } from '../common/units.js';

/** @import { createSeconds } from './recording/seconds.js' */
/** @import { Shard } from './shard.js' */

/** @typedef {ReturnType<typeof intervalEvent>} IntervalEvent emitted once a second */

/**
 * Decides when a run starts. `connect` resolves when it is time to open connections; `begin`, called when they are open,
 * resolves to time zero, by `process.hrtime`. A stop ends both waits.
 * @typedef {{connect: () => Promise<unknown>, begin: () => Promise<bigint>}} Start
 */

/** Time zero is set this far ahead. */
const LEAD_MS = 30;
/** Connections open this early: enough time to open many, too little for a server to close idle ones. */
const OPEN_BEFORE_MS = 5000;
const INTERVAL_MS = 1000;
/** Delay of an event after its second ends, so that the recorders can deliver their rows. */
const AFTER_SECOND_MS = 250;

/** @param {number} leadMs until time zero @param {() => void} tick every second @returns stops the ticking */
export function startTicking(leadMs, tick) {
  let timer = setTimeout(
    () => {
      timer = setInterval(tick, INTERVAL_MS);
    },
    timerMs(leadMs + AFTER_SECOND_MS),
  );
  return () => clearInterval(timer);
}

/**
 * @param {object} run @param {number} run.warmupMs
 * @param {number | null} run.windowMs planned length of the measured phase; null: not known in advance
 * @param {Pick<Shard, 'state'>[]} run.shards
 * @param {Pick<ReturnType<typeof createSeconds>, 'rows' | 'sums' | 'errors'>} run.seconds
 * @param {number | null} run.waitingAtStop requests waiting at the interruption; null: not interrupted
 * @param {number} elapsedMs of the whole run, warm-up included
 */
export function intervalEvent({ warmupMs, windowMs, shards, seconds, waitingAtStop }, elapsedMs) {
  const states = shards.map((shard) => shard.state());
  const last = seconds.rows.at(-1);
  const totalMs = windowMs === null ? null : warmupMs + windowMs;
  const isOver = waitingAtStop !== null || elapsedMs >= (totalMs ?? Number.POSITIVE_INFINITY);
  return {
    type: /** @type {const} */ ('interval'),
    elapsedMs,
    /** Planned, warm-up included; null: not known in advance. */
    totalMs,
    sent: total(states.map(({ sent }) => sent)),
    ...seconds.sums,
    inFlight: total(states.map(({ inFlight }) => inFlight)),
    /** Frozen at an interruption: no further requests come due. */
    waiting: waitingAtStop ?? total(states.map(({ waiting }) => waiting)),
    /** Successes in the last second. */
    ratePerSecond: last?.succeeded ?? 0,
    /** Response time in the last second. */
    p99Ms: last?.p99 ?? null,
    /** By outcome. */
    errors: { ...seconds.errors },
    /** Draining: no more requests are sent, as planned or after an interruption. */
    phase: /** @type {'warmup' | 'measuring' | 'draining'} */ (
      isOver ? 'draining' : elapsedMs < warmupMs ? 'warmup' : 'measuring'
    ),
  };
}

/** Nanoseconds. @param {number} ms */
export const nsOf = (ms) => BigInt(Math.round(ms * 1e6));

/** @param {string | null} startAt @param {AbortSignal} signal @param {(text: string) => void} onNotice @returns {Start} */
export const createStart = (startAt, signal, onNotice) => ({
  connect: () => waitToConnect(startAt, signal, onNotice),
  begin: async () => process.hrtime.bigint() + nsOf(leadMs(startAt)),
});

/**
 * Waits until it is time to open connections.
 * @param {string | null} startAt ISO 8601; null: as soon as possible @param {AbortSignal} signal ends the wait
 * @param {(text: string) => void} onNotice
 */
export async function waitToConnect(startAt, signal, onNotice) {
  const ms = startAt === null ? 0 : Date.parse(startAt) - Date.now();
  if (ms <= OPEN_BEFORE_MS) return;
  onNotice(`Waiting until ${startAt}, for ${formatDuration(ms)}.`);
  await sleep(ms - OPEN_BEFORE_MS, undefined, { signal }).catch(() => {});
}

/**
 * @param {string | null} startAt @param {number} [nowMs] since 1970 @returns {number} ms from now to time zero
 * @throws {PkiLoadError} code `start_at_missed`
 */
export function leadMs(startAt, nowMs = Date.now()) {
  if (startAt === null) return LEAD_MS;
  const ms = Date.parse(startAt) - nowMs;
  if (ms >= LEAD_MS) return ms;
  throw usageError(
    'start_at_missed',
    `The --start-at time, ${startAt}, passed before the run was ready; nothing was sent.`,
    'Use a later time for all parts: checks, certificate requests and connections come first.',
  );
}
