/**
 * How late each response is read, at most. It waits in its socket from its arrival until this thread has polled and come to
 * it. While the thread sleeps nothing waits: an arrival wakes it. So a response waited no longer than this thread was awake,
 * or ready to run without a core, since the turn of the event loop before the one in which it is read (what had come before
 * that was read then), or since its request was sent. Linux counts the time without a core for each thread
 * (Documentation/scheduler/sched-stats.rst); elsewhere, timers that come late show it.
 */

/**
 * Reading the kernel's counter takes 3 us. In between, all time counts as awake, so the bound of a response may be too high by as
 * much.
 */
const SAMPLE_EVERY_MS = 0.4;

/**
 * No counter shows the time from our time stamp to the wire, nor from the wire to the run queue: 10 to 50 us, compared with a
 * capture of the wire.
 */
const UNSEEN_MS = 0.05;

/**
 * @typedef {object} Sources
 * @property {() => number} now ms, monotonic
 * @property {() => number} idleMs that the event loop of this thread has waited so far
 * @property {() => number} queuedMs that this thread has been ready to run without a core so far
 * @property {(call: () => void) => void} afterTurn calls back after the turn of the event loop
 */

/** @param {Sources} sources */
export function watchReading({ now, idleMs, queuedMs, afterTurn }) {
  let sampled = { atMs: now(), idleMs: idleMs(), queuedMs: queuedMs() };
  let isTurn = false;
  /** The loop waits between turns only. */
  let turnIdleMs = sampled.idleMs;
  /** When the last two turns ended, in time awake: bytes that came before the earlier one were read in the turn before this one, at the latest. */
  let endedMs = awakeMs(sampled.atMs);
  let endedBeforeMs = endedMs;

  /** At least so long had this thread been awake, or ready to run. @param {number} atMs in this turn */
  function awakeMs(atMs) {
    return atMs - turnIdleMs + sampled.queuedMs;
  }
  function endTurn() {
    isTurn = false;
    endedBeforeMs = endedMs;
    endedMs = awakeMs(now());
  }
  function beginTurn() {
    if (isTurn) return;
    isTurn = true;
    afterTurn(endTurn);
    turnIdleMs = idleMs();
    const atMs = now();
    if (atMs - sampled.atMs >= SAMPLE_EVERY_MS) sampled = { atMs, idleMs: turnIdleMs, queuedMs: queuedMs() };
  }

  return {
    now,
    /**
     * Call it after a request was sent: reading the counters then delays no request.
     *
     * @param {number} beforeMs from `now`, just before it was sent
     * @returns {number} to be given to `lateMs` with its response
     */
    onSent(beforeMs) {
      const { queuedMs: knownMs } = sampled;
      beginTurn();
      // Of what the counter has grown by, at most the time since then was after it.
      const queuedThenMs = Math.max(knownMs, sampled.queuedMs - (now() - beforeMs));
      return beforeMs - turnIdleMs + queuedThenMs;
    },
    /**
     * To be called when a response was read.
     *
     * @param {number} sentMs from `onSent`
     * @returns {number} ms that it waited to be read, at most
     */
    lateMs(sentMs) {
      beginTurn();
      const unknownMs = turnIdleMs - sampled.idleMs;
      return UNSEEN_MS + Math.max(0, awakeMs(now()) + unknownMs - Math.max(endedBeforeMs, sentMs));
    },
  };
}
