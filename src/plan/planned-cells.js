/**
 * How many requests a plan has for each operation in each stage: counted from the plan alone, so that what the recorders have
 * counted can be held against it. Of several operations each index is looked at once: some 50 ns.
 */
import { createDueCounter } from './due.js';
import { spansOf } from './stages.js';
/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */

/** @typedef {{count: number, memberOf: (index: number) => number}} Members of the mix */
/** @typedef {{next: number, step: number, left: number}} Rest indexes `next`, `next + step`, ...: as many as are `left` in the measured part */

/**
 * @param {LoadPlan} load
 * @param {Schedule} schedule of the whole plan
 * @param {Members} members
 * @returns {number[]} measured requests of this part of the plan, by place in the tally's list of operations
 */
export function plannedCells(load, schedule, members) {
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  return countCells(stageBounds(load, schedule), { next: first, step }, members);
}

/**
 * @param {LoadPlan} load
 * @param {Schedule | null} schedule of the whole plan; null: a closed loop
 * @param {Members} members
 * @param {readonly Rest[]} rests of all threads, which were neither sent nor dropped
 * @returns {number[]} as plannedCells; a closed loop has no stage that they belong to: they are the last's
 */
export function leftCells(load, schedule, members, rests) {
  const bounds = schedule === null ? null : stageBounds(load, schedule);
  const stages = spansOf(load, null).length;
  const counts = new Array(stages * members.count).fill(0);
  for (const { next, step, left } of rests) {
    if (left === 0) continue;
    const closed = [...new Array(stages).fill(next), next + left * step];
    for (const [cell, count] of countCells(bounds ?? closed, { next, step }, members).entries()) {
      counts[cell] += count;
    }
  }
  return counts;
}

/**
 * @param {LoadPlan} load
 * @param {Schedule} schedule
 * @returns {number[]} the first index of each stage, and the end of the last
 */
function stageBounds(load, schedule) {
  const { until } = createDueCounter(schedule, null);
  const ends = spansOf(load, null).slice(0, -1);
  const inner = ends.map(({ endMs }) => Math.max(schedule.firstMeasured, until(load.warmupMs + endMs)));
  return [schedule.firstMeasured, ...inner, schedule.count];
}

/**
 * @param {readonly number[]} bounds
 * @param {{next: number, step: number}} indexes
 * @param {Members} members
 * @returns {number[]}
 */
function countCells(bounds, { next, step }, { count: width, memberOf }) {
  const counts = new Array((bounds.length - 1) * width).fill(0);
  for (let stage = 0; stage + 1 < bounds.length; stage++) {
    const [from, to] = [bounds[stage], bounds[stage + 1]];
    const first = from <= next ? next : next + Math.ceil((from - next) / step) * step;
    if (width === 1) counts[stage] = Math.max(0, Math.ceil((to - first) / step));
    else for (let index = first; index < to; index += step) counts[stage * width + memberOf(index)]++;
  }
  return counts;
}
