/** A pacer with made-up slots in virtual time. */
import { createPacer } from '../../src/engine/pacing/pacer.js';
import { createVirtualTime } from './virtual-time.js';
/** @import { Arrivals } from '../../src/engine/pacing/pacer.js' */
/** @import { Schedule } from '../../src/plan/schedule.js' */

/** @param {number[]} due @returns {Schedule} */
export function scheduleOf(due) {
  return { count: due.length, firstMeasured: 0, endMs: (due.at(-1) ?? 0) + 1, dueMs: (index) => due[index] };
}

/**
 * @param {object} options
 * @param {Partial<Arrivals>} options.arrivals
 * @param {number} options.slots
 * @param {(index: number) => number} options.serviceMs -1: the request fails before `fire` returns
 * @param {'queue' | 'drop'} [options.overflow]
 * @param {number} [options.startMs] of the clock
 */
export function pace({ arrivals, slots, serviceMs, overflow = 'queue', startMs = 0 }) {
  const time = createVirtualTime(startMs);
  /** @type {{index: number, intended: number, at: number}[]} */
  const fired = [];
  /** @type {{index: number, intended: number, at: number}[]} */
  const dropped = [];
  /** @type {number[]} */
  const free = Array.from({ length: slots }, () => Number.NEGATIVE_INFINITY);
  const seen = { mostInFlight: 0, ends: 0, endedAt: Number.NaN, depth: 0, deepest: 0, polls: 0 };
  const release = () => {
    free.push(time.clock());
    seen.deepest = Math.max(seen.deepest, ++seen.depth);
    pacer.tick();
    seen.depth--;
  };
  const pacer = createPacer({
    arrivals: {
      shard: 0,
      shards: 1,
      schedule: null,
      stopAtMs: Number.POSITIVE_INFINITY,
      warmupMs: 0,
      requests: null,
      inFlight: null,
      ...arrivals,
    },
    clock: time.clock,
    overflow,
    createAlarm: time.createAlarm,
    afterPoll(next) {
      seen.polls++;
      time.add(time.clock(), () => next());
    },
    slots: /** @type {any} */ ({
      get free() {
        return free.length;
      },
      get inFlight() {
        return slots - free.length;
      },
      get freeSince() {
        return free[0];
      },
      /** @param {number} index @param {number} intended */
      fire(index, intended) {
        if (free.length === 0) throw new Error('no slot is free');
        free.shift();
        fired.push({ index, intended, at: time.clock() });
        seen.mostInFlight = Math.max(seen.mostInFlight, slots - free.length);
        const ms = serviceMs(index);
        if (ms < 0) release();
        else time.add(time.clock() + ms, release);
      },
    }),
    onDrop: (index, intended) => dropped.push({ index, intended, at: time.clock() }),
    onEnd() {
      seen.ends++;
      seen.endedAt = time.clock();
    },
  });
  return { time, pacer, fired, dropped, seen };
}
