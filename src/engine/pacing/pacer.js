/**
 * Hands indexes to slots: at their due time in an open loop, as soon as a slot is free in a closed one. The
 * backlog is not stored: it is the due indexes from `next` on.
 */
import { countFirst, scheduleOf } from '../../plan/due.js';
import { share } from '../../plan/shard-part.js';
import { createInFlight } from '../../plan/stages.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { Clock } from '../clock.js' */
/** @import { Slots } from '../slots.js' */
/** @import { CreateAlarm } from './alarm.js' */

/** @typedef {ReturnType<typeof arrivalsOf>} Arrivals those with index mod shards = shard */

/** How often to check whether the stage allows more requests in flight. */
const CHECK_STAGE_MS = 20;

/** If a request is overdue by more than this, and the last tick was as long ago, the process was stopped or had no CPU. */
const STOOD_STILL_MS = 20;

/**
 * @param {object} context @param {Arrivals} context.arrivals @param {Clock} context.clock
 * @param {Pick<Slots, 'free' | 'inFlight' | 'freeSince' | 'fire'>} context.slots
 * @param {'queue' | 'drop'} context.overflow @param {CreateAlarm} context.createAlarm
 * @param {(index: number, intended: number, now: number) => void} context.onDrop
 * @param {() => void} context.onEnd called once
 * @param {(next: () => void) => void} [context.afterPoll] calls back once the sockets have been polled
 */
export function createPacer({
  arrivals,
  clock,
  slots,
  overflow,
  createAlarm,
  onDrop,
  onEnd,
  afterPoll = setImmediate,
}) {
  const { schedule, shards, stopAtMs, requests, inFlight } = arrivals;
  const alarm = createAlarm(clock, check);
  let next = arrivals.shard;
  let measured = 0;
  /** Connections are idle because the in-flight limit is reached. */
  let isHeldBack = false;
  let hasEnded = false;
  let isTicking = false;
  let isPolling = false;
  let tickedMs = Number.POSITIVE_INFINITY;

  function end() {
    if (hasEnded) return;
    hasEnded = true;
    alarm.clear();
    onEnd();
  }

  /** A request that fails at once frees its slot inside `fire`; this loop then reuses the slot. */
  function tick() {
    if (hasEnded || isTicking || isPolling) return;
    isTicking = true;
    try {
      if (schedule === null) closedLoop();
      else openLoop(schedule);
    } finally {
      isTicking = false;
      if (schedule !== null) tickedMs = clock();
    }
  }

  /** Then connections may have been closed, but the sockets have not been polled yet. */
  function stoodStill() {
    if (schedule === null || next >= schedule.count) return false;
    const now = clock();
    return now - tickedMs > STOOD_STILL_MS && now - schedule.dueMs(next) > STOOD_STILL_MS;
  }

  /** Timers and messages of the pacing thread come before the sockets are polled. */
  function check() {
    if (hasEnded || isPolling || !stoodStill()) return tick();
    isPolling = true;
    afterPoll(() => {
      isPolling = false;
      tick();
    });
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
      if (now >= stopAtMs || measured === requests) return end();
      if (inFlight !== null && slots.inFlight >= inFlight.at(now)) {
        isHeldBack = true;
        return alarm.set(Math.min(stopAtMs, now + CHECK_STAGE_MS));
      }
      const intended = Math.max(isHeldBack ? now : slots.freeSince, 0);
      if (intended >= arrivals.warmupMs) measured++;
      const index = next;
      next += shards;
      slots.fire(index, intended);
    }
    isHeldBack = false;
    if (measured === requests || clock() >= stopAtMs) return end();
    alarm.set(stopAtMs);
  }

  return {
    /** Call at the start and when a slot becomes free. */
    tick,
    /** Call at any other time. */
    check,
    /** Hands out no more requests. */
    stop: end,
    hasEnded: () => hasEnded,
    /** The first index neither handed out nor dropped. */
    get next() {
      return next;
    },
    /** Measured requests handed out so far. */
    get measured() {
      return measured;
    },
    /** @returns planned measured requests neither handed out nor dropped */
    left() {
      if (schedule === null) return requests === null ? 0 : requests - measured;
      const skipped = Math.max(0, Math.ceil((schedule.firstMeasured - next) / shards));
      return Math.max(0, Math.ceil((schedule.count - next) / shards) - skipped);
    },
    /** @returns {number} when the first arrival neither handed out nor dropped is due; Infinity: there is none, or a closed loop */
    nextDueMs: () =>
      schedule === null || next >= schedule.count ? Number.POSITIVE_INFINITY : schedule.dueMs(next),
    /** @returns arrivals that are due but have no slot yet */
    waiting: () => (schedule === null ? 0 : countDue(schedule, next, shards, clock())),
  };
}

/**
 * @param {Schedule} schedule @param {number} next @param {number} shards @param {number} now ms
 * @returns {number} how many of the indexes next, next + shards, ... are due; usually none, at most millions
 */
export function countDue(schedule, next, shards, now) {
  const left = Math.max(0, Math.ceil((schedule.count - next) / shards));
  return countFirst(left, (nth) => schedule.dueMs(next + nth * shards) <= now);
}

/** @param {LoadPlan} load @param {number} shard @param {number} shards of the whole plan */
export function arrivalsOf(load, shard, shards) {
  const schedule = scheduleOf(load);
  const closedEnd = load.durationMs === null ? Number.POSITIVE_INFINITY : load.warmupMs + load.durationMs;
  return {
    shard,
    shards,
    /** null: closed loop */
    schedule,
    /** End of a closed loop's measured phase, or of the time an open loop has to clear its backlog. */
    stopAtMs: schedule === null ? closedEnd : schedule.endMs + load.timeoutMs,
    warmupMs: load.warmupMs,
    /** Closed loop: max measured requests of this shard. */
    requests: load.requests === null ? null : share(load.requests, shard, shards),
    /** Closed loop: max requests in flight, if stages change it. */
    inFlight: schedule === null ? createInFlight(load, shard, shards) : null,
  };
}
