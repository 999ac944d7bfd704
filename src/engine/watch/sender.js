/**
 * What a sender thread observes of itself while it sends: how late it reads, how long it collected garbage, how busy it was,
 * and how long it stood in the kernel's run queue. Everything counts from the start of the measured part.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { watchReading } from './reading.js';
/** @import { PerformanceEntry } from 'node:perf_hooks' */

/**
 * @typedef {object} WatchEnd plain
 * @property {{count: number, totalMs: number, longestMs: number}} gc
 * @property {number} wallMs of the sending: from the start of the measured part until nothing more was to be sent
 * @property {number} busyMs of it, that the event loop neither waited nor spun without any work
 * @property {number} emptySpinMs of it
 * @property {number | null} runQueueMs of it, that the thread was ready to run and another one ran; null: not known here
 */
/**
 * @typedef {object} Sources where the figures come from; they are of the thread that calls
 * @property {() => number} now ms, monotonic
 * @property {() => number} idleMs that the event loop has waited so far
 * @property {() => number} emptySpinMs so far
 * @property {{readMs: () => number, close: () => void} | null} runQueue null: not known here
 * @property {(ms: number) => void} sleep blocks the thread
 */

/** `beat` is called this often. One that comes later than a timer's granularity shows that the thread stood still. */
export const BEAT_MS = 10;
const TIMER_MS = 1;

const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * Linux counts for every thread how long it ran, and how long it waited for a core (Documentation/scheduler/sched-stats.rst):
 * the second of three numbers, in nanoseconds.
 *
 * @returns {Sources['runQueue']} of the thread that opens it
 */
function openRunQueue() {
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const bytes = Buffer.alloc(64);
    const read = () => {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      const [ranNs, waitedNs] = bytes.toString('latin1', 0, length).split(' ', 2);
      return { isKept: Number(ranNs) > 0, waitedMs: Number(waitedNs) / 1e6 };
    };
    let { isKept, waitedMs } = read();
    let isOpen = true;
    const close = () => {
      if (isOpen) closeSync(file);
      isOpen = false;
    };
    // A kernel without scheduler statistics gives zeros.
    if (!isKept || Number.isNaN(waitedMs)) {
      close();
      return null;
    }
    return {
      readMs() {
        if (isOpen) ({ waitedMs } = read());
        return waitedMs;
      },
      close,
    };
  } catch {
    return null;
  }
}

/** @param {Partial<Sources>} [sources] */
export function createWatch({
  now = () => performance.now(),
  idleMs = () => performance.nodeTiming.idleTime,
  emptySpinMs = () => 0,
  runQueue = openRunQueue(),
  sleep = (ms) => void Atomics.wait(neverWoken, 0, 0, ms),
} = {}) {
  const gc = watchGarbage();
  /** @type {{atMs: number, idleMs: number, spunMs: number, nappedMs: number, queuedMs: number | null} | null} */
  let from = null;
  /** @type {Omit<WatchEnd, 'gc'>} */
  let sending = { wallMs: 0, busyMs: 0, emptySpinMs: 0, runQueueMs: null };
  let lastBeatMs = now();
  /** That beats came too late, in all. */
  let lateBeatsMs = 0;
  let nappedMs = 0;
  const reading = watchReading({
    now,
    idleMs,
    queuedMs: runQueue?.readMs ?? (() => lateBeatsMs + lateBeatMs()),
    afterTurn: setImmediate,
  });

  /** How late the next beat is by now. */
  function lateBeatMs() {
    return Math.max(0, now() - lastBeatMs - BEAT_MS - TIMER_MS);
  }

  return {
    reading,
    /** `beat` is to be called from a timer, every BEAT_MS. */
    needsBeats: runQueue === null,
    /** The measured part begins. */
    begin() {
      gc.begin();
      from = {
        atMs: now(),
        idleMs: idleMs(),
        spunMs: emptySpinMs(),
        nappedMs,
        queuedMs: runQueue?.readMs() ?? null,
      };
    },
    /**
     * Blocks this thread while no response is awaited.
     *
     * @param {number} ms
     */
    nap(ms) {
      const fromMs = now();
      sleep(ms);
      nappedMs += now() - fromMs;
    },
    beat() {
      lateBeatsMs += lateBeatMs();
      lastBeatMs = now();
    },
    /** Nothing more is sent; responses may still come. */
    rest() {
      if (from === null) return;
      const wallMs = now() - from.atMs;
      const spunMs = emptySpinMs() - from.spunMs;
      const queuedMs = runQueue?.readMs() ?? null;
      sending = {
        wallMs,
        busyMs: Math.max(0, wallMs - (idleMs() - from.idleMs) - spunMs - (nappedMs - from.nappedMs)),
        emptySpinMs: spunMs,
        runQueueMs: queuedMs === null || from.queuedMs === null ? null : queuedMs - from.queuedMs,
      };
    },
    /** Nothing more is in flight. */
    end: gc.end,
    /** @returns {WatchEnd} */
    result: () => ({ gc: gc.seen, ...sending }),
    close() {
      gc.close();
      runQueue?.close();
    },
  };
}

