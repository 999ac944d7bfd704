/**
 * Thread entry: knows the schedule of one shard and wakes its sender for every arrival. It sleeps in `Atomics.wait`, which
 * unlike a timer keeps fractions of a millisecond, so the sender's thread can sleep too. One message under way at most:
 * a sender that is late finds everything that is due when it comes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createClock } from '../clock.js';
import { createSchedule } from './schedule.js';
import { ORIGIN, STARTED, UNDER_WAY } from './thread-control.js';

/** The kernel wakes a sleeper about this late; the rest of a long wait is spun. */
const SPIN_MS = 0.06;

/** Arrivals nearer to each other than this are not worth a wait of their own. */
const SPIN_GAP_MS = 0.5;

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
/** @type {{load: import('../../plan.js').LoadPlan, shard: number, shards: number, spins: boolean, control: SharedArrayBuffer}} */
const { load, shard, shards, spins, control } = workerData;
const flags = new Int32Array(control);
const schedule = createSchedule(load);
port.postMessage(null);
Atomics.wait(flags, STARTED, 0);
const clock = createClock(new BigInt64Array(control)[ORIGIN]);
const never = new Int32Array(new SharedArrayBuffer(4));
const gapMs = (1000 * shards) / /** @type {number} */ (load.ratePerSecond);
const spinMs = spins && gapMs >= SPIN_GAP_MS ? SPIN_MS : 0;

/** @param {number} dueMs */
function waitFor(dueMs) {
  for (let left = dueMs - clock(); left > spinMs; left = dueMs - clock()) {
    Atomics.wait(never, 0, 0, left - spinMs);
  }
  while (clock() < dueMs);
}

for (let index = shard; index < schedule.count; index += shards) {
  waitFor(schedule.dueMs(index));
  if (Atomics.compareExchange(flags, UNDER_WAY, 0, 1) === 0) port.postMessage(null);
}
// To end takes a thread a millisecond or two, which the sender may need for the last arrival: it waits to be stopped.
Atomics.wait(never, 0, 0);
