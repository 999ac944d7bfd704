/**
 * Probes, at random times, of how late the sender reads. The recorder thread stamps the time and writes it to a socket that
 * the sender's event loop polls, as it polls those of responses.
 *
 * The stamp is taken just before the write, so the recorder's own late wake-up is not in it. The kernel may take the core
 * from the recorder between stamp and write, but hardly does: a thread that has just woken has its time slice before it.
 * (Probes whose write took long were read no later than others, on two cores with two busy loops beside, so they count.)
 */

/**
 * @typedef {object} Probe on the clock of `monotonicMs`
 * @property {number} plannedMs when it was to be sent
 * @property {number} stampMs when it was sent
 */

/** Probes are at least this far apart, and twice as far at most. */
export const PROBE_MS = 10;

/** Reading the clock costs something too: a busy recorder does it once in so many samples. */
const EVERY_SAMPLES = 64;

/** @returns {number} ms on a clock that all threads of the process share */
export function monotonicMs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * @param {(probe: Probe) => void} send
 * @param {() => number} [now]
 * @param {() => number} [random] in [0, 1)
 */
export function createProber(send, now = monotonicMs, random = Math.random) {
  let samples = 0;
  let plannedMs = now() + gapMs();

  function gapMs() {
    return PROBE_MS * (1 + random());
  }
  function probeIfDue() {
    const stampMs = now();
    if (stampMs < plannedMs) return;
    send({ plannedMs, stampMs });
    plannedMs = stampMs + gapMs();
  }

  return {
    /** To be called once a sample. */
    onSample() {
      if (++samples % EVERY_SAMPLES === 0) probeIfDue();
    },
    /**
     * Sleeps until the next probe is due at most.
     *
     * @param {(ms: number) => void} sleep
     * @param {number} ms
     */
    sleep(sleep, ms) {
      sleep(Math.min(ms, Math.max(0, plannedMs - now())));
      probeIfDue();
    },
  };
}
