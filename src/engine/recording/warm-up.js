/**
 * Warms the recording code before time zero, as ../warm-up.js does for the sending code: samples as the run will bring, through a
 * ring, a recorder and classifiers that are thrown away.
 */
import { createRecorder, recordAll } from './recorder.js';
import { createRingMemory, openReader, openWriter, SMALL_RING } from './ring.js';

/** @import { Mix, MixFixture } from '../../operations/mix.js' */

/**
 * Parts, each with a recorder and a classifier of its own: a judgement may be remembered, and code compiled for one
 * closure alone is thrown away when another comes (see ../warm-up.js).
 */
const PARTS = 40;
const SAMPLES = 150;

/** So much time between samples that a part closes a second and is due for a report. */
const GAP_MS = 10;

/** Several, so that no compiled code counts on one. */
const IGNORE = [() => {}, () => {}, () => {}];

/** Two that do the same, for the same reason. */
const CALL = [
  (/** @type {() => void} */ next) => () => next(),
  (/** @type {() => void} */ next) => () => {
    next();
  },
];

/** Once in so many turns no sample is there, and the thread sleeps. */
const SLEEPS_EVERY = 40;

const NO_ANSWER = Object.freeze({ status: 503, body: Buffer.from('{"errors":[]}') });

/**
 * @param {object} context
 * @param {Pick<Mix, 'createClassifiers'>} context.mix
 * @param {MixFixture} context.fixture
 * @param {number} context.shards
 * @param {boolean} context.reports the run has a live view
 */
export function warmUpRecording({ mix, fixture, shards, reports }) {
  const { status, body } = fixture.firstAnswer ?? NO_ANSWER;
  for (let part = 0; part < PARTS; part++) {
    const ring = createRingMemory(SMALL_RING);
    const writer = openWriter(ring);
    let added = 0;
    let turns = 0;
    // One by one: the loop that takes them is compiled after thousands of turns, so it is to take them here.
    const addNext = () => {
      if (++turns % SLEEPS_EVERY === 0) return;
      if (added === SAMPLES) {
        writer.end({ endedMs: SAMPLES * GAP_MS, next: SAMPLES, waiting: 0, carried: 0, dropped: [0] });
        return;
      }
      const i = added++;
      // Fractions, and now and then seconds: numbers of all sizes that there will be.
      const sent = (i + 0.1) * GAP_MS + (i % 7) / 100;
      const took = i % 50 === 49 ? 5000 : 0.1 + i / 100;
      const [lag, late] = [(i % 11) / 1000, (i % 13) / 1000];
      const times = { intended: (i + 0.1) * GAP_MS, sent, done: sent + took, lag, carried: 0, late };
      writer.add({ operation: i % members, index: 0, ...times, failure: null, status, body });
      writer.advanceWatermark(added * GAP_MS);
    };
    const operations = mix.createClassifiers(fixture);
    const members = operations.length;
    const ignore = IGNORE[part % IGNORE.length];
    const recorder = createRecorder({
      operations,
      warmupMs: 0,
      shards,
      measuredMs: SAMPLES * GAP_MS,
      onSecond: ignore,
      onKept: ignore,
    });
    const onTaken = CALL[part % CALL.length](addNext);
    const onReport = reports ? () => void recorder.soFar() : null;
    recordAll({ reader: openReader(ring), recorder, onTaken, onReport });
  }
}
