/** The target of a calibration on real sockets: what it answers, and that its record is right. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { createKnownDelayServer, readPost } from '../../src/calibrate/known-delay.js';

const POST = 'POST / HTTP/1.1\r\nhost: x\r\nContent-Length: 3\r\n\r\nabc';
const LENGTH = POST.length;

/** @type {[string, string, string | {body: string, length: number}][]} */
const REQUESTS = [
  ['a whole request', POST, { body: 'abc', length: LENGTH }],
  ['more than one: the first', `${POST}POST`, { body: 'abc', length: LENGTH }],
  ['an empty body', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', { body: '', length: 38 }],
  ['half of a body', POST.slice(0, -1), 'incomplete'],
  ['half of a head', POST.slice(0, 20), 'incomplete'],
  ['nothing yet', '', 'incomplete'],
  ['a GET', 'GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 'no request'],
  ['no length', 'POST / HTTP/1.1\r\nhost: x\r\n\r\n', 'no request'],
  ['a length in the wrong header', 'POST / HTTP/1.1\r\nx-content-length: 3\r\n\r\nabc', 'no request'],
  ['too long a body', 'POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n', 'no request'],
  ['a head without end', `POST / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`, 'no request'],
];

describe('reading', () => {
  for (const [what, text, expected] of REQUESTS) {
    test(what, () => {
      const post = readPost(Buffer.from(text, 'latin1'));
      assert.deepEqual(typeof post === 'string' ? post : { ...post, body: String(post.body) }, expected);
    });
  }
});

/** @param {{after: (fn: () => void) => void}} context @param {(request: Buffer) => Promise<Uint8Array>} [answer] */
async function start(context, answer = async (request) => Buffer.from(`re ${request}`)) {
  /** @type {string[]} */
  const asked = [];
  const target = createKnownDelayServer({
    clock: () => performance.now(),
    ask(request) {
      asked.push(String(request));
      return answer(request);
    },
  });
  target.server.listen(0, '127.0.0.1');
  await once(target.server, 'listening');
  context.after(() => target.end());
  context.after(() => target.server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (target.server.address());
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

test('each request gets its own answer, and each new one is asked about once', async (t) => {
  const { exchange, asked, begin } = await start(t);
  begin({ delayMs: 0, spin: 'never' });
  for (const body of ['a', 'a', 'bb', 'a', 'bb']) assert.equal(await exchange(post(body)), answerTo(body));
  assert.deepEqual(asked, ['a', 'bb']);
});

test('a request in pieces is one request, whether it is known or not', async (t) => {
  const { exchange, begin, end } = await start(t);
  begin({ delayMs: 0, spin: 'never' });
  for (let i = 0; i < 2; i++) {
    const whole = post('hello');
    const pieces = [whole.slice(0, 5), whole.slice(5, 40), whole.slice(40)];
    assert.equal(await exchange(...pieces), answerTo('hello'));
  }
  assert.equal(end().arrivedMs.length, 2);
});

for (const spin of /** @type {const} */ (['always', 'waiting', 'never'])) {
  test(`no answer before the delay is over, where it spins ${spin}`, async (t) => {
    const { exchange, begin, end } = await start(t);
    begin({ delayMs: 0, spin });
    await exchange(post('a'));
    assert.equal(end().arrivedMs.length, 1);
    begin({ delayMs: 2.5, spin });
    for (const body of ['a', 'b', 'b', 'a', 'a']) assert.equal(await exchange(post(body)), answerTo(body));
    const { arrivedMs, answeredMs, unseenMs } = end();
    assert.equal(arrivedMs.length, 5);
    for (let i = 0; i < 5; i++) {
      assert.ok(answeredMs[i] - arrivedMs[i] >= 2.5, `${answeredMs[i] - arrivedMs[i]} ms`);
      assert.ok(i === 0 || arrivedMs[i] >= answeredMs[i - 1], 'one after the other');
      assert.ok(spin === 'always' ? unseenMs[i] >= 0 : Number.isNaN(unseenMs[i]));
    }
  });
}

/** @type {[string, string, () => Promise<Buffer>][]} */
const HANGS_UP = [
  ['what is no request', 'GET / HTTP/1.1\r\n\r\n', async () => Buffer.from('x')],
  ['a question that nobody can answer', post('a'), () => Promise.reject(new Error('no'))],
];
for (const [what, text, answer] of HANGS_UP) {
  test(`${what} ends the connection`, async (t) => {
    const { socket, begin } = await start(t, answer);
    begin({ delayMs: 0, spin: 'never' });
    socket.write(text);
    socket.resume();
    await once(socket, 'close');
  });
}
