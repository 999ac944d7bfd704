/**
 * Thread entry: takes samples from the ring of one sender, judges and records them. Messages out: `ready`, `second`, `end`.
 * Every two seconds it reports to the live thread, where there is one, on a port of its own: past the sender's
 * thread, which has something better to do.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadMix } from '../../operations/mix.js';
import { scheduleOf } from '../../plan/due.js';
import { createRecorder, recordAll } from './recorder.js';
import { openReader } from './ring.js';
import { warmUpRecording } from './warm-up.js';

/** @import { MixFixture } from '../../operations/mix.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { Report } from './recorder.js' */
/** @import { RingMemory, Sample, Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const port = /** @type {MessagePort} */ (parentPort);
/** @type {{plan: Plan, fixture: MixFixture, ring: RingMemory, shards: number,
 *   measuredMs: number | null, livePort: MessagePort | null}} */
const { plan, fixture, ring, shards, measuredMs, livePort } = workerData;
const { load } = plan;
const mix = await loadMix(plan);
// Before the run's objects are made: V8 gives objects older than the code that uses them other shapes.
if (!load.coldStart) warmUpRecording({ mix, fixture, shards, reports: livePort !== null });
const keepers = mix.openKeepers();
const reader = openReader(ring);
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
    port.postMessage({ type: 'second', row });
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

/** @param {Omit<Report, 'rows'>} said */
function report(said) {
  livePort?.postMessage({ ...said, rows: ended });
  ended = [];
}

/** @param {number} atMs */
function reportSoFar(atMs) {
  report({ atMs, ...recorder.soFar() });
}

/**
 * Arrivals that were due but still waiting are counted with the age they reached.
 *
 * @param {Tail} tail
 */
function recordWaiting({ endedMs: done, next, waiting, carried }) {
  if (waiting === 0) return;
  const schedule = /** @type {Schedule} */ (scheduleOf(load));
  const { memberOf } = mix;
  const waited = {
    operation: 0,
    sent: done,
    done,
    lag: 0,
    carried: 0,
    late: 0,
    failure: 'never_sent',
    status: 0,
    body: null,
  };
  /** One for all: there may be a million. @type {Sample} */
  const sample = { ...waited, index: 0, intended: 0 };
  for (let i = 0; i < waiting; i++) {
    sample.index = next + i * shards;
    sample.intended = schedule.dueMs(sample.index);
    sample.carried = Math.min(carried, done - sample.intended);
    sample.operation = memberOf(sample.index);
    recorder.record(sample);
  }
}

port.postMessage({ type: 'ready' });
const onReport = livePort === null ? null : reportSoFar;
const tail = recordAll({ reader, recorder, onTaken: keep, onReport });
recordWaiting(tail);
for (const [cell, count] of tail.dropped.entries()) recorder.addDropped(cell, count);
const tally = recorder.finish();
port.postMessage({ type: 'end', tally, kept: keepers.map((keeper) => keeper?.close() ?? null) });
report({ atMs: tail.endedMs, tally, open: null });
livePort?.close();
