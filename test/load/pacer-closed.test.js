import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pace } from './pacing.js';

describe('closed loop', () => {
  test('sends as soon as a slot is free; a request is due when its slot became free', () => {
    const { pacer, time, fired } = pace({ arrivals: {}, slots: 2, serviceMs: (i) => 10 + i });
    pacer.start();
    time.runUntil(25);
    pacer.stop();
    assert.deepEqual(fired, [
      { index: 0, intended: 0, at: 0 },
      { index: 1, intended: 0, at: 0 },
      { index: 2, intended: 10, at: 10 },
      { index: 3, intended: 11, at: 11 },
      { index: 4, intended: 22, at: 22 },
      { index: 5, intended: 24, at: 24 },
    ]);
  });

  test('a shard hands out its own indexes', () => {
    const { pacer, time, fired } = pace({
      arrivals: { shard: 1, shards: 3, requests: 4 },
      slots: 1,
      serviceMs: () => 1,
    });
    pacer.start();
    time.runUntil(100);
    assert.deepEqual(
      fired.map(({ index }) => index),
      [1, 4, 7, 10],
    );
  });

  test('ends at its time, though every slot is busy then, and does not spin until one is free', () => {
    const { pacer, time, fired, seen } = pace({ arrivals: { stopAtMs: 100 }, slots: 2, serviceMs: () => 70 });
    pacer.start();
    time.runUntil(100);
    assert.deepEqual([fired.length, seen.ends, seen.endedAt, pacer.ended()], [4, 1, 100, true]);
    time.runUntil(1000);
    assert.deepEqual([fired.length, seen.ends], [4, 1]);
  });

  test('requests of the warm-up do not count among --requests', () => {
    const { pacer, time, fired } = pace({
      arrivals: { warmupMs: 100, requests: 5 },
      slots: 1,
      serviceMs: () => 10,
    });
    pacer.start();
    time.runUntil(1000);
    assert.deepEqual(
      fired.map(({ intended }) => intended >= 100),
      [...Array(10).fill(false), ...Array(5).fill(true)],
    );
  });

  test('a shard whose part of the requests is none sends none', () => {
    const { pacer, fired, seen } = pace({ arrivals: { requests: 0 }, slots: 1, serviceMs: () => 10 });
    pacer.start();
    assert.deepEqual([fired.length, seen.ends], [0, 1]);
  });

  test('requests that fail at once do not pile up on the stack', () => {
    const { pacer, fired, seen } = pace({ arrivals: { requests: 50_000 }, slots: 3, serviceMs: () => -1 });
    pacer.start();
    assert.deepEqual([fired.length, seen.ends, seen.deepest], [50_000, 1, 1]);
  });

  test('any: never more in flight than slots, exactly the requests, each due when its slot was free', () => {
    fc.assert(
      fc.property(
        fc.record({
          services: fc.array(fc.integer({ min: -1, max: 50 }), { minLength: 1 }),
          slots: fc.integer({ min: 1, max: 5 }),
          requests: fc.option(fc.integer({ min: 0, max: 60 })),
          stopAtMs: fc.integer({ min: 1, max: 500 }),
          warmupMs: fc.nat(100),
          startMs: fc.integer({ min: -40, max: 5 }),
        }),
        ({ services, slots, requests, stopAtMs, warmupMs, startMs }) => {
          // At least one request must take time, or time stands still.
          const all = [...services, 3];
          const { pacer, time, fired, seen } = pace({
            arrivals: { requests, stopAtMs, warmupMs },
            slots,
            serviceMs: (i) => (i % 7 === 6 ? 3 : all[i % all.length]),
            startMs,
          });
          pacer.start();
          time.runUntil(10_000);
          assert.deepEqual(
            fired.map(({ index }) => index),
            fired.map((_, i) => i),
          );
          assert.ok(seen.mostInFlight <= slots);
          assert.equal(seen.ends, 1);
          for (const { intended, at } of fired) assert.ok(intended >= 0 && intended <= at && at < stopAtMs);
          const measured = fired.filter(({ intended }) => intended >= warmupMs).length;
          if (requests !== null) assert.ok(measured <= requests);
          if (requests !== null && seen.endedAt < stopAtMs) assert.equal(measured, requests);
          if (requests === null) assert.equal(seen.endedAt, Math.max(stopAtMs, startMs));
        },
      ),
      { numRuns: 100 },
    );
  });
});
