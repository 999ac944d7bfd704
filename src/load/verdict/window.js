/** How long the measured part is and how many requests it holds: planned, and as it came. */
import { total } from '../../results/merge.js';
import { findDrift } from '../../results/trend.js';
import { shareOf } from '../../shard-part.js';
import { createSchedule } from '../pacing/schedule.js';

/**
 * @typedef {object} Window
 * @property {number | null} planned measured requests of this part of the plan; null: a closed loop sends as many as are answered
 * @property {number | null} windowMs planned length of the measured part; null: the requests decide
 */

/**
 * @param {import('../../plan.js').LoadPlan} load
 * @returns {Window}
 */
export function plannedWindow(load) {
  const own = (/** @type {number} */ total) => shareOf(total, load.shard);
  if (load.model === 'closed') {
    return { planned: load.requests === null ? null : own(load.requests), windowMs: load.durationMs };
  }
  const { count, firstMeasured, endMs } = createSchedule(load);
  return { planned: own(count) - own(firstMeasured), windowMs: endMs - load.warmupMs };
}

/**
 * @param {import('../../plan.js').LoadPlan} load
 * @param {Window} window
 * @param {import('../../results/merge.js').MergedOperation[]} operations
 * @param {{ends: import('../shard.js').ShardEnd[], stoppedMs: number}} sent `stoppedMs`: when it was interrupted, from time
 *   zero; Infinity when it was not
 * @returns {Omit<import('../../results/build.js').RunFacts, 'things' | 'meanings'>}
 */
export function factsOf(load, { planned, windowMs }, operations, { ends, stoppedMs }) {
  const interrupted = stoppedMs !== Number.POSITIVE_INFINITY;
  const lastSuccessMs = Math.max(0, ...operations.map((operation) => operation.lastSuccessMs));
  const left = load.model === 'closed' && !interrupted ? 0 : total(ends.map((end) => end.left));
  return {
    planned:
      load.model === 'open' ? /** @type {number} */ (planned) : total(ends.map(({ fired }) => fired)) + left,
    neverSent: left,
    windowMs: Math.max(0, Math.min(windowMs ?? lastSuccessMs, stoppedMs - load.warmupMs)),
    endedMs: Math.max(0, ...ends.map(({ endedMs }) => endedMs - load.warmupMs)),
    model: load.model,
    warmupMs: load.warmupMs,
    interrupted,
  };
}

/** A median that moves by less than this has not moved: machines are not steadier. */
const LEAST_DRIFT_MS = 0.1;

/**
 * Whole seconds of the measured part. A rising rate (--ramp-up) brings a rising latency, by intent; and in an open loop it
 * is the schedule that says how many are answered.
 *
 * @param {import('../../plan.js').LoadPlan} load
 * @param {{windowMs: number}} facts
 * @param {import('../../results/seconds.js').Second[]} seconds
 * @returns {{latencyDrift: import('../../results/trend.js').Drift | null, rateDrift: import('../../results/trend.js').Drift | null}}
 */
export function driftsOf(load, { windowMs }, seconds) {
  const first = Math.ceil(Math.max(0, load.rampUpMs - load.warmupMs) / 1000);
  const whole = seconds.slice(first, Math.floor(windowMs / 1000));
  const medians = whole.flatMap(({ p50 }) => p50 ?? []);
  return {
    latencyDrift: findDrift(medians, LEAST_DRIFT_MS),
    rateDrift: load.model === 'open' ? null : findDrift(whole.map(({ succeeded }) => succeeded)),
  };
}
