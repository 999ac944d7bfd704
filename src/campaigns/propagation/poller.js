/**
 * Asks one node about one certificate every so often, on schedule: poll k is due at the first one's time plus k intervals, whether
 * or not the ones before it were answered. A poll whose time had passed by more than an interval before this program got round to
 * it is not made up for: it is counted as missed.
 */

/** @typedef {(callback: () => void, ms: number) => any} SetTimer */
/**
 * @typedef {object} PollCounts of a whole run
 * @property {number} sent
 * @property {number} missed this program was late, and the next was due already
 * @property {number} skipped too many earlier ones waited for answers
 */
/**
 * @typedef {object} PollClock
 * @property {() => number} now ms, monotonic
 * @property {SetTimer} setTimer
 * @property {(timer: any) => void} clearTimer
 */

/**
 * @param {object} options
 * @param {number} options.firstMs when the first is due
 * @param {number} options.everyMs
 * @param {PollClock} options.clock
 * @param {() => boolean} options.ask false: it was left out, since too many wait for answers
 * @param {PollCounts} options.counts added to
 * @param {(ms: number) => void} options.onLag how late a poll was
 * @returns {{stop: () => void}} after which nothing is asked any more
 */
export function startPoller({ firstMs, everyMs, clock, ask, counts, onLag }) {
  let next = 0;
  let stopped = false;
  /** @type {any} */
  let timer;

  const dueAt = (/** @type {number} */ index) => firstMs + index * everyMs;

  function tick() {
    if (stopped) return;
    const now = clock.now();
    if (now >= dueAt(next)) poll(now);
    // A failure there and then may have stopped it.
    if (stopped) return;
    // A timer may ring a little early: then it is set again.
    timer = clock.setTimer(tick, Math.max(0, dueAt(next) - clock.now()));
  }

  /** @param {number} now */
  function poll(now) {
    const latest = Math.max(next, Math.floor((now - firstMs) / everyMs));
    onLag(now - dueAt(next));
    counts.missed += latest - next;
    next = latest + 1;
    if (ask()) counts.sent++;
    else counts.skipped++;
  }

  timer = clock.setTimer(tick, Math.max(0, firstMs - clock.now()));
  return {
    stop() {
      stopped = true;
      clock.clearTimer(timer);
    },
  };
}
