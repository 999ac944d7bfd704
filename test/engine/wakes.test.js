import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openRunQueue } from '../../src/engine/watch/run-queue.js';
import { watchWakes } from '../../src/engine/watch/wakes.js';

/** @typedef {{ms: number, lateMs: number, queuedMs?: number, ending?: string}} Sleep */

/** @param {Sleep[]} sleeps @param {boolean} [isCounted] the kernel counts waits for a core */
function delaysAfter(sleeps, isCounted = true) {
  let [atMs, waitedMs] = [1000, 7];
  const runQueue = isCounted ? { readMs: () => waitedMs, close() {} } : null;
  const wakes = watchWakes({ now: () => atMs, runQueue });
  for (const { ms, lateMs, queuedMs = 0, ending = 'timed-out' } of sleeps)
    wakes.sleep(ms, (given) => {
      assert.equal(given, ms);
      atMs += ms + lateMs;
      waitedMs += queuedMs;
      return ending;
    });
  return wakes.delays();
}
/** @param {number} count @param {number} lateMs @returns {Sleep[]} */
const times = (count, lateMs) => Array.from({ length: count }, () => ({ ms: 20, lateMs }));
/** @param {ReturnType<typeof delaysAfter>} delays @param {number} [n] @returns {number[]} us */
const usOf = (delays, n = 1) => delays(n).map(({ ms }) => Math.round(1000 * ms));

describe('delays of wake-ups', () => {
  test('are those beyond the usual one of a timer', () => {
    const delays = delaysAfter([...times(99, 0.1), ...times(1, 2.1)]);
    assert.deepEqual(usOf(delays).slice(1), [2000, 0]);
  });

  test('no response has three times the longest one, and with more responses than sleeps, one that grows with their number', () => {
    const delays = delaysAfter([...times(99, 0.1), ...times(1, 2.1)]);
    assert.deepEqual(
      [1, 100, 400].map((n) => [delays(n)[0].count, usOf(delays, n)[0]]),
      [
        [0, 6000],
        [0, 6000],
        [0, 12_000],
      ],
    );
  });

  test('half of them being late is not usual', () => {
    assert.deepEqual(usOf(delaysAfter(times(100, 1.15))), [3000, 1000]);
  });

  test('of few responses one may be delayed, of many three times the share of sleeps with the chance of both samples', () => {
    const delays = delaysAfter([...times(999, 0.1), ...times(1, 2.1)]);
    assert.deepEqual(
      [1, 10, 100, 1000].map((n) => delays(n)[1].count),
      [1, 1, 2, Math.ceil(3 + 1.645 * Math.sqrt(3 * 4))],
    );
  });

  test('a late wake-up delays all that arrives meanwhile', () => {
    const delays = delaysAfter([...times(993, 0.1), ...times(4, 1.1), ...times(3, 11.1)]);
    assert.equal(usOf(delays)[2], 1000);
    for (const n of [1000, 10_000, 100_000]) {
      // In 20.1 s, 4 delays, with 7.5 ms beyond this one on average.
      const each = 1 + (n / 20_137) * 7.5;
      const mean = (3 * 4 * n) / 1000;
      const count = each * (mean + 1.645 * Math.sqrt(mean * (1 + (3 * n) / 1000)));
      assert.ok(Math.abs(delays(n)[2].count - count) < 1 + 0.02 * count, `${delays(n)[2].count} of ${n}`);
    }
  });

  test('the time in which the thread waited for a core does not count: the sender counts its own', () => {
    const sleeps = [...times(9, 0.1), { ms: 20, lateMs: 5.1, queuedMs: 5 }, ...times(1, 2.1)];
    assert.deepEqual(usOf(delaysAfter(sleeps)), [6000, 2000, 0]);
  });

  test('stops of the thread do not count: the sender notices them', () => {
    assert.deepEqual(usOf(delaysAfter([...times(9, 0.1), ...times(1, 60)])), [0, 0]);
    assert.deepEqual(usOf(delaysAfter([...times(9, 0.1), ...times(1, 59.1)])), [177_000, 59_000, 0]);
  });

  test('sleeps that were ended early do not count', () => {
    const woken = { ms: 20, lateMs: 5, ending: 'ok' };
    assert.deepEqual(usOf(delaysAfter([...times(9, 0.1), woken])), [0, 0]);
  });

  test('are unknown without a sleep, or where the kernel does not count waits for a core', () => {
    assert.deepEqual(delaysAfter([])(10), []);
    assert.deepEqual(delaysAfter(times(10, 5), false)(10), []);
  });

  test('of real sleeps are known on Linux', { skip: openRunQueue() === null }, () => {
    const wakes = watchWakes();
    const never = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < 5; i++) wakes.sleep(1, (ms) => Atomics.wait(never, 0, 0, ms));
    wakes.close();
    const [longest, ...others] = wakes.delays()(1);
    assert.equal(longest.count, 0);
    assert.ok(others.length > 0);
  });
});
