/** Thread entry of the alarm: sleeps in `Atomics.wait`, also while no time is set. Driven by known-delay.js. */
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
  // Returns at once if a time has been set in the meantime.
  Atomics.wait(isSet, 0, 0);
  if (Atomics.load(isSet, 0) === 0) continue;
  for (let left = dueMs[0] - clock(); left > 0; left = dueMs[0] - clock()) Atomics.wait(isSet, 0, 1, left);
  // Before the message: the other thread may set the next time as soon as it arrives.
  Atomics.store(isSet, 0, 0);
  port.postMessage(null);
}
