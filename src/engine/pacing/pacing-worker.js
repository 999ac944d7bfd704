/**
 * Thread entry: knows the schedule of one shard and wakes its sender for every arrival. It sleeps in `Atomics.wait`, which
 * unlike a timer keeps fractions of a millisecond, so the sender's thread can sleep too. One message under way at most:
 * a sender that is late finds everything that is due when it comes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createSchedule } from '../../plan/schedule.js';
import { createClock } from '../clock.js';
import { ORIGIN, STARTED, UNDER_WAY } from './pacing-thread.js';

/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Clock } from '../clock.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** The kernel wakes a sleeper about this late; the rest of a long wait is spun. */
const SPIN_MS = 0.06;

/** Arrivals nearer to each other than this are not worth a wait of their own. */
const SPIN_GAP_MS = 0.5;

/** So that V8 does not count on one schedule. */
const WARM_UP_ROUNDS = 2;

const port = /** @type {MessagePort} */ (parentPort);
/** @type {{load: LoadPlan, shard: number, shards: number, spins: boolean, warmUpLoad: LoadPlan | null, control: SharedArrayBuffer}} */
const { load, shard, shards, spins, warmUpLoad, control } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * @param {ReturnType<typeof createSchedule>} schedule
 * @param {{first: number, step: number}} indexes of the arrivals that are paced
 * @param {Clock} clock
 * @param {Int32Array} flags
 * @param {number} spinMs
 */
function pace(schedule, { first, step }, clock, flags, spinMs) {
  for (let index = first; index < schedule.count; index += step) {
    waitFor(schedule.dueMs(index), clock, spinMs);
    if (Atomics.compareExchange(flags, UNDER_WAY, 0, 1) === 0) port.postMessage(null);
  }
}

/** @param {number} dueMs @param {Clock} clock @param {number} spinMs */
function waitFor(dueMs, clock, spinMs) {
  for (let left = dueMs - clock(); left > spinMs; left = dueMs - clock()) {
    Atomics.wait(never, 0, 0, left - spinMs);
  }
  while (clock() < dueMs);
}

/** Wakes no sender: the flag says that a wake-up is already under way. @param {LoadPlan} short */
function warmUp(short) {
  const flags = new Int32Array(new SharedArrayBuffer(control.byteLength));
  flags[UNDER_WAY] = 1;
  for (let i = 0; i < WARM_UP_ROUNDS; i++) {
    pace(createSchedule(short), { first: 0, step: 1 }, createClock(process.hrtime.bigint()), flags, 0);
  }
}

if (warmUpLoad !== null) warmUp(warmUpLoad);
const flags = new Int32Array(control);
const schedule = createSchedule(load);
port.postMessage({ type: 'ready' });
Atomics.wait(flags, STARTED, 0);
const gapMs = (1000 * shards) / Number(load.ratePerSecond);
const spinMs = spins && gapMs >= SPIN_GAP_MS ? SPIN_MS : 0;
const clock = createClock(new BigInt64Array(control)[ORIGIN]);
pace(schedule, { first: shard, step: shards }, clock, flags, spinMs);
// A thread takes a millisecond or two to end, which the sender may need for the last arrival: it waits to be stopped.
Atomics.wait(never, 0, 0);
