/**
 * When this thread stood still: it was not scheduled, collected garbage, or was kept busy. An answer that is read just
 * afterwards may have come at any time since.
 */

/** Beats come every 10 ms; one that comes so much later than the last was held up. */
const HELD_UP_MS = 25;

/** What waited meanwhile is read within so long. */
const READ_WITHIN_MS = 10;

export function createStalls() {
  let lastBeat = Number.NaN;
  let from = Number.NaN;
  let until = Number.NEGATIVE_INFINITY;
  return {
    /** To be called from a timer, every 10 ms. @param {number} now ms */
    beat(now) {
      if (now - lastBeat > HELD_UP_MS) {
        from = lastBeat;
        until = now + READ_WITHIN_MS;
      }
      lastBeat = now;
    },
    /**
     * @param {number} now ms
     * @returns {number} ms: since when something that is noticed now may have been there
     */
    noticedSince(now) {
      if (now - lastBeat > HELD_UP_MS) return lastBeat;
      return now <= until ? from : now;
    },
  };
}
