import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { thawsAtMs } from './behaviours.js';
import { startTarget } from './start.js';

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

const whole = (/** @type {string} */ text) => text.includes('\r\n\r\n');

describe('a target', () => {
  /** @type {import('./start.js').Target} */
  let target;
  before(async () => {
    target = await startTarget({ behaviour: 'ok', body: 'hello', contentType: 'text/plain' });
  });
  after(() => target.stop());

  /** @type {[string, RegExp, 'closed' | 'reset' | 'enough', ((text: string) => boolean)?][]} name, answer, end, when to stop */
  const table = [
    [
      'ok',
      /^HTTP\/1.1 200 [\s\S]+content-length: 5[\s\S]+\r\n\r\nhello$/i,
      'enough',
      (text) => text.endsWith('hello'),
    ],
    ['error-in-200', /^HTTP\/1.1 200 [\s\S]*"errors":\["1 error/, 'enough', whole],
    ['not-json', /^HTTP\/1.1 200 [\s\S]*text\/html/, 'enough', whole],
    ['empty-body', /^HTTP\/1.1 200 [\s\S]*content-length: 0/, 'enough', whole],
    ['error-500', /^HTTP\/1.1 500 /, 'enough', whole],
    ['rate-limited', /^HTTP\/1.1 429 /, 'enough', whole],
    [
      'chunked',
      /transfer-encoding: chunked[\s\S]*\r\n1\r\nh\r\n1\r\ne\r\n/,
      'enough',
      (text) => text.endsWith('0\r\n\r\n'),
    ],
    ['drip', /\r\n\r\nhello$/, 'enough', (text) => text.endsWith('hello')],
    ['http-1.0', /^HTTP\/1.0 200 OK\r\n[\s\S]*\r\n\r\nhello$/, 'closed'],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the garbage is control characters
    ['garbage', /^\x00\x01\xfe\xff/, 'closed'],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a TLS record
    ['tls-alert', /^\x15\x03\x01/, 'closed'],
    ['close-before-answer', /^$/, 'closed'],
    ['reset', /^$/, 'reset'],
    ['close-in-head', /^HTTP\/1.1 200 OK\r\nContent-Ty$/, 'closed'],
    ['close-in-body', /Content-Length: 500\r\n\r\n\{"data":\{"a$/, 'closed'],
    ['close-in-chunk', /\r\n\r\n20\r\n\{"data":\{"a$/, 'closed'],
    ['stalls-in-body', /Content-Length: 500\r\n\r\n\{"data":\{"a$/, 'enough', (text) => text.endsWith('"a')],
    ['truncated-json', /^HTTP\/1.1 200 [\s\S]*BEGIN CERT/, 'enough', (text) => text.includes('BEGIN CERT')],
    ['redirect-self', /^HTTP\/1.1 307 [\s\S]*location: \/a\/path\r\n/i, 'enough', whole],
    ['redirect-elsewhere', /^HTTP\/1.1 307 [\s\S]*location: http:\/\/127.0.0.1:1\/\r\n/i, 'enough', whole],
  ];
  for (const [name, expected, end, enough] of table) {
    test(`${name} does what it says`, async () => {
      await target.behave(name, { delayMs: 5 });
      const answer = await ask(target.port, { enough });
      assert.match(answer.text, expected);
      assert.equal(answer.end, end);
    });
  }

  test('large sends as many bytes as it was told', async () => {
    await target.behave('large', { bytes: 1_000_000 });
    const { text } = await ask(target.port, { enough: (all) => all.length > 1_000_000 });
    assert.equal(text.length - text.indexOf('\r\n\r\n') - 4, 1_000_000);
  });

  test('silent takes the request and says nothing', async () => {
    await target.behave('silent');
    await target.arrivals({ clear: true });
    const socket = createConnection({ port: target.port, host: '127.0.0.1' });
    let heard = 0;
    socket.on('data', () => heard++);
    socket.write('POST /mute HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc');
    /** @type {import('./start.js').Arrival[]} */
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

test('an unknown behaviour is refused', async () => {
  await assert.rejects(startTarget({ behaviour: 'nonsense' }), /no behaviour nonsense/);
});
