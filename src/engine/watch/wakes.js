/**
 * How late the machine wakes a sleeping thread. The kernel wakes an idle core by an interrupt, and counts a thread as waiting
 * only once that core handles it (kernel/sched/core.c, ttwu_queue_cond). In a virtual machine an idle core has to wait for
 * the host: a packet trace and the scheduler's events showed a response that woke the sender 5 ms later, which no counter of the
 * sender shows. The recorder thread sleeps for known times on the same cores, so its wake-ups are a sample of such delays.
 */
import { createHistogram, recordMs, valueAtRank } from '../../common/histogram.js';
import { openRunQueue } from './run-queue.js';
import { MIN_STALL_MS } from './sender.js';

/** @import { Delay } from '../../common/histogram.js' */

/** @typedef {ReturnType<typeof watchWakes>} Wakes */

/** No response is delayed by more than so many times the longest delay in the sample. */
const LONGEST = 3;

/**
 * @param {object} [sources] @param {() => number} [sources.now] ms
 * @param {ReturnType<typeof openRunQueue>} [sources.runQueue] of this thread; without it, nothing is known
 */
export function watchWakes({ now = () => performance.now(), runQueue = openRunQueue() } = {}) {
  const late = createHistogram();
  let queuedMs = runQueue?.readMs() ?? 0;
  return {
    /** @param {number} ms @param {(ms: number) => string} sleep as Atomics.wait */
    sleep(ms, sleep) {
      const dueMs = now() + ms;
      const ending = sleep(ms);
      if (runQueue === null) return;
      const lateMs = now() - dueMs;
      const beforeMs = queuedMs;
      queuedMs = runQueue.readMs();
      // The sender itself notices longer ones: see watchStalls.
      if (ending === 'timed-out' && lateMs < MIN_STALL_MS) recordMs(late, lateMs - (queuedMs - beforeMs));
    },
    /** The median is the usual lateness of a timer. @returns {Delay[]} none: unknown */
    delays() {
      const n = late.totalCount;
      if (n === 0) return [];
      const usualMs = valueAtRank(late, Math.ceil(n / 2));
      const msOf = (/** @type {number} */ longer) => valueAtRank(late, n - longer) - usualMs;
      const delays = [{ share: 0, ms: LONGEST * msOf(0) }];
      for (let longer = 0; 2 * longer < n; longer = 2 * longer + 1) {
        // Of a Poisson distribution, plus two standard deviations.
        delays.push({ share: (longer + 1 + 2 * Math.sqrt(longer + 1)) / n, ms: msOf(longer) });
      }
      return delays;
    },
    close: () => runQueue?.close(),
  };
}
