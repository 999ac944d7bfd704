/** Length of the measured phase and number of its requests, planned and actual. */
import { total } from '../common/sums.js';
import { scheduleOf } from '../plan/due.js';
import { inFlightBetween, offeredBetween } from '../plan/schedule.js';
import { shareOf } from '../plan/shard-part.js';
import { countPlanned } from '../plan/stages.js';

/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Members } from '../plan/stages.js' */
/** @import { ShardEnd } from './shard.js' */

/** @typedef {ReturnType<typeof plannedWindow>} Window */
/** @typedef {ReturnType<typeof factsOf>} WindowFacts */

/** @param {LoadPlan} load @param {Members} [members] */
export function plannedWindow(load, members = { count: 1, memberOf: () => 0 }) {
  const ofPart = (/** @type {number} */ count) => shareOf(count, load.shard);
  const schedule = scheduleOf(load);
  const [first, end] = schedule === null ? [0, load.requests] : [schedule.firstMeasured, schedule.count];
  const isSingleCell = members.count === 1 && load.stages === null;
  return {
    /** Measured requests of this part of the plan; null: a closed loop without `requests`. */
    planned: end === null ? null : ofPart(end) - ofPart(first),
    /** Planned length of the measured phase; null: not known in advance. */
    windowMs: schedule === null ? load.durationMs : schedule.endMs - load.warmupMs,
    /** `planned` by operation and stage; null: a closed loop, or a single cell. */
    cells: schedule === null || isSingleCell ? null : countPlanned(load, schedule, members),
  };
}

/**
 * @param {LoadPlan} load @param {Window} window
 * @param {{ends: ShardEnd[], stoppedMs: number}} sendResult `stoppedMs`: from time zero; Infinity: not interrupted
 */
export function factsOf(load, { planned, windowMs }, { ends, stoppedMs }) {
  const { model, arrivals, requests, warmupMs, timeoutMs } = load;
  const interrupted = stoppedMs !== Number.POSITIVE_INFINITY;
  const endedMs = Math.max(0, ...ends.map((end) => end.endedMs - warmupMs));
  const isByRequests = model === 'closed' && requests !== null;
  const lengthMs = Math.min(windowMs ?? endedMs, isByRequests ? endedMs : Number.POSITIVE_INFINITY);
  const left = model === 'closed' && !interrupted ? 0 : total(ends.map((end) => end.neverSent));
  const actualMs = Math.max(0, Math.min(lengthMs, stoppedMs - warmupMs));
  return {
    planned: model === 'open' ? Number(planned) : total(ends.map(({ sent }) => sent)) + left,
    /** Planned requests never sent, as the senders counted them. */
    neverSent: left,
    /** The planned length, but a number of requests may end a closed loop earlier; cut short by an interruption. */
    windowMs: actualMs,
    offeredPerSecond: offeredBetween(load, 0, actualMs),
    concurrency: inFlightBetween(load, 0, actualMs),
    /** Time of the last response, from the start of the measured phase. */
    endedMs,
    model,
    arrivals,
    warmupMs,
    timeoutMs,
    interrupted,
  };
}
