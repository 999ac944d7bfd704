import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock } from '../../src/engine/clock.js';

/** @param {bigint} origin @param {bigint} ns */
const msSince = (origin, ns) => Number(ns - origin) / 1e6;

for (const aheadNs of [
  0n,
  1n,
  999_999_999n,
  1_000_000_000n,
  123_456_789_012n,
  -30_000_000n,
  -5_000_000_001n,
]) {
  test(`the clock agrees with process.hrtime.bigint, with its origin ${aheadNs} ns ago`, () => {
    const origin = process.hrtime.bigint() - aheadNs;
    const clock = createClock(origin);
    for (let i = 0; i < 1000; i++) {
      const before = process.hrtime.bigint();
      const now = clock();
      const after = process.hrtime.bigint();
      assert.ok(now >= msSince(origin, before) - 1e-6, `${now} is before it was read`);
      assert.ok(now <= msSince(origin, after) + 1e-6, `${now} is after it was read`);
    }
  });
}
