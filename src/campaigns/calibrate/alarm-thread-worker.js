/** Alarm thread: sleeps in `Atomics.wait`, even while no time is set. Started by known-delay.js. */
import { parentPort, workerData } from 'node:worker_threads';
import { createClock } from '../../engine/clock.js';

/** @import { Shared } from './known-delay.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const port = /** @type {MessagePort} */ (parentPort);
/** @type {{originNs: bigint} & Shared} */
const { originNs, isSet, dueMs } = workerData;
const clock = createClock(originNs);
port.postMessage({ type: 'ready' });

for (;;) {
  // Returns at once if a time is already set.
  Atomics.wait(isSet, 0, 0);
  if (Atomics.load(isSet, 0) === 0) continue;
  for (let left = dueMs[0] - clock(); left > 0; left = dueMs[0] - clock()) Atomics.wait(isSet, 0, 1, left);
  // Clear first: the main thread may set the next time as soon as it receives the message.
  Atomics.store(isSet, 0, 0);
  port.postMessage(null);
}
