/** Which of the plan's arrivals are one shard's: the k-th of N sends what has an index i with i mod N = k. */
import { createSchedule } from './schedule.js';

/**
 * @param {import('../../plan.js').LoadPlan} load
 * @param {number} shard
 * @param {number} shards
 * @returns {import('./pacer.js').Arrivals}
 */
export function arrivalsOf(load, shard, shards) {
  const schedule = load.model === 'open' ? createSchedule(load) : null;
  const closedEnd = load.durationMs === null ? Number.POSITIVE_INFINITY : load.warmupMs + load.durationMs;
  return {
    shard,
    shards,
    schedule,
    stopAtMs: schedule === null ? closedEnd : schedule.endMs + load.timeoutMs,
    warmupMs: load.warmupMs,
    requests: load.requests === null ? null : share(load.requests, shard, shards),
  };
}

/**
 * @param {number} total
 * @param {number} shard
 * @param {number} shards
 * @returns {number} the shard's part of a total: parts differ by one at most and sum to the total
 */
export function share(total, shard, shards) {
  return Math.floor((total + shards - 1 - shard) / shards);
}
