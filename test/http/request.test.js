import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createRequester, parseTargetUrl } from '../../src/http/request.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { startRaw, whole } from './raw-server.js';

/** @import { Tls } from '../../src/http/tls.js' */
/** @import { Server, ServerOptions } from 'node:https' */
/** @import { AddressInfo, Socket } from 'node:net' */

/** @param {string} origin @param {{tls?: Tls, timeoutMs?: number}} [options] */
async function ask(origin, options = {}) {
  const requester = createRequester({ origin, timeoutMs: 60_000, ...options });
  try {
    return await requester.request({ path: '/v1/sys/health' });
  } finally {
    await requester.close();
  }
}

/** @param {Promise<unknown>} asked @param {string} code @param {RegExp} [remedy] */
async function assertFails(asked, code, remedy = /^/) {
  await assert.rejects(asked, (/** @type {any} */ error) => {
    assert.equal(error.code, code, error.message);
    assert.equal(error.exitCode, 2);
    assert.match(error.message, /^https?:\/\/[^\n]+[^.]\.$/);
    assert.match(error.remedy ?? '', remedy);
    assert.equal(error.cause, undefined);
    return true;
  });
}

test('parseTargetUrl splits origin and path, and rejects non-addresses without showing a password', () => {
  for (const [text, origin, basePath] of [
    ['http://127.0.0.1:8200', 'http://127.0.0.1:8200', ''],
    ['https://vault.example.com/', 'https://vault.example.com', ''],
    ['https://[::1]:8200/proxy/vault//', 'https://[::1]:8200', '/proxy/vault'],
    ['unix:///run/vault.sock', 'unix:///run/vault.sock', ''],
    ['unix:///run/agent:/v.sock/', 'unix:///run/agent:/v.sock', ''],
  ]) {
    assert.deepEqual(parseTargetUrl(text), { origin, basePath });
  }
  const wrong = [
    '',
    'localhost:8200',
    '127.0.0.1:8200',
    'unix:run/vault',
    'unix://host/vault',
    'http://',
    'http:vault',
  ];
  for (const text of [...wrong, 'http://h/?a=b', 'http://me:hunter2@vault']) {
    const expected = { code: 'bad_url', exitCode: 1, message: /^(?!.*hunter2)/ };
    assert.throws(() => parseTargetUrl(text), expected, text);
  }
});

describe('a request', () => {
  /** @type {Awaited<ReturnType<typeof startRaw>>} */
  let server;
  beforeEach(async () => {
    server = await startRaw((socket) => socket.write(whole('hello')));
  });
  afterEach(() => server.stop());

  const OK = 'HTTP/1.1 200 OK\r\n';
  const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
  const toTls = 'wrong_scheme_http_to_https_port';
  const page = (/** @type {string} */ body) =>
    `HTTP/1.1 400 Bad Request\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  /** What the server sends before it closes; status or code. @type {[string, string | Buffer, string | number][]} */
  const table = [
    ['a response', whole('{}'), 200],
    ['an error', 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', 500],
    ['chunks', `${CHUNKED}2\r\n{}\r\n0\r\n\r\n`, 200],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n{}', 200],
    ['a redirect', 'HTTP/1.1 307 T\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 307],
    ['nothing', '', 'connection_reset'],
    ['a part of the head', `${OK}Content-Ty`, 'connection_reset'],
    ['a part of the body', `${OK}Content-Length: 5\r\n\r\nhel`, 'truncated'],
    ['a length that undici cannot count', `${OK}Content-Length: ${'9'.repeat(21)}\r\n\r\nhel`, 'bad_http'],
    ['a part of a chunk', `${CHUNKED}20\r\nhel`, 'truncated'],
    ['garbage', 'this is not HTTP\r\n\r\n', 'bad_http'],
    ['a chunk without a length', `${CHUNKED}zz\r\n`, 'bad_http'],
    ['another protocol', 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', 'bad_http'],
    ['more than 1 MiB', whole(Buffer.alloc(1024 * 1024 + 1)), 'response_too_large'],
    ['a TLS alert', '\x15\x03\x01\x00\x02\x02\x46', toTls],
    ["Go's page", page('Client sent an HTTP request to an HTTPS server.\n'), toTls],
    ["nginx's page", page('<title>400 The plain HTTP request was sent to HTTPS port</title>'), toTls],
  ];
  for (const [what, bytes, outcome] of table) {
    test(`${what}: ${outcome}`, async () => {
      server.state.behave = (socket) => socket.end(bytes);
      if (typeof outcome === 'number') assert.equal((await ask(server.origin)).status, outcome);
      else await assertFails(ask(server.origin), outcome);
    });
  }

  /** Sends it until the client closes. @param {string} head @param {string} part */
  const endless = (head, part) => (/** @type {Socket} */ socket) => {
    const more = part.repeat(65_536 / part.length);
    const send = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', send).write(head);
    send();
  };
  for (const [what, head, part] of [
    ['a chunk extension', `${CHUNKED}2;`, 'x'],
    ['chunks of a byte with extensions', CHUNKED, '1;xxxxxxxxx\r\nx\r\n'],
    ['early hints', '', 'HTTP/1.1 103 E\r\n\r\n'],
  ]) {
    test(`${what} without end: response_too_large`, async () => {
      server.state.behave = endless(head, part);
      await assertFails(ask(server.origin), 'response_too_large');
    });
  }

  test('trailers without end are rejected', async () => {
    server.state.behave = endless(`${CHUNKED}0\r\n`, 'x: y\r\n');
    await assertFails(ask(server.origin), 'bad_http');
  });

  test('each response on a connection has the whole limit', async () => {
    const body = whole(Buffer.alloc(800_000));
    server.state.behave = (socket) => socket.write(body);
    const requester = createRequester({ origin: server.origin, timeoutMs: 60_000, maxBodyBytes: 900_000 });
    for (let i = 0; i < 5; i++) assert.equal((await requester.request({ path: '/' })).body.length, 800_000);
    assert.equal(server.state.connections, 1);
    await requester.close();
  });

  test('a silent server times out, in the head and in the body', async () => {
    for (const bytes of ['', `${OK}Content-Length: 5\r\n\r\nhel`]) {
      server.state.behave = (socket) => socket.write(bytes);
      await assertFails(ask(server.origin, { timeoutMs: 100 }), 'no_response');
    }
  });

  test('a target that is down', async () => {
    await server.stop();
    await assertFails(ask(server.origin), 'connection_refused');
  });

  test('two use one connection; after the server closes it, the next opens another', async () => {
    const requester = createRequester({ origin: server.origin, timeoutMs: 60_000 });
    await requester.request({ path: '/1' });
    await requester.request({ path: '/2' });
    assert.equal(server.state.connections, 1);
    const closed = [...server.sockets].map((socket) => once(socket, 'close'));
    for (const socket of server.sockets) socket.end();
    await Promise.all(closed);
    assert.equal((await requester.request({ path: '/3' })).body.toString(), 'hello');
    assert.equal(server.state.connections, 2);
    await requester.close();
  });

  test('closing cancels the request in flight and sends nothing more', async () => {
    const requester = createRequester({ origin: server.origin, timeoutMs: 60_000 });
    const asked = new Promise((resolve) => {
      server.state.behave = () => resolve(null);
    });
    const answer = assertFails(requester.request({ path: '/' }), 'aborted');
    await asked;
    await requester.close();
    await answer;
    await assertFails(requester.request({ path: '/' }), 'aborted');
    assert.equal(server.state.connections, 1);
  });
});

test('closing ends a TLS handshake that is not complete', async () => {
  const listener = createServer();
  const accepted = once(listener, 'connection');
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {AddressInfo} */ (listener.address());
  const requester = createRequester({ origin: `https://127.0.0.1:${port}`, timeoutMs: 60_000 });
  const asked = assertFails(requester.request({ path: '/', timeoutMs: 50 }), 'tls_handshake_timeout');
  const [socket] = await accepted;
  const closed = once(socket.resume(), 'close');
  await asked;
  await requester.close();
  await closed;
  listener.close();
});

