import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { createRequester, parseTargetUrl } from '../../src/http/request.js';
import { startTarget } from '../targets/start.js';
import { dnsName, ipAddress, makeCertificate } from './certificates.js';
import { startRaw, whole } from './raw-server.js';

/**
 * @param {string} origin
 * @param {{tls?: import('../../src/http/tls.js').Tls, timeoutMs?: number}} [options]
 */
async function ask(origin, options = {}) {
  const requester = createRequester({ origin, timeoutMs: 5000, ...options });
  try {
    return await requester.request({ path: '/v1/sys/health' });
  } finally {
    await requester.close();
  }
}

/**
 * @param {Promise<unknown>} asked
 * @param {string} code
 */
async function assertFails(asked, code) {
  await assert.rejects(asked, (/** @type {any} */ error) => {
    assert.equal(error.code, code, error.message);
    assert.equal(error.exitCode, 2);
    assert.match(error.message, /^https?:\/\/[^\n]+[^.]\.$/);
    assert.equal(error.cause, undefined);
    return true;
  });
}

describe('parseTargetUrl', () => {
  test('splits origin and path', () => {
    const table = [
      ['http://127.0.0.1:8200', 'http://127.0.0.1:8200', ''],
      ['https://vault.example.com/', 'https://vault.example.com', ''],
      ['https://[::1]:8200/proxy/vault//', 'https://[::1]:8200', '/proxy/vault'],
    ];
    for (const [text, origin, basePath] of table)
      assert.deepEqual(parseTargetUrl(text), { origin, basePath });
  });

  for (const text of [
    '',
    'localhost:8200',
    '127.0.0.1:8200',
    'unix:///run/vault',
    'http://',
    'http:vault',
    'http://h/?a=b',
  ]) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseTargetUrl(text), { code: 'bad_url', exitCode: 1 });
    });
  }

  test('refuses a password and does not show it', () => {
    assert.throws(() => parseTargetUrl('http://me:hunter2@vault'), {
      code: 'bad_url',
      message: /^(?!.*hunter2)/,
    });
  });
});

describe('a request to a misbehaving target', () => {
  /** @type {import('../targets/start.js').Target} */
  let target;
  before(async () => {
    target = await startTarget({ behaviour: 'ok' });
  });
  after(() => target.stop());

  test('an answer is an answer, whatever its status', async () => {
    assert.equal((await ask(target.url)).body.toString(), '{"data":{}}');
    await target.behave('error-500');
    assert.equal((await ask(target.url)).status, 500);
    await target.behave('chunked');
    assert.equal((await ask(target.url)).body.toString(), '{"data":{}}');
    await target.behave('http-1.0');
    assert.equal((await ask(target.url)).body.toString(), '{"data":{}}');
    await target.behave('redirect-self');
    assert.equal((await ask(target.url)).status, 307);
  });

  /** @type {[string, string][]} */
  const table = [
    ['close-before-answer', 'connection_reset'],
    ['reset', 'connection_reset'],
    ['close-in-head', 'connection_reset'],
    ['close-in-body', 'truncated'],
    ['close-in-chunk', 'truncated'],
    ['garbage', 'bad_http'],
    ['tls-alert', 'wrong_scheme_http_to_https_port'],
  ];
  for (const [behaviour, code] of table) {
    test(`${behaviour} is ${code}`, async () => {
      await target.behave(behaviour);
      await assertFails(ask(target.url), code);
    });
  }

  for (const behaviour of ['silent', 'stalls-in-body', 'drip']) {
    test(`${behaviour} runs into the deadline`, async () => {
      await target.behave(behaviour, { delayMs: 60_000 });
      await assertFails(ask(target.url, { timeoutMs: 150 }), 'no_answer');
    });
  }

  test('an answer of more than 8 MiB is not taken', async () => {
    await target.behave('large', { bytes: 9 * 1024 * 1024 });
    await assertFails(ask(target.url), 'answer_too_large');
  });

  test('https:// to a plain HTTP port', async () => {
    await assertFails(ask(target.url.replace('http', 'https')), 'wrong_scheme_https_to_http_port');
  });

  test('a target that has died', async () => {
    await target.die();
    await assertFails(ask(target.url), 'connection_refused');
    await target.comeBack();
  });

  test('a host name that does not exist (RFC 6761)', () =>
    assertFails(ask('http://nothing.invalid'), 'host_not_found'));
});

describe('a request, byte for byte', () => {
  /** @type {Awaited<ReturnType<typeof startRaw>>} */
  let server;
  before(async () => {
    server = await startRaw(() => {});
  });
  after(() => server.stop());

  /** @type {[string, string, string][]} */
  const table = [
    [
      'another protocol, which nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'bad_http',
    ],
    ['a chunk without a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'bad_http'],
  ];
  for (const [what, answer, code] of table) {
    test(`${what}: ${code}`, async () => {
      server.state.behave = (socket) => socket.write(answer);
      await assertFails(ask(server.origin), code);
    });
  }

  test('two go over one connection, and one that the server has closed in between over another', async () => {
    const requester = createRequester({ origin: server.origin, timeoutMs: 5000 });
    server.state.behave = (socket) => socket.write(whole('hello'));
    const before = server.state.connections;
    await requester.request({ path: '/1' });
    await requester.request({ path: '/2' });
    assert.equal(server.state.connections, before + 1);
    const closed = [...server.sockets].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of server.sockets) socket.end();
    await Promise.all(closed);
    assert.equal((await requester.request({ path: '/3' })).body.toString(), 'hello');
    assert.equal(server.state.connections, before + 2);
    await requester.close();
  });

  test('closing gives up what is under way, and asks nothing more', async () => {
    const requester = createRequester({ origin: server.origin, timeoutMs: 5000 });
    const asked = new Promise((resolve) => {
      server.state.behave = () => resolve(null);
    });
    const answer = assertFails(requester.request({ path: '/' }), 'aborted');
    await asked;
    const before = server.state.connections;
    await requester.close();
    await answer;
    await assertFails(requester.request({ path: '/' }), 'aborted');
    assert.equal(server.state.connections, before);
  });
});

