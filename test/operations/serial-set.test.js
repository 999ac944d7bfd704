import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { createSerialMemory, MAX_SERIALS, openSerialSet } from '../../src/operations/serial-set.js';
import { hash32 } from '../../src/random.js';

/** @param {number} n @returns {Uint8Array} a serial of 20 bytes, another for each n */
function serialOf(n) {
  const words = Uint32Array.from({ length: 5 }, (_, i) => hash32(9, n, i));
  return new Uint8Array(words.buffer);
}

/** Adds the same serials as its twin, in step with it, and posts how many were there before. */
const ADDER = `import { parentPort, workerData } from 'node:worker_threads';
  const { openSerialSet } = await import(workerData.set);
  const { hash32 } = await import(workerData.random);
  const { memory, count } = workerData;
  const set = openSerialSet(memory);
  const step = new Int32Array(workerData.step);
  const serials = Array.from({ length: count }, (_, n) =>
    new Uint8Array(Uint32Array.from({ length: 5 }, (_, i) => hash32(9, n, i)).buffer));
  let repeats = 0;
  for (let n = 0; n < count; n++) {
    if (n % 64 === 0) {
      Atomics.add(step, 0, 1);
      while (Atomics.load(step, 0) < 2 * (n / 64 + 1));
    }
    if (set.add(serials[n]) === 'repeated') repeats++;
  }
  parentPort.postMessage(repeats);`;

describe('a set of serials', () => {
  test('says what a Set says, through any number of views on the same memory', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 3, max: 3 }), fc.boolean()), {
          maxLength: 200,
        }),
        (serials) => {
          const memory = createSerialMemory();
          const views = [openSerialSet(memory), openSerialSet(memory)];
          const known = new Set();
          for (const [serial, which] of serials) {
            const name = serial.join();
            assert.equal(views[which ? 1 : 0].add(serial), known.has(name) ? 'repeated' : 'new', name);
            known.add(name);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test('tells serials in sequence apart; beyond its bound takes any as new, and knows those it remembers', () => {
    const set = openSerialSet(createSerialMemory());
    const bytes = Buffer.alloc(20);
    for (let n = 0; n < MAX_SERIALS; n++) {
      bytes.writeUInt32BE(n, 16);
      if (set.add(bytes) !== 'new') assert.fail(`serial ${n}`);
    }
    assert.equal(set.isFull(), true);
    for (let again = 0; again < 2; again++) assert.equal(set.add(serialOf(1)), 'full', 'is not remembered');
    bytes.writeUInt32BE(5, 16);
    assert.equal(set.add(bytes), 'repeated');
    assert.ok(MAX_SERIALS >= 1_000_000);
  });

  test('counts each repeat once when two threads add the same serials at the same time', async () => {
    const memory = createSerialMemory();
    const url = new URL(`data:text/javascript,${encodeURIComponent(ADDER)}`);
    const from = (/** @type {string} */ path) => new URL(`../../src/${path}`, import.meta.url).href;
    const workerData = {
      memory,
      step: new SharedArrayBuffer(4),
      count: 16_000,
      set: from('operations/serial-set.js'),
      random: from('random.js'),
    };
    const workers = [new Worker(url, { workerData }), new Worker(url, { workerData })];
    const repeats = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
    assert.equal(repeats[0] + repeats[1], 16_000);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });
});
