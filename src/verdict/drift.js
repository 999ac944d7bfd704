/** Had latency and rate settled? */
import { isEven, stagesOf } from '../plan/stages.js';
import { findDrift } from './trend.js';

/** A median that moves by less than this has not moved: machines are not steadier. */
const LEAST_DRIFT_MS = 0.1;

/**
 * Whole seconds of the measured part. A rising rate (--ramp-up) brings a rising latency, by intent; and in an open loop it is
 * the schedule that says how many are answered. Of a plan in stages, each that is the same all the time is looked at by itself.
 *
 * @typedef {import('./trend.js').Drift & {stage?: string}} RunDrift `stage`: in which it was, where there are several
 *
 * @param {import('../plan/plan.js').LoadPlan} load
 * @param {{windowMs: number}} facts
 * @param {import('../engine/recording/seconds.js').Second[]} seconds
 * @returns {{latencyDrift: RunDrift | null, rateDrift: RunDrift | null}}
 */
export function driftsOf(load, { windowMs }, seconds) {
  if (load.stages !== null) return stageDrifts(load, { windowMs }, seconds);
  const first = Math.ceil(Math.max(0, load.rampUpMs - load.warmupMs) / 1000);
  const whole = seconds.slice(first, Math.floor(windowMs / 1000));
  return driftsIn(whole, load);
}

/**
 * @param {import('../engine/recording/seconds.js').Second[]} seconds
 * @param {Pick<import('../plan/plan.js').LoadPlan, 'model'>} load
 */
function driftsIn(seconds, { model }) {
  const medians = seconds.flatMap(({ p50 }) => p50 ?? []);
  return {
    latencyDrift: findDrift(medians, LEAST_DRIFT_MS),
    rateDrift: model === 'open' ? null : findDrift(seconds.map(({ succeeded }) => succeeded)),
  };
}

/**
 * @param {import('../plan/plan.js').LoadPlan} load in stages
 * @param {{windowMs: number}} facts
 * @param {import('../engine/recording/seconds.js').Second[]} seconds
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
