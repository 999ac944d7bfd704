/** No input brings the embedded server down. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, afterEach, before, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { createDevServer, MAX_BODY } from '../../src/dev/server.js';
import { ask } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());
afterEach(async () => assert.equal((await ask(server, 'GET', 'sys/health')).status, 200, 'it is alive'));

const PATHS = 'issue/example-dot-com-ec sign/example-dot-com-ec revoke ocsp'
  .split(' ')
  .map((path) => `pki_int/${path}`);
PATHS.push('sys/capabilities-self');
const FIELDS = 'common_name alt_names ip_sans ttl csr format serial_number certificate paths __proto__'.split(
  ' ',
);
const METHODS = 'GET POST PUT LIST DELETE HEAD PATCH OPTIONS TRACE'.split(' ');
const PREFIXES = ['', 'pki_int/', 'pki_int/ocsp/', 'pki_int/cert/', 'pki_int/issue/', 'sys/', 'auth/token/'];
const STARTS = ['', 'LIST ', 'LIST /v1/pki_int/certs HTTP/1.1\r\n', 'POST /v1/pki_int/ocsp HTTP/1.1\r\n'];

/** @param {Uint8Array} bytes @returns {Promise<string>} what comes back until the connection is closed */
function sendRaw(bytes) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}

it('any JSON in any field of any write: status below 500', async () => {
  const body = fc.oneof(fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()), fc.jsonValue());
  const property = fc.asyncProperty(fc.constantFrom(...PATHS), body, async (path, value) => {
    const { status } = await ask(server, 'POST', path, Buffer.from(JSON.stringify(value)));
    assert.ok(status < 500, `${status}`);
  });
  await fc.assert(property);
});

it('any bytes as the body of any write: status below 500, except for unparsable objects', async () => {
  const bytes = fc.uint8Array({ maxLength: 3000 });
  const cut = fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ value }).slice(0, -1)));
  const body = fc.oneof(bytes, cut, fc.constant(Buffer.from('{')));
  const property = fc.asyncProperty(fc.constantFrom(...PATHS), body, async (path, sent) => {
    const { status } = await ask(server, 'POST', path, sent);
    const isObject = Buffer.from(sent).toString().trim().startsWith('{');
    assert.ok(status < 500 || (status === 500 && isObject), `${status}`);
  });
  await fc.assert(property);
});

it('any path with any method: status below 500', async () => {
  const tail = fc.oneof(
    fc.webPath(),
    fc.string().map(encodeURIComponent),
    fc.stringMatching(/^[\x21-\x7e]*$/),
  );
  const url = fc.tuple(fc.constantFrom(...METHODS), fc.constantFrom(...PREFIXES), tail);
  const property = fc.asyncProperty(url, async ([method, start, rest]) => {
    const path = `${start}${rest}`.replaceAll('#', '');
    const head = `Host: x\r\nX-Vault-Token: ${server.token}\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(Buffer.from(`${method} /v1/${path} HTTP/1.1\r\n${head}`, 'latin1'));
    assert.match(answer, /^HTTP\/1\.1 [234]\d\d /);
  });
  await fc.assert(property);
});

it('any bytes instead of HTTP: the server keeps running', async () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const property = fc.asyncProperty(fc.constantFrom(...STARTS), bytes, async (head, rest) => {
    await sendRaw(Buffer.concat([Buffer.from(head), rest]));
  });
  await fc.assert(property);
});

it('a body that arrives byte by byte takes no more memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  collect();
  const before = process.memoryUsage().heapUsed;
  const count = 200_000;
  socket.write('POST /v1/pki_int/revoke HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => socket.write('1\r\nx\r\n'.repeat(count / 20), resolve));
    await new Promise(setImmediate);
  }
  await setTimeout(200);
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  socket.destroy();
  assert.ok(grown < 50 * count, `${grown} bytes of heap for ${count} bytes`);
});

it('too large a body: 413; an undecodable path: 400', async () => {
  const head = `POST /v1/pki_int/revoke HTTP/1.1\r\nHost: x\r\nContent-Length: ${MAX_BODY + 1}\r\n\r\n`;
  const answer = await sendRaw(Buffer.concat([Buffer.from(head), Buffer.alloc(MAX_BODY + 1)]));
  assert.match(answer, /^HTTP\/1\.1 413 /);
  for (const path of ['pki_int/ocsp/%%%', 'pki_int/roles/%zz', 'pki_int/roles/a%00b']) {
    assert.equal((await ask(server, 'GET', path)).status, 400);
  }
});
