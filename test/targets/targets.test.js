/** The targets of slow runs: in a process of their own. What each behaviour sends is seen in test/run/faults.test.js. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { thawsAtMs } from './behaviours.js';
import { startTarget } from './start.js';

/** @import { Arrival, Target } from './start.js' */

/**
 * One request over a bare socket: what comes back, byte for byte, until the target closes or falls silent.
 *
 * @param {number} port
 * @param {{enough?: (text: string) => boolean}} [options] stop reading when this is true
 * @returns {Promise<{text: string, end: 'closed' | 'reset' | 'enough'}>}
 */
function ask(port, { enough = () => false } = {}) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let text = '';
    const end = (/** @type {'closed' | 'reset' | 'enough'} */ how) => {
      socket.destroy();
      resolve({ text, end: how });
    };
    socket.setEncoding('latin1');
    socket.on('data', (/** @type {string} */ chunk) => {
      text += chunk;
      if (enough(text)) end('enough');
    });
    socket.on('error', () => end('reset'));
    socket.on('close', () => end('closed'));
    socket.write('GET /a/path HTTP/1.1\r\nHost: x\r\n\r\n');
  });
}

describe('a target', () => {
  /** @type {Target} */
  let target;
  before(async () => {
    target = await startTarget({ behaviour: 'ok', body: 'hello', contentType: 'text/plain' });
  });
  after(() => target.stop());

  test('silent takes the request and says nothing', async () => {
    await target.behave('silent');
    await target.arrivals({ clear: true });
    const socket = createConnection({ port: target.port, host: '127.0.0.1' });
    let heard = 0;
    socket.on('data', () => heard++);
    socket.write('POST /mute HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc');
    /** @type {Arrival[]} */
    let arrivals = [];
    while (arrivals.length === 0) arrivals = await target.arrivals();
    assert.deepEqual(
      arrivals.map(({ method, path, bytes }) => ({ method, path, bytes })),
      [{ method: 'POST', path: '/mute', bytes: 3 }],
    );
    assert.equal(heard, 0);
    socket.destroy();
  });

  test('delay answers no earlier than it says, on the clock both processes share', async () => {
    await target.behave('delay', { delayMs: 40 });
    await target.arrivals({ clear: true });
    await ask(target.port, { enough: (text) => text.endsWith('hello') });
    const doneNs = process.hrtime.bigint();
    const [{ atNs }] = await target.arrivals();
    assert.ok(doneNs - atNs >= 40_000_000n, `${doneNs - atNs} ns`);
  });
});

describe('freeze', () => {
  test('the schedule: the last part of each period is frozen until its end', () => {
    const settings = { periodMs: 5000, freezeMs: 1000 };
    const table = [
      [0, null],
      [3999.9, null],
      [4000, 5000],
      [4999.9, 5000],
      [5000, null],
      [9250, 10_000],
    ];
    for (const [at, thaw] of table) assert.equal(thawsAtMs(/** @type {number} */ (at), settings), thaw);
  });

  test('what arrives in a freeze is answered after it, the rest is not held', async () => {
    const target = await startTarget({ behaviour: 'freeze', periodMs: 200, freezeMs: 100, body: 'x' });
    let held = 0;
    for (let asked = 0; held < 3 && asked < 2000; asked++) {
      await target.arrivals({ clear: true });
      await ask(target.port, { enough: (text) => text.endsWith('x') });
      const doneMs = Number(process.hrtime.bigint() - target.startNs) / 1e6;
      const [{ atNs }] = await target.arrivals();
      const thaw = thawsAtMs(Number(atNs - target.startNs) / 1e6, { periodMs: 200, freezeMs: 100 });
      if (thaw === null) continue;
      held++;
      assert.ok(doneMs >= thaw, `done at ${doneMs}, thawed at ${thaw}`);
    }
    assert.equal(held, 3);
    await target.stop();
  });
});

test('a target dies and comes back on the same port', async () => {
  const target = await startTarget({ behaviour: 'ok', body: 'alive' });
  await target.die();
  assert.equal((await ask(target.port)).end, 'reset');
  await target.comeBack();
  assert.match((await ask(target.port, { enough: (text) => text.endsWith('alive') })).text, /alive$/);
  await target.stop();
});

test('an unknown behaviour is rejected', async () => {
  await assert.rejects(startTarget({ behaviour: 'nonsense' }), /no behaviour nonsense/);
});
