/** Which stage of its plan a run is in, and what the plan asks for then. */
import { createInFlight } from '../plan/in-flight.js';
import { createProfile } from '../plan/profile.js';
import { spansOf } from '../plan/stages.js';

/** @typedef {Pick<import('../plan/plan.js').LoadPlan, 'model' | 'warmupMs' | 'stages' | 'shard'>} StagedLoad */
/**
 * @typedef {object} StageNow
 * @property {string} name
 * @property {number} number from 1
 * @property {number} count of all
 * @property {number} leftMs
 * @property {number | null} inFlight as many are allowed; null: an open loop
 */

const SECOND_MS = 1000;

/**
 * @param {StagedLoad} load with stages
 */
export function createStageAt(load) {
  const { model, warmupMs, shard } = load;
  const stages = load.stages ?? [];
  const spans = spansOf(load, null);
  const lines = stages.flatMap((stage) => stage.lines);
  const { expected } = createProfile(
    lines.map(({ durationMs, from, to }) => ({ durationMs, fromPerSecond: from, toPerSecond: to })),
  );
  const { index, of } = shard ?? { index: 0, of: 1 };
  const inFlight = model === 'closed' ? createInFlight(load, index, of) : null;
  return {
    /**
     * @param {number} elapsedMs from time zero
     * @returns {StageNow | null} null: before the first or after the last
     */
    stage(elapsedMs) {
      const ms = elapsedMs - warmupMs;
      const at = spans.findIndex(({ startMs, endMs }) => ms >= startMs && ms < endMs);
      if (at < 0) return null;
      return {
        name: String(spans[at].name),
        number: at + 1,
        count: spans.length,
        leftMs: spans[at].endMs - ms,
        inFlight: inFlight?.at(elapsedMs) ?? null,
      };
    },
    /**
     * @param {number} elapsedMs
     * @returns {number} arrivals that the plan had in the last whole second; of a warm-up, as at the beginning of the first stage
     */
    offeredPerSecond(elapsedMs) {
      const second = Math.floor((elapsedMs - warmupMs) / SECOND_MS);
      if (second < 1) return lines[0].from / of;
      return (expected(second * SECOND_MS) - expected((second - 1) * SECOND_MS)) / of;
    },
  };
}
