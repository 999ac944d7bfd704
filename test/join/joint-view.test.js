/** What part 0 shows of all parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonicMs } from '../../src/join/clock.js';
import { createJointView } from '../../src/join/joint-view.js';
import { interval } from '../live/interval.js';
import { planFor } from './support.js';

/** @import { RunEvent } from '../../src/run.js' */
/** @import { Received } from '../../src/join/joint-view.js' */

/** @param {(Received | null)[]} others */
async function startView(others) {
  const plan = await planFor('http://127.0.0.1:1', { rate: 60, duration: '20s' });
  /** @type {any[]} */
  const shown = [];
  const onEvent = (/** @type {RunEvent} */ event) => void shown.push(event);
  const view = await createJointView(plan, [1, 1, 1], { onEvent, intervals: () => others });
  return { view, shown };
}

/** Of a part, so long ago. @param {object} changes @param {number} [agoMs] @returns {any} */
const received = (changes, agoMs = 0) => ({ ...interval(changes), atMs: monotonicMs() - agoMs });

test('it adds the figures of all parts; the p99 is that of the slowest', async () => {
  const others = [
    received({ sent: 30, ratePerSecond: 21, p99Ms: 209, errors: { timeout: 2 } }),
    received({ errors: { timeout: 1 } }),
  ];
  const { view, shown } = await startView(others);
  view.onEvent(interval({}));
  const [{ sent, ratePerSecond, p99Ms, errors, inFlight }] = shown;
  assert.deepEqual([sent, ratePerSecond, p99Ms, errors, inFlight], [70, 59, 209, { timeout: 3 }, 3]);
});

test('a part that is silent counts with its totals, but not as if it still sent', async () => {
  const others = [received({ sent: 30, p99Ms: 209 }, 3100), received({}, 500)];
  const { view, shown } = await startView(others);
  view.onEvent(interval({ elapsedMs: 9000 }));
  const [{ sent, ratePerSecond, p99Ms }] = shown;
  assert.deepEqual([sent, ratePerSecond, p99Ms], [70, 38, 12.34]);
});

test('the share of some parts is not shown as the whole: it waits for the others, for 3 s', async () => {
  const others = /** @type {(Received | null)[]} */ ([received({}), null]);
  const { view, shown } = await startView(others);
  view.onEvent(interval({ elapsedMs: 1250 }));
  assert.deepEqual(shown, []);
  view.onEvent(interval({ elapsedMs: 3250 }));
  others[1] = received({});
  view.onEvent(interval({ elapsedMs: 1250 }));
  assert.deepEqual(
    shown.map(({ ratePerSecond }) => ratePerSecond),
    [38, 57],
  );
});
