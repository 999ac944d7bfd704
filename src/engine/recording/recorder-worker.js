/**
 * Thread entry: takes samples from one sender's ring, classifies and records them. Messages out: `ready`,
 * `second`, `end`; every two seconds, on a separate port, a report to the live thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadMix } from '../../operations/mix.js';
import { hasFewRequests, scheduleOf } from '../../plan/due.js';
import { watchWakes } from '../watch/wakes.js';
import { createRecorder, recordAll } from './recorder.js';
import { createRingMemory, NO_PHASES, openReader, openWriter, SMALL_RING } from './ring.js';

/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { RecorderInput } from '../shard.js' */
/** @import { Report } from './recorder.js' */
/** @import { Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */

/**
 * Rounds of the warm-up, each with its own recorder and classifiers: V8 discards code compiled for a single
 * closure (see ../warm-up.js), and a classifier may cache its last classification.
 */
const ROUNDS = 40;
const ROUNDS_FOR_FEW = 2;
const SAMPLES = 150;
const [SLEEP_EVERY, SLEEP_AFTER] = [10, 65];
/** Gap between samples: each round closes a second and makes a report due. */
const GAP_MS = 10;
/** Several, so that V8 does not specialise on one. */
const IGNORE = [() => {}, () => {}, () => {}];
/** For operations without a `firstResponse`. */
const STAND_IN_RESPONSE = Object.freeze({ status: 503, body: Buffer.from('{"errors":[]}') });

/** @param {string} type @param {unknown} [value] */
const post = (type, value) => parentPort?.postMessage({ type, value });

/** @type {RecorderInput} */
const { plan, fixture, ring, shards, measuredMs, livePort } = workerData;
const { load } = plan;
const mix = await loadMix(plan);
// Before the run's objects exist: V8 gives objects that predate the code using them different shapes.
if (!load.coldStart) warmUp();
const keepFiles = mix.openKeepFiles();
/** By operation. @type {unknown[][]} */
const kept = keepFiles.map(() => []);
/** Ended seconds not yet reported. @type {SecondRow[]} */
let ended = [];

const wakes = watchWakes();
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
  wakes,
});

function keep() {
  for (const [member, items] of kept.entries()) {
    if (items.length === 0) continue;
    keepFiles[member]?.write(items);
    items.length = 0;
  }
}

/** Transfers the histograms: copies would stay in memory until V8 collects far more. @param {Omit<Report, 'rows'>} soFar */
function report(soFar) {
  livePort?.postMessage({ ...soFar, rows: ended }, [/** @type {ArrayBuffer} */ (soFar.tally.lag.buffer)]);
  ended = [];
}

/** Records the age of due arrivals still waiting. @param {Tail} tail */
function recordWaiting({ endedMs: done, next, waiting, carriedMs }) {
  if (waiting === 0) return;
  const schedule = /** @type {Schedule} */ (scheduleOf(load));
  const times = { sent: done, done, sendLateMs: 0, readLateMs: 0, ...NO_PHASES };
  const unsent = { ...times, failure: 'never_sent', status: 0, body: null, receivedAt: 0 };
  // One reused object: there may be a million arrivals.
  const sample = { ...unsent, operation: 0, index: 0, intended: 0, carriedMs: 0 };
  for (let i = 0; i < waiting; i++) {
    sample.index = next + i * shards;
    sample.intended = schedule.dueMs(sample.index);
    sample.carriedMs = Math.min(carriedMs, done - sample.intended);
    sample.operation = mix.memberOf(sample.index);
    recorder.record(sample);
  }
}

post('ready');
const tail = recordAll({
  reader: openReader(ring),
  recorder,
  onTaken: keep,
  wakes,
  onReport: livePort === null ? null : (atMs) => report({ atMs, ...recorder.soFar() }),
});
recordWaiting(tail);
for (const [cell, dropped] of tail.dropped.entries()) {
  recorder.addUnsent(cell, { dropped, rested: tail.rested[cell] });
}
const tally = recorder.finish();
wakes.close();
post('end', { tally, kept: keepFiles.map((file) => file?.close() ?? null) });
// A thread without requests ends before time zero.
report({ atMs: Math.max(0, tail.endedMs), tally, open: null });
livePort?.close();

function warmUp() {
  const { status, body } = fixture.firstResponse ?? STAND_IN_RESPONSE;
  const wakes = watchWakes();
  const rounds = hasFewRequests(load) ? ROUNDS_FOR_FEW : ROUNDS;
  for (let round = 0; round < rounds; round++) {
    const small = createRingMemory(SMALL_RING);
    const writer = openWriter(small);
    const operations = mix.createClassifiers(fixture);
    let added = 0;
    // Nothing new, twice in some rounds: the loop sleeps.
    let sleepsAt = round % SLEEP_EVERY === 0 ? SLEEP_AFTER : SAMPLES;
    // One sample at a time: V8 compiles the loop that takes them only after thousands of iterations.
    const addNext = () => {
      if (added === sleepsAt && added < SAMPLES) {
        sleepsAt += SLEEP_AFTER;
        return;
      }
      if (added === SAMPLES) {
        const counts = { waiting: 0, dropped: [0], rested: [0] };
        writer.end({ endedMs: SAMPLES * GAP_MS, next: SAMPLES, carriedMs: 0, ...counts });
        return;
      }
      const i = added++;
      // Fractions, and occasionally seconds: the whole range of numbers in a run.
      const intended = (i + 0.1) * GAP_MS;
      const sent = intended + (i % 7) / 100;
      const done = sent + (i % 50 === 49 ? 5000 : 0.1 + i / 100);
      // New connections over TLS, and responses in parts, as over HTTP/2.
      const opens = i % 10 === 0 ? 0.2 + i / 1000 : 0;
      const transfer = i % 3 === 0 ? 0.1 + i / 1000 : 0;
      const phases = { connect: opens, tls: opens, firstByte: done - sent - transfer, transfer };
      const times = {
        intended,
        sent,
        done,
        sendLateMs: (i % 11) / 1000,
        carriedMs: 0,
        readLateMs: (i % 13) / 1000,
        ...phases,
        receivedAt: Date.now(),
      };
      writer.add({ operation: i % operations.length, index: 0, ...times, failure: null, status, body });
      writer.advanceWatermark(added * GAP_MS);
    };
    // Two closures, so that V8 does not specialise on one.
    const onTaken = round % 2 === 0 ? () => addNext() : addNext;
    const ignore = IGNORE[round % IGNORE.length];
    const measured = { warmupMs: 0, measuredMs: SAMPLES * GAP_MS, onSecond: ignore, onKept: ignore };
    const recorder = createRecorder({ operations, shards, ...measured, wakes });
    const reports = [() => void recorder.soFar(), () => void recorder.soFar()];
    const onReport = livePort === null ? null : reports[round % 2];
    recordAll({ reader: openReader(small), recorder, onTaken, onReport, wakes });
  }
  wakes.close();
}
