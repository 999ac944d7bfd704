import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_TIMER_MS, timerMs } from '../../src/common/timers.js';

test('timers have whole milliseconds: no fewer than asked, and no more than Node.js can wait', () => {
  assert.deepEqual([0, 1, 1.2, -3.2, MAX_TIMER_MS + 1].map(timerMs), [0, 1, 2, 0, MAX_TIMER_MS]);
});
