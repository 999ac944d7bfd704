import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createView } from '../../src/live/view.js';
import { interval } from './interval.js';

// Hiding the cursor registers signal handlers only where standard error is a terminal. Set before log-update loads.
Object.defineProperty(process.stderr, 'isTTY', { value: true });

test('the live view brings no signal handlers', async () => {
  const before = process.listenerCount('SIGINT');
  /** @type {Promise<void>} */
  const drawn = new Promise((resolve) => {
    const view = createView({ write: () => resolve(), terminal: { isTTY: true } });
    view.event(interval());
  });
  await drawn;
  assert.equal(process.listenerCount('SIGINT'), before);
});