describe('over TLS', () => {
  const ca = new TestCa();
  const extensions = [altNames({ dns: ['vault.test'], ip: ['127.0.0.1'] })];
  const made = {
    good: ca.issue('good', { extensions }),
    otherName: ca.issue('other', { extensions: [altNames({ dns: ['vault.test'] })] }),
    expired: ca.issue('old', { extensions, inDays: -1, days: -0.1 }),
    future: ca.issue('future', { extensions, inDays: 1 }),
    stranger: new TestCa({ name: 'Stranger' }).issue('stranger', { extensions }),
  };
  /** @type {Server[]} */
  const servers = [];
  after(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  /** @param {keyof typeof made} name @param {ServerOptions} [options] */
  async function serve(name, options = {}) {
    const { pem, keyPem } = made[name];
    const server = createHttpsServer({ cert: pem, key: keyPem, ...options }, (_req, res) => res.end('{}'));
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `https://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
  }
  const trust = { ca: [ca.ca.pem], rejectUnauthorized: true };
  const client = { requestCert: true, ca: ca.ca.pem, rejectUnauthorized: true };
  let good = '';
  before(async () => {
    good = await serve('good');
  });

  test('a certificate of the configured CA is accepted; the default roots do not know it', async () => {
    assert.equal((await ask(good, { tls: trust })).status, 200);
    await assertFails(ask(good), 'certificate_issuer_unknown', /--ca-cert.*VAULT_CACERT/);
    await assertFails(ask(good.replace('https', 'http')), 'connection_reset', /https:\/\//);
  });

  for (const [name, code, remedy] of /** @type {const} */ ([
    ['otherName', 'certificate_name_mismatch', /--tls-server-name/],
    ['expired', 'certificate_expired', /^/],
    ['future', 'certificate_not_yet_valid', /^/],
    ['stranger', 'certificate_issuer_unknown', /^/],
  ])) {
    test(`${name}: ${code}, and accepted with skipVerify`, async () => {
      const origin = await serve(name);
      await assertFails(ask(origin, { tls: trust }), code, remedy);
      assert.equal((await ask(origin, { tls: { rejectUnauthorized: false } })).status, 200);
      if (name !== 'otherName') return;
      assert.equal((await ask(origin, { tls: { ...trust, servername: 'vault.test' } })).status, 200);
    });
  }

  test('a missing or unknown client certificate: the remedy names the option', async () => {
    const origin = await serve('good', client);
    const pair = (/** @type {keyof typeof made} */ name) => ({
      cert: made[name].pem,
      key: made[name].keyPem,
    });
    await assertFails(ask(origin, { tls: trust }), 'client_certificate_required', /--client-cert/);
    await assertFails(
      ask(origin, { tls: { ...trust, ...pair('stranger') } }),
      'connection_reset',
      /--client-cert/,
    );
    assert.equal((await ask(origin, { tls: { ...trust, ...pair('good') } })).status, 200);
    const old = await serve('good', { ...client, maxVersion: 'TLSv1.2' });
    await assertFails(ask(old, { tls: trust }), 'tls_handshake_failure', /--client-cert/);
  });
});
