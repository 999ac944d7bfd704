import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { arrivalsOf } from '../../src/engine/pacing/pacer.js';
import { startSending } from '../../src/engine/sending.js';
import { load } from './load-plan.js';

/** Checking does not end. */
const forEver = () => new Promise(() => {});

/** @param {any} t @param {() => void} skipBodies @param {() => Promise<any>} [checked] when the recorder has checked all */
async function sendOne(t, skipBodies, checked = forEver) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const plan = load({ model: 'closed', requests: 1, concurrency: 1 });
  const calls = { added: 0, finished: 0 };
  const connection = {
    send(/** @type {any} */ _request, /** @type {any} */ { onSent, onResponse }) {
      onSent();
      queueMicrotask(() => onResponse(200, Buffer.from('{}')));
    },
    abort() {},
  };
  const sending = startSending(
    /** @type {any} */ ({
      load: plan,
      arrivals: arrivalsOf(plan, 0, 1),
      originNs: process.hrtime.bigint(),
      connections: [connection],
      request: () => ({ method: 'GET', path: '/', headers: {}, body: null }),
      memberOf: () => 0,
      cells: { count: 1, of: () => 0 },
      recorder: {
        add: () => calls.added++,
        advanceWatermark() {},
        behind: () => 0,
        skipBodies,
        finish() {
          calls.finished++;
          return checked();
        },
      },
      pacing: { byThread: false, spins: 'never' },
      thread: null,
    }),
  );
  t.after(sending.close);
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
