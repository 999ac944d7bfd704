/**
 * Measures a sender thread while it sends: how late it reads, its garbage collection time, how busy it is,
 * and its time in the kernel's run queue. Everything counts from the start of the measured phase.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { addUp } from '../recording/tally.js';
import { openRunQueue } from './run-queue.js';
/** @import { PerformanceEntry } from 'node:perf_hooks' */

/** Interval of `beat`. A beat late by more than a timer's granularity shows that the thread stalled. */
export const BEAT_MS = 10;
const TIMER_MS = 1;
/** Reading the kernel's counter takes 3 us. Between readings, all time counts as awake. */
const SAMPLE_EVERY_MS = 0.4;

/**
 * No counter covers the time from our timestamp to the wire, nor from the wire to the run queue: 10 to 50 us,
 * measured with a packet capture.
 */
const UNSEEN_MS = 0.05;
/** A connection opens with this many reads, each after a write: a name lookup, TCP, two flights of TLS (1.2, or a HelloRetryRequest). */
const OPENING_READS = 4;
/** Turns are remembered by the time slice in which they ended, for the last 5 s. */
const [SLICE_MS, SLICES] = [20, 256];

const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * @param {object} [sources] for the calling thread @param {() => number} [sources.now] ms, monotonic
 * @param {() => number} [sources.idleMs] event-loop idle time so far
 * @param {() => number} [sources.emptySpinMs] so far
 * @param {ReturnType<typeof openRunQueue>} [sources.runQueue]
 * @param {(ms: number) => void} [sources.sleep] blocks the thread
 */
export function createWatch({
  now = () => performance.now(),
  idleMs = () => performance.nodeTiming.idleTime,
  emptySpinMs = () => 0,
  runQueue = openRunQueue(),
  sleep = (ms) => void Atomics.wait(neverWoken, 0, 0, ms),
} = {}) {
  const gc = { count: 0, totalMs: 0, longestMs: 0 };
  const observer = new PerformanceObserver((list) => addCollections(list.getEntries()));
  let from = /** @type {ReturnType<typeof read> | null} */ (null);
  let sending = {
    /** From the start of the measured phase to the end of sending. */
    wallMs: 0,
    /** Part of `wallMs` in which the event loop neither waited nor spun without work. */
    busyMs: 0,
    emptySpinMs: 0,
    /** Part of `wallMs` in which the thread was runnable but had no core; null: unknown. */
    runQueueMs: /** @type {number | null} */ (null),
  };
  let lastBeatMs = now();
  let lateBeatsMs = 0;
  let nappedMs = 0;
  const queuedMs = runQueue?.readMs ?? (() => lateBeatsMs + lateBeatMs());
  const reading = watchReading({ now, idleMs, queuedMs, emptySpinMs, afterTurn: setImmediate });

  /** @param {PerformanceEntry[]} entries */
  function addCollections(entries) {
    for (const { duration } of entries) {
      gc.count++;
      gc.totalMs += duration;
      gc.longestMs = Math.max(gc.longestMs, duration);
    }
  }
  /** How late the next beat is so far. */
  function lateBeatMs() {
    return Math.max(0, now() - lastBeatMs - BEAT_MS - TIMER_MS);
  }
  function read() {
    const queuedMs = runQueue?.readMs() ?? null;
    return { atMs: now(), idleMs: idleMs(), spunMs: emptySpinMs(), nappedMs, queuedMs };
  }

  return {
    reading,
    /** If true, call `beat` from a timer every BEAT_MS. */
    needsBeats: runQueue === null,
    beat() {
      lateBeatsMs += lateBeatMs();
      lastBeatMs = now();
    },
    /** The measured phase begins. */
    begin() {
      observer.observe({ entryTypes: ['gc'] });
      from = read();
    },
    /** Blocks this thread while nothing is in flight. @param {number} ms */
    nap(ms) {
      const fromMs = now();
      sleep(ms);
      nappedMs += now() - fromMs;
    },
    /** Sending has ended; responses may still arrive. */
    endSending() {
      if (from === null) return;
      const [begin, to] = [from, read()];
      const since = (/** @type {'atMs' | 'idleMs' | 'spunMs' | 'nappedMs'} */ key) => to[key] - begin[key];
      const [wallMs, emptySpinMs] = [since('atMs'), since('spunMs')];
      const busyMs = Math.max(0, wallMs - since('idleMs') - since('nappedMs') - emptySpinMs);
      const runQueueMs = to.queuedMs === null ? null : to.queuedMs - Number(begin.queuedMs);
      sending = { wallMs, busyMs, emptySpinMs, runQueueMs };
    },
    /** Nothing more is in flight. */
    end() {
      addCollections(observer.takeRecords());
      return { gc, ...sending };
    },
    close() {
      observer.disconnect();
      runQueue?.close();
    },
  };
}

