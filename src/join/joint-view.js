/** What part 0 shows of a joined run: the events and reports of all parts, as if they were threads of one. */
import { z } from 'zod';
import { maxOf, sumRecords, total } from '../common/sums.js';
import { plannedWindow } from '../engine/window.js';
import { loadMix } from '../operations/mix.js';
import { stageTimesOf } from '../plan/stages.js';
import { amount, each, ms } from '../result/declared.js';
import { Outcomes } from '../result/schema.js';
import { monotonicMs } from './clock.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { LiveHook, RunEvent } from '../run.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** Older figures are still counted, but say nothing of the last second. */
const MAX_AGE_MS = 3000;

const SUMS = /** @type {const} */ (['sent', 'succeeded', 'failed', 'inFlight', 'waiting', 'ratePerSecond']);
/** What part 0 shows of another part's IntervalEvent. */
export const Interval = z.object({ ...each(SUMS, amount), p99Ms: ms, errors: Outcomes });
/** Of another part, and when it came @typedef {z.infer<typeof Interval> & {atMs: number}} Received */

/**
 * @param {Plan} plan of all parts @param {number[]} threads of each part, part 0 first
 * @param {{live?: LiveHook, onEvent?: (event: RunEvent) => void, intervals: () => (Received | null)[]}} options
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
    /** In each report. */
    cells: stageTimesOf(load, null).length * mix.members.length,
    /** For part 0's own run. @type {LiveHook | undefined} */
    live: live && { ports: () => ports.slice(0, threads[0]), begin: live.begin },
    /** @param {RunEvent} event of part 0's own run */
    onEvent(event) {
      if (event.type === 'start') onEvent({ ...event, plan: { ...event.plan, load }, planned, cells });
      else if (event.type === 'interval') {
        const others = intervals();
        // Part 0's share is not the whole.
        if (!others.includes(null) || event.elapsedMs > MAX_AGE_MS) onEvent(sumIntervals(event, others));
      } else if (event.type !== 'result') onEvent(event);
    },
  };
}

/** @param {IntervalEvent} own @param {(Received | null)[]} others @returns {IntervalEvent} its p99 is that of the slowest part */
export function sumIntervals(own, others) {
  const fresh = others.flatMap((one) => {
    if (one === null) return [];
    return monotonicMs() - one.atMs > MAX_AGE_MS ? { ...one, ratePerSecond: 0, p99Ms: null } : one;
  });
  const all = [own, ...fresh];
  const sums = SUMS.map((key) => [key, total(all.map((one) => one[key]))]);
  const p99s = all.flatMap(({ p99Ms }) => p99Ms ?? []);
  const errors = sumRecords(all.map((one) => one.errors));
  return { ...own, ...Object.fromEntries(sums), p99Ms: p99s.length === 0 ? null : maxOf(p99s), errors };
}
