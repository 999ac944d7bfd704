import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecording } from '../../../src/campaigns/calibrate/known-delay.js';

test('many more requests than it has room for at first, answered in any order, some never', () => {
  const recording = createRecording();
  const count = 20_000;
  for (let i = 0; i < count; i++) assert.equal(recording.arrived(i), i);
  for (let i = count - 1; i >= 0; i--) if (i % 7 !== 0) recording.answered(i, i + 0.5);
  const { arrivedMs, answeredMs } = recording.taken();
  assert.deepEqual([arrivedMs.length, answeredMs.length], [count, count]);
  for (let i = 0; i < count; i++) {
    assert.deepEqual([arrivedMs[i], answeredMs[i]], [i, i % 7 === 0 ? Number.NaN : i + 0.5]);
  }
});

test('what was taken does not change afterwards', () => {
  const recording = createRecording();
  recording.arrived(1);
  const { answeredMs } = recording.taken();
  recording.answered(0, 2);
  assert.deepEqual([...answeredMs], [Number.NaN]);
});
