/** The check of arrivals notices parts that do not interleave, or start at different times. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uniform } from '../../src/common/random.js';
import { assertScheduled } from './scheduled.js';

const schedule = { startedMs: 1e12, rate: 60, seconds: 20 };

/** Of three parts, each up to 2 ms late. @param {(part: number) => number} offsetMs */
const arrivals = (offsetMs) =>
  Array.from({ length: 1200 }, (_, i) => 1e12 + (i * 1000) / 60 + 2 * uniform(1, i) + offsetMs(i % 3));

test('three parts of one schedule', () => {
  const { medianMs, shortShare } = assertScheduled(
    arrivals(() => 0),
    schedule,
  );
  assert.ok(medianMs > 0.5 && medianMs < 1.5 && shortShare === 0, `${medianMs} ${shortShare}`);
});

/** @type {[string, (part: number) => number, RegExp][]} */
const WRONG = [
  ['all parts at the same instants', (part) => -part * (1000 / 60), /gaps are too short/],
  ['one part 300 ms late', (part) => (part === 2 ? 300 : 0), /median distance/],
  ['all parts 10 ms late', () => 10, /median distance/],
];
for (const [what, offsetMs, message] of WRONG)
  test(what, () => void assert.throws(() => assertScheduled(arrivals(offsetMs), schedule), { message }));
