/** How many requests a plan has, and when: from the schedule's arithmetic, without walking through all of them. */
import { createSchedule, TOLERANCE_MS } from './schedule.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */
/** @import { ShardPart } from './shard-part.js' */

/** @typedef {Readonly<ShardPart> | null} Part of the plan that is counted; null: all of it */

/** Poisson arrivals are walked through to count them, so a thread makes the schedule of a plan once. @type {WeakMap<object, Schedule>} */
const made = new WeakMap();

/** @param {LoadPlan} load @returns {Schedule | null} of the whole plan; null: a closed loop has none */
export function scheduleOf(load) {
  if (load.model === 'closed') return null;
  const schedule = made.get(load) ?? createSchedule(load);
  made.set(load, schedule);
  return schedule;
}

/**
 * @param {Schedule} schedule @param {Part} part @param {number} warmupMs
 * @returns {(seconds: number) => number[]} arrivals planned in each of so many seconds from the start of the measured
 *   part; counts are remembered
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

/**
 * Exponential, then binary search.
 * @param {(index: number) => boolean} isBefore true up to some index, then false
 * @param {number} count of indexes @param {number} [from] `isBefore` holds for earlier indexes
 * @param {number} [width] expected distance @returns {number} the first index without it, or `count`
 */
export function countWhile(isBefore, count, from = 0, width = 1) {
  let low = from;
  let high = from;
  for (let next = width; high < count && isBefore(high); next *= 2) {
    low = high + 1;
    high = Math.min(count, high + next);
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {Schedule} schedule @param {Part} part */
export function createDueCounter({ count, dueMs }, part) {
  /** Result of the last search, and its distance from the one before: the next is about as far away. */
  let last = 0;
  let step = 1;
  return {
    /**
     * Cheapest for ascending times. An arrival that is due by a rounding error before `ms` is not due before it.
     * @param {number} ms from time zero, warm-up included
     * @returns {number} arrivals that are due before, those of the warm-up too
     */
    until(ms) {
      const isBefore = (/** @type {number} */ index) => dueMs(index) < ms - TOLERANCE_MS;
      const from = last > 0 && !isBefore(last - 1) ? 0 : last;
      const low = countWhile(isBefore, count, from, step);
      step = Math.max(1, low - last);
      last = low;
      return shareOf(low, part);
    },
  };
}

/** @param {LoadPlan} load @returns {number | null} the longest that the run may take, ms; null: not known */
export function longestRunMs(load) {
  const { durationMs, warmupMs, timeoutMs, startAt } = load;
  const waitMs = startAt ? Math.max(0, Date.parse(startAt) - Date.now()) : 0;
  const sendingMs = durationMs === null ? (scheduleOf(load)?.endMs ?? null) : warmupMs + durationMs;
  return sendingMs === null ? null : waitMs + sendingMs + 2 * timeoutMs;
}

/**
 * @param {LoadPlan} load
 * @returns {number | null} requests of the whole plan, warm-up included: their indexes are below it; null: not known,
 *   as the target's responses decide
 */
export function allRequests(load) {
  return scheduleOf(load)?.count ?? (load.warmupMs > 0 ? null : load.requests);
}

/** Indexes of a mix to count at most, 50 ns each; the operation's share of further ones is assumed to be the same. */
const MAX_COUNTED = 1_000_000;

/**
 * @param {LoadPlan} load @param {(index: number) => boolean} [owns] which of them are the operation's; none: all
 * @returns {number | null} about how many requests the run, or this part of it, will send, without a closed loop's
 *   warm-up; null: as many as the target responds to
 */
export function expectedRequests(load, owns) {
  const all = scheduleOf(load)?.count ?? load.requests;
  if (all === null) return null;
  const ofPart = shareOf(all, load.shard);
  if (owns === undefined || ofPart === 0) return ofPart;
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const counted = Math.min(ofPart, MAX_COUNTED);
  let own = 0;
  for (let i = 0; i < counted; i++) if (owns(first + i * step)) own++;
  return Math.round((own / counted) * ofPart);
}
