/**
 * Thread entry: takes samples from the ring of one sender, judges and records them. It polls and sleeps, so the sender
 * need not wake it. Messages out: `ready`, `second`, `probe`, `end`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadOperation } from '../operations/index.js';
import { createProber } from './prober.js';
import { createRecorder } from './recorder.js';
import { openReader } from './samples.js';
import { createSchedule } from './schedule.js';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
/** @type {{plan: import('../plan.js').Plan, fixture: unknown, ring: import('./samples.js').RingMemory, shards: number,
 *   measuredMs: number | null}} */
const { plan, fixture, ring, shards, measuredMs } = workerData;
const { load } = plan;
const operation = await loadOperation(plan.operation);
const keeper = operation.openKeeper?.(plan) ?? null;
const reader = openReader(ring);
/** @type {unknown[]} */
let kept = [];

const recorder = createRecorder({
  operations: [{ name: operation.name, classify: operation.createClassifier(plan, fixture) }],
  warmupMs: load.warmupMs,
  shards,
  measuredMs,
  onSecond: (row) => port.postMessage({ type: 'second', row }),
  onKept: (_operation, item) => kept.push(item),
});

const prober = createProber((probe) => port.postMessage(probe));

/** @param {import('./samples.js').Sample} sample */
function record(sample) {
  recorder.record(sample);
  prober.onSample();
}

/** @returns {import('./samples.js').Tail} once everything is recorded that the sender had to say */
function recordAll() {
  for (;;) {
    const told = reader.toldMs();
    const tail = reader.tail();
    const count = reader.take(record);
    recorder.advance(told);
    if (kept.length > 0) keeper?.write(kept);
    kept = [];
    if (tail !== null) return tail;
    if (count === 0) prober.sleep(reader.sleep);
  }
}

/**
 * Arrivals that were due but still waiting are counted with the age they reached.
 *
 * @param {import('./samples.js').Tail} tail
 */
function recordWaiting({ endedMs: done, next, waiting }) {
  if (waiting === 0) return;
  const schedule = createSchedule(load);
  const waited = { operation: 0, sent: done, done, lag: 0, failure: 'never_sent', status: 0, body: null };
  /** One for all: there may be a million. @type {import('./samples.js').Sample} */
  const sample = { ...waited, index: 0, intended: 0 };
  for (let i = 0; i < waiting; i++) {
    sample.index = next + i * shards;
    sample.intended = schedule.dueMs(sample.index);
    recorder.record(sample);
  }
}

port.postMessage({ type: 'ready' });
const tail = recordAll();
recordWaiting(tail);
recorder.addDropped(0, tail.dropped);
port.postMessage({ type: 'end', snapshot: recorder.finish(), kept: keeper?.close() ?? null });
