import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { delayedSignal } from '../../src/common/stop.js';

test('a delayed signal aborts the given time after the first one, or never', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const early = new AbortController();
  const waits = [delayedSignal(early.signal, 5000), delayedSignal(undefined, 5000)];
  const aborted = () => waits.map(({ signal }) => signal.aborted);
  t.mock.timers.tick(60_000);
  assert.deepEqual(aborted(), [false, false]);
  early.abort();
  t.mock.timers.tick(4999);
  assert.deepEqual(aborted(), [false, false]);
  t.mock.timers.tick(1);
  assert.deepEqual(aborted(), [true, false]);
});

test('a delayed signal counts from now if the first one is already aborted', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { signal } = delayedSignal(AbortSignal.abort(), 5000);
  t.mock.timers.tick(4999);
  assert.equal(signal.aborted, false);
  t.mock.timers.tick(1);
  assert.equal(signal.aborted, true);
});

test('a closed delayed signal leaves no listener on the first one', () => {
  const first = new AbortController();
  for (let run = 0; run < 20; run++) delayedSignal(first.signal, 5000).close();
  assert.deepEqual(getEventListeners(first.signal, 'abort'), []);
});
