/** A closed loop in stages: how many requests may be in flight when. Arithmetic on the plan, like a schedule. */

import { createProfile } from './profile.js';
import { share } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */

/**
 * @typedef {object} InFlight
 * @property {(ms: number) => number} at how many this shard may have in flight, `ms` from time zero
 */

/** A level that a ramp reaches is reached, however it was rounded on the way. */
const TOLERANCE = 1e-9;

/**
 * @param {Pick<LoadPlan, 'stages' | 'warmupMs'>} load a closed loop
 * @param {number} shard
 * @param {number} shards
 * @returns {InFlight | null} null: as many as there are connections, all the time
 */
export function createInFlight({ stages, warmupMs }, shard, shards) {
  if (stages === null) return null;
  const lines = stages.flatMap((stage) => stage.lines);
  // The profile's rate is the number of requests in flight here.
  const { ratePerSecond: levelAt } = createProfile(
    lines.map(({ durationMs, from, to }) => ({ durationMs, fromPerSecond: from, toPerSecond: to })),
  );
  return {
    at(ms) {
      const level = ms < warmupMs ? lines[0].from : levelAt(ms - warmupMs);
      return share(Math.floor(level + TOLERANCE), shard, shards);
    },
  };
}
