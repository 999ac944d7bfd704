import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countDue } from '../../src/load/pacing/pacer.js';
import { pace, scheduleOf } from './pacing.js';

const every10 = Array.from({ length: 100 }, (_, i) => i * 10);

describe('open loop', () => {
  test('each index is handed out once, in order, at its due time, where slots are free', () => {
    const { pacer, time, fired, seen } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 2,
      serviceMs: () => 15,
    });
    pacer.start();
    time.runUntil(5000);
    assert.deepEqual(
      fired,
      every10.map((at, index) => ({ index, intended: at, at })),
    );
    assert.deepEqual([seen.ends, pacer.ended(), time.pending], [1, true, 0]);
  });

  test('nothing is handed out before time zero, when the clock starts earlier', () => {
    const { pacer, time, fired } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 100,
      serviceMs: () => 1,
      startMs: -30,
    });
    pacer.start();
    time.runUntil(-0.001);
    assert.equal(fired.length, 0);
    time.runUntil(0);
    assert.equal(fired.length, 1);
  });

  test('an arrival without a free slot waits, and keeps its due time', () => {
    const { pacer, time, fired } = pace({
      arrivals: { schedule: scheduleOf([0, 10, 20, 30]) },
      slots: 1,
      serviceMs: () => 25,
    });
    pacer.start();
    time.runUntil(60);
    assert.deepEqual(fired, [
      { index: 0, intended: 0, at: 0 },
      { index: 1, intended: 10, at: 25 },
      { index: 2, intended: 20, at: 50 },
    ]);
    assert.equal(pacer.waiting(), 1);
  });

  test('with drop it is given up at its due time and never handed out', () => {
    const { pacer, time, fired, dropped } = pace({
      arrivals: { schedule: scheduleOf([0, 10, 20, 30]) },
      slots: 1,
      serviceMs: () => 25,
      overflow: 'drop',
    });
    pacer.start();
    time.runUntil(100);
    assert.deepEqual(
      fired.map(({ index, at }) => [index, at]),
      [
        [0, 0],
        [3, 30],
      ],
    );
    assert.deepEqual(dropped, [
      { index: 1, intended: 10, at: 10 },
      { index: 2, intended: 20, at: 20 },
    ]);
  });

  test('nothing is handed out from stopAt on; what is due then stays undone', () => {
    const { pacer, time, fired, seen } = pace({
      arrivals: { schedule: scheduleOf(every10), stopAtMs: 200 },
      slots: 1,
      serviceMs: () => 50,
    });
    pacer.start();
    time.runUntil(1000);
    assert.deepEqual(
      fired.map(({ at }) => at),
      [0, 50, 100, 150],
    );
    assert.deepEqual([seen.ends, seen.endedAt, pacer.next], [1, 200, 4]);
  });

  test('a stop in the middle hands out nothing more and ends once', () => {
    const { pacer, time, fired, seen } = pace({
      arrivals: { schedule: scheduleOf(every10) },
      slots: 1,
      serviceMs: () => 15,
    });
    pacer.start();
    time.runUntil(100);
    const before = fired.length;
    pacer.stop();
    pacer.stop();
    pacer.tick();
    time.runUntil(1000);
    assert.deepEqual([fired.length, seen.ends, seen.endedAt], [before, 1, 100]);
  });

  test('requests that fail at once do not pile up on the stack', () => {
    const { pacer, seen } = pace({
      arrivals: { schedule: scheduleOf(Array.from({ length: 50_000 }, () => 0)) },
      slots: 3,
      serviceMs: () => -1,
    });
    pacer.start();
    assert.deepEqual([seen.ends, seen.deepest], [1, 1]);
  });
});

/** Due times with ties and gaps. */
const dueTimes = fc
  .array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 })
  .map((gaps) => gaps.map((_, i) => gaps.slice(0, i + 1).reduce((a, b) => a + b, 0)));

describe('any open loop', () => {
  test('handed out + dropped + left over = planned; in order, never early, never more than there are slots', () => {
    fc.assert(
      fc.property(
        fc.record({
          due: dueTimes,
          services: fc.array(fc.integer({ min: -1, max: 100 }), { minLength: 1 }),
          slots: fc.integer({ min: 1, max: 4 }),
          overflow: fc.constantFrom('queue', 'drop'),
          stopAtMs: fc.oneof(fc.constant(1e9), fc.integer({ min: 0, max: 1000 })),
          blocks: fc.array(fc.tuple(fc.nat(300), fc.nat(200)), { maxLength: 4 }),
          shards: fc.integer({ min: 1, max: 3 }),
        }),
        ({ due, services, slots, overflow, stopAtMs, blocks, shards }) => {
          const shard = shards - 1;
          const { pacer, time, fired, dropped, seen } = pace({
            arrivals: { schedule: scheduleOf(due), stopAtMs, shard, shards },
            slots,
            serviceMs: (i) => services[i % services.length],
            overflow: /** @type {'queue' | 'drop'} */ (overflow),
          });
          pacer.start();
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
          if (overflow === 'queue') assert.equal(dropped.length, 0);
          if (stopAtMs === 1e9) assert.equal(left, 0);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('countDue counts what a loop over all would', () => {
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

  test('countDue looks at one arrival where none is due, at few where many are', () => {
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
