/** One shard's sending, from time zero to its last response: pacer, slots and recorder put together, and watched. */

import { settledFrom } from '../plan/stages.js';
import { createAlarm } from './pacing/alarm.js';
import { countDue, createPacer } from './pacing/pacer.js';
import { createSlots, startOf } from './slots.js';
import { BEAT_MS, createWatch, watchBacklog } from './watch/sender.js';

/** @import { Connection, Request } from '../http/exchange.js' */
/** @import { Clock } from './clock.js' */
/** @import { Alarm } from './pacing/alarm.js' */
/** @import { Pacing } from './pacing/choose.js' */
/** @import { Arrivals } from './pacing/pacer.js' */
/** @import { End, ShardInput } from './shard.js' */

/** Interval of watermarks and samples of the backlog. */
const WATERMARK_EVERY_MS = 100;
const EXPIRE_MS = 10;

/** A connection that was free for longer than this while arrivals were due shows that the sender was late. */
const LATE_MS = 20;

/** A drop that comes later than this is the tool's: the responses that would have freed connections may lie in their sockets. */
const LATE_DROP_MS = 1;

/**
 * @param {object} context
 * @param {ShardInput} context.input
 * @param {Arrivals} context.arrivals
 * @param {Clock} context.clock
 * @param {Connection[]} context.connections
 * @param {(index: number) => Request} context.request
 * @param {(index: number) => number} context.memberOf which of the plan's operations
 * @param {{count: number, of: (intended: number, member: number) => number}} context.cells of the tally
 * @param {Pick<Awaited<ReturnType<typeof import('./recording/thread.js').startRecorder>>, 'add' | 'advanceWatermark' | 'behind' | 'finish'>} context.recorder
 * @param {Awaited<ReturnType<typeof import('./pacing/thread.js').startPacingThread>> | null} context.pacing
 * @param {Pacing['spins']} context.spins
 * @param {End} context.end
 */
export function startSending({
  input,
  arrivals,
  clock,
  connections,
  request,
  memberOf,
  cells,
  recorder,
  pacing,
  spins,
  end,
}) {
  const { load } = input.plan;
  const { add, advanceWatermark, behind, finish: endRecording } = recorder;
  const { schedule, shards } = arrivals;
  /** @type {Alarm | null} */
  let alarm = null;
  const watch = createWatch({ emptySpinMs: () => alarm?.emptySpinMs?.() ?? 0 });
  const backlog = watchBacklog(settledFrom(load), schedule?.endMs ?? 0);
  let sent = 0;
  let dialled = 0;
  const dropped = new Array(cells.count).fill(0);
  let droppedLate = 0;
  let forgone = { count: 0, carriedMs: 0 };
  let leftWhileFree = false;
  let over = false;
  let stoppedMs = Number.POSITIVE_INFINITY;
  const slots = createSlots({
    clock,
    connections,
    request,
    timeoutMs: load.timeoutMs,
    restAfterFailedConnect: load.model === 'closed',
    reading: watch.reading,
    onDone(slot, { done, late, failure, status, body }) {
      if (slot.dialled && slot.intended >= load.warmupMs) dialled++;
      const couldStart = Math.max(slot.intended, slot.freeSince);
      add({
        operation: memberOf(slot.index),
        index: slot.index,
        intended: slot.intended,
        sent: Number.isNaN(slot.sent) ? slot.handed : slot.sent,
        done,
        lag: startOf(slot) - couldStart,
        carried: couldStart - slot.dueToStart,
        late,
        failure,
        status,
        // A refusal's body has the reason; a success can be counted without its body (see Classify).
        body: body !== null && status < 300 && behind() ? null : body,
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
    createAlarm(_clock, onTime) {
      alarm =
        pacing === null
          ? createAlarm(clock, spins, onTime, {
              work: () => sent,
              idle: () => slots.busy === 0,
              nap: watch.nap,
            })
          : pacing.createAlarm(clock, onTime);
      return alarm;
    },
    onDrop(index, intended, now) {
      if (intended < load.warmupMs) return;
      dropped[cells.of(intended, memberOf(index))]++;
      if (now - intended > LATE_DROP_MS) droppedLate++;
    },
    onEnd() {
      stoppedMs = clock();
      forgone = slots.forgone;
      leftWhileFree = pacer.left() > 0 && slots.free > 0 && slots.nextFreeSince < arrivals.stopAtMs - LATE_MS;
      watch.rest();
      if (slots.busy === 0) finish();
    },
  });
  const beating = watch.needsBeats ? setInterval(watch.beat, BEAT_MS) : undefined;
  const expiry = setInterval(slots.expire, Math.min(EXPIRE_MS, load.timeoutMs));
  const watermarkTimer = setInterval(() => {
    const now = clock();
    advanceWatermark(now);
    // A request that is due while a connection is free waits for this thread, not for a connection.
    backlog.look(now, slots.free > 0 ? 0 : pacer.waiting(), slots.busy);
  }, WATERMARK_EVERY_MS);
  const beginning = setTimeout(watch.begin, Math.max(0, load.warmupMs - clock()));

  function finish() {
    if (over) return;
    over = true;
    const endedMs = clock();
    // Arrivals that became due after an interruption do not count as waiting.
    const waiting = schedule === null ? 0 : countDue(schedule, pacer.next, shards, stoppedMs);
    const tail = { endedMs, next: pacer.next, waiting, carried: forgone.carriedMs, dropped };
    const seen = {
      endedMs,
      fired: pacer.measured,
      left: pacer.left(),
      next: pacer.next,
      droppedLate,
      forgone: Math.min(forgone.count, waiting),
      dialled,
      leftWhileFree,
      backlog: backlog.end(),
    };
    watch.end();
    close();
    end.settle(endRecording(tail).then((recorded) => ({ ...recorded, ...seen, watch: watch.result() })));
  }
  function close() {
    clearInterval(beating);
    clearInterval(expiry);
    clearInterval(watermarkTimer);
    clearTimeout(beginning);
    watch.close();
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
