/**
 * Thread entry: follows one shard's schedule and wakes its sender for every arrival. It sleeps in
 * `Atomics.wait`, which unlike a timer has sub-millisecond resolution, so the sender thread can sleep too. At
 * most one message is pending: a late sender handles everything due when it wakes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createSchedule } from '../../plan/schedule.js';
import { createClock } from '../clock.js';
import { CONTROL_BYTES, ORIGIN, STARTED, UNDER_WAY } from './pacing-thread.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Clock } from '../clock.js' */

/** The kernel wakes a sleeper about this late, so the thread spins for the rest of a long wait. */
const SPIN_MS = 0.06;
/** The thread does not spin for arrivals closer together than this. */
const SPIN_GAP_MS = 0.5;
/** Keeps V8 from specialising on one schedule. */
const WARM_UP_ROUNDS = 2;

/** @type {{load: LoadPlan, shard: number, shards: number, spins: boolean, warmUpLoad: LoadPlan | null, control: SharedArrayBuffer}} */
const { load, shard, shards, spins, warmUpLoad, control } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * @param {ReturnType<typeof createSchedule>} schedule
 * @param {number} first index @param {number} step to the next
 * @param {Clock} clock @param {Int32Array} flags @param {number} spinMs
 */
function pace(schedule, first, step, clock, flags, spinMs) {
  for (let index = first; index < schedule.count; index += step) {
    waitFor(schedule.dueMs(index), clock, spinMs);
    if (Atomics.compareExchange(flags, UNDER_WAY, 0, 1) === 0) parentPort?.postMessage(null);
  }
}

/** @param {number} dueMs @param {Clock} clock @param {number} spinMs */
function waitFor(dueMs, clock, spinMs) {
  for (let left = dueMs - clock(); left > spinMs; left = dueMs - clock()) {
    Atomics.wait(never, 0, 0, left - spinMs);
  }
  while (clock() < dueMs);
}

/** Wakes no sender: the flag marks a wake-up as already pending. @param {LoadPlan} short */
function warmUp(short) {
  const flags = new Int32Array(new SharedArrayBuffer(CONTROL_BYTES));
  flags[UNDER_WAY] = 1;
  for (let i = 0; i < WARM_UP_ROUNDS; i++) {
    pace(createSchedule(short), 0, 1, createClock(process.hrtime.bigint()), flags, 0);
  }
}

if (warmUpLoad !== null) warmUp(warmUpLoad);
const flags = new Int32Array(control);
const schedule = createSchedule(load);
parentPort?.postMessage({ type: 'ready' });
Atomics.wait(flags, STARTED, 0);
const gapMs = (1000 * shards) / Number(load.ratePerSecond);
const spinMs = spins && gapMs >= SPIN_GAP_MS ? SPIN_MS : 0;
pace(schedule, shard, shards, createClock(new BigInt64Array(control)[ORIGIN]), flags, spinMs);
// Waits until terminated: exiting takes a millisecond or two, which the sender may need for the last arrival.
Atomics.wait(never, 0, 0);
