import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
/** @param {ReturnType<typeof delaysAfter>} delays us */
const round = (delays) => delays.map(({ share, ms }) => [share, Math.round(1000 * ms)]);

describe('delays of wake-ups', () => {
  test('are those beyond the usual one, and the longest counts for three times as much', () => {
    const delays = round(delaysAfter([...times(99, 0.1), ...times(1, 2.1)]));
    assert.deepEqual(delays.slice(0, 3), [
      [0, 6000],
      [0.03, 2000],
      [(2 + 2 * Math.sqrt(2)) / 100, 0],
    ]);
    assert.ok(delays.slice(3).every(([, us]) => us === 0));
  });

  test('a share grows with the number of longer ones, by two standard deviations more', () => {
    const shares = delaysAfter(times(1000, 0.1)).map(({ share }) => share);
    assert.deepEqual(shares, [
      0,
      ...[1, 2, 4, 8, 16, 32, 64, 128, 256].map((count) => (count + 2 * Math.sqrt(count)) / 1000),
    ]);
  });

  test('the time in which the thread waited for a core does not count: the sender counts its own', () => {
    const [, longest] = delaysAfter([...times(9, 0.1), { ms: 20, lateMs: 5.1, queuedMs: 5 }]);
    assert.equal(Math.round(1000 * longest.ms), 0);
  });

  test('a wait of an earlier sleep does not shorten a later one', () => {
    const [, longest] = delaysAfter([
      ...times(9, 0.1),
      { ms: 20, lateMs: 3.1, queuedMs: 3 },
      ...times(1, 2.1),
    ]);
    assert.equal(Math.round(1000 * longest.ms), 2000);
  });

  test('stops of the thread do not count: the sender notices them', () => {
    const [, longest] = delaysAfter([...times(9, 0.1), ...times(1, 50)]);
    assert.equal(Math.round(1000 * longest.ms), 0);
  });

  test('sleeps that were ended early do not count', () => {
    const woken = { ms: 20, lateMs: 5, ending: 'ok' };
    assert.deepEqual(delaysAfter([...times(9, 0.1), woken]), delaysAfter(times(9, 0.1)));
  });

  test('are unknown without a sleep, or where the kernel does not count waits for a core', () => {
    assert.deepEqual(delaysAfter([]), []);
    assert.deepEqual(delaysAfter(times(10, 5), false), []);
  });

  test('of real sleeps are known on Linux', { skip: process.platform !== 'linux' }, () => {
    const wakes = watchWakes();
    const never = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < 5; i++) wakes.sleep(1, (ms) => Atomics.wait(never, 0, 0, ms));
    wakes.close();
    const [longest, ...others] = wakes.delays();
    assert.equal(longest.share, 0);
    assert.ok(longest.ms >= 0 && others.length > 0);
  });
});
