import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createEncoder } from '../../src/http/exchange.js';

/** @import { Request } from '../../src/http/exchange.js' */
/** @import { AddressInfo, Socket } from 'node:net' */

/** @typedef {{method: string, url: string, headers: Record<string, string>, body: Buffer}} Seen */

/** @type {Seen[]} */
const seen = [];
const server = createServer(async (req, res) => {
  /** @type {Buffer[]} */
  const parts = [];
  for await (const part of req) parts.push(part);
  const { method = '', url = '', headers } = req;
  seen.push({ method, url, headers: /** @type {any} */ (headers), body: Buffer.concat(parts) });
  res.end();
});
/** @type {Socket} */
let socket;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect(/** @type {AddressInfo} */ (server.address()).port, '127.0.0.1');
});
after(() => {
  socket.destroy();
  server.close();
});

/** @param {Buffer} bytes @returns {Promise<Seen>} what a server makes of it */
async function send(bytes) {
  socket.write(bytes);
  await once(socket, 'data');
  return /** @type {Seen} */ (seen.pop());
}

const headersArb = fc.dictionary(
  fc.stringMatching(/^X-[a-z]{1,8}$/),
  fc.stringMatching(/^([!-~]([ -~]{0,18}[!-~])?)?$/),
  { maxKeys: 3, noNullPrototype: true },
);
const requestArb = fc.record({
  method: /** @type {fc.Arbitrary<'GET' | 'POST'>} */ (fc.constantFrom('GET', 'POST')),
  path: fc.stringMatching(/^\/[A-Za-z0-9%._~/-]{0,30}$/),
  headers: headersArb,
  body: fc.oneof(fc.constant(null), fc.string(), fc.uint8Array()),
});

test("Node's server reads what the encoder writes, after any earlier request", async () => {
  const encode = createEncoder('vault.example.com:8200');
  await fc.assert(
    fc.asyncProperty(requestArb, async (request) => {
      for (const again of [1, 2]) {
        const { method, url, headers, body } = await send(encode(request));
        assert.deepEqual([method, url], [request.method, request.path], `${again}`);
        assert.deepEqual(body, Buffer.from(request.body ?? ''));
        assert.equal(headers.host, 'vault.example.com:8200');
        for (const [name, value] of Object.entries(request.headers)) {
          assert.equal(headers[name.toLowerCase()], value);
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('requests with the same headers, and a repeated request', () => {
  const encode = createEncoder('h');
  const headers = { A: 'b' };
  const first = { method: /** @type {const} */ ('POST'), path: '/', headers, body: 'é' };
  assert.equal(
    encode(first).toString('latin1'),
    'POST / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nA: b\r\nContent-Length: 2\r\n\r\n\xc3\xa9',
  );
  assert.equal(encode(first), encode(first));
  assert.match(
    String(encode({ ...first, path: '/2', body: null })),
    /^POST \/2 .*A: b\r\nContent-Length: 0\r\n\r\n$/s,
  );
  assert.doesNotMatch(String(encode({ ...first, method: 'GET', body: null })), /Content-Length/);
});

/** @type {[string, Partial<Request>][]} */
const REFUSED = [
  ['a path with a space', { path: '/a b' }],
  ['a path with a line break', { path: '/a\r\nX: y' }],
  ['a path without a slash', { path: 'a' }],
  ['a header name with a space', { headers: { 'a b': 'c' } }],
  ['a header value with a line break', { headers: { a: 'b\r\nX: y' } }],
  ['a header value beyond latin1', { headers: { a: '\u20ac' } }],
];
for (const [what, part] of REFUSED) {
  test(`${what} is rejected every time`, () => {
    const encode = createEncoder('h');
    const request = { method: /** @type {const} */ ('GET'), path: '/', headers: {}, body: null, ...part };
    assert.throws(() => encode(request), TypeError);
    assert.throws(() => encode(request), TypeError);
  });
}
