import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distanceOf, slowestStep } from './stages.js';

/** @param {number} from @param {number} until ms @param {number} perSecond */
const evenly = (from, until, perSecond) =>
  Array.from(
    { length: Math.round(((until - from) * perSecond) / 1000) },
    (_, i) => from + (i * 1000) / perSecond,
  );

const STEPS = [20, 100].map((level) => ({ durationMs: 2000, fromPerSecond: level, toPerSecond: level }));

test('arrivals on time are no farther off than one of them, and late ones by the share that was late', () => {
  const share = (/** @type {number} */ ms) => Math.min(1, Math.max(0, ms / 1000));
  assert.ok(Math.abs(distanceOf(Float64Array.from(evenly(0, 1000, 100)), share) - 0.01) < 1e-9);
  const late = Float64Array.from(evenly(0, 1000, 100), (ms) => ms + 200);
  assert.ok(Math.abs(distanceOf(late, share) - 0.2) < 1e-9);
  assert.equal(distanceOf(new Float64Array(0), share), 1);
});

/** @type {[string, number[], number | null][]} */
const TABLE = [
  ['at once', [...evenly(0, 2000, 20), ...evenly(2000, 4000, 100)], 0],
  ['after 0.5 s', [...evenly(0, 2500, 20), ...evenly(2500, 4000, 100)], 480],
  ['never', evenly(0, 4000, 20), null],
];
for (const [when, times, ms] of TABLE) {
  test(`a step that is reached ${when}`, () =>
    assert.equal(slowestStep(Float64Array.from(times), STEPS), ms));
}
