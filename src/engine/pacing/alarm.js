/**
 * Calls the pacer at a given time. Timers have whole-millisecond granularity and may fire 1 ms early. So for
 * the last stretch of an exact wait, an idle sender sleeps outside the event loop; a sender with requests in
 * flight spins on `setImmediate`, which still serves sockets. Longer spinning would use up the thread's time
 * slice. With a pacing thread, which calls `check` when an arrival is due, an alarm neither sleeps nor spins.
 */
import { timerMs } from '../../common/timers.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Clock } from '../clock.js' */

/**
 * @typedef {object} Pacing
 * @property {boolean} byThread a separate thread, not a timer, wakes the sender
 * @property {'never' | 'last stretch' | 'always'} spins
 */

/** Below this mean gap, a timer that spins for its last stretch would keep a core busy. */
const THREAD_BELOW_GAP_MS = 10;
/** An exact wait spins for this long at its end, as timers are less exact. */
const SPIN_FROM_MS = 1.6;
/** A longer turn of the event loop means that this thread was descheduled or collected garbage. */
const MAX_EMPTY_TURN_MS = 0.05;
/**
 * A sleep ends this early, as the kernel wakes sleepers late; the alarm spins for the rest. At first, and at most; then
 * MARGIN_MS more than the latest wake-up of about the last hundred, which counts for FADING less with each.
 */
const WAKE_EARLY_MS = 0.3;
const MARGIN_MS = 0.03;
const FADING = 0.99;
/** Clocks of two threads may differ by this much: an alarm called this early checks again at once. */
const CLOCK_TOLERANCE_MS = 0.05;
/** With a pacing thread, longer waits also get a timer: not every wait is for an arrival. */
const TIMER_FROM_MS = 2;
/**
 * With nothing in flight, the alarm polls only the clock for this long at a time, since each turn of the event
 * loop allocates. It notices a stop, or a connection closed by the server, that much later.
 */
const SPIN_AT_ONCE_MS = 0.05;
/** Stops polling a clock that does not advance, e.g. in tests. */
const MAX_READINGS = 500;
/** Atomic loads that pass the time between clock readings, which may allocate: 5 us, or 0.5 us near the end. */
const PAUSE_LOADS = 1000;
const LAST_PAUSE_LOADS = 50;
const LAST_PAUSES_MS = 0.03;
const pauseOn = new Int32Array(new SharedArrayBuffer(4));

/** @typedef {Pick<ReturnType<typeof createAlarm>, 'set' | 'clear'>} Alarm `set` replaces an earlier time */
/** @typedef {(clock: Clock, onTime: () => void) => Alarm} CreateAlarm */

/**
 * @param {Clock} clock @param {Pacing} pacing
 * @param {() => void} onTime called from the event loop, never before the time set, never from within `set`
 * @param {object} [sender] on this thread @param {() => number} [sender.work] work done, e.g. responses so far
 * @param {() => boolean} [sender.isIdle] nothing is in flight
 * @param {(ms: number) => void} [sender.nap] blocks this thread; without it, the alarm spins
 */
export function createAlarm(clock, { byThread, spins }, onTime, sender = {}) {
  const { work = () => 0, isIdle = () => false, nap } = sender;
  const spinFrom = { 'last stretch': SPIN_FROM_MS, always: Number.POSITIVE_INFINITY, never: 0 }[spins];
  let at = Number.POSITIVE_INFINITY;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let isSpinning = false;
  let emptySpinMs = 0;
  let turnFrom = 0;
  let workBefore = 0;
  let earlyMs = WAKE_EARLY_MS;

  function wait() {
    const now = clock();
    const remaining = at - now;
    if (byThread) {
      if (remaining <= CLOCK_TOLERANCE_MS) setImmediate(check);
      else if (remaining > TIMER_FROM_MS && timer === undefined) startTimer(remaining + 1);
    } else if (remaining <= spinFrom) {
      isSpinning = true;
      workBefore = work();
      turnFrom = now;
      setImmediate(onImmediate);
    } else if (spins === 'never') startTimer(remaining);
    else startTimer(Math.max(1, Math.floor(remaining - SPIN_FROM_MS + 0.5)));
  }
  /** @param {number} ms */
  function startTimer(ms) {
    timer = setTimeout(onTimer, timerMs(ms));
  }
  function onTimer() {
    timer = undefined;
    check();
  }
  function onImmediate() {
    isSpinning = false;
    const turn = clock() - turnFrom;
    if (turn < MAX_EMPTY_TURN_MS && work() === workBefore) emptySpinMs += turn;
    if (timer !== undefined || at === Number.POSITIVE_INFINITY) return;
    if (isIdle()) {
      if (spins === 'last stretch') sleep();
      watchClock();
    }
    check();
  }
  function sleep() {
    const until = at - earlyMs;
    const ms = until - clock();
    if (ms <= 0 || nap === undefined) return;
    nap(ms);
    const lateMs = Math.max(0, clock() - until);
    earlyMs = Math.min(WAKE_EARLY_MS, Math.max(earlyMs * FADING, lateMs + MARGIN_MS));
  }
  function watchClock() {
    let now = clock();
    const until = Math.min(at, now + SPIN_AT_ONCE_MS);
    for (let left = MAX_READINGS; now < until && left > 0; left--) {
      const before = now;
      const loads = at - now > LAST_PAUSES_MS ? PAUSE_LOADS : LAST_PAUSE_LOADS;
      for (let i = 0; i < loads; i++) Atomics.load(pauseOn, 0);
      now = clock();
      if (now - before < MAX_EMPTY_TURN_MS) emptySpinMs += now - before;
    }
  }
  function check() {
    if (at === Number.POSITIVE_INFINITY) return;
    if (clock() < at) return wait();
    at = Number.POSITIVE_INFINITY;
    onTime();
  }
  function clear() {
    clearTimeout(timer);
    timer = undefined;
    at = Number.POSITIVE_INFINITY;
  }

  return {
    clear,
    /** @param {number} atMs */
    set(atMs) {
      if (timer !== undefined && atMs === at) return;
      clear();
      at = atMs;
      if (!isSpinning) wait();
    },
    /** Call when arrivals may be due. */
    check,
    /** @returns ms spun so far without work, which event-loop utilisation counts as busy */
    emptySpinMs: () => emptySpinMs,
  };
}

/**
 * `auto` uses a spinning timer for wide gaps, where it is exact and cheap, and a sleeping thread for narrow
 * ones. If every core has a sender, none spins: the target may need the CPU time.
 * @param {Pick<LoadPlan, 'model' | 'pacing' | 'ratePerSecond'>} load
 * @param {number} shards of the whole plan @param {number} cores of the machine
 * @param {number} [threads] shards in this process @returns {Pacing}
 */
export function choosePacing({ model, pacing, ratePerSecond }, shards, cores, threads = shards) {
  const isTimed = model === 'open' && ratePerSecond !== null && pacing !== 'sleep';
  if (!isTimed) return { byThread: false, spins: 'never' };
  if (pacing === 'spin') return { byThread: false, spins: 'always' };
  const hasSpareCore = cores > threads;
  const gapMs = (1000 * shards) / ratePerSecond;
  return {
    byThread: gapMs < THREAD_BELOW_GAP_MS || !hasSpareCore,
    spins: hasSpareCore ? 'last stretch' : 'never',
  };
}
