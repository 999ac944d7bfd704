/** What the recorder's thread does all the time: samples out of the ring, into the recorder. */

/**
 * Samples to be taken at once, about: where this thread and the sender's share a core, the sender waits for so many.
 */
const AT_ONCE = 20;
const SHORTEST_SLEEP_MS = 1;

const LONGEST_SLEEP_MS = 20;

/** Whoever wants to know how the run goes is told so often, the first time earlier. In time of the run: no clock is read. */
export const REPORT_EVERY_MS = 2000;
export const FIRST_REPORT_MS = 1000;

/**
 * It polls and sleeps, so the sender need not wake it.
 *
 * @param {object} context
 * @param {ReturnType<typeof import('./ring.js').openReader>} context.reader
 * @param {ReturnType<typeof import('./recorder.js').createRecorder>} context.recorder
 * @param {() => void} context.onTaken after each lot of samples
 * @param {((watermarkMs: number) => void) | null} [context.onReport] it is time for a report: all that was done before `watermarkMs`,
 *   since time zero, is recorded. null: nobody wants one
 * @returns {import('./ring.js').Tail} once everything is recorded that the sender had to say
 */
export function recordAll({ reader, recorder, onTaken, onReport = null }) {
  let ms = LONGEST_SLEEP_MS;
  let taken = 0;
  let reportMs = FIRST_REPORT_MS;
  for (;;) {
    const watermarkMs = reader.watermarkMs();
    const tail = reader.tail();
    const count = reader.take(recorder.record);
    recorder.advance(watermarkMs);
    onTaken();
    if (tail !== null) return tail;
    if (onReport !== null && watermarkMs >= reportMs) {
      onReport(watermarkMs);
      reportMs = watermarkMs + REPORT_EVERY_MS;
    }
    taken += count;
    if (count > 0) continue;
    ms =
      taken === 0
        ? LONGEST_SLEEP_MS
        : Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, (ms * AT_ONCE) / taken));
    taken = 0;
    reader.sleep(ms);
  }
}
