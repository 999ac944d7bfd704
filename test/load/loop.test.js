import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordAll } from '../../src/load/recording/loop.js';

const SAMPLE = /** @type {import('../../src/load/recording/ring.js').Sample} */ ({});
const TAIL = { endedMs: 1000, next: 0, waiting: 0, dropped: 0 };

/**
 * @param {number} perMs samples that come in a millisecond
 * @returns the sleeps, ms, and how many samples were taken after each
 */
function loopAt(perMs) {
  let now = 0;
  let left = 0;
  /** @type {number[]} */
  const sleeps = [];
  /** @type {number[]} */
  const lots = [];
  let recorded = 0;
  const reader = {
    toldMs: () => now,
    tail: () => (now >= 1000 ? TAIL : null),
    /** @param {(sample: typeof SAMPLE) => void} visit */
    take(visit) {
      const count = Math.floor(left);
      left -= count;
      for (let i = 0; i < count; i++) visit(SAMPLE);
      if (count > 0) lots.push(count);
      return count;
    },
    /** @param {number} ms */
    sleep(ms) {
      sleeps.push(ms);
      now += ms;
      left += perMs * ms;
      return /** @type {const} */ ('timed-out');
    },
  };
  const tail = recordAll({
    reader,
    recorder: /** @type {any} */ ({ record: () => recorded++, advance() {} }),
    prober: { onSample() {}, sleep: (sleep, ms) => sleep(ms) },
    onTaken() {},
  });
  return { sleeps, lots, recorded, tail };
}

for (const { perMs, ms, lot } of [
  { perMs: 0, ms: 10, lot: 0 },
  { perMs: 0.1, ms: 10, lot: 1 },
  { perMs: 1, ms: 10, lot: 10 },
  { perMs: 10, ms: 2, lot: 20 },
  { perMs: 100, ms: 1, lot: 100 },
]) {
  test(`at ${perMs * 1000}/s the recorder sleeps ${ms} ms and takes about ${lot} samples at once`, () => {
    const { sleeps, lots, recorded, tail } = loopAt(perMs);
    assert.equal(tail, TAIL);
    const [later] = sleeps.slice(-1);
    assert.ok(Math.abs(later - ms) < 0.2 * ms, `${later} ms`);
    if (lot === 0) return assert.equal(recorded, 0);
    assert.ok(Math.abs(lots[lots.length - 2] - lot) <= 0.2 * lot, `${lots[lots.length - 2]} at once`);
    assert.equal(
      recorded,
      lots.reduce((a, b) => a + b, 0),
    );
    assert.ok(recorded >= 990 * perMs, `${recorded} recorded`);
  });
}
