/** Recorders' reports -> the Result so far, without a verdict on the measurement. */
import { meanOf, sumHistograms } from '../common/histogram.js';
import { total } from '../common/sums.js';
import { createSeconds } from '../engine/recording/seconds.js';
import {
  countSentOrDropped,
  createTally,
  foldStages,
  mergeTallies,
  packTally,
  withPlanned,
} from '../engine/recording/tally.js';
import { createDueCounter, createDuePerSecond, scheduleOf } from '../plan/due.js';
import { shareOf } from '../plan/shard-part.js';
import { stagesOf, stageTimesOf } from '../plan/stages.js';
import { buildBlock } from '../result/build.js';
import { buildResult, unitsAndMeaningsOf } from '../result/conclude.js';
import { mergeBlockOf } from '../result/parts/merge-block.js';
import { growthOf } from '../result/rates.js';

/** @import { Report } from '../engine/recording/recorder.js' */
/** @import { PackedTally } from '../engine/recording/recorder.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { Mix } from '../operations/mix.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Schedule } from '../plan/schedule.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { StartEvent, TimeZero } from '../run.js' */

/** Known only at the end; a killed part of a plan is merged without them. */
const NOT_WATCHED = Object.freeze({
  gc: { count: 0, totalMs: 0, longestMs: 0 },
  busyShare: 0,
  spinShare: 0,
  runQueueShare: null,
  droppedLate: 0,
  forgone: 0,
  limited: 0,
  leftWhileFree: false,
  stalledMs: 0,
  stalledStage: null,
  warmupOverlapMs: 0,
  dialled: 0,
  handshakes: {},
  backlog: { looks: 0, waitingLooks: 0, quarterMins: [null, null, null, null], atEnd: 0 },
});

const NO_MACHINE = { wallMs: 0, processCpuMs: 0, cores: 0, idleShare: null, pressureShare: null };

/**
 * @param {object} run @param {Mix} run.mix @param {TimeZero} run.zero @param {string} run.command
 * @param {Pick<StartEvent, 'plan' | 'target' | 'planned' | 'cells'>} run.start
 * @param {Schedule | null} [run.schedule] of the plan, if already computed
 */
export function createResultSoFar({ mix, start, zero, command, schedule = scheduleOf(start.plan.load) }) {
  const { plan, target, planned, cells: plannedCells = null } = start;
  const { load } = plan;
  const seconds = createSeconds(load);
  const words = unitsAndMeaningsOf(mix);
  const stages = stagesOf(load);
  const dueIn = schedule === null ? null : createDuePerSecond(schedule, load.shard, load.warmupMs);
  const settledUntil = schedule === null ? () => null : createSettledUntil(load, schedule);
  /** The last report of each recorder. @type {Map<number, Report>} */
  const reports = new Map();
  const names = mix.members.map(({ name }) => name);
  const emptyTally = packTally(createTally(names, stageTimesOf(load, null).length));

  return {
    /** @param {number} thread @param {Report} report */
    add(thread, report) {
      for (const row of report.rows) seconds.add(row);
      const before = reports.get(thread);
      if (before !== undefined) free(before.tally);
      reports.set(thread, report);
    },
    /** @returns {Result} consistent; empty before the first report */
    result() {
      const received = [...reports.values()];
      const tallies = received.length === 0 ? [emptyTally] : received.map(({ tally }) => tally);
      const { cells: recorded, ...lateness } = mergeTallies(tallies);
      const cells = withPlanned(recorded, plannedCells, leftOf(recorded, { planned, plannedCells, mix }));
      const operations = foldStages(cells, stages);
      const atMs = Math.max(0, ...received.map((report) => report.atMs));
      const settledMs = settledUntil(operations, atMs);
      const facts = { ...factsSoFar({ load, planned, zero, operations, atMs, settledMs }), ...words };
      const rows = seconds.soFar(received.flatMap(({ open }) => open ?? []));
      const { startedAt, startedAtNs } = zero;
      const watched = { ...NOT_WATCHED, ...lateness };
      const merge = { cells, stages, facts, watched, machine: NO_MACHINE, seconds: rows };
      return buildResult({
        ...{ plan, target, command, operations, cells, stages, facts, seconds: rows, dueIn },
        ...{ startedAt, startedAtNs, unfinished: true, block: buildBlock(operations, facts) },
        measurement: { verdict: 'suspect', reasons: [] },
        merge: load.shard === null ? undefined : mergeBlockOf(merge),
      });
    },
  };
}

/**
 * Up to a megabyte every two seconds: V8 frees an old buffer only at a major collection. The new owner of its memory is young, and soon
 * collected.
 * @param {PackedTally} tally
 */
