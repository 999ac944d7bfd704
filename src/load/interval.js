/** What is said once a second while a run goes on. */
import { total } from '../results/merge.js';

/**
 * @typedef {object} IntervalEvent once a second
 * @property {'interval'} type
 * @property {number} elapsedMs of the whole run, warm-up included
 * @property {number | null} totalMs
 * @property {number} sent
 * @property {number} succeeded
 * @property {number} failed
 * @property {number} inFlight
 * @property {number} waiting
 * @property {number} ratePerSecond successes in the last second
 * @property {number | null} p99Ms response time in the last second
 * @property {Record<string, number>} errors by outcome
 * @property {'warmup' | 'measuring' | 'draining'} phase
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
 * @param {import('../plan.js').LoadPlan} load
 * @param {import('./shard.js').Shard[]} shards
 * @param {ReturnType<typeof import('../results/seconds.js').createSeconds>} seconds
 * @param {number} elapsedMs
 * @returns {IntervalEvent}
 */
export function intervalEvent({ warmupMs, durationMs }, shards, seconds, elapsedMs) {
  const states = shards.map((shard) => shard.state());
  const last = seconds.rows.at(-1);
  const totalMs = durationMs === null ? null : warmupMs + durationMs;
  return {
    type: 'interval',
    elapsedMs,
    totalMs,
    sent: total(states.map(({ sent }) => sent)),
    ...seconds.sums,
    inFlight: total(states.map(({ inFlight }) => inFlight)),
    waiting: total(states.map(({ waiting }) => waiting)),
    ratePerSecond: last?.succeeded ?? 0,
    p99Ms: last?.p99 ?? null,
    errors: { ...seconds.errors },
    phase:
      elapsedMs < warmupMs ? 'warmup' : totalMs !== null && elapsedMs >= totalMs ? 'draining' : 'measuring',
  };
}