/**
 * Upper bound of how late each response is read. It waits in its socket until this thread polls; while the
 * thread sleeps, nothing waits, as an arrival wakes it (late wake-ups: see wakes.js). Responses that arrived before the previous turn of the
 * event loop were read in that turn. So a response waited no longer than this thread was awake, or runnable
 * without a core, since that turn or since its request was sent. Linux counts the time without a core;
 * elsewhere, late timers show it.
 * @param {object} sources @param {() => number} sources.now ms, monotonic
 * @param {() => number} sources.idleMs event-loop idle time so far
 * @param {() => number} sources.queuedMs time so far in which this thread was runnable without a core
 * @param {() => number} [sources.emptySpinMs] time so far in short turns of the event loop without work: each polled the sockets
 * @param {(call: () => void) => void} sources.afterTurn calls back after the turn of the event loop
 */
export function watchReading({ now, idleMs, queuedMs, emptySpinMs = () => 0, afterTurn }) {
  let sampled = { atMs: now(), idleMs: idleMs(), queuedMs: queuedMs() };
  let isTurn = false;
  /** The event loop waits only between turns. */
  let turnIdleMs = sampled.idleMs;
  let turnSpinMs = emptySpinMs();
  /** Time in which the process was stopped while its event loop waited: nothing woke it. */
  let stoppedMs = 0;
  /** Ends of the last two turns, in time awake: older bytes were read before this turn. */
  let endedMs = awakeMs(sampled.atMs);
  let endedBeforeMs = endedMs;
  /** When the last one ended. */
  let endedAtMs = sampled.atMs;
  /** By time slice: the longest time awake of two consecutive turns. */
  const longestMs = new Float64Array(SLICES);
  /** Last one in `longestMs`. */
  let slice = 0;
  /** Of all slices. */
  let longestEverMs = 0;

  /** Lower bound of the time this thread was awake, runnable or stopped. @param {number} atMs in this turn */
  function awakeMs(atMs) {
    return atMs - turnIdleMs - turnSpinMs + sampled.queuedMs + stoppedMs;
  }
  /** Upper bound. @param {number} fromMs in time awake */
  function awakeSince(fromMs) {
    const unknownMs = turnIdleMs - sampled.idleMs;
    return Math.max(0, awakeMs(now()) + unknownMs - fromMs);
  }
  const sliceAt = (/** @type {number} */ atMs) => Math.floor(atMs / SLICE_MS);
  function endTurn() {
    isTurn = false;
    const last = sliceAt(now());
    for (slice = Math.max(slice, last - SLICES); slice < last; slice++) longestMs[(slice + 1) % SLICES] = 0;
    const lastMs = awakeSince(endedBeforeMs);
    longestMs[slice % SLICES] = Math.max(longestMs[slice % SLICES], lastMs);
    longestEverMs = Math.max(longestEverMs, lastMs);
    endedBeforeMs = endedMs;
    endedAtMs = now();
    endedMs = awakeMs(endedAtMs);
  }
  function beginTurn() {
    if (isTurn) return;
    isTurn = true;
    afterTurn(endTurn);
    turnIdleMs = idleMs();
    turnSpinMs = emptySpinMs();
    const atMs = now();
    if (atMs - sampled.atMs >= SAMPLE_EVERY_MS) sampled = { atMs, idleMs: turnIdleMs, queuedMs: queuedMs() };
  }

  return {
    now,
    /**
     * Call after sending: reading the counters would delay the request.
     * @param {number} beforeMs from `now`, just before sending @returns {number} for `lateMs`
     */
    onSent(beforeMs) {
      const { queuedMs: knownMs } = sampled;
      beginTurn();
      // The counter cannot have grown by more than the time since then.
      const queuedThenMs = Math.max(knownMs, sampled.queuedMs - (now() - beforeMs));
      return beforeMs - turnIdleMs - turnSpinMs + queuedThenMs + stoppedMs;
    },
    /** Call in the turn in which it is noticed. @param {number} ms in which this thread stood still, just now */
    onStop(ms) {
      beginTurn();
      const atMs = now();
      // All time between that turn and the stop may have been awake.
      const beforeMs = Math.max(0, atMs - ms - endedAtMs);
      stoppedMs += Math.max(0, ms - Math.max(0, awakeMs(atMs) - endedMs - beforeMs));
    },
    /** For a response just read. @param {number} sentMs from `onSent` @returns {number} ms, upper bound */
    lateMs(sentMs) {
      beginTurn();
      return UNSEEN_MS + awakeSince(Math.max(endedBeforeMs, sentMs));
    },
    /**
     * For what takes an unknown number of turns, each of which the server may wait for.
     * @param {number} sentMs from `onSent` @returns {number} ms, upper bound
     */
    awakeSince(sentMs) {
      beginTurn();
      return UNSEEN_MS + awakeSince(sentMs);
    },
    /**
     * For all reads since a connection began to open. Node does not report each of them, and each may have been late by the
     * longest of these turns.
     * @param {number} sentMs from `onSent`, at the beginning @param {number} openingMs since then
     * @returns {number} ms, upper bound
     */
    openingLateMs(sentMs, openingMs) {
      beginTurn();
      const first = Math.max(0, sliceAt(now() - openingMs));
      const isKept = sliceAt(now()) - first < SLICES;
      let longest = Math.max(awakeSince(endedBeforeMs), isKept ? 0 : longestEverMs);
      for (let i = slice; isKept && i >= first; i--) longest = Math.max(longest, longestMs[i % SLICES]);
      return OPENING_READS * UNSEEN_MS + Math.min(awakeSince(sentMs), OPENING_READS * longest);
    },
  };
}