function free({ lag, readLate, cells }) {
  const outcomes = cells.flatMap((cell) => Object.values(cell.outcomes));
  const histograms = outcomes.flatMap(({ latency }) => Object.values(latency));
  // One buffer or, from another part, one of each.
  const buffers = new Set([lag, readLate, ...histograms].map(({ buffer }) => buffer));
  const transfer = /** @type {ArrayBuffer[]} */ ([...buffers]);
  structuredClone(transfer, { transfer });
}

/**
 * @param {CellTally[]} cells @param {{planned: number | null, plannedCells: readonly number[] | null, mix: Mix}} run
 * @returns {number[]} per cell: planned requests neither sent nor dropped so far. In a running closed loop they are
 *   divided by weight: the order of operations is known only at the end
 */
function leftOf(cells, { planned, plannedCells, mix }) {
  if (plannedCells !== null || planned === null) {
    return cells.map((cell, i) =>
      Math.max(cell.neverSentDue, (plannedCells?.[i] ?? 0) - countSentOrDropped(cell)),
    );
  }
  const left = Math.max(0, planned - total(cells.map(countSentOrDropped)));
  const weights = mix.members.map(({ weight }) => weight);
  const first = cells.length - weights.length;
  const until = (/** @type {number} */ member) =>
    Math.round((left * total(weights.slice(0, member))) / total(weights));
  return cells.map((_, i) => (i < first ? 0 : until(i - first + 1) - until(i - first)));
}

/**
 * As if the run had been planned to end now. Dropped arrivals, reported at the end, count as never sent.
 * @param {object} run @param {LoadPlan} run.load @param {number | null} run.planned
 * @param {TimeZero} run.zero @param {CellTally[]} run.operations
 * @param {number} run.atMs from time zero: all earlier requests are known, and some later ones
 * @param {number | null} run.settledMs see createSettledUntil @returns {WindowFacts & {allOnTime: boolean}}
 */
function factsSoFar({ load, planned, zero, operations, atMs, settledMs }) {
  const { model, arrivals, warmupMs, timeoutMs } = load;
  const settled = total(operations.map(countSentOrDropped));
  const expected = Math.max(planned ?? settled, settled);
  const endedMs = Math.max(0, atMs - warmupMs, ...operations.map(({ lastSuccessMs }) => lastSuccessMs));
  const reachedMs = settledMs ?? endedMs;
  const noneDropped = operations.every(({ dropped }) => dropped === 0);
  return {
    ...{
      planned: expected,
      endedMs,
      model,
      arrivals,
      warmupMs,
      timeoutMs,
      interrupted: false,
      offeredPerSecond: null,
      concurrency: null,
    },
    neverSent: expected - settled,
    windowMs: Math.min(reachedMs, zero.windowMs ?? reachedMs),
    allOnTime: settledMs !== null && noneDropped && outcomesOf(operations).every(({ success }) => success),
  };
}

/** @param {CellTally[]} operations */
const outcomesOf = (operations) => operations.flatMap(({ outcomes }) => Object.values(outcomes));

/**
 * In an open loop some requests are always in flight, so the rate so far covers only the time whose requests
 * are settled. By Little's law, rate x mean response time are in flight; up to twice that plus two counts as
 * normal. More is a backlog, as is a growing delay (see paceOf), and then all time counts.
 * @param {LoadPlan} load @param {Schedule} schedule
 */
function createSettledUntil(load, schedule) {
  const due = createDueCounter(schedule, load.shard);
  const before = shareOf(schedule.firstMeasured, load.shard);
  /**
   * @param {CellTally[]} operations @param {number} atMs from time zero
   * @returns {number | null} ms of the measured phase until the first unsettled request is due, possibly in the
   *   future; null: there is a backlog
   */
  return (operations, atMs) => {
    const settled = total(operations.map(countSentOrDropped));
    const elapsedMs = Math.max(1, atMs - load.warmupMs);
    const unsettled = due.until(atMs) - before - settled;
    const responseMs = total(
      outcomesOf(operations).map(({ count, latency }) => count * meanOf(sumHistograms([latency.response]))),
    );
    const { isShown, most } = growthOf(operations);
    if (isShown || unsettled > Math.min(most, 2 + (2 * responseMs) / elapsedMs)) return null;
    // The first unsettled arrival; arrivals of other parts lie between.
    const next = schedule.firstMeasured + settled * (load.shard?.of ?? 1);
    const dueMs = next < schedule.count ? schedule.dueMs(next) : schedule.endMs;
    return Math.max(0, dueMs - load.warmupMs);
  };
}

/**
 * For all that may outlive a killed run: requests without a response are not in the figures so far.
 * @param {Result} result so far @returns {Result}
 */
export function withoutVerdicts(result) {
  const reason = 'The run had not ended when this was written.';
  const known = /** @type {const} */ ({ verdict: 'not proven', actual: null, low: null, high: null, reason });
  return { ...result, requirements: result.requirements.map(({ doubt, ...one }) => ({ ...one, ...known })) };
}
