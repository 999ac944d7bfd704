/** What the shards hand in when they have ended -> the Result: merged, judged, checked. */

import { total } from '../common/sums.js';
import { ENGINE_OUTCOMES } from '../engine/recording/recorder.js';
import { foldStages, mergeTallies, withPlanned } from '../engine/recording/tally.js';
import { factsOf } from '../engine/window.js';
import { TRANSPORT_MEANINGS } from '../http/failures.js';
import { createDuePerSecond, scheduleOf } from '../plan/due.js';
import { leftCells } from '../plan/planned-cells.js';
import { shardOfThread } from '../plan/shard-part.js';
import { stagesOf } from '../plan/stages.js';
import { describeObserved, isThisMachine, observe, ownLossesOf, watchedOf } from '../verdict/observed.js';
import { judgeMeasurement } from '../verdict/reasons.js';
import { buildBlock } from './build.js';
import { checkResult } from './check/check.js';
import { mergeBlockOf } from './parts/merge-block.js';
import { buildResult } from './result.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
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
 * Tallies -> Result: merged, judged.
 *
 * @param {object} parts
 * @param {Plan} parts.plan
 * @param {Mix} parts.mix
 * @param {Window} parts.window
 * @param {Result['target']} parts.target
 * @param {string} parts.command
 * @param {Second[]} parts.seconds
 * @param {Sent} parts.sent
 * @param {readonly string[][]} [parts.notes] of each operation, beside those of its recorders
 * @returns {Result}
 */
export function conclude({ plan, mix, window, target, command, seconds, sent, notes = [] }) {
  const { operations: recorded, ...late } = mergeTallies(sent.ends.map(({ tally }) => tally));
  const schedule = scheduleOf(plan.load);
  const stages = stagesOf(plan.load);
  const cells = withPlanned(
    withNotes(recorded, notes),
    window.cells ?? null,
    leftOf({ plan, mix, schedule, sent }, recorded.length),
  );
  const operations = foldStages(cells, stages);
  const watched = watchedOf(sent.ends, late, sent.machine);
  const ownLosses = ownLossesOf(operations, watched);
  const facts = { ...factsOf(plan.load, window, operations, sent), ...wordsOf(mix), ownLosses };
  const block = buildBlock(operations, facts);
  const { load } = plan;
  const targetIsLocal = isThisMachine(target.url);
  const observed = observe({ load, operations, block, facts, seconds, watched, targetIsLocal });
  const { startedAt, startedAtNs } = sent;
  const { shard, warmupMs } = load;
  const dueIn = schedule === null ? null : createDuePerSecond(schedule, shard, warmupMs);
  const run = { plan, target, command, startedAt, startedAtNs, operations, cells, stages };
  const merge =
    shard === null
      ? undefined
      : mergeBlockOf({ operations, facts, watched, machine: sent.machine, ...lagsOf(seconds) });
  return concludeWith(observed, { ...run, block, facts, seconds, dueIn, merge });
}

/**
 * Judges, builds and checks; where the figures do not add up, the measurement is invalid.
 *
 * @param {Observed} observed
 * @param {Omit<Parameters<typeof buildResult>[0], 'measurement'>} parts
 * @returns {Result}
 */
export function concludeWith(observed, parts) {
  const build = (/** @type {string[]} */ problems) => {
    const all = [...(observed.problems ?? []), ...problems];
    const measurement = {
      ...judgeMeasurement({ ...observed, problems: all }),
      observed: describeObserved(observed),
    };
    return buildResult({ ...parts, measurement });
  };
  const result = build([]);
  const problems = checkResult(result);
  return problems.length === 0 ? result : build(problems);
}

/**
 * @param {CellTally[]} cells all operations of the first stage, then all of the next
 * @param {readonly string[][]} notes of each operation
 */
function withNotes(cells, notes) {
  return cells.map((cell, i) => {
    const { verification } = cell;
    const all = [...verification.notes, ...(notes[i % notes.length] ?? [])];
    return { ...cell, verification: { ...verification, notes: all } };
  });
}

/**
 * @param {Second[]} seconds of a part of a plan
 * @returns {{lagPerSecond: (string | null)[], lagMaxPerSecond: (number | null)[]}}
 */
export function lagsOf(seconds) {
  return {
    lagPerSecond: seconds.map(({ lag }) => lag),
    lagMaxPerSecond: seconds.map(({ lagMax }) => lagMax),
  };
}

/**
 * @param {object} run
 * @param {Plan} run.plan
 * @param {Mix} run.mix
 * @param {Schedule | null} run.schedule
 * @param {Sent} run.sent
 * @param {number} cells operations times stages
 * @returns {number[]} requests of each that were planned, and neither sent nor dropped
 */
function leftOf({ plan: { load }, mix, schedule, sent: { ends, stoppedMs } }, cells) {
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
  return {
    units,
    meanings: { ...TRANSPORT_MEANINGS, ...ENGINE_OUTCOMES, ...outcomes },
  };
}