/** The sender looks at least this often whether it stood still; only then do requests expire. */
export const LOOK_MS = 10;
/** Shorter stops of a thread do not count: timers are that late on some systems, and a busy machine has many. */
export const MIN_STALL_MS = 50;
/** A smaller total, of a stage or of the run, is noise. */
export const MIN_STALLED_MS = 100;

/**
 * Time in which a thread stood still, e.g. as its process was stopped, or a container had used up its CPU time. A closed loop,
 * which has no due times, then only sends less. Call it from a timer, and with each event of a connection: a busy thread does not
 * stand still.
 * @param {number} everyMs max between calls @param {readonly {fromMs: number, toMs: number}[]} spans
 * @returns {(nowMs: number) => {stalledMs: readonly number[], unreadMs: number}} so far: of each span; upper bound of the time in which
 *   responses were not read because of it
 */
export function watchStalls(everyMs, spans) {
  const sums = { stalledMs: spans.map(() => 0), unreadMs: 0 };
  let lastMs = 0;
  return (nowMs) => {
    const readMs = lastMs;
    const dueMs = lastMs + everyMs;
    lastMs = nowMs;
    if (nowMs - dueMs < MIN_STALL_MS) return sums;
    sums.unreadMs += nowMs - readMs;
    for (const [i, { fromMs, toMs }] of spans.entries())
      sums.stalledMs[i] += Math.max(0, Math.min(nowMs, toMs) - Math.max(dueMs, fromMs));
    return sums;
  };
}

/** In a stage of a run, ms @typedef {{stage: string, stalledMs: number, windowMs: number}} StageStall */

/** @param {readonly StageStall[]} stalls @returns {StageStall | null} that of the largest share of its stage; null: none counts */
export function worstStall(stalls) {
  const share = (/** @type {StageStall} */ { stalledMs, windowMs }) => stalledMs / windowMs;
  return stalls
    .filter(({ stalledMs }) => stalledMs >= MIN_STALLED_MS)
    .reduce(
      (/** @type {StageStall | null} */ worst, one) =>
        worst === null || share(one) > share(worst) ? one : worst,
      null,
    );
}

/** @typedef {ReturnType<ReturnType<typeof watchBacklog>['end']>} BacklogEnd plain data */

const QUARTERS = 4;

/**
 * @param {number} fromMs when the rate, and with it the number in flight, stops rising
 * @param {number} toMs when the last request is due
 */
export function watchBacklog(fromMs, toMs) {
  const seen = {
    looks: 0,
    /** Samples that found a request waiting for a connection. */
    waitingLooks: 0,
    /** Minimum of requests due without a response in each quarter of the time; null: no sample. */
    quarterMins: /** @type {(number | null)[]} */ (Array(QUARTERS).fill(null)),
    /** Requests due without a response in the last sample. */
    atEnd: 0,
  };
  return {
    /** @param {number} nowMs @param {number} waiting for a connection @param {number} inFlight */
    sample(nowMs, waiting, inFlight) {
      if (nowMs < fromMs || nowMs >= toMs) return;
      seen.looks++;
      if (waiting > 0) seen.waitingLooks++;
      seen.atEnd = waiting + inFlight;
      const quarter = Math.floor((QUARTERS * (nowMs - fromMs)) / (toMs - fromMs));
      seen.quarterMins[quarter] = Math.min(seen.quarterMins[quarter] ?? Number.POSITIVE_INFINITY, seen.atEnd);
    },
    end: () => seen,
  };
}

/** @param {BacklogEnd[]} parts of the shards of one run, at least one @returns {BacklogEnd} */
export function mergeBacklogs(parts) {
  const sum = addUp(parts);
  const isKnown = (/** @type {number} */ i) => parts.every(({ quarterMins }) => quarterMins[i] !== null);
  return { ...sum, quarterMins: sum.quarterMins.map((min, i) => (isKnown(i) ? min : null)) };
}
