/** The target of a calibration on real sockets: what it answers, and that its record is right. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import {
  createKnownDelayServer,
  readPost,
  startAlarmThread,
} from '../../../src/campaigns/calibrate/known-delay.js';
import { createClock } from '../../../src/engine/clock.js';

/** @import { AlarmThread } from '../../../src/campaigns/calibrate/known-delay.js' */
/** @import { AddressInfo } from 'node:net' */

const POST = 'POST / HTTP/1.1\r\nhost: x\r\nContent-Length: 3\r\n\r\nabc';
const LENGTH = POST.length;

/** @type {[string, string, string | {body: string, length: number}][]} */
const REQUESTS = [
  ['a whole request', POST, { body: 'abc', length: LENGTH }],
  ['an empty body', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', { body: '', length: 38 }],
  ['half of a body', POST.slice(0, -1), 'incomplete'],
  ['nothing yet', '', 'incomplete'],
  ['a GET', 'GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 'not a request'],
  ['no length', 'POST / HTTP/1.1\r\nhost: x\r\n\r\n', 'not a request'],
  ['a body that is too long', 'POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n', 'not a request'],
  ['an endless head', `POST / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`, 'not a request'],
];

describe('reading', () => {
  for (const [what, text, expected] of REQUESTS) {
    test(what, () => {
      const post = readPost(Buffer.from(text, 'latin1'));
      assert.deepEqual(typeof post === 'string' ? post : { ...post, body: String(post.body) }, expected);
    });
  }
});

/** @param {{after: (fn: () => void) => void}} context @param {bigint} originNs */
async function realAlarm(context, originNs) {
  const alarm = await startAlarmThread(originNs, () => assert.fail('the thread ended'));
  context.after(() => alarm.stop());
  return alarm;
}

/**
 * @param {{after: (fn: () => void) => void}} context
 * @param {(request: Buffer) => Promise<Uint8Array>} [answer]
 * @param {Pick<AlarmThread, 'set'>} [fakeAlarm]
 */
async function start(context, answer = async (request) => Buffer.from(`re ${request}`), fakeAlarm) {
  /** @type {string[]} */
  const asked = [];
  const originNs = process.hrtime.bigint();
  const alarm = fakeAlarm ?? (await realAlarm(context, originNs));
  const target = createKnownDelayServer({
    clock: createClock(originNs),
    alarm,
    fetchResponse(request) {
      asked.push(String(request));
      return answer(request);
    },
  });
  target.server.listen(0, '127.0.0.1');
  await once(target.server, 'listening');
  context.after(() => target.server.close());
  const { port } = /** @type {AddressInfo} */ (target.server.address());
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => {});
  context.after(() => socket.destroy());
  return {
    ...target,
    asked,
    socket,
    /** Sends pieces, each in a turn of its own, and takes one answer. @param {string[]} pieces */
    async exchange(...pieces) {
      let text = '';
      const answered = new Promise((resolve) => {
        socket.on('data', function more(chunk) {
          text += chunk;
          const [head, body] = text.split('\r\n\r\n');
          if (body === undefined || body.length < Number(/Content-Length: (\d+)/.exec(head)?.[1])) return;
          socket.off('data', more);
          resolve(text);
        });
      });
      for (const piece of pieces) {
        socket.write(piece, 'latin1');
        await new Promise(setImmediate);
      }
      return answered;
    },
  };
}

/** @param {string} body */
const post = (body) => `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
/** @param {string} body */
const answerTo = (body) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/ocsp-response\r\nContent-Length: ${body.length + 3}\r\n\r\nre ${body}`;

test('each request gets its own response, and each new one is fetched once', async (t) => {
  const { exchange, asked, begin } = await start(t);
  begin(0);
  for (const body of ['a', 'a', 'bb', 'a', 'bb']) assert.equal(await exchange(post(body)), answerTo(body));
  assert.deepEqual(asked, ['a', 'bb']);
});

test('does not respond before the delay is over', async (t) => {
  const { exchange, begin, end } = await start(t);
  begin(0);
  await exchange(post('a'));
  assert.equal(end().arrivedMs.length, 1);
  begin(2.5);
  for (const body of ['a', 'b', 'b', 'a', 'a']) assert.equal(await exchange(post(body)), answerTo(body));
  const { arrivedMs, respondedMs } = end();
  assert.equal(arrivedMs.length, 5);
  for (let i = 0; i < 5; i++) {
    assert.ok(respondedMs[i] - arrivedMs[i] >= 2.5, `${respondedMs[i] - arrivedMs[i]} ms`);
    assert.ok(i === 0 || arrivedMs[i] >= respondedMs[i - 1], 'one after the other');
  }
});

test('responds at once to waiting requests when the delay changes, and leaves them out of the new recording', async (t) => {
  let ring = () => {};
  const alarm = {
    set(/** @type {number} */ _atMs, /** @type {() => void} */ onTime) {
      ring = onTime;
    },
  };
  const { exchange, begin, end } = await start(t, undefined, alarm);
  const oneArrived = async () => {
    while (end().arrivedMs.length === 0) await new Promise(setImmediate);
  };
  begin(0);
  // A request that is known waits from the moment it is noticed.
  await exchange(post('a'));
  begin(60_000);
  const first = exchange(post('a'));
  await oneArrived();
  begin(0.001);
  assert.equal(await first, answerTo('a'));
  assert.equal(end().arrivedMs.length, 0);
  // The alarm of the first is still set, and this one waits for it.
  const second = exchange(post('a'));
  await oneArrived();
  await new Promise(setImmediate);
  assert.deepEqual([...end().respondedMs], [Number.NaN]);
  ring();
  assert.equal(await second, answerTo('a'));
});

/** One that waits for ever fails. */
const FORGOTTEN = { timeout: 120_000 };

for (const delayMs of [0.001, 0.05, 0.3]) {
  test(
    `thousands of requests on several connections, ${delayMs} ms each: all get a response`,
    FORGOTTEN,
    async (t) => {
      const { begin, end, server } = await start(t);
      begin(delayMs);
      const { port } = /** @type {AddressInfo} */ (server.address());
      await Promise.all([1, 2, 3, 4, 5].map((n) => exchangeMany(t, port, 600 * n)));
      const { arrivedMs, respondedMs } = end();
      assert.equal(arrivedMs.length, 9000);
      assert.ok(respondedMs.every((ms, i) => ms - arrivedMs[i] >= delayMs));
    },
  );
}

/** @param {{after: (fn: () => void) => void}} context @param {number} port @param {number} count one after the other */
async function exchangeMany(context, port, count) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  context.after(() => socket.destroy());
  for (let i = 0; i < count; i++) {
    socket.write(post('a'));
    await once(socket, 'data');
  }
}

/** @type {[string, string, () => Promise<Buffer>][]} */
const HANGS_UP = [
  ['an invalid request', 'GET / HTTP/1.1\r\n\r\n', async () => Buffer.from('x')],
  ['a request whose response cannot be fetched', post('a'), () => Promise.reject(new Error('no'))],
];
for (const [what, text, answer] of HANGS_UP) {
  test(`${what} ends the connection`, async (t) => {
    const { socket, begin } = await start(t, answer);
    begin(0);
    socket.write(text);
    socket.resume();
    await once(socket, 'close');
  });
}
