/** The interval event, once a second during a run. */
import { total } from '../common/sums.js';

/** @import { Shard, ShardState } from './shard.js' */

/**
 * @typedef {object} IntervalEvent once a second
 * @property {'interval'} type
 * @property {number} elapsedMs of the whole run, warm-up included
 * @property {number | null} totalMs planned, warm-up included; null: the requests decide
 * @property {number} sent
 * @property {number} succeeded
 * @property {number} failed
 * @property {number} inFlight
 * @property {number} waiting after an interruption: the number at that moment, as none has begun to wait since
 * @property {number} ratePerSecond successes in the last second
 * @property {number | null} p99Ms response time in the last second
 * @property {Record<string, number>} errors by outcome
 * @property {'warmup' | 'measuring' | 'draining'} phase draining: nothing more is sent, by plan or after an interruption
 */

const INTERVAL_MS = 1000;

/** An event comes this long after its second is over, when the recorders have handed in their rows. */
const AFTER_SECOND_MS = 250;

/**
 * @param {number} leadMs until time zero
 * @param {() => void} tick once a second
 * @returns {() => void} stops it
 */
export function startTicking(leadMs, tick) {
  let timer = setTimeout(() => {
    timer = setInterval(tick, INTERVAL_MS);
  }, leadMs + AFTER_SECOND_MS);
  return () => clearInterval(timer);
}

/**
 * @param {object} run
 * @param {number} run.warmupMs
 * @param {number | null} run.windowMs planned length of the measured part
 * @param {Pick<Shard, 'state'>[]} run.shards
 * @param {Pick<ReturnType<typeof import('./recording/seconds.js').createSeconds>, 'rows' | 'sums' | 'errors'>} run.seconds
 * @param {number | null} run.waitingAtStop requests that waited when the run was interrupted; null: it was not
 * @param {number} elapsedMs
 * @returns {IntervalEvent}
 */
export function intervalEvent({ warmupMs, windowMs, shards, seconds, waitingAtStop }, elapsedMs) {
  const states = shards.map((shard) => shard.state());
  const last = seconds.rows.at(-1);
  const totalMs = windowMs === null ? null : warmupMs + windowMs;
  return {
    type: 'interval',
    elapsedMs,
    totalMs,
    sent: total(states.map(({ sent }) => sent)),
    ...seconds.sums,
    inFlight: total(states.map(({ inFlight }) => inFlight)),
    waiting: waitingAtStop ?? countWaiting(states),
    ratePerSecond: last?.succeeded ?? 0,
    p99Ms: last?.p99 ?? null,
    errors: { ...seconds.errors },
    phase: waitingAtStop === null ? phaseAt(elapsedMs, warmupMs, totalMs) : 'draining',
  };
}

/** @param {ShardState[]} states */
export function countWaiting(states) {
  return total(states.map(({ waiting }) => waiting));
}

/** @param {number} elapsedMs @param {number} warmupMs @param {number | null} totalMs */
function phaseAt(elapsedMs, warmupMs, totalMs) {
  if (elapsedMs < warmupMs) return 'warmup';
  return totalMs !== null && elapsedMs >= totalMs ? 'draining' : 'measuring';
}
