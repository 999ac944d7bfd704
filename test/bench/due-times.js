/** Due times of our tool's Poisson arrivals, computed from the seed like the tool does. */
import { createSchedule } from '../../src/plan/schedule.js';

/** @param {number} rate @param {number} seconds @param {number} seed @returns {Float64Array} ms */
export function dueTimes(rate, seconds, seed) {
  const { count, dueMs } = createSchedule({
    model: 'open',
    arrivals: 'poisson',
    ratePerSecond: rate,
    durationMs: seconds * 1000,
    seed,
    requests: null,
    rampUpMs: 0,
    warmupMs: 0,
    concurrency: 1,
    streamsPerConnection: null,
    requestsPerConnection: null,
    resumesTls: false,
    localAddresses: [],
    resolveEveryMs: null,
    shard: null,
    coldStart: false,
    startAt: null,
    stages: null,
    threads: 1,
    timeoutMs: 10_000,
    overflow: 'queue',
    pacing: 'auto',
  });
  return Float64Array.from({ length: count }, (_, i) => dueMs(i));
}