describe('TLS', () => {
  /** @type {Record<string, import('./certificates.js').Made>} */
  const made = {};
  /** @type {import('node:https').Server[]} */
  const servers = [];
  const closeAll = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };

  before(async () => {
    made.ca = await makeCertificate({ name: 'test ca', isCa: true });
    const issuer = made.ca;
    const local = [ipAddress('127.0.0.1'), dnsName('vault.test')];
    made.good = await makeCertificate({ name: 'good', issuer, altNames: local });
    made.otherName = await makeCertificate({ name: 'other', issuer, altNames: [dnsName('vault.test')] });
    made.expired = await makeCertificate({ name: 'old', issuer, altNames: local, toMs: -1000 });
    made.future = await makeCertificate({ name: 'future', issuer, altNames: local, fromMs: 3_600_000 });
    made.selfSigned = await makeCertificate({ name: 'self', altNames: local });
    made.client = await makeCertificate({ name: 'client', issuer });
    made.stranger = await makeCertificate({ name: 'stranger' });
  });
  after(closeAll);

  /**
   * @param {string} name in `made`
   * @param {import('node:https').ServerOptions} [options]
   */
  async function serve(name, options = {}) {
    const server = createHttpsServer(
      { cert: made[name].pem, key: made[name].keyPem, ...options },
      (_req, res) => res.end('{}'),
    );
    servers.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
    return `https://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  }
  const trust = () => ({ ca: [made.ca.pem], rejectUnauthorized: true });

  test('a good certificate of a CA we were given', async () => {
    assert.equal((await ask(await serve('good'), { tls: trust() })).status, 200);
  });

  /** @type {[string, string][]} */
  const table = [
    ['otherName', 'certificate_name_mismatch'],
    ['expired', 'certificate_expired'],
    ['future', 'certificate_not_yet_valid'],
    ['selfSigned', 'certificate_not_trusted'],
  ];
  for (const [name, code] of table) {
    test(`${name}: ${code}, and accepted with skipVerify`, async () => {
      const origin = await serve(name);
      await assertFails(ask(origin, { tls: trust() }), code);
      assert.equal((await ask(origin, { tls: { rejectUnauthorized: false } })).status, 200);
    });
  }

  test('the default roots do not know our CA', async () => {
    await assertFails(ask(await serve('good')), 'certificate_not_trusted');
  });

  test('the remedies name the flags', async () => {
    await assert.rejects(ask(await serve('good')), { remedy: /--ca-cert.*VAULT_CACERT/ });
    await assert.rejects(ask(await serve('otherName'), { tls: trust() }), { remedy: /--tls-server-name/ });
  });

  test('the server name to verify can be given', async () => {
    const tls = { ...trust(), servername: 'vault.test' };
    assert.equal((await ask(await serve('otherName'), { tls })).status, 200);
  });

  const askingForCertificate = () => ({ requestCert: true, ca: made.ca.pem, rejectUnauthorized: true });

  test('a client certificate is asked for', async () => {
    const origin = await serve('good', askingForCertificate());
    const pair = (/** @type {string} */ name) => ({ cert: made[name].pem, key: made[name].keyPem });
    await assertFails(ask(origin, { tls: trust() }), 'client_certificate_required');
    await assertFails(
      ask(origin, { tls: { ...trust(), ...pair('stranger') } }),
      'client_certificate_required',
    );
    assert.equal((await ask(origin, { tls: { ...trust(), ...pair('client') } })).status, 200);
  });

  test('TLS 1.2 does not say why the handshake failed; the remedy does', async () => {
    const origin = await serve('good', { ...askingForCertificate(), maxVersion: 'TLSv1.2' });
    await assert.rejects(ask(origin, { tls: trust() }), { code: 'tls_error', remedy: /--client-cert/ });
  });

  test('http:// to a TLS port that drops it without a word', async () => {
    const origin = await serve('good');
    await assertFails(ask(origin.replace('https', 'http')), 'wrong_scheme_http_to_https_port');
  });

  for (const words of [
    'Client sent an HTTP request to an HTTPS server.\n',
    '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>',
  ]) {
    test(`http:// to a TLS port that says so: ${words.slice(0, 30)}`, async () => {
      const server = createHttpServer((_req, res) => res.writeHead(400).end(words));
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      await assertFails(ask(`http://127.0.0.1:${port}`), 'wrong_scheme_http_to_https_port');
      server.close();
    });
  }
});
