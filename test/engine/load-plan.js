/** A load as the plan has it, and what a test wants otherwise. */
/** @import { LoadPlan } from '../../src/plan/load.js' */

/** @param {Partial<LoadPlan>} changes @returns {LoadPlan} */
export function load(changes) {
  return {
    model: 'open',
    ratePerSecond: 20,
    concurrency: 10,
    streamsPerConnection: null,
    requestsPerConnection: null,
    resumesTls: false,
    localAddresses: [],
    resolveEveryMs: null,
    durationMs: null,
    requests: null,
    arrivals: 'constant',
    seed: 1,
    rampUpMs: 0,
    warmupMs: 0,
    timeoutMs: 10_000,
    overflow: 'queue',
    threads: 1,
    pacing: 'auto',
    coldStart: false,
    shard: null,
    startAt: null,
    stages: null,
    ...changes,
  };
}
