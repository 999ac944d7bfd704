/**
 * Thread entry: follows one shard's schedule and wakes its sender for every arrival. It sleeps in
 * `Atomics.wait`, which unlike a timer has sub-millisecond resolution. At most one message is pending: a late
 * sender handles everything due when it wakes.
 */
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { createSchedule } from '../../plan/schedule.js';
import { createClock } from '../clock.js';

/** @import { MessagePort } from 'node:worker_threads' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Clock } from '../clock.js' */

/** The kernel wakes a sleeper about this late, so the thread spins at the end, unless gaps are narrow. */
const SPIN_MS = 0.06;
const SPIN_GAP_MS = 0.5;

/** @type {{load: LoadPlan, shard: number, shards: number, spins: boolean}} */
const { load, shard, shards, spins } = workerData;
/** @type {{warmUpLoads: LoadPlan[], isPending: Int32Array}} see pacing-thread.js */
const { warmUpLoads, isPending } = workerData;
const port = /** @type {MessagePort} */ (parentPort);
const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * @param {ReturnType<typeof createSchedule>} schedule
 * @param {number} first index @param {number} step to the next
 * @param {{clock: Clock, isPending: Int32Array, spinMs: number, port: MessagePort}} sender
 */
function pace(schedule, first, step, { clock, isPending, spinMs, port }) {
  for (let index = first; index < schedule.count; index += step) {
    waitFor(schedule.dueMs(index), clock, spinMs);
    if (Atomics.compareExchange(isPending, 0, 0, 1) === 0) port.postMessage(null);
  }
}

/** @param {number} dueMs @param {Clock} clock @param {number} spinMs */
function waitFor(dueMs, clock, spinMs) {
  for (let left = dueMs - clock(); left > spinMs; left = dueMs - clock()) {
    Atomics.wait(neverWoken, 0, 0, left - spinMs);
  }
  while (clock() < dueMs);
}

// Kept: V8 forgets a collected closure and specialises on the next one again.
const rounds = warmUpLoads.map((short) => {
  const { port1 } = new MessageChannel();
  const clock = createClock(process.hrtime.bigint());
  const pending = new Int32Array(new SharedArrayBuffer(4));
  const round = {
    schedule: createSchedule(short),
    sender: { clock, isPending: pending, spinMs: 0, port: port1 },
  };
  // Once it is pending, nothing wakes a sender again.
  pace(round.schedule, 0, 1, round.sender);
  port1.close();
  return round;
});
const schedule = createSchedule(load);
const gapMs = (1000 * shards) / Number(load.ratePerSecond);
const spinMs = spins && gapMs >= SPIN_GAP_MS ? SPIN_MS : 0;
// The listener keeps the thread alive: exiting takes a millisecond or two that the sender may need.
port.on('message', (originNs) => {
  rounds.length = 0;
  pace(schedule, shard, shards, { clock: createClock(originNs), isPending, spinMs, port });
});
port.postMessage({ type: 'ready' });
