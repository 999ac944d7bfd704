/**
 * What a sender thread observes of itself while it sends: how late it reads, how long it collected garbage, how busy it was,
 * and how long it stood in the kernel's run queue. Everything counts from the start of the measured part.
 */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { createHistogram, encodeHistogram, recordMs } from '../../histogram.js';
import { monotonicMs, PROBE_MS } from './prober.js';

/**
 * @typedef {object} WatchEnd plain
 * @property {string} reaction encoded histogram: how late this thread read bytes that came at random times, from a socket of
 *   its own; where it may not listen on the loopback interface, messages from another thread
 * @property {{count: number, totalMs: number, longestMs: number}} gc
 * @property {number} wallMs of the sending: from the start of the measured part until nothing more was to be sent
 * @property {number} busyMs of it, that the event loop neither waited nor spun without any work
 * @property {number} emptySpinMs of it
 * @property {number | null} runQueueMs of it, that the thread was ready to run and another one ran; null: not known here
 */
/**
 * @typedef {object} Sources where the figures come from; they are of the thread that calls
 * @property {() => number} now ms, monotonic, the same in all threads
 * @property {(before?: LoopTime) => LoopTime} loopTime
 * @property {() => number} emptySpinMs so far
 * @property {() => number | null} runQueueMs so far
 */
/** @typedef {import('node:perf_hooks').EventLoopUtilization} LoopTime idle and active in ms */

/** `beat` is called this often; a call that comes so much later shows that the thread stood still. */
export const BEAT_MS = 10;
const HELD_UP_MS = 25;

/**
 * Linux counts for every thread how long it ran, and how long it waited for a core (Documentation/scheduler/sched-stats.rst):
 * the second of three numbers, in nanoseconds.
 *
 * @returns {number | null} ms
 */
export function runQueueMs() {
  try {
    const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return null;
  }
}

/**
 * @param {Partial<Sources>} [sources]
 */
export function createWatch({
  now = monotonicMs,
  loopTime = (before) => performance.eventLoopUtilization(before),
  emptySpinMs = () => 0,
  runQueueMs: queued = runQueueMs,
} = {}) {
  const reaction = createHistogram();
  const gc = watchGarbage();
  /** @type {{atMs: number, loop: LoopTime, spunMs: number, queuedMs: number | null} | null} */
  let from = null;
  /** @type {Omit<WatchEnd, 'reaction' | 'gc'>} */
  let sending = { wallMs: 0, busyMs: 0, emptySpinMs: 0, runQueueMs: null };
  let untilMs = Number.POSITIVE_INFINITY;
  let lastBeatMs = Number.NaN;
  /** The last time this thread stood still. */
  const stall = { fromMs: 0, toMs: 0 };

  /** @param {number} sentMs @param {number} lateMs */
  function record(sentMs, lateMs) {
    if (from !== null && sentMs >= from.atMs && sentMs < untilMs) recordMs(reaction, lateMs);
  }

  return {
    /** The measured part begins. */
    begin() {
      gc.begin();
      from = { atMs: now(), loop: loopTime(), spunMs: emptySpinMs(), queuedMs: queued() };
    },
    /** @param {import('./prober.js').Probe} probe that was read just now */
    onProbe({ plannedMs, stampMs }) {
      record(stampMs, now() - stampMs);
      // Where both threads stood still, in a process that was stopped say, no probe came: this thread's late timer shows
      // that it would have been read late.
      for (let ms = plannedMs; ms < stampMs - PROBE_MS; ms += PROBE_MS) {
        if (ms >= stall.fromMs && ms < stall.toMs) record(ms, stall.toMs - ms);
      }
    },
    /** To be called from a timer, every BEAT_MS. */
    beat() {
      const atMs = now();
      if (atMs - lastBeatMs > HELD_UP_MS) Object.assign(stall, { fromMs: lastBeatMs + BEAT_MS, toMs: atMs });
      lastBeatMs = atMs;
    },
    /** Nothing more is sent; answers may still come. */
    rest() {
      if (from === null) return;
      const spunMs = emptySpinMs() - from.spunMs;
      const queuedMs = queued();
      sending = {
        wallMs: now() - from.atMs,
        busyMs: Math.max(0, loopTime(from.loop).active - spunMs),
        emptySpinMs: spunMs,
        runQueueMs: queuedMs === null || from.queuedMs === null ? null : queuedMs - from.queuedMs,
      };
    },
    /** Nothing more is in flight. Probes that were sent before may still come. */
    end() {
      untilMs = now();
      gc.end();
    },
    /** @returns {WatchEnd} */
    result: () => ({ reaction: encodeHistogram(reaction), gc: gc.seen, ...sending }),
    close: gc.close,
  };
}

function watchGarbage() {
  const seen = { count: 0, totalMs: 0, longestMs: 0 };
  let fromMs = Number.POSITIVE_INFINITY;
  /** @param {import('node:perf_hooks').PerformanceEntry[]} entries */
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
