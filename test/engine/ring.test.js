import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import {
  createRingMemory,
  FAILURES,
  NO_PHASES,
  openReader,
  openWriter,
} from '../../src/engine/recording/ring.js';

/** @import { Sample } from '../../src/engine/recording/ring.js' */

function setUp() {
  const memory = createRingMemory();
  const writer = openWriter(memory);
  const reader = openReader(memory);
  /** @type {Sample[]} */
  const seen = [];
  const take = () => reader.take((one) => seen.push({ ...one, body: one.body && Uint8Array.from(one.body) }));
  return { memory, writer, reader, seen, take };
}

/** @param {Partial<Sample>} changes @returns {Sample} */
function sample(changes) {
  return {
    operation: 0,
    index: 1,
    intended: 2.5,
    sent: 3.25,
    done: 4,
    sendLateMs: 0.125,
    carriedMs: 0,
    readLateMs: 0,
    receivedAt: 0,
    ...NO_PHASES,
    failure: null,
    status: 200,
    body: null,
    ...changes,
  };
}

const ms = fc.double({ noNaN: true, noDefaultInfinity: true });
const anySample = fc.record(
  {
    operation: fc.nat(3),
    index: fc.nat(Number.MAX_SAFE_INTEGER),
    intended: ms,
    sent: ms,
    done: ms,
    sendLateMs: ms,
    carriedMs: ms,
    readLateMs: ms,
    receivedAt: ms,
    connect: ms,
    tls: ms,
    firstByte: ms,
    transfer: ms,
    failure: fc.option(fc.constantFrom(...FAILURES)),
    status: fc.integer({ min: 0, max: 999 }),
    body: fc.option(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(Uint8Array.of(1, 2, 3)))),
  },
  { noNullPrototype: true },
);

describe('the sample ring', () => {
  test('returns samples in order, whenever they are read', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anySample, fc.nat(3))), (entries) => {
        const { writer, seen, take } = setUp();
        for (const [one, dice] of entries) {
          writer.add(one);
          if (dice === 0) take();
        }
        take();
        assert.deepEqual(
          seen,
          entries.map(([one]) => one),
        );
        assert.equal(writer.behind(), 0);
      }),
      { numRuns: 50 },
    );
  });

  test('wraps many times, with bodies of any size in one piece', () => {
    const { writer, reader } = setUp();
    const bodies = [700_001, 3, 1_048_576, 0, 250_000].map((size, i) => Buffer.alloc(size, i + 1));
    let index = 0;
    for (let round = 0; round < 40; round++) {
      for (const body of bodies) writer.add(sample({ index: index++, body }));
      let expected = index - bodies.length;
      reader.take(({ index: got, body }) => {
        assert.equal(got, expected);
        assert.ok(body !== null && bodies[expected % bodies.length].equals(body), `body of ${expected}`);
        expected++;
      });
      assert.equal(expected, index);
    }
  });

  test('stores a repeated body once', () => {
    const { writer, seen, take } = setUp();
    const body = Buffer.alloc(1_000_000, 7);
    for (let i = 0; i < 100; i++) writer.add(sample({ index: i, body }));
    take();
    assert.ok(
      seen.every((one) => one.body !== null && one.body.length === 1_000_000 && one.body[999_999] === 7),
    );
  });

  test('drops bodies, never samples, when full', () => {
    const { writer, seen, take } = setUp();
    for (let i = 0; i < 20; i++) writer.add(sample({ index: i, body: Buffer.alloc(1_000_000, i) }));
    take();
    assert.deepEqual(
      seen.map(({ index }) => index),
      Array.from({ length: 20 }, (_, i) => i),
    );
    const kept = seen.filter(({ body }) => body !== null);
    assert.ok(kept.length >= 8 && kept.length < 20, `${kept.length} bodies are kept`);
    assert.ok(kept.every(({ index, body }) => body?.every((byte) => byte === index)));
  });

  test('after skipBodies, samples still come, also those already in the ring, but without bodies', () => {
    const { writer, seen, take } = setUp();
    const body = Buffer.alloc(3 << 20);
    for (let round = 0; round < 6; round++) {
      body.fill(round);
      writer.add(sample({ index: 2 * round, body }));
      if (round === 3) writer.skipBodies();
      // The same bytes take no space.
      writer.add(sample({ index: 2 * round + 1, body }));
      take();
    }
    assert.deepEqual(
      seen.map(({ index, body: kept }) => [index, kept?.[0] ?? null]),
      Array.from({ length: 12 }, (_, i) => [i, i < 6 ? Math.floor(i / 2) : null]),
    );
  });

  test('a slow reader loses nothing, and the watermark waits for it', () => {
    const { writer, reader } = setUp();
    const count = 100_000;
    for (let i = 0; i < count; i++) writer.add(sample({ index: i, body: Buffer.from([i & 255, i >> 8]) }));
    writer.advanceWatermark(5000);
    assert.equal(reader.watermarkMs(), 0, 'samples done before 5000 ms are still on their way');
    assert.equal(writer.behind(), count);
    assert.equal(
      writer.end({ endedMs: 1, next: 2, waiting: 3, carriedMs: 0, dropped: [4], rested: [5] }),
      false,
      'it is full',
    );
    let next = 0;
    while (next < count) {
      reader.take(({ index }) => assert.equal(index, next++));
      writer.advanceWatermark(5000);
    }
    assert.equal(reader.watermarkMs(), 5000);
  });

  test('the tail arrives', () => {
    const { writer, reader } = setUp();
    assert.equal(reader.tail(), null);
    const tail = { endedMs: 1234.5, next: 1e9, waiting: 1e6, carriedMs: 0, dropped: [7], rested: [9] };
    assert.equal(writer.end(tail), true);
    assert.deepEqual(reader.tail(), tail);
  });

  test('an unknown failure throws instead of becoming a sample', () => {
    const { writer } = setUp();
    assert.throws(() => writer.add(sample({ failure: 'no_such_thing' })), RangeError);
  });

  test('between two threads at full speed, every sample arrives once and intact', async () => {
    const { memory, writer } = setUp();
    const count = 50_000;
    const reader = new Worker(new URL('ring-reader.js', import.meta.url), { workerData: { memory } });
    const finished = once(reader, 'message');
    for (let i = 0; i < count; i++) {
      writer.add(sample({ index: i, done: i, body: Buffer.alloc(10 + (i % 50), i & 255) }));
      if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    while (!writer.end({ endedMs: count, next: 0, waiting: 0, carriedMs: 0, dropped: [0], rested: [0] })) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [seen] = await finished;
    assert.deepEqual(
      { count: seen.count, outOfOrder: seen.outOfOrder, wrong: seen.wrong },
      { count, outOfOrder: 0, wrong: 0 },
    );
  });
});
