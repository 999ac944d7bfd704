/** Thread entry for samples.test.js: reads a ring to its end and says what was wrong with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { openReader } from '../../src/engine/recording/ring.js';

const reader = openReader(workerData.memory);
const seen = { count: 0, outOfOrder: 0, wrong: 0 };
let tail = null;
while (tail === null) {
  tail = reader.tail();
  const count = reader.take(({ index, body }) => {
    if (index !== seen.count) seen.outOfOrder++;
    const isWhole =
      body === null || (body.length === 10 + (index % 50) && body.every((b) => b === (index & 255)));
    if (!isWhole) seen.wrong++;
    seen.count++;
  });
  if (count === 0) reader.sleep(1);
}
parentPort?.postMessage(seen);
