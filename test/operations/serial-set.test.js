import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { createSerialMemory, openSerialSet } from '../../src/operations/serial-set.js';

test('a serial set behaves as a Set, through any number of views of the same memory', () => {
  const serial = fc.uint8Array({ minLength: 1, maxLength: 3, max: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(serial, fc.boolean()), { maxLength: 200 }), (serials) => {
      const memory = createSerialMemory();
      const views = [openSerialSet(memory), openSerialSet(memory)];
      const known = new Set();
      for (const [bytes, which] of serials) {
        const name = bytes.join();
        assert.equal(views[Number(which)].add(bytes), known.has(name) ? 'repeated' : 'new', name);
        known.add(name);
      }
    }),
    { numRuns: 30 },
  );
});

test('a serial set has room for half as many serials again as expected, and at most 16 MiB', () => {
  for (const [expected, mebibytes] of /** @type {const} */ ([
    [null, 16],
    [0, 0],
    [2048, 0],
    [2049, 0.0625],
    [288_000, 8],
    [1e9, 16],
  ])) {
    const memory = createSerialMemory(expected);
    assert.equal(Math.floor((memory.byteLength / 2 ** 20) * 16) / 16, mebibytes, `${expected}`);
    if (mebibytes < 16) assert.ok(openSerialSet(memory).max >= 1.5 * Number(expected));
  }
});

test('a serial set distinguishes consecutive serials, and beyond its limit remembers none', () => {
  const set = openSerialSet(createSerialMemory());
  const bytes = Buffer.alloc(20);
  for (let n = 0; n < set.max; n++) {
    bytes.writeUInt32BE(n, 16);
    // In 32 bits, hundreds of these would be the same.
    bytes.writeUInt32BE(Math.imul(n, 0x9e3779b1) >>> 0, 3);
    if (set.add(bytes) !== 'new') assert.fail(`serial ${n}`);
  }
  assert.equal(set.isFull(), true);
  const random = Buffer.alloc(20, 0xa5);
  for (let again = 0; again < 2; again++) assert.equal(set.add(random), 'full', 'is not remembered');
  assert.equal(set.add(bytes), 'repeated');
  assert.ok(set.max >= 1_000_000);
});

/** Adds the same serials as the other, in step with it, and posts how many were there before. */
const ADDER = `import { parentPort, workerData } from 'node:worker_threads';
  const { openSerialSet } = await import(workerData.source);
  const set = openSerialSet(workerData.memory);
  const step = new Int32Array(workerData.step);
  const bytes = Buffer.alloc(20);
  let repeats = 0;
  for (let n = 0; n < workerData.count; n++) {
    if (n % 64 === 0) {
      Atomics.add(step, 0, 1);
      while (Atomics.load(step, 0) < 2 * (n / 64 + 1));
    }
    bytes.writeUInt32BE(n, 8);
    if (set.add(bytes) === 'repeated') repeats++;
  }
  parentPort.postMessage(repeats);`;

test('a serial set counts each repeat once when two threads add the same serials concurrently', async () => {
  const url = new URL(`data:text/javascript,${encodeURIComponent(ADDER)}`);
  const source = new URL('../../src/operations/serial-set.js', import.meta.url).href;
  const [memory, step] = [createSerialMemory(), new SharedArrayBuffer(4)];
  const workers = [1, 2].map(() => new Worker(url, { workerData: { memory, step, count: 16_000, source } }));
  const repeats = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  assert.equal(repeats[0] + repeats[1], 16_000);
  await Promise.all(workers.map((worker) => worker.terminate()));
});
