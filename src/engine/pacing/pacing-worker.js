/**
 * Thread entry: follows one shard's schedule and wakes its sender for every arrival. It sleeps in
 * `Atomics.wait`, which unlike a timer has sub-millisecond resolution. At most one message is pending: a late
 * sender handles everything due when it wakes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createSchedule } from '../../plan/schedule.js';
import { createClock } from '../clock.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Clock } from '../clock.js' */

/** The kernel wakes a sleeper about this late, so the thread spins at the end, unless gaps are narrow. */
const SPIN_MS = 0.06;
const SPIN_GAP_MS = 0.5;
/** Keeps V8 from specialising on one schedule. */
const WARM_UP_ROUNDS = 2;

/** @type {{load: LoadPlan, shard: number, shards: number, spins: boolean}} */
const { load, shard, shards, spins } = workerData;
/** @type {{warmUpLoad: LoadPlan | null, isPending: Int32Array}} see pacing-thread.js */
const { warmUpLoad, isPending } = workerData;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * @param {ReturnType<typeof createSchedule>} schedule
 * @param {number} first index @param {number} step to the next
 * @param {Clock} clock @param {Int32Array} isPending @param {number} spinMs
 */
function pace(schedule, first, step, clock, isPending, spinMs) {
  for (let index = first; index < schedule.count; index += step) {
    waitFor(schedule.dueMs(index), clock, spinMs);
    if (Atomics.compareExchange(isPending, 0, 0, 1) === 0) parentPort?.postMessage(null);
  }
}

/** @param {number} dueMs @param {Clock} clock @param {number} spinMs */
function waitFor(dueMs, clock, spinMs) {
  for (let left = dueMs - clock(); left > spinMs; left = dueMs - clock()) {
    Atomics.wait(neverWoken, 0, 0, left - spinMs);
  }
  while (clock() < dueMs);
}

/** Wakes no sender: the flag marks a wake-up as already pending. @param {LoadPlan} short */
function warmUp(short) {
  const pending = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  for (let i = 0; i < WARM_UP_ROUNDS; i++) {
    pace(createSchedule(short), 0, 1, createClock(process.hrtime.bigint()), pending, 0);
  }
}

if (warmUpLoad !== null) warmUp(warmUpLoad);
const schedule = createSchedule(load);
const gapMs = (1000 * shards) / Number(load.ratePerSecond);
const spinMs = spins && gapMs >= SPIN_GAP_MS ? SPIN_MS : 0;
// The listener keeps the thread alive: exiting takes a millisecond or two that the sender may need.
parentPort?.on('message', (originNs) => {
  pace(schedule, shard, shards, createClock(originNs), isPending, spinMs);
});
parentPort?.postMessage({ type: 'ready' });
