/**
 * How late the machine wakes a sleeping thread. The kernel wakes an idle core by an interrupt, and counts a thread as waiting
 * only once that core handles it (kernel/sched/core.c, ttwu_queue_cond). In a virtual machine an idle core has to wait for
 * the host: a packet trace and the scheduler's events showed a response that woke the sender 5 ms later, which no counter of the
 * sender shows. The recorder thread sleeps for known times on the same cores, so its wake-ups are a sample of such delays.
 */
import { createHistogram, recordMs, valueAtRank } from '../../common/histogram.js';
import { NORMAL_95 } from '../../common/normal.js';
import { openRunQueue } from './run-queue.js';
import { LOOK_MS, MIN_STALL_MS } from './sender.js';

/** @import { Delay } from '../../common/histogram.js' */

/** @typedef {ReturnType<typeof watchWakes>} Wakes */

/**
 * Compared with this sample, on a noisy virtual machine, 2 to 3 times as many of the responses at 20/s were late, 1.7 times at 100/s, as
 * many at 1,000/s; the longest delay of 4,000 responses was at most 4 times that of 400 sleeps, and of 80 or 400 responses 2.3 times.
 */
const [AS_OFTEN, AS_LONG] = [3, 3];
/** A timer may fire this late on an idle machine: its slack, and the time to wake up. */
const TIMER_LATE_MS = 0.15;
/** Delays that differ by less count as one. */
const STEP = 0.8;
/** The sender itself notices longer ones: see watchStalls. */
const MAX_LATE_MS = MIN_STALL_MS + LOOK_MS;

/**
 * @param {object} [sources] @param {() => number} [sources.now] ms
 * @param {ReturnType<typeof openRunQueue>} [sources.runQueue] of this thread; without it, nothing is known
 */
export function watchWakes({ now = () => performance.now(), runQueue = openRunQueue() } = {}) {
  const late = createHistogram();
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, 0];
  return {
    /** @param {number} ms @param {(ms: number) => string} sleep as Atomics.wait */
    sleep(ms, sleep) {
      if (runQueue === null) return void sleep(ms);
      const queuedMs = runQueue.readMs();
      const fromMs = now();
      const ending = sleep(ms);
      lastMs = now();
      firstMs = Math.min(firstMs, fromMs);
      const lateMs = lastMs - fromMs - ms;
      if (ending !== 'timed-out' || lateMs >= MAX_LATE_MS) return;
      recordMs(late, lateMs - (runQueue.readMs() - queuedMs));
    },
    /** @returns {(n: number) => Delay[]} of n responses, the longest first; none: unknown */
    delays() {
      const sampled = late.totalCount;
      if (sampled === 0) return () => [];
      const usualMs = Math.min(TIMER_LATE_MS, valueAtRank(late, Math.ceil(sampled / 2)));
      const msOf = (/** @type {number} */ longer) => valueAtRank(late, sampled - longer) - usualMs;
      /** @type {{ms: number, events: number, beyondMs: number}[]} */
      const levels = [];
      /** Sum of the longer delays' times beyond this one, at most. */
      let [beyondMs, beforeMs] = [0, msOf(0)];
      for (let longer = 0; 2 * longer < sampled; longer = 2 * longer + 1) {
        const ms = msOf(longer);
        beyondMs += longer * (beforeMs - ms);
        beforeMs = ms;
        if (longer > 0 && ms > STEP * levels[levels.length - 1].ms) continue;
        levels.push({ ms, events: longer + 1, beyondMs });
        if (ms <= 0) break;
      }
      return (n) => [
        { ms: AS_LONG * Math.sqrt(Math.max(1, n / sampled)) * levels[0].ms, count: 0 },
        ...levels.map((level) => ({ ms: level.ms, count: mostDelayed(n, level) })),
      ];
    },
    close: () => runQueue?.close(),
  };

  /**
   * A late wake-up also delays what arrives meanwhile. The bound includes the chance of both samples.
   * @param {number} n responses @param {{events: number, beyondMs: number}} level
   */
  function mostDelayed(n, { events, beyondMs }) {
    const perSleep = (AS_OFTEN * n) / late.totalCount;
    const mean = events * perSleep;
    const each = 1 + ((n / (lastMs - firstMs)) * beyondMs) / events;
    return Math.ceil(each * (mean + NORMAL_95 * Math.sqrt(mean * (1 + perSleep))));
  }
}
