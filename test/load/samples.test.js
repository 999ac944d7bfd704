import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createBatcher, forEachSample } from '../../src/load/samples.js';

/** @typedef {import('../../src/load/samples.js').Sample} Sample */
/** @typedef {import('../../src/load/samples.js').Batch} Batch */

/** Batches as they are after the way to another thread. */
function setUp() {
  /** @type {Batch[]} */
  const batches = [];
  const batcher = createBatcher((batch) => {
    const transfer = [batch.numbers.buffer, batch.bytes.buffer];
    batches.push(structuredClone(batch, { transfer: /** @type {ArrayBuffer[]} */ (transfer) }));
  });
  return { batches, batcher };
}

/** @param {Batch[]} batches @returns {Sample[]} */
function unpack(batches) {
  /** @type {Sample[]} */
  const samples = [];
  for (const batch of batches) {
    forEachSample(batch, (sample) =>
      samples.push({ ...sample, body: sample.body === null ? null : Uint8Array.from(sample.body) }),
    );
  }
  return samples;
}

/** @param {Partial<Sample>} changes @returns {Sample} */
function sample(changes) {
  return {
    operation: 0,
    index: 1,
    intended: 2.5,
    sent: 3.25,
    done: 4,
    lag: 0.125,
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
    lag: ms,
    failure: fc.option(fc.constantFrom('timeout', 'connection_refused', 'cut_off', 'never_sent', 'dropped')),
    status: fc.integer({ min: 0, max: 999 }),
    body: fc.option(fc.uint8Array({ maxLength: 40 })),
  },
  { noNullPrototype: true },
);

describe('samples in batches', () => {
  test('arrive as they were, in order, whatever they hold and wherever a batch ends', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anySample, fc.nat(9))), (entries) => {
        const { batches, batcher } = setUp();
        for (const [one, dice] of entries) {
          batcher.add(one);
          if (dice === 0) batcher.flush(one.done);
        }
        batcher.flush(0);
        assert.deepEqual(
          unpack(batches),
          entries.map(([one]) => one),
        );
      }),
    );
  });

  test('arrive as they were when many fill batch after batch', () => {
    for (const [count, bodyBytes] of [
      [511, 10],
      [512, 0],
      [513, 10],
      [2000, 700],
      [300, 5000],
      [5, 262_144],
      [5, 262_143],
      [5, 262_145],
      [3, 1_048_576],
    ]) {
      const { batches, batcher } = setUp();
      const samples = Array.from({ length: count }, (_, index) =>
        sample({ index, done: index, body: new Uint8Array(bodyBytes).fill(index) }),
      );
      for (const one of samples) batcher.add(one);
      batcher.flush(count);
      assert.deepEqual(unpack(batches), samples, `${count} with ${bodyBytes} bytes`);
      for (const { bytes, count: n } of batches) {
        assert.ok(n <= 512 && bytes.length <= Math.max(262_144, bodyBytes));
      }
    }
  });

  test('a body does not change with the buffer it was lent from', () => {
    const { batches, batcher } = setUp();
    const lent = Buffer.from('first');
    batcher.add(sample({ body: lent }));
    lent.fill('x');
    batcher.flush(0);
    assert.equal(Buffer.from(unpack(batches)[0].body ?? []).toString(), 'first');
  });

  test('no body is not an empty body', () => {
    const { batches, batcher } = setUp();
    batcher.add(sample({ body: null }));
    batcher.add(sample({ body: new Uint8Array(0) }));
    batcher.add(sample({ body: Uint8Array.of(7) }));
    batcher.flush(0);
    assert.deepEqual(
      unpack(batches).map(({ body }) => body),
      [null, new Uint8Array(0), Uint8Array.of(7)],
    );
  });

  test('a batch says how far time has come: to the next sample when it is full, to now when it is flushed', () => {
    const { batches, batcher } = setUp();
    for (let i = 0; i <= 512; i++) batcher.add(sample({ done: i }));
    batcher.flush(900);
    batcher.flush(1000);
    assert.deepEqual(
      batches.map(({ count, upToMs }) => [count, upToMs]),
      [
        [512, 512],
        [1, 900],
        [0, 1000],
      ],
    );
  });
});
