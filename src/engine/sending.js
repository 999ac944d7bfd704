/** One shard's sending, from time zero to its last response: connects pacer, slots, recorder and watch. */
import { timerMs } from '../common/timers.js';
import { AT_LIMITS } from '../http/failures.js';
import { settledFrom, stagesOf } from '../plan/stages.js';
import { createClock } from './clock.js';
import { createAlarm } from './pacing/alarm.js';
import { countDue, createPacer } from './pacing/pacer.js';
import { createSlots } from './slots.js';
import { BEGIN_EARLY_MS } from './watch/machine.js';
import { BEAT_MS, createWatch, LOOK_MS, watchBacklog, watchStalls, worstStall } from './watch/sender.js';

/** @import { Connection, Request } from '../http/exchange.js' */
/** @import { Kept } from '../operations/index.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Pacing } from './pacing/alarm.js' */
/** @import { Arrivals } from './pacing/pacer.js' */
/** @import { PacingThread } from './pacing/pacing-thread.js' */
/** @import { PackedTally } from './recording/recorder.js' */
/** @import { openWriter, Sample, Tail } from './recording/ring.js' */

/** @typedef {{tally: PackedTally, kept: (Kept | null)[]}} RecorderEnd `kept`: per operation */
/** @typedef {Omit<ReturnType<typeof openWriter>, 'end'>} Writer */

/** Interval of watermarks and backlog samples. */
const WATERMARK_EVERY_MS = 100;
/** With a connection free for longer than this while arrivals were due, the sender was late. */
const LATE_MS = 20;
/** A drop later than this may be the tool's fault: unread responses may keep connections busy. */
const LATE_DROP_MS = 1;
/** With more samples in the ring, the recorder counts further responses but does not check them. */
const MAX_UNRECORDED = 16_384;
/** For so long after the last response the recorder checks further ones, and counts the rest. */
const CHECK_AT_END_MS = 10_000;
/** Likewise, after the second signal. */
const CHECK_MS = 2000;

const spanFrom = (/** @type {number} */ fromMs, /** @type {number} */ toMs) => ({ fromMs, toMs });

/**
 * @param {object} context @param {LoadPlan} context.load @param {Arrivals} context.arrivals
 * @param {bigint} context.originNs time zero @param {Connection[]} context.connections @param {boolean} [context.rotates] see createSlots
 * @param {(index: number) => Request} context.request
 * @param {(index: number) => number} context.memberOf position in the plan's list of operations
 * @param {{count: number, of: (intended: number, member: number) => number}} context.cells of the tally
 * @param {Writer & {finish: (tail: Tail) => Promise<RecorderEnd>}} context.recorder
 * @param {Pacing} context.pacing @param {PacingThread | null} context.thread null: a timer does the pacing
 */
