import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pace } from './pacing.js';

describe('closed loop', () => {
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

  test('any: never more in flight than slots, exactly its own requests, each due and sent when its slot was free', () => {
    fc.assert(
      fc.property(
        fc.record({
          services: fc.array(fc.integer({ min: -1, max: 50 }), { minLength: 1 }),
          slots: fc.integer({ min: 1, max: 5 }),
          requests: fc.option(fc.integer({ min: 0, max: 60 })),
          stopAtMs: fc.integer({ min: 1, max: 500 }),
          warmupMs: fc.nat(100),
          startMs: fc.integer({ min: -40, max: 5 }),
          shards: fc.integer({ min: 1, max: 3 }),
        }),
        ({ services, slots, requests, stopAtMs, warmupMs, startMs, shards }) => {
          // At least one request must take time, or time stands still.
          const all = [...services, 3];
          const serviceMs = (/** @type {number} */ i) => (i % 7 === 6 ? 3 : all[i % all.length]);
          const { pacer, time, fired, seen } = pace({
            arrivals: { requests, stopAtMs, warmupMs, shard: shards - 1, shards },
            slots,
            serviceMs,
            startMs,
          });
          pacer.start();
          time.runUntil(10_000);
          assert.deepEqual(
            fired.map(({ index }) => index),
            fired.map((_, i) => shards - 1 + i * shards),
          );
          assert.ok(seen.mostInFlight <= slots);
          assert.equal(seen.ends, 1);
          const freeAt = Array(slots).fill(Math.max(0, startMs));
          for (const { index, intended, at } of fired) {
            assert.ok(intended >= 0 && at < stopAtMs);
            assert.ok(startMs > 0 ? intended <= at : intended === at, 'due when its slot was free');
            const first = freeAt.indexOf(Math.min(...freeAt));
            assert.equal(at, freeAt[first], 'sent as soon as a slot was free');
            freeAt[first] = at + Math.max(0, serviceMs(index));
          }
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