function watchGarbage() {
  const seen = { count: 0, totalMs: 0, longestMs: 0 };
  let fromMs = Number.POSITIVE_INFINITY;
  /** @param {PerformanceEntry[]} entries */
  function add(entries) {
    for (const { startTime, duration } of entries) {
      if (startTime < fromMs) continue;
      seen.count++;
      seen.totalMs += duration;
      seen.longestMs = Math.max(seen.longestMs, duration);
    }
  }
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  return {
    begin() {
      fromMs = performance.now();
      observer.observe({ entryTypes: ['gc'] });
    },
    end() {
      add(observer.takeRecords());
      observer.disconnect();
    },
    seen,
    close: () => observer.disconnect(),
  };
}

/**
 * @typedef {object} BacklogEnd plain
 * @property {number} looks
 * @property {number} waitingLooks samples that found a request waiting for a connection
 * @property {(number | null)[]} quarterMins the fewest that were due and not answered in each quarter of the time; null:
 *   no sample was taken
 * @property {number} atEnd requests waiting at the last sample
 */

const QUARTERS = 4;

/**
 * @param {number} fromMs from when on the rate does not rise; with the rate rises the number in flight
 * @param {number} toMs when the last request is due
 */
export function watchBacklog(fromMs, toMs) {
  /** @type {BacklogEnd} */
  const seen = { looks: 0, waitingLooks: 0, quarterMins: Array(QUARTERS).fill(null), atEnd: 0 };
  return {
    /** @param {number} nowMs @param {number} waiting for a connection @param {number} inFlight */
    look(nowMs, waiting, inFlight) {
      if (nowMs < fromMs || nowMs >= toMs) return;
      seen.looks++;
      if (waiting > 0) seen.waitingLooks++;
      seen.atEnd = waiting + inFlight;
      const quarter = Math.floor((QUARTERS * (nowMs - fromMs)) / (toMs - fromMs));
      seen.quarterMins[quarter] = Math.min(seen.quarterMins[quarter] ?? Number.POSITIVE_INFINITY, seen.atEnd);
    },
    /** @returns {BacklogEnd} */
    end: () => seen,
  };
}

/** @param {BacklogEnd[]} parts of the shards of one run @returns {BacklogEnd} */
export function mergeBacklogs(parts) {
  const sum = (/** @type {(part: BacklogEnd) => number} */ of) =>
    parts.reduce((all, part) => all + of(part), 0);
  const quarterMins = Array.from({ length: QUARTERS }, (_, quarter) =>
    parts.every((part) => part.quarterMins[quarter] !== null)
      ? sum((part) => Number(part.quarterMins[quarter]))
      : null,
  );
  return {
    looks: sum(({ looks }) => looks),
    waitingLooks: sum(({ waitingLooks }) => waitingLooks),
    quarterMins,
    atEnd: sum(({ atEnd }) => atEnd),
  };
}
