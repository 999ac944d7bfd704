/**
 * Hands indexes to slots: at their due time in an open loop, as soon as a slot is free in a closed one. Never awaits
 * a response. A backlog is no list but the distance between the next index and the clock.
 */
import { scheduleOf } from '../../plan/due.js';
import { createInFlight } from '../../plan/in-flight.js';
import { share } from '../../plan/shard-part.js';

/** @import { InFlight } from '../../plan/in-flight.js' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { Clock } from '../clock.js' */
/** @import { Alarm } from './alarm.js' */

/**
 * @typedef {object} Arrivals what one shard sends: its own indexes i with i mod shards = shard, in order
 * @property {number} shard
 * @property {number} shards
 * @property {Schedule | null} schedule null: closed loop
 * @property {number} stopAtMs nothing is sent from then on: in a closed loop the end of the measured part, in an open
 *   one the end of the time allowed for working off a backlog
 * @property {number} warmupMs
 * @property {number | null} requests closed loop: measured requests of this shard at most
 * @property {InFlight | null} [inFlight] closed loop: requests in flight at most, where that changes
 */
/**
 * @typedef {object} Pacer
 * @property {() => void} start
 * @property {() => void} tick to be called when a slot became free
 * @property {() => void} stop hands out nothing more
 * @property {() => number} waiting arrivals that are due and have no slot yet
 * @property {() => boolean} ended nothing more will be handed out
 * @property {number} next the first index that was neither handed out nor dropped
 * @property {number} measured requests of the measured part that were handed out
 * @property {() => number} left requests of the measured part that were planned, and neither handed out nor dropped
 */

/** Interval of checks whether a stage now allows more requests in flight. */
const LOOK_MS = 20;

/**
 * @param {object} context
 * @param {Arrivals} context.arrivals
 * @param {Clock} context.clock
 * @param {ReturnType<typeof import('../slots.js').createSlots>} context.slots
 * @param {'queue' | 'drop'} context.overflow
 * @param {(clock: Clock, onTime: () => void) => Alarm} context.createAlarm
 * @param {(index: number, intended: number, now: number) => void} context.onDrop
 * @param {() => void} context.onEnd called once
 * @returns {Pacer}
 */
export function createPacer({ arrivals, clock, slots, overflow, createAlarm, onDrop, onEnd }) {
  const { schedule, shards, stopAtMs, inFlight = null } = arrivals;
  const alarm = createAlarm(clock, tick);
  let next = arrivals.shard;
  let measured = 0;
  /** Connections have been idle because no more requests were allowed in flight: they did not wait. */
  let heldBack = false;
  let ended = false;
  let ticking = false;

  function end() {
    if (ended) return;
    ended = true;
    alarm.clear();
    onEnd();
  }

  /** A request that fails at once frees its slot from within `fire`: the loop under way goes on with that slot. */
  function tick() {
    if (ended || ticking) return;
    ticking = true;
    try {
      if (schedule === null) closedLoop();
      else openLoop(schedule);
    } finally {
      ticking = false;
    }
  }

  /** @param {Schedule} schedule */
  function openLoop(schedule) {
    for (;;) {
      if (next >= schedule.count) return end();
      const due = schedule.dueMs(next);
      const now = clock();
      if (due > now) return alarm.set(due);
      if (now >= stopAtMs) return end();
      if (slots.free > 0) {
        const index = next;
        next += shards;
        if (index >= schedule.firstMeasured) measured++;
        slots.fire(index, due);
      } else if (overflow === 'drop') {
        onDrop(next, due, now);
        next += shards;
      } else {
        return alarm.set(stopAtMs);
      }
    }
  }

  function closedLoop() {
    while (slots.free > 0) {
      const now = clock();
      if (now < 0) return alarm.set(0);
      if (now >= stopAtMs || measured === arrivals.requests) return end();
      if (inFlight !== null && slots.busy >= inFlight.at(now)) {
        heldBack = true;
        return alarm.set(Math.min(stopAtMs, now + LOOK_MS));
      }
      const intended = Math.max(heldBack ? now : slots.nextFreeSince, 0);
      if (intended >= arrivals.warmupMs) measured++;
      const index = next;
      next += shards;
      slots.fire(index, intended);
    }
    heldBack = false;
    if (measured === arrivals.requests || clock() >= stopAtMs) return end();
    alarm.set(stopAtMs);
  }

  return {
    tick,
    start: tick,
    stop: end,
    ended: () => ended,
    get next() {
      return next;
    },
    get measured() {
      return measured;
    },
    left() {
      if (schedule === null) return arrivals.requests === null ? 0 : arrivals.requests - measured;
      const skipped = Math.max(0, Math.ceil((schedule.firstMeasured - next) / shards));
      return Math.max(0, Math.ceil((schedule.count - next) / shards) - skipped);
    },
    waiting() {
      if (schedule === null || next >= schedule.count) return 0;
      return countDue(schedule, next, shards, clock());
    },
  };
}

/**
 * Searched for, in ever longer steps and back: a backlog may be a million long, and mostly there is none.
 *
 * @param {Schedule} schedule
 * @param {number} next
 * @param {number} shards
 * @param {number} now ms
 * @returns {number} how many of the indexes next, next + shards, ... are due
 */
export function countDue(schedule, next, shards, now) {
  const left = Math.max(0, Math.ceil((schedule.count - next) / shards));
  const isDue = (/** @type {number} */ nth) => schedule.dueMs(next + nth * shards) <= now;
  let low = 0;
  let high = 0;
  while (high < left && isDue(high)) {
    low = high + 1;
    high = 2 * high + 1;
  }
  high = Math.min(high, left);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isDue(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {LoadPlan} load
 * @param {number} shard
 * @param {number} shards
 * @returns {Arrivals}
 */
export function arrivalsOf(load, shard, shards) {
  const schedule = scheduleOf(load);
  const closedEnd = load.durationMs === null ? Number.POSITIVE_INFINITY : load.warmupMs + load.durationMs;
  return {
    shard,
    shards,
    schedule,
    stopAtMs: schedule === null ? closedEnd : schedule.endMs + load.timeoutMs,
    warmupMs: load.warmupMs,
    requests: load.requests === null ? null : share(load.requests, shard, shards),
    inFlight: schedule === null ? createInFlight(load, shard, shards) : null,
  };
}
