/** How long the measured part is and how many requests it holds: planned, and as it came. */
import { total } from '../../results/merge.js';
import { findDrift } from '../../results/trend.js';
import { shareOf } from '../../shard-part.js';
import { createSchedule } from '../pacing/schedule.js';
import { plannedCells } from '../planned.js';
import { isEven, stagesOf } from '../stages.js';

/**
 * @typedef {object} Window
 * @property {number | null} planned measured requests of this part of the plan; null: a closed loop sends as many as are answered
 * @property {number | null} windowMs planned length of the measured part; null: the requests decide
 * @property {readonly number[] | null} [cells] of `planned`, each operation's in each stage; null: a closed loop, or there is only one
 */

/** @type {import('../planned.js').Members} */
const ONE = Object.freeze({ count: 1, memberOf: () => 0 });

/**
 * @param {import('../../plan.js').LoadPlan} load
 * @param {import('../planned.js').Members} [members]
 * @returns {Window}
 */
export function plannedWindow(load, members = ONE) {
  const own = (/** @type {number} */ total) => shareOf(total, load.shard);
  if (load.model === 'closed') {
    return { planned: load.requests === null ? null : own(load.requests), windowMs: load.durationMs };
  }
  const schedule = createSchedule(load);
  const { count, firstMeasured, endMs } = schedule;
  const isOne = members.count === 1 && load.stages === null;
  return {
    planned: own(count) - own(firstMeasured),
    windowMs: endMs - load.warmupMs,
    cells: isOne ? null : plannedCells(load, schedule, members),
  };
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
 * Whole seconds of the measured part. A rising rate (--ramp-up) brings a rising latency, by intent; and in an open loop it is
 * the schedule that says how many are answered. Of a plan in stages, each that is the same all the time is looked at by itself.
 *
 * @typedef {import('../../results/trend.js').Drift & {stage?: string}} RunDrift `stage`: in which it was, where there are several
 *
 * @param {import('../../plan.js').LoadPlan} load
 * @param {{windowMs: number}} facts
 * @param {import('../../results/seconds.js').Second[]} seconds
 * @returns {{latencyDrift: RunDrift | null, rateDrift: RunDrift | null}}
 */
export function driftsOf(load, { windowMs }, seconds) {
  if (load.stages !== null) return stageDrifts(load, { windowMs }, seconds);
  const first = Math.ceil(Math.max(0, load.rampUpMs - load.warmupMs) / 1000);
  const whole = seconds.slice(first, Math.floor(windowMs / 1000));
  return driftsIn(whole, load);
}

/**
 * @param {import('../../results/seconds.js').Second[]} seconds
 * @param {Pick<import('../../plan.js').LoadPlan, 'model'>} load
 */
function driftsIn(seconds, { model }) {
  const medians = seconds.flatMap(({ p50 }) => p50 ?? []);
  return {
    latencyDrift: findDrift(medians, LEAST_DRIFT_MS),
    rateDrift: model === 'open' ? null : findDrift(seconds.map(({ succeeded }) => succeeded)),
  };
}

/**
 * @param {import('../../plan.js').LoadPlan} load in stages
 * @param {{windowMs: number}} facts
 * @param {import('../../results/seconds.js').Second[]} seconds
 * @returns {{latencyDrift: RunDrift | null, rateDrift: RunDrift | null}} of the first stage that has one
 */
function stageDrifts(load, { windowMs }, seconds) {
  for (const [i, { name, startMs, endMs }] of stagesOf(load).entries()) {
    if (!isEven(load, i)) continue;
    // What was due before it is answered in its first second.
    const first = Math.ceil(startMs / 1000) + (i === 0 ? 0 : 1);
    const own = seconds.slice(first, Math.floor(Math.min(endMs, windowMs) / 1000));
    const { latencyDrift, rateDrift } = driftsIn(own, load);
    if (latencyDrift === null && rateDrift === null) continue;
    return {
      latencyDrift: latencyDrift === null ? null : { ...latencyDrift, stage: name },
      rateDrift: rateDrift === null ? null : { ...rateDrift, stage: name },
    };
  }
  return { latencyDrift: null, rateDrift: null };
}
