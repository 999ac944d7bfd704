/** How many arrivals were planned until when: from the schedule's arithmetic, without walking through all of them. */
import { createSchedule } from './schedule.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */
/** @import { ShardPart } from './shard-part.js' */

/** @typedef {Readonly<ShardPart> | null} Part of the plan that is counted; null: all of it */

/** An arrival that is due by less than this before a second begins is rounded, and belongs to that second. */
const TOLERANCE_MS = 1e-6;

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

/** @param {Schedule} schedule @param {Part} part */
export function createDueCounter({ count, dueMs }, part) {
  /** Result of the last search, and its distance from the one before: the next is about as far away. */
  let last = 0;
  let step = 1;
  return {
    /**
     * Cheapest for ascending times.
     * @param {number} ms from time zero, warm-up included
     * @returns {number} arrivals that are due before, those of the warm-up too
     */
    until(ms) {
      const isBefore = (/** @type {number} */ index) => dueMs(index) < ms - TOLERANCE_MS;
      const first = searchNear(Math.min(last + step, count), count, isBefore);
      step = Math.max(1, first - last);
      last = first;
      return shareOf(first, part);
    },
  };
}

/**
 * A binary search that widens its range from a guess: the schedule finds times near to each other fastest.
 * @param {number} guess 0 to end @param {number} end
 * @param {(index: number) => boolean} isBefore true up to some index, false from there on
 * @returns {number} that index; `end` where it is true for all
 */
function searchNear(guess, end, isBefore) {
  let [low, high] = [guess, guess];
  for (let width = 1; low > 0 && !isBefore(low - 1); width *= 2) {
    high = low - 1;
    low = Math.max(0, high - width);
  }
  for (let width = 1; high < end && isBefore(high); width *= 2) {
    low = high + 1;
    high = Math.min(end, high + width);
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
