/** What several operations are made of: names, refusals, set-up calls in numbers, --keep, the serials of a run. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import {
  createSerialMemory,
  MAX_SERIALS,
  openKeepFile,
  openSerialSet,
} from '../../src/operations/issue-parts.js';
import { REFUSAL_OUTCOMES, refusal } from '../../src/operations/outcomes.js';
import { manyCalls } from '../../src/operations/prepare.js';
import { expandName, hasPlaceholder } from '../../src/operations/request-parts.js';

test('names have their placeholders filled in; random ones follow from seed and request', () => {
  for (const [template, name, differs] of /** @type {[string, RegExp, boolean][]} */ ([
    ['localhost', /^localhost$/, false],
    ['host-{n}.example.com', /^host-7\.example\.com$/, true],
    ['{n}.{n}', /^7\.7$/, true],
    ['{random}.example.com', /^[0-9a-f]{12}\.example\.com$/, true],
    ['{random}{random}', /^(.{12})\1$/, true],
    ['{N}-{x}-{}', /^\{N\}-\{x\}-\{\}$/, false],
  ])) {
    assert.match(expandName(template, 1, 7), name);
    for (let again = 0; again < 2; again++) assert.equal(hasPlaceholder(template), differs);
  }
  const names = Array.from({ length: 20_000 }, (_, i) => expandName('{random}', 1, i));
  assert.equal(new Set(names).size, names.length);
  assert.notEqual(expandName('{random}', 2, 0), names[0]);
  assert.equal(expandName('{random}', 1, 5), names[5]);
});

test('every status but success is a declared outcome that is no success and nothing verified', () => {
  for (const status of [...Array(200).keys(), ...Array.from({ length: 700 }, (_, i) => 300 + i)]) {
    const { outcome, success, verification } = refusal(status);
    assert.ok(Object.hasOwn(REFUSAL_OUTCOMES, outcome), `${status}: ${outcome}`);
    assert.deepEqual([success, verification], [false, null]);
  }
  for (const [outcome, ...statuses] of /** @type {[string, ...number[]][]} */ ([
    ['redirected', 301, 307],
    ['bad_request', 400],
    ['permission_denied', 403],
    ['not_found', 404],
    ['http_error', 418],
    ['rate_limited', 429],
    ['standby', 472, 473],
    ['server_error', 500],
    ['bad_gateway', 502, 504],
    ['unavailable', 503],
  ])) {
    for (const status of statuses) assert.equal(refusal(status).outcome, outcome, `${status}`);
  }
});

test('many calls: results in their order, two at a time, until one fails or the run is stopped', async () => {
  const stop = new AbortController();
  /** @type {number[]} */
  const seen = [];
  const progress = (/** @type {string} */ _label, /** @type {number} */ done) => seen.push(done);
  const given = { label: 'Making', progress, signal: stop.signal };
  const work = (/** @type {number} */ i) => new Promise((resolve) => setTimeout(() => resolve(i), 5 - i));
  assert.deepEqual(await manyCalls(5, given, work), [0, 1, 2, 3, 4]);
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
  assert.deepEqual(await manyCalls(0, given, work), []);
  let [begun, most, under] = [0, 0, 0];
  /** @param {number} last @param {() => void} end */
  const until = (last, end) => async () => {
    begun++;
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    if (begun >= last) end();
  };
  const fail = () => {
    throw new Error('no more');
  };
  await assert.rejects(manyCalls(1000, given, until(4, fail)), /no more/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(begun <= 6, `${begun}`);
  begun = 0;
  const stopped = manyCalls(
    1_000_000,
    given,
    until(100, () => stop.abort()),
  );
  await assert.rejects(stopped, { code: 'interrupted', exitCode: 130 });
  assert.equal(most, 2);
  assert.ok(begun <= 101, `${begun}`);
});

test('--keep appends one JSON line each from several writers; a full disk ends the writing, not the run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const item = (/** @type {number} */ n) => ({ serial: `0${n}`, certificate: `line 1\nline 2 ${n}` });
  const path = join(folder, 'kept.jsonl');
  const [one, other] = [openKeepFile(path), openKeepFile(path)];
  one.write([item(1), item(2)]);
  other.write([item(3)]);
  one.write([item(4)]);
  assert.deepEqual(one.close(), { count: 3, failure: null });
  assert.deepEqual(other.close(), { count: 1, failure: null });
  const again = openKeepFile(path);
  again.write([item(5)]);
  again.close();
  const text = [1, 2, 3, 4, 5].map((n) => `${JSON.stringify(item(n))}\n`).join('');
  assert.equal(readFileSync(path, 'utf8'), text);
  for (const [wrong, code] of [
    [folder, 'EISDIR'],
    [join(folder, 'no', 'file'), 'ENOENT'],
  ]) {
    assert.throws(
      () => openKeepFile(wrong),
      (/** @type {any} */ { code: own, full, exitCode }) => {
        assert.deepEqual([own, exitCode], ['cannot_write', 1]);
        return full.includes(`--keep ${wrong}`) && full.includes(code) && full.includes('Give a file');
      },
    );
  }
  if (process.platform !== 'linux') return;
  const full = openKeepFile('/dev/full');
  for (const n of [1, 2]) full.write([item(n)]);
  assert.deepEqual(full.close(), { count: 0, failure: 'ENOSPC' });
});

test('a set of serials is the same as a Set, through any number of views on the same memory', () => {
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

test('a set of serials tells those in sequence apart, and beyond its bound takes any as new', () => {
  const set = openSerialSet(createSerialMemory());
  const bytes = Buffer.alloc(20);
  for (let n = 0; n < MAX_SERIALS; n++) {
    bytes.writeUInt32BE(n, 16);
    if (set.add(bytes) !== 'new') assert.fail(`serial ${n}`);
  }
  assert.equal(set.isFull(), true);
  const random = Buffer.alloc(20, 0xa5);
  for (let again = 0; again < 2; again++) assert.equal(set.add(random), 'full', 'is not remembered');
  bytes.writeUInt32BE(5, 16);
  assert.equal(set.add(bytes), 'repeated');
  assert.ok(MAX_SERIALS >= 1_000_000);
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

test('a set of serials counts each repeat once when two threads add the same ones at the same time', async () => {
  const url = new URL(`data:text/javascript,${encodeURIComponent(ADDER)}`);
  const source = new URL('../../src/operations/issue-parts.js', import.meta.url).href;
  const [memory, step] = [createSerialMemory(), new SharedArrayBuffer(4)];
  const workers = [1, 2].map(() => new Worker(url, { workerData: { memory, step, count: 16_000, source } }));
  const repeats = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  assert.equal(repeats[0] + repeats[1], 16_000);
  await Promise.all(workers.map((worker) => worker.terminate()));
});
