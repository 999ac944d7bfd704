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

  test('tells a million serials in sequence apart, as it does random ones', () => {
    const set = openSerialSet(createSerialMemory());
    const bytes = Buffer.alloc(8);
    let repeats = 0;
    for (let n = 0; n < 600_000; n++) {
      bytes.writeUInt32BE(n, 4);
      if (set.add(bytes) === 'repeated') repeats++;
      if (set.add(serialOf(n)) === 'repeated') repeats++;
    }
    assert.equal(repeats, 0);
  });

  test('beyond its bound takes any as new, still knows those it remembers, and comes to an end', () => {
    const memory = createSerialMemory();
    const set = openSerialSet(memory);
    for (let n = 0; n < MAX_SERIALS; n++) set.add(serialOf(n));
    assert.equal(set.isFull(), true);
    assert.equal(set.add(serialOf(MAX_SERIALS)), 'full');
    assert.equal(set.add(serialOf(MAX_SERIALS)), 'full', 'was not remembered');
    assert.equal(set.add(serialOf(5)), 'repeated');
    assert.ok(MAX_SERIALS >= 1_000_000);
  });

  test('counts each repeat once when two threads add the same serials at the same time', async () => {
    const memory = createSerialMemory();
    const url = new URL(`data:text/javascript,${encodeURIComponent(ADDER)}`);
    const from = (/** @type {string} */ path) => new URL(`../../src/${path}`, import.meta.url).href;
    const workerData = {
      memory,
      step: new SharedArrayBuffer(4),
      count: 64_000,
      set: from('operations/serial-set.js'),
      random: from('random.js'),
    };
    const workers = [new Worker(url, { workerData }), new Worker(url, { workerData })];
    const repeats = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
    assert.equal(repeats[0] + repeats[1], 64_000);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });
});
