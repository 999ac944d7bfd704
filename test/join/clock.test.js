import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uniform } from '../../src/common/random.js';
import { createClock } from '../../src/join/clock.js';

test("the leader's time is right to half the quickest round trip, whatever the offset and the delays", () => {
  for (const aheadMs of [2000, -2000, 0, 86_400_000]) {
    const clock = createClock();
    const quickest = [];
    for (let i = 0; i < 40; i++) {
      const [there, back] = [0.1 + 20 * uniform(1, i, 1) ** 4, 0.1 + 20 * uniform(1, i, 2) ** 4];
      const sentMs = 1000 * i;
      clock.add(sentMs, sentMs + there + aheadMs, sentMs + there + back);
      quickest.push(there + back);
    }
    const bound = Math.min(...quickest.slice(-16)) / 2;
    assert.ok(bound < 1);
    assert.ok(Math.abs(clock.roundTripMs() - 2 * bound) < 1e-6);
    assert.ok(Math.abs(clock.toLocal(50_000 + aheadMs) - 50_000) <= bound + 1e-6);
  }
});

test('old exchanges are forgotten, as clocks drift', () => {
  const clock = createClock();
  clock.add(0, 0, 0.1);
  for (let i = 1; i <= 16; i++) clock.add(i, i + 7, i + 2);
  assert.equal(clock.toLocal(100), 94);
});
