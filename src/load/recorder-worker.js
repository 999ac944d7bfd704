/**
 * Thread entry: receives batches of samples from one sender, judges and records them. Messages in: `batch`, `end`.
 * Messages out: `ready`, `taken` (flow control), `second`, `end`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadOperation } from '../operations/index.js';
import { createRecorder } from './recorder.js';
import { forEachSample } from './samples.js';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const { plan, fixture } = workerData;
const { load } = plan;
const operation = await loadOperation(plan.operation);
/** @type {unknown[]} */
let kept = [];
const keeper = operation.openKeeper?.(plan) ?? null;

const recorder = createRecorder({
  operations: [{ name: operation.name, classify: operation.createClassifier(plan, fixture) }],
  warmupMs: load.warmupMs,
  measuredMs: load.durationMs,
  onSecond: (row) => port.postMessage({ type: 'second', row }),
  onKept: (_operation, item) => kept.push(item),
});

function writeKept() {
  if (kept.length === 0) return;
  keeper?.write(kept);
  kept = [];
}

port.on('message', (message) => {
  if (message.type === 'batch') {
    forEachSample(message.batch, recorder.record);
    recorder.advance(message.batch.upToMs);
    writeKept();
    port.postMessage({ type: 'taken', samples: message.batch.count, bytes: message.batch.size });
  } else {
    port.postMessage({ type: 'end', snapshot: recorder.finish(), kept: keeper?.close() ?? null });
    port.close();
  }
});
port.postMessage({ type: 'ready' });
