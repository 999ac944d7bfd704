/**
 * Wakes the pacer at a time. Timers have whole-millisecond granularity and may fire 1 ms early. The last stretch of an exact
 * wait is therefore slept through outside of the event loop where no response is awaited, and else spun on `setImmediate`,
 * which lets sockets be served. A thread that spins for a millisecond uses up its turn: on a machine whose cores are all busy,
 * another runs when the request is due, or when its response comes.
 */
import { LONGEST_TIMER_MS } from '../clock.js';

/** @import { Clock } from '../clock.js' */
/** @import { Pacing } from './choose.js' */

/** From here on an exact wait spins: a timer's own uncertainty. */
const SPIN_FROM_MS = 1.6;

/** A turn of the loop that took longer was no empty one: this thread was not scheduled, or collected garbage. */
const LONGEST_EMPTY_TURN_MS = 0.05;

/** A sleep ends this long before the time: the kernel wakes a sleeper late. The rest is spun. */
const WAKE_EARLY_MS = 0.3;

/**
 * While no response is awaited there is nothing for the event loop to see to, and a turn of it makes garbage: the clock alone is
 * watched, for so long at a time. (A stop, or a connection that its server closes, is noticed that much later.)
 */
const SPIN_AT_ONCE_MS = 0.05;

/** A clock that stands still, as in tests, is not watched for ever. */
const MAX_READINGS = 500;

/**
 * Loads of a number between two readings: a reading may make garbage, so there are few of them while there is time left. The
 * longer pause takes some 5 us, the shorter half of one.
 */
const PAUSE_LOADS = 1000;
const LAST_PAUSE_LOADS = 50;
const LAST_PAUSES_MS = 0.03;
const pauseOn = new Int32Array(new SharedArrayBuffer(4));

/** @param {number} loads */
function pause(loads) {
  for (let i = 0; i < loads; i++) Atomics.load(pauseOn, 0);
}

/**
 * @typedef {object} Alarm
 * @property {(atMs: number) => void} set replaces an earlier time
 * @property {() => void} clear
 * @property {() => number} [emptySpinMs] spun so far without any work: event-loop utilisation counts it as busy
 */

/**
 * @param {Clock} clock
 * @param {Pacing['spins']} spins `last stretch`: sleeps until shortly before the time
 * @param {() => void} onTime called from the event loop, never before the time set, never from within `set`
 * @param {object} [sender] what this thread does beside
 * @param {() => number} [sender.work] changes with every piece of work, e.g. responses so far
 * @param {() => boolean} [sender.idle] nothing is awaited
 * @param {(ms: number) => void} [sender.nap] blocks this thread; without it, it spins
 * @returns {Alarm}
 */
export function createAlarm(clock, spins, onTime, { work = () => 0, idle = () => false, nap } = {}) {
  const spinFrom = { 'last stretch': SPIN_FROM_MS, always: Number.POSITIVE_INFINITY, never: 0 }[spins];
  let at = Number.POSITIVE_INFINITY;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let spinning = false;
  let emptySpinMs = 0;
  let turnFrom = 0;
  let workBefore = 0;

  function wait() {
    const now = clock();
    const remaining = at - now;
    if (remaining <= spinFrom) {
      spinning = true;
      workBefore = work();
      turnFrom = now;
      setImmediate(onImmediate);
      return;
    }
    const ms =
      spins === 'never' ? Math.ceil(remaining) : Math.max(1, Math.floor(remaining - SPIN_FROM_MS + 0.5));
    timer = setTimeout(onTimer, Math.min(ms, LONGEST_TIMER_MS));
  }
  function onTimer() {
    timer = undefined;
    check();
  }
  function onImmediate() {
    spinning = false;
    const turn = clock() - turnFrom;
    if (turn < LONGEST_EMPTY_TURN_MS && work() === workBefore) emptySpinMs += turn;
    if (timer !== undefined || at === Number.POSITIVE_INFINITY) return;
    if (idle()) {
      const ms = at - clock() - WAKE_EARLY_MS;
      if (spins === 'last stretch' && ms > 0) nap?.(ms);
      watchClock();
    }
    check();
  }
  function watchClock() {
    let now = clock();
    const until = Math.min(at, now + SPIN_AT_ONCE_MS);
    for (let left = MAX_READINGS; now < until && left > 0; left--) {
      const before = now;
      pause(at - now > LAST_PAUSES_MS ? PAUSE_LOADS : LAST_PAUSE_LOADS);
      now = clock();
      if (now - before < LONGEST_EMPTY_TURN_MS) emptySpinMs += now - before;
    }
  }
  function check() {
    if (clock() >= at) fire();
    else wait();
  }
  function fire() {
    at = Number.POSITIVE_INFINITY;
    onTime();
  }

  return {
    set(atMs) {
      if (timer !== undefined && atMs === at) return;
      clearTimeout(timer);
      timer = undefined;
      at = atMs;
      if (!spinning) wait();
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
      at = Number.POSITIVE_INFINITY;
    },
    emptySpinMs: () => emptySpinMs,
  };
}
