import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countDue } from '../../src/engine/pacing/pacer.js';
import { pace, scheduleOf } from './pacing.js';

const every10 = Array.from({ length: 100 }, (_, i) => i * 10);

describe('open loop', () => {
  test('hands out nothing before time zero, even if the clock starts earlier', () => {
    const { pacer, time, fired } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 100,
      serviceMs: () => 1,
      startMs: -30,
    });
    pacer.tick();
    time.runUntil(-0.001);
    assert.equal(fired.length, 0);
    time.runUntil(0);
    assert.equal(fired.length, 1);
  });

  test('after a standstill of the process, overdue requests wait until the sockets have been polled', () => {
    const { pacer, time, fired, seen } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 100,
      serviceMs: () => 1,
    });
    pacer.tick();
    time.runUntil(20);
    assert.deepEqual([fired.length, seen.polls], [3, 0]);
    time.block(50);
    pacer.check();
    pacer.tick();
    pacer.check();
    assert.deepEqual([fired.length, seen.polls], [3, 1]);
    time.runUntil(70);
    assert.deepEqual([fired.length, seen.polls], [8, 1]);
    assert.deepEqual(fired.at(-1), { index: 7, intended: 70, at: 70 });
    assert.deepEqual(fired.at(3), { index: 3, intended: 30, at: 70 });
  });

  test('a stop hands out nothing more and ends once', () => {
    const { pacer, time, fired, seen } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 1,
      serviceMs: () => 15,
    });
    pacer.tick();
    time.runUntil(100);
    const before = fired.length;
    assert.deepEqual([before, pacer.waiting()], [7, 4]);
    pacer.stop();
    pacer.stop();
    pacer.tick();
    time.runUntil(1000);
    assert.deepEqual([fired.length, seen.ends, seen.endedAt, pacer.hasEnded()], [before, 1, 100, true]);
  });

  test('requests that fail at once do not recurse', () => {
    const { pacer, seen } = pace({
      arrivals: { schedule: scheduleOf(Array.from({ length: 50_000 }, () => 0)) },
      slots: 3,
      serviceMs: () => -1,
    });
    pacer.tick();
    assert.deepEqual([seen.ends, seen.deepest], [1, 1]);
  });
});

/** Due times with ties and gaps. */
const dueTimes = fc
  .array(fc.integer({ min: 0, max: 40 }), { maxLength: 60, size: 'max' })
  .map((gaps) => gaps.map((_, i) => gaps.slice(0, i + 1).reduce((a, b) => a + b, 0)));

/**
 * What is handed out and dropped by a sender that is never held up: first come, first served.
 * @param {{due: number[], mine: number[], serviceMs: (index: number) => number, slots: number, overflow: string, stopAtMs: number}} load
 */
function servedInTurn({ due, mine, serviceMs, slots, overflow, stopAtMs }) {
  const freeAt = Array(slots).fill(0);
  const [fired, dropped] = [[], []].map(
    () => /** @type {{index: number, intended: number, at: number}[]} */ ([]),
  );
  for (const index of mine) {
    const first = freeAt.indexOf(Math.min(...freeAt));
    const intended = due[index];
    const isDropped = overflow === 'drop' && freeAt[first] > intended;
    const at = isDropped ? intended : Math.max(intended, freeAt[first]);
    if (at >= stopAtMs) break;
    (isDropped ? dropped : fired).push({ index, intended, at });
    if (!isDropped) freeAt[first] = at + Math.max(0, serviceMs(index));
  }
  return { fired, dropped };
}

