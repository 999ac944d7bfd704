import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { arrivalsOf } from '../../src/engine/pacing/pacer.js';
import { startSending } from '../../src/engine/sending.js';
import { load } from './load-plan.js';

/** Checking does not end. */
const forEver = () => new Promise(() => {});

/** @param {(respond: () => void) => unknown} later */
const working = (later) => ({
  send(/** @type {any} */ _request, /** @type {any} */ { onSent, onResponse }) {
    onSent();
    later(() => onResponse(200, Buffer.from('{}')));
  },
  abort() {},
  isOpen: () => true,
});

/** @param {string} failure @param {(fail: () => void) => unknown} [later] */
const failing = (failure, later = (fail) => fail()) => ({
  send: (/** @type {any} */ _request, /** @type {any} */ { onFailure }) =>
    later(() => onFailure(failure, true)),
  abort() {},
  isOpen: () => true,
});

/** One request for each connection. @param {any} t @param {any[]} connections @param {() => void} skipBodies @param {(tail: any) => Promise<any>} checked @param {any} [changes] of the load */
function start(t, connections, skipBodies, checked, changes) {
  const { length } = connections;
  const plan = load({ model: 'closed', requests: length, concurrency: length, ...changes });
  const calls = { added: 0, finished: 0 };
  const sending = startSending(
    /** @type {any} */ ({
      load: plan,
      arrivals: arrivalsOf(plan, 0, 1),
      originNs: process.hrtime.bigint(),
      connections,
      request: () => ({ method: 'GET', path: '/', headers: {}, body: null }),
      memberOf: () => 0,
      cells: { count: 1, of: () => 0 },
      recorder: {
        add: () => calls.added++,
        advanceWatermark() {},
        behind: () => 0,
        skipBodies,
        finish(/** @type {any} */ tail) {
          calls.finished++;
          return checked(tail);
        },
      },
      pacing: { byThread: false, spins: 'never' },
      thread: null,
    }),
  );
  t.after(sending.close);
  return { sending, calls };
}

/** @param {any} t @param {() => void} skipBodies @param {() => Promise<any>} [checked] when the recorder has checked all */
async function sendOne(t, skipBodies, checked = forEver) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const { sending, calls } = start(t, [working(queueMicrotask)], skipBodies, checked);
  for (let i = 0; i < 10 && calls.finished === 0; i++) await turn();
  assert.deepEqual(calls, { added: 1, finished: 1 });
  return sending;
}

test('after the last response, checking may take 10 s; then the rest is only counted', async (t) => {
  let skipped = 0;
  await sendOne(t, () => skipped++);
  t.mock.timers.tick(9999);
  assert.equal(skipped, 0);
  t.mock.timers.tick(1);
  assert.equal(skipped, 1);
});

test('after the second signal, 2 s', async (t) => {
  let skipped = 0;
  const sending = await sendOne(t, () => skipped++);
  sending.cutOff();
  t.mock.timers.tick(1999);
  assert.equal(skipped, 0);
  t.mock.timers.tick(1);
  assert.equal(skipped, 1);
});

test('when all is checked, no timer is left: the process may end', async (t) => {
  let skipped = 0;
  const sending = await sendOne(
    t,
    () => skipped++,
    async () => ({}),
  );
  await sending.ended;
  t.mock.timers.tick(10_000);
  assert.equal(skipped, 0);
});

test('a connection that rests after a failed connect keeps requests back, if no other is free', async (t) => {
  const slow = working((respond) => setTimeout(respond, 5));
  for (const [sentence, connections, expected] of /** @type {[string, any[], [boolean, boolean]][]} */ ([
    ['no file descriptor', [slow, failing('too_many_open_files')], [true, true]],
    ['no local port', [slow, failing('no_local_port')], [true, true]],
    ['a fault of the target', [slow, failing('connection_refused')], [true, false]],
    ['another connection takes its place', [failing('no_local_port'), slow], [false, false]],
    ['no request is left', [failing('no_local_port', queueMicrotask)], [false, false]],
  ])) {
    /** @type {any} */
    let tail;
    const { sending } = start(
      t,
      connections,
      () => {},
      async (/** @type {any} */ given) => {
        tail = given;
        return {};
      },
      { requests: 2 * connections.length - 1 },
    );
    const { limited } = await sending.ended;
    const [rested] = tail.rested;
    assert.deepEqual([rested > 0, limited > 0], expected, `${sentence}: ${rested}, ${limited}`);
    assert.ok(limited === 0 || limited === rested, sentence);
  }
});

test('a stop is that of its stage', async (t) => {
  const block = () => {
    const until = performance.now() + 200;
    while (performance.now() < until);
  };
  const stages = [1, 4000, 6000].map((durationMs, i) => {
    return { name: `stage ${i}`, lines: [{ durationMs, from: 1, to: 1 }] };
  });
  const stopped = working((respond) =>
    setTimeout(() => {
      block();
      respond();
    }, 5),
  );
  const { sending } = start(
    t,
    [stopped],
    () => {},
    async () => ({}),
    { stages },
  );
  const { stalledStage } = await sending.ended;
  assert.deepEqual([stalledStage?.stage, stalledStage?.windowMs], ['stage 1', 4000]);
});

test('the overlap of the warm-up is the time that its requests take of the measured phase', async (t) => {
  const beginMs = performance.now();
  const connections = [200, 300, 1000].map((firstMs) => {
    let count = 0;
    return working((respond) => setTimeout(respond, count++ === 0 ? firstMs : 1));
  });
  const { sending } = start(
    t,
    connections,
    () => {},
    async () => ({}),
    { requests: null, warmupMs: 100, durationMs: 200 },
  );
  const { warmupOverlapMs } = await sending.ended;
  // Timers may be early by 1 ms, and late.
  const elapsedMs = performance.now() - beginMs;
  assert.ok(warmupOverlapMs > 100 + 2 * 200 - 4 && warmupOverlapMs <= 3 * 200, `${warmupOverlapMs} ms`);
  assert.ok(elapsedMs > 900, `${elapsedMs} ms`);
});

test('a busy sender that opens connections does not stand still, whenever the responses come', async (t) => {
  const work = () => {
    const until = performance.now() + 20;
    while (performance.now() < until);
  };
  const beginMs = performance.now();
  const responses = /** @type {(() => void)[]} */ ([]);
  const slow = () => ({
    send(/** @type {any} */ _request, /** @type {any} */ { onConnect, onConnected, onSent, onResponse }) {
      for (const event of [onConnect, onConnected, onSent]) {
        work();
        event();
      }
      responses.push(() => onResponse(200, Buffer.from('{}')));
      if (responses.length === 10) for (const respond of responses) queueMicrotask(respond);
    },
    abort() {},
    isOpen: () => true,
  });
  const { sending } = start(
    t,
    Array.from({ length: 10 }, slow),
    () => {},
    async () => ({}),
  );
  const { stalledMs } = await sending.ended;
  // A busy machine may have stopped this thread: a stop of 40 ms counts with the 20 ms of work around it.
  const stoppedMs = performance.now() - beginMs - 10 * 3 * 20;
  assert.ok(stalledMs <= 2 * stoppedMs, `${stalledMs} ms, of ${stoppedMs} ms`);
});
