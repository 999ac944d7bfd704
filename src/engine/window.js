/** How long the measured part is and how many requests it holds: planned, and as it came. */

import { total } from '../common/sums.js';
import { scheduleOf } from '../plan/due.js';
import { plannedCells } from '../plan/planned-cells.js';
import { shareOf } from '../plan/shard-part.js';

/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Members } from '../plan/planned-cells.js' */
/** @import { CellTally } from './recording/tally.js' */
/** @import { ShardEnd } from './shard.js' */

/**
 * @typedef {object} Window
 * @property {number | null} planned measured requests of this part of the plan; null: a closed loop sends as many as are answered
 * @property {number | null} windowMs planned length of the measured part; null: the requests decide
 * @property {readonly number[] | null} [cells] of `planned`, each operation's in each stage; null: a closed loop, or there is only one
 */

/**
 * @typedef {object} WindowFacts what the tallies do not hold
 * @property {number} planned
 * @property {number} neverSent as the senders counted them
 * @property {number} windowMs planned length of the measured part; in a closed loop without --duration, until the last
 *   success; when interrupted, until then
 * @property {number} endedMs when the last response was in, from the start of the measured part
 * @property {'open' | 'closed'} model
 * @property {'constant' | 'poisson'} arrivals
 * @property {number} warmupMs
 * @property {boolean} interrupted
 */

/** @type {Members} */
const ONE = Object.freeze({ count: 1, memberOf: () => 0 });

/** @param {LoadPlan} load @param {Members} [members] @returns {Window} */
export function plannedWindow(load, members = ONE) {
  const own = (/** @type {number} */ total) => shareOf(total, load.shard);
  const schedule = scheduleOf(load);
  if (schedule === null) {
    return { planned: load.requests === null ? null : own(load.requests), windowMs: load.durationMs };
  }
  const { count, firstMeasured, endMs } = schedule;
  const isOne = members.count === 1 && load.stages === null;
  return {
    planned: own(count) - own(firstMeasured),
    windowMs: endMs - load.warmupMs,
    cells: isOne ? null : plannedCells(load, schedule, members),
  };
}

/**
 * @param {LoadPlan} load
 * @param {Window} window
 * @param {CellTally[]} operations
 * @param {{ends: ShardEnd[], stoppedMs: number}} sent `stoppedMs`: when it was interrupted, from time
 *   zero; Infinity when it was not
 * @returns {WindowFacts}
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
    arrivals: load.arrivals,
    warmupMs: load.warmupMs,
    interrupted,
  };
}
