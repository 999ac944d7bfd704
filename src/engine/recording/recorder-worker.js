/**
 * Thread entry: takes samples from the ring of one sender, judges and records them. Messages out: `ready`, `second`, `end`.
 * Every two seconds it reports to the live thread, if one wants reports, on a port of its own: the sender's thread takes no
 * part in that.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadMix } from '../../operations/mix.js';
import { scheduleOf } from '../../plan/due.js';
import { createRecorder, recordAll } from './recorder.js';
import { createRingMemory, openReader, openWriter, SMALL_RING } from './ring.js';

/** @import { Mix, MixFixture } from '../../operations/mix.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { Report } from './recorder.js' */
/** @import { RecorderInput } from './recorder-thread.js' */
/** @import { RingMemory, Sample, Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { MessagePort } from 'node:worker_threads' */

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

const port = /** @type {MessagePort} */ (parentPort);
/** @param {string} type @param {unknown} [value] */
const post = (type, value) => port.postMessage({ type, value });

/** @type {RecorderInput & {ring: RingMemory}} */
const { plan, fixture, ring, shards, measuredMs, livePort } = workerData;
const { load } = plan;
const mix = await loadMix(plan);
// Before the run's objects are made: V8 gives objects older than the code that uses them other shapes.
if (!load.coldStart) warmUpRecording({ mix, fixture, shards, reports: livePort !== null });
const keepers = mix.openKeepers();
/** Of each member. @type {unknown[][]} */
const kept = keepers.map(() => []);
/** Not reported yet. @type {SecondRow[]} */
let ended = [];

const recorder = createRecorder({
  operations: mix.createClassifiers(fixture),
  warmupMs: load.warmupMs,
  stages: load.stages,
  shards,
  measuredMs,
  onSecond(row) {
    post('second', row);
    if (livePort !== null) ended.push(row);
  },
  onKept: (member, item) => kept[member].push(item),
});

function keep() {
  for (const [member, items] of kept.entries()) {
    if (items.length === 0) continue;
    keepers[member]?.write(items);
    items.length = 0;
  }
}

/** @param {Omit<Report, 'rows'>} soFar */
function report(soFar) {
  livePort?.postMessage({ ...soFar, rows: ended });
  ended = [];
}

/** Counts arrivals that were due but still waiting, with the age they reached. @param {Tail} tail */
function recordWaiting({ endedMs: done, next, waiting, carried }) {
  if (waiting === 0) return;
  const schedule = /** @type {Schedule} */ (scheduleOf(load));
  /** One for all: there may be a million. @type {Sample} */
  const sample = {
    operation: 0,
    index: 0,
    intended: 0,
    sent: done,
    done,
    lag: 0,
    carried: 0,
    late: 0,
    failure: 'never_sent',
    status: 0,
    body: null,
  };
  for (let i = 0; i < waiting; i++) {
    sample.index = next + i * shards;
    sample.intended = schedule.dueMs(sample.index);
    sample.carried = Math.min(carried, done - sample.intended);
    sample.operation = mix.memberOf(sample.index);
    recorder.record(sample);
  }
}

post('ready');
const tail = recordAll({
  reader: openReader(ring),
  recorder,
  onTaken: keep,
  onReport: livePort === null ? null : (atMs) => report({ atMs, ...recorder.soFar() }),
});
recordWaiting(tail);
for (const [cell, count] of tail.dropped.entries()) recorder.addDropped(cell, count);
const tally = recorder.finish();
post('end', { tally, kept: keepers.map((keeper) => keeper?.close() ?? null) });
report({ atMs: tail.endedMs, tally, open: null });
livePort?.close();

/**
 * @param {object} context
 * @param {Pick<Mix, 'createClassifiers'>} context.mix
 * @param {MixFixture} context.fixture
 * @param {number} context.shards
 * @param {boolean} context.reports the run has a live view
 */
function warmUpRecording({ mix, fixture, shards, reports }) {
  const { status, body } = fixture.firstAnswer ?? NO_ANSWER;
  for (let part = 0; part < PARTS; part++) {
    const ring = createRingMemory(SMALL_RING);
    const writer = openWriter(ring);
    const operations = mix.createClassifiers(fixture);
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
      writer.add({ operation: i % operations.length, index: 0, ...times, failure: null, status, body });
      writer.advanceWatermark(added * GAP_MS);
    };
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
