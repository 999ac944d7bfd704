/** What the recorder's thread does all the time: samples out of the ring, into the recorder. */

/**
 * It polls and sleeps, so the sender need not wake it.
 *
 * @param {object} context
 * @param {ReturnType<typeof import('./ring.js').openReader>} context.reader
 * @param {ReturnType<typeof import('./recorder.js').createRecorder>} context.recorder
 * @param {ReturnType<typeof import('../watch/prober.js').createProber>} context.prober
 * @param {() => void} context.onTaken after each lot of samples
 * @returns {import('./ring.js').Tail} once everything is recorded that the sender had to say
 */
export function recordAll({ reader, recorder, prober, onTaken }) {
  /** @param {import('./ring.js').Sample} sample */
  function record(sample) {
    recorder.record(sample);
    prober.onSample();
  }
  for (;;) {
    const told = reader.toldMs();
    const tail = reader.tail();
    const count = reader.take(record);
    recorder.advance(told);
    onTaken();
    if (tail !== null) return tail;
    if (count === 0) prober.sleep(reader.sleep);
  }
}
