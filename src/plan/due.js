/** How many arrivals were planned until when: from the schedule's arithmetic, without walking through all of them. */

import { createSchedule } from './schedule.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */
/** @import { ShardPart } from './shard-part.js' */

/** @typedef {import('./schedule.js').Schedule} Schedule of the whole plan */
/** @typedef {Readonly<ShardPart> | null} Part of the plan that is counted; null: all of it */

/** An arrival that is due so much before a second begins is rounded, and is that second's. */
const TOLERANCE_MS = 1e-6;

/**
 * @param {LoadPlan} load
 * @returns {((seconds: number) => number[]) | null} as createDuePerSecond; null: a closed loop plans no arrivals
 */
export function dueOf(load) {
  const schedule = scheduleOf(load);
  return schedule === null ? null : createDuePerSecond(schedule, load.shard, load.warmupMs);
}

/** Poisson arrivals are walked through to count them, so a thread makes the schedule of a plan once. @type {WeakMap<object, Schedule>} */
const made = new WeakMap();

/** @param {LoadPlan} load @returns {Schedule | null} null: a closed loop has none */
export function scheduleOf(load) {
  if (load.model === 'closed') return null;
  const schedule = made.get(load) ?? createSchedule(load);
  made.set(load, schedule);
  return schedule;
}

/**
 * @param {Schedule} schedule
 * @param {Part} part
 * @param {number} warmupMs
 * @returns {(seconds: number) => number[]} arrivals planned in each of so many seconds from the start of the measured part; what
 *   was counted once is remembered
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
export function createDueCounter(schedule, part) {
  const { count, dueMs } = schedule;
  /** Where the last search ended, and how far it was from the one before: the next is about as far again. */
  let last = 0;
  let step = 1;

  /** @param {number} ms @returns {number} the first index that is due at `ms` or later */
  function firstFrom(ms) {
    const isBefore = (/** @type {number} */ index) => dueMs(index) < ms - TOLERANCE_MS;
    const found = searchNear(Math.min(last + step, count), count, isBefore);
    step = Math.max(1, found - last);
    last = found;
    return found;
  }

  return {
    /**
     * Cheapest for ascending times.
     *
     * @param {number} ms from time zero, warm-up included
     * @returns {number} arrivals that are due before, those of the warm-up too
     */
    until: (ms) => shareOf(firstFrom(ms), part),
  };
}

/**
 * A binary search that begins with ever longer steps from a guess: the schedule finds times near to each other fastest.
 *
 * @param {number} guess 0 to end
 * @param {number} end
 * @param {(index: number) => boolean} isBefore true up to some index, false from there on
 * @returns {number} that index; `end` where it is true for all
 */
function searchNear(guess, end, isBefore) {
  let low = 0;
  let high = end;
  if (guess < end && isBefore(guess)) {
    low = guess + 1;
    for (let width = 1; low + width < end; width *= 2) {
      if (!isBefore(low + width)) {
        high = low + width;
        break;
      }
      low += width + 1;
    }
  } else {
    high = guess;
    for (let width = 1; high - width > 0; width *= 2) {
      if (isBefore(high - width)) {
        low = high - width + 1;
        break;
      }
      high -= width;
    }
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
