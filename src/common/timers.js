/** Delays that Node.js's timers accept. */

/** Node.js fires a timer with a longer delay immediately. */
export const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Whole milliseconds: at the first timer with a fraction, V8 would discard all compiled code that uses timers.
 * @param {number} ms @returns {number} for a timer that fires after at least this time, or the longest that there is
 */
export const timerMs = (ms) => Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS);
