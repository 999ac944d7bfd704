/** Counts a plan's requests over time from its schedule, without visiting each. */
import { createSchedule, TOLERANCE_MS } from './schedule.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */
/** @import { ShardPart } from './shard-part.js' */

/** @typedef {Readonly<ShardPart> | null} Part of the plan that is counted; null: all of it */

/** One per plan: counting Poisson arrivals takes time. @type {WeakMap<object, Schedule>} */
const schedules = new WeakMap();

/** @param {LoadPlan} load @returns {Schedule | null} of the whole plan; null: a closed loop has none */
export function scheduleOf(load) {
  if (load.model === 'closed') return null;
  const schedule = schedules.get(load) ?? createSchedule(load);
  schedules.set(load, schedule);
  return schedule;
}

/**
 * @param {Schedule} schedule @param {Part} part @param {number} warmupMs
 * @returns {(seconds: number) => number[]} planned arrivals in each of the first seconds of the measured phase
 */
export function createDuePerSecond(schedule, part, warmupMs) {
  const { until } = createDueCounter(schedule, part);
  /** @type {number[]} */
  const due = [];
  let before = shareOf(schedule.firstMeasured, part);
  return (seconds) => {
    while (due.length < seconds) {
      const now = Math.max(before, until(warmupMs + (due.length + 1) * 1000));
      due.push(now - before);
      before = now;
    }
    return due.slice(0, seconds);
  };
}

/** @param {Schedule} schedule @param {Part} part */
export function createDueCounter({ count, dueMs }, part) {
  /** Result of the last search, and its distance from the one before: predicts the next. */
  let last = 0;
  let step = 1;
  return {
    /** Arrivals due before `ms`, both including the warm-up; cheapest for ascending times. @param {number} ms from time zero */
    until(ms) {
      const isBefore = (/** @type {number} */ index) => dueMs(index) < ms - TOLERANCE_MS;
      const from = last > 0 && !isBefore(last - 1) ? 0 : last;
      const reached = from + countFirst(count - from, (nth) => isBefore(from + nth), step);
      step = Math.max(1, reached - last);
      last = reached;
      return shareOf(reached, part);
    },
  };
}

/**
 * Exponential, then binary search: the count is usually small, but may be millions.
 * @param {number} max @param {(nth: number) => boolean} isIncluded true up to some number, then false
 * @param {number} [step] expected count @returns {number} how many numbers, counted from 0, are included
 */
export function countFirst(max, isIncluded, step = 1) {
  let [low, high] = [0, 0];
  for (let width = step; high < max && isIncluded(high); width *= 2) {
    low = high + 1;
    high = Math.min(max, high + width);
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isIncluded(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {LoadPlan} load @returns {number | null} maximum duration of the run, ms; null: not known */
export function longestRunMs(load) {
  const { durationMs, warmupMs, timeoutMs, startAt } = load;
  const waitMs = startAt ? Math.max(0, Date.parse(startAt) - Date.now()) : 0;
  const sendingMs = durationMs === null ? (scheduleOf(load)?.endMs ?? null) : warmupMs + durationMs;
  return sendingMs === null ? null : waitMs + sendingMs + 2 * timeoutMs;
}

/** @param {LoadPlan} load @returns {number | null} of the plan, warm-up included; null: not known in advance */
export const allRequests = (load) => scheduleOf(load)?.count ?? (load.warmupMs > 0 ? null : load.requests);

/** Counting an index takes 50 ns. The operation's share of any further ones is assumed to be the same. */
const MAX_COUNTED = 1_000_000;

/** Of a run that a full warm-up would take longer than. */
const FEW_REQUESTS = 20;

/** @param {LoadPlan} load */
export const hasFewRequests = (load) => (expectedRequests(load) ?? Number.POSITIVE_INFINITY) <= FEW_REQUESTS;

/**
 * @param {LoadPlan} load @param {(index: number) => boolean} [owns] which requests the operation sends; by default, all
 * @returns {number | null} about how many requests the run, or this part of it, sends, without a closed loop's
 *   warm-up; null: not known in advance
 */
export function expectedRequests(load, owns) {
  const planned = scheduleOf(load)?.count ?? load.requests;
  if (planned === null) return null;
  const ofPart = shareOf(planned, load.shard);
  if (owns === undefined || ofPart === 0) return ofPart;
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const counted = Math.min(ofPart, MAX_COUNTED);
  let matches = 0;
  for (let i = 0; i < counted; i++) if (owns(first + i * step)) matches++;
  return Math.round((matches / counted) * ofPart);
}
