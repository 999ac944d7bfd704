/**
 * Random looks at how late this process notices things, from the thread that records: it sleeps most of the time, so it
 * can stamp a time and post it to the sender, who takes note of how late it came. An answer on the sender's socket
 * waits like such a message does.
 */

/** @typedef {{type: 'probe', plannedMs: number, stampMs: number}} Probe on the clock of `monotonicMs` */

/** Looks at most so often. */
export const PROBE_MS = 10;

/** Reading the clock costs something too: a busy recorder does it once in so many samples. */
const EVERY_SAMPLES = 64;

/** @returns {number} ms on a clock that all threads of the process share */
export function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * @param {(probe: Probe) => void} post
 * @param {() => number} [now]
 */
export function createProber(post, now = monotonicMs) {
  let last = Number.NEGATIVE_INFINITY;
  let samples = 0;

  return {
    /** To be called once a sample. */
    onSample() {
      if (++samples % EVERY_SAMPLES !== 0) return;
      const stampMs = now();
      if (stampMs - last < PROBE_MS) return;
      last = stampMs;
      post({ type: 'probe', plannedMs: stampMs, stampMs });
    },
    /**
     * The time the sleep was to end is as good a random instant as any, and a thread that is woken late was not
     * scheduled, as the sender would not have been on the same cores.
     *
     * @param {(ms: number) => void} sleep
     * @param {number} ms at most PROBE_MS
     */
    sleep(sleep, ms) {
      const plannedMs = now() + ms;
      sleep(ms);
      const stampMs = now();
      if (stampMs - last < PROBE_MS) return;
      last = stampMs;
      post({ type: 'probe', plannedMs, stampMs });
    },
  };
}
