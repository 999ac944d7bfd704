/** What part 0 shows of a joined run: the events and reports of all parts, as if they were threads of one. */
import { maxOf, sumRecords, total } from '../common/sums.js';
import { plannedWindow } from '../engine/window.js';
import { loadMix } from '../operations/mix.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { LiveHook, RunEvent } from '../run.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const SUMS = /** @type {const} */ (['sent', 'succeeded', 'failed', 'inFlight', 'waiting', 'ratePerSecond']);

/**
 * @param {Plan} plan of all parts @param {number[]} threads of each part, part 0 first
 * @param {{live?: LiveHook, onEvent?: (event: RunEvent) => void, intervals: () => (IntervalEvent | null)[]}} options
 *   `intervals`: the last of each other part
 */
export async function createJointView(plan, threads, { live, onEvent = () => {}, intervals }) {
  const mix = await loadMix(plan);
  const { planned, cells } = plannedWindow(plan.load, { count: mix.members.length, memberOf: mix.memberOf });
  const load = { ...plan.load, threads: total(threads) };
  const ports = live?.ports(load.threads) ?? [];
  const before = (/** @type {number} */ part) => total(threads.slice(0, part));
  return {
    /** Of the other parts' threads; none: nothing shows their reports. @type {MessagePort[][]} */
    ports: threads.map((_, part) => ports.slice(before(part), before(part + 1))).slice(1),
    hasReports: ports.length > 0,
    /** For part 0's own run. @type {LiveHook | undefined} */
    live: live && { ports: () => ports.slice(0, threads[0]), begin: live.begin },
    /** @param {RunEvent} event of part 0's own run */
    onEvent(event) {
      if (event.type === 'start') onEvent({ ...event, plan: { ...event.plan, load }, planned, cells });
      else if (event.type === 'interval') onEvent(sumIntervals(event, intervals()));
      else if (event.type !== 'result') onEvent(event);
    },
  };
}

/** @param {IntervalEvent} own @param {(IntervalEvent | null)[]} others authentic, but not validated @returns {IntervalEvent} its p99 is that of the slowest part */
export function sumIntervals(own, others) {
  const all = [own, ...others.filter((one) => one !== null)];
  const count = (/** @type {unknown} */ value) => (typeof value === 'number' ? value : 0);
  const sums = SUMS.map((key) => [key, total(all.map((one) => count(one[key])))]);
  const p99s = all.flatMap(({ p99Ms }) => (typeof p99Ms === 'number' ? p99Ms : []));
  const counts = (/** @type {object} */ errors) =>
    Object.entries(errors).map(([name, value]) => [name, count(value)]);
  const errors = sumRecords(all.map((one) => Object.fromEntries(counts(Object(one.errors)))));
  return { ...own, ...Object.fromEntries(sums), p99Ms: p99s.length === 0 ? null : maxOf(p99s), errors };
}