describe('any open loop', () => {
  test('handed out + dropped + left = planned; in order, never early, never more than the slots', () => {
    fc.assert(
      fc.property(
        fc.record({
          due: dueTimes,
          services: fc.array(fc.integer({ min: -1, max: 100 }), { minLength: 1 }),
          slots: fc.integer({ min: 1, max: 4 }),
          overflow: fc.constantFrom('queue', 'drop'),
          stopAtMs: fc.oneof(fc.constant(1e9), fc.integer({ min: 0, max: 1000 })),
          blocks: fc.oneof(fc.constant([]), fc.array(fc.tuple(fc.nat(300), fc.nat(200)), { maxLength: 4 })),
          shards: fc.integer({ min: 1, max: 3 }),
        }),
        ({ due, services, slots, overflow, stopAtMs, blocks, shards }) => {
          const shard = shards - 1;
          // No connection becomes free just as an arrival is due: which of both comes first is open.
          const serviceMs = (/** @type {number} */ i) => services[i % services.length] + 0.5;
          const { pacer, time, fired, dropped, seen } = pace({
            arrivals: { schedule: scheduleOf(due), stopAtMs, shard, shards },
            slots,
            serviceMs,
            overflow: /** @type {'queue' | 'drop'} */ (overflow),
          });
          pacer.tick();
          for (const [pause, blocked] of blocks) {
            time.runUntil(time.clock() + pause);
            time.block(blocked);
          }
          time.runUntil(1e6);
          const all = [...fired, ...dropped].sort((a, b) => a.index - b.index);
          const left = pacer.next < due.length ? Math.ceil((due.length - pacer.next) / shards) : 0;
          const mine = due.flatMap((_, i) => (i % shards === shard ? i : []));
          assert.deepEqual(
            all.map(({ index }) => index),
            mine.slice(0, mine.length - left),
          );
          for (const { index, intended, at } of all) {
            assert.equal(intended, due[index]);
            assert.ok(at >= intended && at < stopAtMs);
          }
          assert.deepEqual(
            fired.map(({ index }) => index),
            fired.map(({ index }) => index).sort((a, b) => a - b),
          );
          assert.ok(seen.mostInFlight <= slots);
          assert.equal(seen.ends, 1);
          if (blocks.length === 0) {
            const expected = servedInTurn({ due, mine, serviceMs, slots, overflow, stopAtMs });
            assert.deepEqual({ fired, dropped }, expected);
            assert.equal(time.pending, 0);
            const latest = Math.max(stopAtMs, due[pacer.next]);
            if (left > 0) assert.ok(seen.endedAt >= stopAtMs && seen.endedAt <= latest);
          }
          if (overflow === 'queue') assert.equal(dropped.length, 0);
          if (stopAtMs === 1e9) assert.equal(left, 0);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('countDue equals a plain loop', () => {
    fc.assert(
      fc.property(
        dueTimes,
        fc.nat(70),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: -5, max: 300 }),
        (due, next, shards, now) => {
          let expected = 0;
          for (let i = next; i < due.length && due[i] <= now; i += shards) expected++;
          assert.equal(countDue(scheduleOf(due), next, shards, now), expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('countDue visits one arrival if none is due, and few if many are', () => {
    for (const [now, most] of [
      [-1, 1],
      [1e9, 70],
      [123_456, 50],
    ]) {
      let looks = 0;
      const dueMs = (/** @type {number} */ i) => {
        looks++;
        return i;
      };
      countDue({ count: 1e9, firstMeasured: 0, endMs: 1e9, dueMs }, 0, 1, now);
      assert.ok(looks <= most, `${looks} looks`);
    }
  });
});

describe('closed loop', () => {
  test('ends on time even if every slot is busy, and does not spin until then', () => {
    const { pacer, time, fired, seen } = pace({ arrivals: { stopAtMs: 100 }, slots: 2, serviceMs: () => 70 });
    pacer.tick();
    time.runUntil(100);
    assert.deepEqual([fired.length, seen.ends, seen.endedAt, pacer.hasEnded()], [4, 1, 100, true]);
    time.runUntil(1000);
    assert.deepEqual([fired.length, seen.ends], [4, 1]);
  });

  test('warm-up requests do not count towards --requests', () => {
    const { pacer, time, fired } = pace({
      arrivals: { warmupMs: 100, requests: 5 },
      slots: 1,
      serviceMs: () => 10,
    });
    pacer.tick();
    time.runUntil(1000);
    assert.deepEqual(
      fired.map(({ intended }) => intended >= 100),
      [...Array(10).fill(false), ...Array(5).fill(true)],
    );
  });

  test('a shard without requests sends none', () => {
    const { pacer, fired, seen } = pace({ arrivals: { requests: 0 }, slots: 1, serviceMs: () => 10 });
    pacer.tick();
    assert.deepEqual([fired.length, seen.ends], [0, 1]);
  });

  test('requests that fail at once do not recurse', () => {
    const { pacer, fired, seen } = pace({ arrivals: { requests: 50_000 }, slots: 3, serviceMs: () => -1 });
    pacer.tick();
    assert.deepEqual([fired.length, seen.ends, seen.deepest], [50_000, 1, 1]);
  });

  test('never has more in flight than slots, and sends exactly its requests, each due when its slot became free', () => {
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
          pacer.tick();
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
