import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { createProgress } from '../../src/reporters/progress.js';

// Hiding the cursor registers signal handlers only where standard error is a terminal. Set before log-update loads.
Object.defineProperty(process.stderr, 'isTTY', { value: true });

test('the live view brings no signal handlers', async () => {
  const before = process.listenerCount('SIGINT');
  /** @type {Promise<void>} */
  const drawn = new Promise((resolve) => {
    const stream = new Writable({
      write(_, __, done) {
        done();
        resolve();
      },
    });
    const progress = createProgress({ stream, isTTY: true });
    progress.event({
      type: 'interval',
      elapsedMs: 1000,
      totalMs: null,
      sent: 1,
      succeeded: 1,
      failed: 0,
      inFlight: 0,
      waiting: 0,
      ratePerSecond: 1,
      p99Ms: 1,
      errors: {},
      phase: 'measuring',
    });
  });
  await drawn;
  assert.equal(process.listenerCount('SIGINT'), before);
});
