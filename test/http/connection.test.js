import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { MAX_BODY_BYTES } from '../../src/http/connection.js';
import { connectTo, exchange, startRaw, whole } from './raw-server.js';

/** @typedef {import('./raw-server.js').Behaviour} Behaviour */

/** @type {Behaviour} */
const ok = (socket) => void socket.write(whole('hello'));

/** Name: what the server does; the outcome; whether the connection can be used again. @type {Record<string, [Behaviour, string | number, boolean]>} */
const BEHAVIOURS = {
  'a whole answer': [ok, 200, true],
  'an empty body': [(s) => s.write(whole('')), 200, true],
  'no content': [(s) => s.write('HTTP/1.1 204 No Content\r\n\r\n'), 204, true],
  chunks: [
    (s) => s.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'),
    200,
    true,
  ],
  'early hints first': [
    (s) =>
      s.write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'), whole('hello')])),
    200,
    true,
  ],
  'a redirect': [
    (s) => s.write('HTTP/1.1 307 T\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'),
    307,
    true,
  ],
  'an error with a body': [(s) => s.write('HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'), 503, true],
  'the largest body that is read': [(s) => s.write(whole(Buffer.alloc(MAX_BODY_BYTES, 'x'))), 200, true],
  'a body one byte longer': [
    (s) => s.write(whole(Buffer.alloc(MAX_BODY_BYTES + 1, 'x'))),
    'answer_too_large',
    false,
  ],
  'a body twice as long': [
    (s) => s.write(whole(Buffer.alloc(2 * MAX_BODY_BYTES, 'x'))),
    'answer_too_large',
    false,
  ],
  'HTTP/1.0 and a close': [(s) => s.end('HTTP/1.0 200 OK\r\n\r\nhello'), 200, false],
  'an announced close': [(s) => s.end(whole('hello', 'Connection: close\r\n')), 200, false],
  'two answers to one request': [(s) => s.write(Buffer.concat([whole('hello'), whole('more')])), 200, false],
  'an answer and garbage': [(s) => s.write(Buffer.concat([whole('hello'), Buffer.from('more')])), 200, false],
  'a close without an answer': [(s) => s.destroy(), 'connection_reset', false],
  'a reset': [(s) => s.resetAndDestroy(), 'connection_reset', false],
  'a close in the head': [(s) => s.end('HTTP/1.1 200 OK\r\nContent-Ty'), 'connection_reset', false],
  'a close in the body': [
    (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel'),
    'truncated',
    false,
  ],
  'a close in a chunk': [
    (s) => s.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nhel'),
    'truncated',
    false,
  ],
  'a chunk without a length': [
    (s) => s.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhel'),
    'bad_http',
    false,
  ],
  garbage: [(s) => s.end('\x00\x01 this is not HTTP\r\n\r\n'), 'bad_http', false],
  'a TLS alert': [(s) => s.end('\x15\x03\x01\x00\x02\x02\x46'), 'wrong_scheme_http_to_https_port', false],
};

/** @type {Awaited<ReturnType<typeof startRaw>>} */
let server;
/** @type {ReturnType<typeof connectTo>} */
let connection;
beforeEach(async () => {
  server = await startRaw(ok);
  connection = connectTo(server.origin);
});
afterEach(async () => {
  await connection.close();
  await server.stop();
});

/** @param {Behaviour} behave @param {Parameters<typeof exchange>[1]} [request] */
function ask(behave, request) {
  server.state.behave = behave;
  return exchange(connection, request).ended;
}

describe('an exchange', () => {
  for (const [name, [behave, outcome, isReusable]] of Object.entries(BEHAVIOURS)) {
    test(`with ${name} ends once, ${typeof outcome === 'number' ? 'answered' : `as ${outcome}`}; the next one is served`, async () => {
      await connection.open(1000);
      const first = await ask(behave);
      assert.deepEqual([first.sent, first.ends, first.sentFirst], [1, 1, true]);
      assert.equal(first.answer?.status ?? first.failure, outcome);
      if (first.failure !== null) assert.equal(first.beforeSent, false);
      const second = await ask(ok, { method: 'POST', body: 'abc' });
      assert.deepEqual([second.answer?.status, String(second.answer?.body), second.sent], [200, 'hello', 1]);
      assert.equal(server.state.connections, isReusable ? 1 : 2);
      assert.equal(server.state.requests, 2, 'nothing is sent twice or followed');
      assert.deepEqual([first.sent, first.ends], [1, 1]);
    });
  }

  test('gives every byte of a body, whatever came before', async () => {
    for (const length of [10, 20_000, 0, MAX_BODY_BYTES, 16_384, 16_385, 3]) {
      const body = Buffer.alloc(length, `${length} bytes `);
      const told = await ask((socket) => void socket.write(whole(body)));
      assert.ok(told.answer?.body.equals(body), `${length}`);
    }
    assert.equal(server.state.connections, 1);
  });

  test('any sequence of exchanges, each begun as the one before ends: one sent, one end, its own answer', async () => {
    const names = Object.keys(BEHAVIOURS);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 12 }),
        async (sequence) => {
          const own = connectTo(server.origin);
          /** @type {{name: string, result: string | number, sent: number, ends: number}[]} */
          const log = [];
          await /** @type {Promise<void>} */ (
            new Promise((resolve) => {
              const next = () => {
                if (log.length === sequence.length) return resolve();
                const entry = {
                  name: sequence[log.length],
                  result: /** @type {string | number} */ (''),
                  sent: 0,
                  ends: 0,
                };
                log.push(entry);
                const end = (/** @type {string | number} */ result) => {
                  entry.result = result;
                  if (++entry.ends === 1) next();
                };
                server.state.behave = BEHAVIOURS[entry.name][0];
                own.send(
                  { method: 'POST', path: '/', headers: {}, body: 'abc' },
                  {
                    onSent: () => void entry.sent++,
                    onAnswer: (status) => end(status),
                    onFailure: (code) => end(code),
                  },
                );
              };
              next();
            })
          );
          await own.close();
          for (const { name, result, sent, ends } of log) {
            assert.deepEqual([name, sent, ends], [name, 1, 1]);
            assert.equal(result, BEHAVIOURS[name][1], name);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
