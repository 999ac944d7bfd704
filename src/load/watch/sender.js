/**
 * What a sending thread observes of itself while it sends: how late it notices things, how long it collected garbage,
 * how busy it was, and how long it stood in the kernel's run queue. Everything counts from the start of the measured part.
 */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { createHistogram, encodeHistogram, recordMs } from '../../histogram.js';
import { monotonicMs, PROBE_MS } from './prober.js';

/**
 * @typedef {object} WatchEnd plain
 * @property {string} reaction encoded histogram: how late this thread noticed a random event
 * @property {string} starved the same, or how late the thread that planned the event was woken for it, whichever is more:
 *   with this thread's core taken, it cannot be woken either, and what came meanwhile waited for both
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
  const starved = createHistogram();
  const gc = watchGarbage();
  /** @type {{atMs: number, loop: LoopTime, spunMs: number, queuedMs: number | null} | null} */
  let from = null;
  /** @type {Omit<WatchEnd, 'reaction' | 'starved' | 'gc'>} */
  let sending = { wallMs: 0, busyMs: 0, emptySpinMs: 0, runQueueMs: null };

  return {
    /** The measured part begins. */
    begin() {
      gc.begin();
      from = { atMs: now(), loop: loopTime(), spunMs: emptySpinMs(), queuedMs: queued() };
    },
    /** @param {import('./prober.js').Probe} probe that came just now */
    onProbe({ plannedMs, stampMs }) {
      if (from === null || plannedMs < from.atMs) return;
      const late = now() - stampMs;
      recordMs(reaction, late);
      recordMs(starved, Math.max(late, stampMs - plannedMs));
      // Whoever is not woken does not look either: the looks left out meanwhile would have been late too.
      for (let ms = stampMs - plannedMs - PROBE_MS; ms > 0; ms -= PROBE_MS) recordMs(starved, ms);
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
    /** @returns {WatchEnd} */
    end() {
      return {
        reaction: encodeHistogram(reaction),
        starved: encodeHistogram(starved),
        gc: gc.end(),
        ...sending,
      };
    },
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
      return seen;
    },
    close: () => observer.disconnect(),
  };
}