export function startSending(context) {
  const {
    load,
    arrivals,
    originNs,
    connections,
    rotates,
    request,
    memberOf,
    cells,
    recorder,
    pacing,
    thread,
  } = context;
  const clock = createClock(originNs);
  const { add, advanceWatermark, behind } = recorder;
  const { schedule, shards } = arrivals;
  const alarm = createAlarm(clock, pacing, () => pacer.check(), {
    work: () => sent,
    isIdle: () => slots.inFlight === 0,
    nap: (ms) => watch.nap(ms),
  });
  thread?.onWake(alarm.check);
  const watch = createWatch({ emptySpinMs: alarm.emptySpinMs });
  const backlog = watchBacklog(settledFrom(load), schedule?.endMs ?? 0);
  const expireEveryMs = Math.min(LOOK_MS, load.timeoutMs);
  const stages = stagesOf(load);
  const spans = stages.map(({ startMs, endMs }) => spanFrom(load.warmupMs + startMs, load.warmupMs + endMs));
  const stalledUntil = watchStalls(expireEveryMs, [spanFrom(load.warmupMs, arrivals.stopAtMs), ...spans]);
  let unreadMs = 0;
  let sent = 0;
  let dialled = 0;
  let overlapMs = 0;
  const dropped = new Array(cells.count).fill(0);
  let droppedLate = 0;
  let forgone = { count: 0, carriedMs: 0 };
  let leftWhileFree = false;
  let usedMs = 0;
  /** Time of connections that rested after a failed connect, by cell; `limited`: in all, at a limit of this machine. */
  const restedMs = { cells: new Array(cells.count).fill(0), limited: 0 };
  let stoppedMs = Number.POSITIVE_INFINITY;
  let finish = () => {};
  const ended = /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      finish = resolve;
    })
  ).then(conclude);

  const isClosed = load.model === 'closed';
  const slots = createSlots({
    // It reads the clock whenever something happens on a connection.
    clock: () => {
      const nowMs = clock();
      noteStops(nowMs);
      return nowMs;
    },
    unreadMs: () => unreadMs,
    connections,
    rotates,
    request,
    timeoutMs: load.timeoutMs,
    backOffAfterFailedConnect: isClosed,
    reading: watch.reading,
    onDone({ connectedFirst }, sample, backoffMs) {
      if (connectedFirst && sample.intended >= load.warmupMs) dialled++;
      sample.operation = memberOf(sample.index);
      // A refusal's body has the reason; a success can be counted without its body (see Classify).
      if (sample.body !== null && sample.status < 300 && behind() > MAX_UNRECORDED) sample.body = null;
      add(sample);
      sent++;
      usedMs += sample.done - sample.sent;
      if (backoffMs > 0) countRest(sample, backoffMs);
      if (isClosed) countOverlap(sample);
    },
    onFree() {
      pacer.tick();
      if (pacer.hasEnded() && slots.inFlight === 0) finish();
    },
  });
  const pacer = createPacer({
    arrivals,
    clock,
    slots,
    overflow: load.overflow,
    createAlarm: () => alarm,
    onDrop(index, intended, now) {
      if (intended < load.warmupMs) return;
      dropped[cells.of(intended, memberOf(index))]++;
      if (now - intended > LATE_DROP_MS) droppedLate += Math.min(1, slots.freedIn(now - intended));
    },
    onEnd() {
      stoppedMs = clock();
      noteStops(stoppedMs);
      forgone = slots.forgone(pacer.nextDueMs(), stoppedMs);
      leftWhileFree = pacer.left() > 0 && slots.free > 0 && slots.freeSince < arrivals.stopAtMs - LATE_MS;
      watch.endSending();
      if (slots.inFlight === 0) finish();
    },
  });
  const timers = [
    setInterval(() => {
      noteStops(clock());
      slots.expire();
    }, expireEveryMs),
    setInterval(() => {
      const now = clock();
      advanceWatermark(now);
      // A request due while a connection is free waits for this thread, not for a connection.
      backlog.sample(now, slots.free > 0 ? 0 : pacer.waiting(), slots.inFlight);
    }, WATERMARK_EVERY_MS),
    setTimeout(watch.begin, timerMs(load.warmupMs - BEGIN_EARLY_MS - clock())),
  ];
  if (watch.needsBeats) timers.push(setInterval(watch.beat, BEAT_MS));

  /** @param {number} nowMs */
  function noteStops(nowMs) {
    const beforeMs = unreadMs;
    ({ unreadMs } = stalledUntil(nowMs));
    if (unreadMs > beforeMs) watch.reading.onStop(unreadMs - beforeMs);
  }

  /** @param {Sample} sample */
  function countOverlap({ intended, done }) {
    if (intended < load.warmupMs) overlapMs += Math.max(0, Math.min(done, arrivals.stopAtMs) - load.warmupMs);
  }

  /** In the measured phase, if a request waits, and no other connection is free. @param {Sample} sample @param {number} backoffMs */
  function countRest({ failure, intended, done, operation }, backoffMs) {
    const isNeeded = !pacer.hasEnded() && slots.free === 0;
    const ms = Math.min(done + backoffMs, arrivals.stopAtMs) - Math.max(done, load.warmupMs);
    if (!isNeeded || ms <= 0) return;
    restedMs.cells[cells.of(Math.max(intended, load.warmupMs), operation)] += ms;
    if (AT_LIMITS.includes(String(failure))) restedMs.limited += ms;
  }
  /** @param {number} ms of connections @returns {number} estimate of the requests that they would have sent */
  const estimateRequests = (ms) => (usedMs > 0 ? Math.round((ms * sent) / usedMs) : 0);

  async function conclude() {
    const endedMs = clock();
    const { next } = pacer;
    const [stalledMs, ...stalledIn] = stalledUntil(endedMs).stalledMs;
    const inStages = stages.map(({ name, startMs, endMs }, i) => {
      return { stage: name, stalledMs: stalledIn[i], windowMs: endMs - startMs };
    });
    // Excludes requests that became due after an interruption.
    const waiting = schedule === null ? 0 : countDue(schedule, next, shards, stoppedMs);
    const observed = {
      /** Time of the last response, from time zero. */
      endedMs,
      /** Measured requests handed to a connection, as counted by the sender. */
      sent: pacer.measured,
      /** Planned measured requests neither handed out nor dropped. */
      neverSent: pacer.left(),
      /** The first index neither handed out nor dropped. */
      next,
      /** Arrivals dropped because the tool was late. */
      droppedLate: Math.ceil(droppedLate),
      /** Upper bound of due requests never sent because the tool was late. */
      forgone: Math.min(forgone.count, waiting),
      /** Estimate: further requests of a closed loop, on connections that a limit of this machine kept closed. */
      limited: estimateRequests(restedMs.limited),
      /** Measured requests that had to open a connection first. */
      dialled,
      /** Of a closed loop: time of the measured phase that the connections spent with requests of the warm-up, in all. */
      warmupOverlapMs: overlapMs,
      /** Requests remained unsent although connections had been free for more than LATE_MS. */
      leftWhileFree,
      /** Time of the measured phase in which this thread stood still. */
      stalledMs,
      /** The same of the stage with the largest share of it; null: none. */
      stalledStage: worstStall(inStages),
      backlog: backlog.end(),
      watch: watch.end(),
    };
    close();
    timers.push(setTimeout(recorder.skipBodies, CHECK_AT_END_MS));
    const rested = restedMs.cells.map(estimateRequests);
    const tail = { endedMs, next, waiting, carriedMs: forgone.carriedMs, dropped, rested };
    const recorded = await recorder.finish(tail);
    // The timer of a sender that only warmed up would keep the process, and its ring, for 10 s.
    close();
    return { ...recorded, ...observed };
  }
  function close() {
    for (const timer of timers) clearTimeout(timer);
    watch.close();
  }

  pacer.tick();
  return {
    ended,
    stop: pacer.stop,
    cutOff() {
      pacer.stop();
      slots.cutOff();
      setTimeout(recorder.skipBodies, CHECK_MS).unref();
    },
    state() {
      pacer.check();
      return { sent: sent + slots.inFlight, inFlight: slots.inFlight, waiting: pacer.waiting() };
    },
    close() {
      pacer.stop();
      close();
    },
  };
}
