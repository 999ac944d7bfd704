/**
 * Shard k of N: everything that one sending thread does, from opening its connections to its Snapshot. With one
 * thread it runs in the main one, with more in shard-worker.js; the code is the same.
 */
import pLimit from 'p-limit';
import { createConnection } from '../http/connection.js';
import { loadOperation } from '../operations/index.js';
import { createAlarm } from './alarm.js';
import { createClock } from './clock.js';
import { countDue, createPacer } from './pacer.js';
import { startPacingThread } from './pacing-thread.js';
import { startRecorder } from './recorder-thread.js';
import { rehearse } from './rehearsal.js';
import { createSchedule } from './schedule.js';
import { createSlots } from './slots.js';

/**
 * @typedef {object} ShardInput plain data
 * @property {import('../plan.js').Plan} plan
 * @property {import('../operations/index.js').Fixture} fixture
 * @property {import('../http/tls.js').Tls} tls
 * @property {number | null} measuredMs planned length of the measured part
 * @property {number} shard k
 * @property {number} shards N
 */
/**
 * @typedef {object} ShardState
 * @property {number} sent handed to a connection so far, warm-up included
 * @property {number} inFlight
 * @property {number} waiting due, but without a free connection
 */
/**
 * @typedef {object} ShardEnd
 * @property {import('./recorder.js').Snapshot} snapshot
 * @property {import('../operations/index.js').Kept | null} kept
 * @property {number} endedMs when the last answer was in, from time zero
 * @property {number} fired requests of the measured part that were handed to a connection, as the sender counted them
 * @property {number} left requests of the measured part that were planned, and neither handed out nor dropped
 * @property {number} droppedLate arrivals dropped so long after they were due that the tool itself was late
 */
/**
 * @typedef {object} Shard
 * @property {() => Promise<string[]>} warm opens connections, rehearses; returns why connections could not be opened
 * @property {(originNs: bigint) => void} start
 * @property {() => void} stop sends nothing more; what is in flight is still waited for
 * @property {() => void} cutOff ends what is in flight too
 * @property {() => ShardState} state
 * @property {Promise<ShardEnd>} ended
 * @property {() => Promise<void>} close
 */

/** The recorder is told the time, and time-outs are looked for, this often. */
const TELL_MS = 100;
const EXPIRE_MS = 10;
const OPEN_AT_ONCE = 32;

/** An arrival is dropped when it is due; one that is dropped later than this was looked at too late. */
const LATE_DROP_MS = 20;

/** Mean gaps between arrivals below this are paced by a thread of their own. */
const THREAD_BELOW_GAP_MS = 10;

/**
 * @param {ShardInput} input
 * @param {{onSecond: (row: import('./recorder.js').SecondRow) => void}} events
 * @returns {Promise<Shard>}
 */
export async function createShard(input, { onSecond }) {
  const { plan, fixture, tls, measuredMs, shard, shards } = input;
  const operation = await loadOperation(plan.operation);
  const request = operation.createRequester(plan, fixture);
  const recorder = await startRecorder({ plan, fixture, shards, measuredMs, onSecond });
  const count = share(plan.load.concurrency, shard, shards);
  const connections = Array.from({ length: count }, () => createConnection({ origin: fixture.origin, tls }));
  const pacing = wantsPacingThread(plan.load, shards) ? await startPacingThread(input) : null;
  const arrivals = arrivalsOf(input);
  const end = withEnd();
  recorder.ended.catch((error) => end.settle(Promise.reject(error)));
  /** @type {ReturnType<typeof startSending> | null} */
  let sending = null;

  return {
    async warm() {
      await rehearse(request);
      const limit = pLimit(OPEN_AT_ONCE);
      const deadline = performance.now() + plan.load.timeoutMs;
      const results = await Promise.allSettled(
        connections.map((connection) =>
          limit(() => connection.open(Math.max(1, deadline - performance.now()))),
        ),
      );
      return results.flatMap((result) =>
        result.status === 'rejected' ? [String(result.reason.message)] : [],
      );
    },
    start(originNs) {
      pacing?.start(originNs);
      sending = startSending({
        input,
        arrivals,
        clock: createClock(originNs),
        connections,
        request,
        recorder,
        pacing,
        end,
      });
    },
    stop: () => sending?.stop(),
    cutOff: () => sending?.cutOff(),
    state: () => sending?.state() ?? { sent: 0, inFlight: 0, waiting: 0 },
    ended: end.promise,
    async close() {
      sending?.close();
      await Promise.all([
        recorder.terminate(),
        pacing?.stop(),
        ...connections.map((connection) => connection.close()),
      ]);
    },
  };
}

