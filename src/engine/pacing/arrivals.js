/**
 * Which of the plan's arrivals are one shard's: the k-th of N sends what has an index i with i mod N = k. Of a plan that is
 * split over machines, N counts the threads of all of them (shard-part.js).
 */

import { scheduleOf } from '../../plan/due.js';
import { createInFlight } from '../../plan/in-flight.js';
import { share } from '../../plan/shard-part.js';

export { share };

/**
 * @param {import('../../plan/plan.js').LoadPlan} load
 * @param {number} shard
 * @param {number} shards
 * @returns {import('./pacer.js').Arrivals}
 */
export function arrivalsOf(load, shard, shards) {
  const schedule = scheduleOf(load);
  const closedEnd = load.durationMs === null ? Number.POSITIVE_INFINITY : load.warmupMs + load.durationMs;
  return {
    shard,
    shards,
    schedule,
    stopAtMs: schedule === null ? closedEnd : schedule.endMs + load.timeoutMs,
    warmupMs: load.warmupMs,
    requests: load.requests === null ? null : share(load.requests, shard, shards),
    inFlight: schedule === null ? createInFlight(load, shard, shards) : null,
  };
}
