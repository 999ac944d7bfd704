/** The shards' reports at their end -> the Result: merged, judged, checked. */
import { total } from '../common/sums.js';
import { ENGINE_OUTCOMES } from '../engine/recording/recorder.js';
import { foldStages, mergeTallies, withPlanned } from '../engine/recording/tally.js';
import { factsOf } from '../engine/window.js';
import { TRANSPORT_MEANINGS } from '../http/failures.js';
import { createDuePerSecond, scheduleOf } from '../plan/due.js';
import { shardOfThread } from '../plan/shard-part.js';
import { leftCells, stagesOf } from '../plan/stages.js';
import { describeObserved, isThisMachine, observe, ownLossesOf, watchedOf } from '../verdict/observed.js';
import { judgeMeasurement } from '../verdict/reasons.js';
import { buildBlock } from './build.js';
import { checkResult } from './check/check.js';
import { mergeBlockOf } from './parts/merge-block.js';
import { buildResult } from './result.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { ShardEnd } from '../engine/shard.js' */
/** @import { MachineEnd } from '../engine/watch/machine.js' */
/** @import { Window } from '../engine/window.js' */
/** @import { Mix } from '../operations/mix.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Schedule } from '../plan/schedule.js' */
/** @import { Observed } from '../verdict/observed.js' */
/** @import { RunFacts } from './build.js' */
/** @import { Result } from './schema.js' */

/**
 * @typedef {object} Sent
 * @property {ShardEnd[]} ends
 * @property {Date} startedAt start of the measured part
 * @property {bigint} startedAtNs the same on the monotonic clock
 * @property {number} stoppedMs when it was interrupted, from time zero; Infinity when it was not
 * @property {MachineEnd} machine
 */

/**
 * @param {{plan: Plan, mix: Mix, window: Window, target: Result['target'], command: string, seconds: Second[], sent: Sent}} run
 * @returns {Result}
 */
export function conclude({ plan, mix, window, target, command, seconds, sent }) {
  const { load } = plan;
  const { ends, startedAt, startedAtNs, machine } = sent;
  // All operations of the first stage, then all of the next.
  const { operations: noted, ...late } = mergeTallies(ends.map(({ tally }) => tally));
  const schedule = scheduleOf(load);
  const stages = stagesOf(load);
  const left = countLeft({ plan, mix, schedule, sent }, noted.length);
  const cells = withPlanned(noted, window.cells ?? null, left);
  const operations = foldStages(cells, stages);
  const watched = watchedOf(ends, late, machine);
  const ownLosses = ownLossesOf(operations, watched);
  const facts = { ...factsOf(load, window, operations, sent), ...wordsOf(mix), ownLosses };
  const block = buildBlock(operations, facts);
  const targetIsLocal = isThisMachine(target.url);
  const dueIn = schedule === null ? null : createDuePerSecond(schedule, load.shard, load.warmupMs);
  const merge =
    load.shard === null ? undefined : mergeBlockOf({ operations, facts, watched, machine, seconds });
  const run = { plan, target, command, startedAt, startedAtNs, operations, cells, stages };
  return concludeWith(observe({ load, operations, block, facts, seconds, watched, targetIsLocal }), {
    ...{ ...run, block, facts, seconds, dueIn, merge },
  });
}

/**
 * Judges, builds and checks; where the figures do not add up, the measurement is invalid.
 * @param {Observed} observed @param {Omit<Parameters<typeof buildResult>[0], 'measurement'>} run
 * @returns {Result}
 */
export function concludeWith(observed, run) {
  const build = (/** @type {string[]} */ found) => {
    const problems = [...(observed.problems ?? []), ...found];
    const measurement = judgeMeasurement({ ...observed, problems });
    return buildResult({ ...run, measurement: { ...measurement, observed: describeObserved(observed) } });
  };
  const result = build([]);
  const problems = checkResult(result);
  return problems.length === 0 ? result : build(problems);
}

/**
 * @param {{plan: Plan, mix: Mix, schedule: Schedule | null, sent: Sent}} run
 * @param {number} cells operations times stages
 * @returns {number[]} requests of each that were planned, and neither sent nor dropped
 */
function countLeft({ plan: { load }, mix, schedule, sent: { ends, stoppedMs } }, cells) {
  if (cells === 1) return [total(ends.map(({ left }) => left))];
  // A closed loop that was not interrupted has sent all that there was time for.
  const hasLeft = load.model === 'open' || stoppedMs !== Number.POSITIVE_INFINITY;
  const rests = ends.map(({ next, left }, thread) => ({
    next,
    step: shardOfThread(load.shard, thread, load.threads).shards,
    left: hasLeft ? left : 0,
  }));
  return leftCells(load, schedule, { count: mix.members.length, memberOf: mix.memberOf }, rests);
}

/** @param {Pick<Mix, 'units' | 'outcomes'>} mix @returns {Pick<RunFacts, 'units' | 'meanings'>} */
export function wordsOf({ units, outcomes }) {
  return { units, meanings: { ...TRANSPORT_MEANINGS, ...ENGINE_OUTCOMES, ...outcomes } };
}