/**
 * @param {object} context
 * @param {ShardInput} context.input
 * @param {import('./pacer.js').Arrivals} context.arrivals
 * @param {import('./clock.js').Clock} context.clock
 * @param {import('./slots.js').Connection[]} context.connections
 * @param {(index: number) => import('./slots.js').Request} context.request
 * @param {Awaited<ReturnType<typeof startRecorder>>} context.recorder
 * @param {Awaited<ReturnType<typeof startPacingThread>> | null} context.pacing
 * @param {ReturnType<typeof withEnd>} context.end
 */
function startSending({ input, arrivals, clock, connections, request, recorder, pacing, end }) {
  const { load } = input.plan;
  let sent = 0;
  let dropped = 0;
  let droppedLate = 0;
  let over = false;
  let stoppedMs = Number.POSITIVE_INFINITY;
  const slots = createSlots({
    clock,
    connections,
    request,
    timeoutMs: load.timeoutMs,
    restAfterFailedConnect: load.model === 'closed',
    onDone(slot, done, failure, status, body) {
      recorder.add({
        operation: 0,
        index: slot.index,
        intended: slot.intended,
        sent: Number.isNaN(slot.sent) ? slot.handed : slot.sent,
        done,
        lag: slot.handed - slot.dueToStart,
        failure,
        status,
        body: body === null || recorder.behind() ? null : body,
      });
      sent++;
    },
    onFree() {
      pacer.tick();
      if (pacer.ended() && slots.busy === 0) finish();
    },
  });
  const pacer = createPacer({
    arrivals,
    clock,
    slots,
    overflow: load.overflow,
    createAlarm:
      pacing?.createAlarm ??
      ((c, onTime) => createAlarm(c, load.model === 'open' ? load.pacing : 'sleep', onTime)),
    onDrop(_index, intended, now) {
      if (intended < load.warmupMs) return;
      dropped++;
      if (now - intended > LATE_DROP_MS) droppedLate++;
    },
    onEnd() {
      stoppedMs = clock();
      if (slots.busy === 0) finish();
    },
  });
  const expiry = setInterval(slots.expire, Math.min(EXPIRE_MS, load.timeoutMs));
  const telling = setInterval(() => recorder.tell(clock()), TELL_MS);

  function finish() {
    if (over) return;
    over = true;
    close();
    const endedMs = clock();
    const { schedule, shards } = arrivals;
    // What became due after an interruption, while answers were awaited, nobody waited for.
    const waiting = schedule === null ? 0 : countDue(schedule, pacer.next, shards, stoppedMs);
    const tail = { endedMs, next: pacer.next, waiting, dropped };
    const counts = { fired: pacer.measured, left: pacer.left(), droppedLate };
    end.settle(recorder.finish(tail).then((recorded) => ({ ...recorded, ...counts, endedMs })));
  }
  function close() {
    clearInterval(expiry);
    clearInterval(telling);
  }

  pacer.start();
  return {
    stop: pacer.stop,
    cutOff() {
      pacer.stop();
      slots.cutOff();
    },
    state() {
      pacer.tick();
      return { sent: sent + slots.busy, inFlight: slots.busy, waiting: pacer.waiting() };
    },
    close() {
      pacer.stop();
      close();
    },
  };
}

/**
 * `auto` leaves wide gaps to a timer whose last stretch is spun, which is exact and costs little then, and narrow ones to
 * a thread that sleeps, so that no core is spun away.
 *
 * @param {import('../plan.js').LoadPlan} load
 * @param {number} shards
 */
function wantsPacingThread({ pacing, ratePerSecond }, shards) {
  return pacing === 'auto' && ratePerSecond !== null && (1000 * shards) / ratePerSecond < THREAD_BELOW_GAP_MS;
}

/**
 * @param {ShardInput} input
 * @returns {import('./pacer.js').Arrivals}
 */
function arrivalsOf({ plan: { load }, shard, shards }) {
  const schedule = load.model === 'open' ? createSchedule(load) : null;
  const closedEnd = load.durationMs === null ? Number.POSITIVE_INFINITY : load.warmupMs + load.durationMs;
  return {
    shard,
    shards,
    schedule,
    stopAtMs: schedule === null ? closedEnd : schedule.endMs + load.timeoutMs,
    warmupMs: load.warmupMs,
    requests: load.requests === null ? null : share(load.requests, shard, shards),
  };
}

/**
 * @param {number} total
 * @param {number} shard
 * @param {number} shards
 * @returns {number} the shard's part of a total: parts differ by one at most and sum to the total
 */
export function share(total, shard, shards) {
  return Math.floor((total + shards - 1 - shard) / shards);
}

function withEnd() {
  /** @type {(value: ShardEnd | Promise<ShardEnd>) => void} */
  let settle = () => {};
  /** @type {Promise<ShardEnd>} */
  const promise = new Promise((resolve) => {
    settle = resolve;
  });
  promise.catch(() => {});
  return { promise, settle };
}
