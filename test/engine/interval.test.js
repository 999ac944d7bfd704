import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { intervalEvent, waitToConnect } from '../../src/engine/interval.js';

/** @param {Partial<Parameters<typeof intervalEvent>[0]>} changes @param {number} elapsedMs */
function eventAt(changes, elapsedMs) {
  const shards = [3, 4].map((waiting) => ({ state: () => ({ sent: 10, inFlight: 2, waiting }) }));
  const seconds = { rows: [], sums: { succeeded: 8, failed: 1 }, errors: { timeout: 1 } };
  return intervalEvent(
    { warmupMs: 1000, windowMs: 30_000, shards, seconds, waitingAtStop: null, ...changes },
    elapsedMs,
  );
}

describe('the interval event', () => {
  /** @type {[string, Partial<Parameters<typeof intervalEvent>[0]>, number, string, number][]} changes, time, phase, waiting */
  const TABLE = [
    ['a warm-up', {}, 999, 'warmup', 7],
    ['the measured phase', {}, 1000, 'measuring', 7],
    ['after the measured phase', {}, 31_000, 'draining', 7],
    ['a run without a planned time', { windowMs: null }, 99_000, 'measuring', 7],
    ['after an interruption: nothing is sent or comes due', { waitingAtStop: 5 }, 4000, 'draining', 5],
    ['the same without waiting requests', { waitingAtStop: 0 }, 4000, 'draining', 0],
    ['the same in a warm-up', { waitingAtStop: 0 }, 500, 'draining', 0],
    ['the same without a planned time', { waitingAtStop: 1, windowMs: null }, 4000, 'draining', 1],
  ];
  for (const [what, changes, elapsedMs, phase, waiting] of TABLE) {
    test(what, () => {
      const event = eventAt(changes, elapsedMs);
      assert.deepEqual([event.phase, event.waiting], [phase, waiting]);
      assert.deepEqual([event.sent, event.inFlight, event.succeeded, event.failed], [20, 4, 8, 1]);
    });
  }
});

/** @type {[string, string | null, string[]][]} */
const WAITS = [
  ['starting as soon as possible needs no wait', null, []],
  ['nor does a start within the lead for connections', '2026-01-02T03:04:10.000Z', []],
  ['nor does a past time', '2026-01-02T03:00:00.000Z', []],
  [
    'a later time is waited for',
    '2026-01-02T03:28:25.000Z',
    ['Waiting until 2026-01-02T03:28:25.000Z, for 24 min 20 s.'],
  ],
];
for (const [what, startAt, expected] of WAITS) {
  test(what, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-02T03:04:05.000Z') });
    /** @type {string[]} */
    const notices = [];
    await waitToConnect(startAt, AbortSignal.abort(), (text) => notices.push(text));
    assert.deepEqual(notices, expected);
  });
}
