/** The load's connections and single calls through a proxy, to a redirected address and over a Unix socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test';
import { createConnection } from '../../src/http/connection.js';
import { createStreams } from '../../src/http/http2-connection.js';
import { createRotation } from '../../src/http/lookup.js';
import { createRequester } from '../../src/http/request.js';
import { openTunnel } from '../../src/http/tunnel.js';
import { readNetwork } from '../../src/vault/network.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { answer, startProxy } from './proxy.js';
import { exchange, startRaw, whole } from './raw-server.js';

/** @import { AddressInfo, Socket } from 'node:net' */

const CA = new TestCa();
const extensions = [altNames({ dns: ['vault.test'], ip: ['10.1.2.3'] })];
const SERVER = CA.issue('vault.test', { extensions });
const TLS = { cert: SERVER.pem, key: SERVER.keyPem };

for (const scheme of ['http', 'https']) {
  describe(`${scheme} through a proxy`, () => {
    const isTls = scheme === 'https';
    /** @type {Awaited<ReturnType<typeof startProxy>>} */
    let proxy;
    /** @type {Awaited<ReturnType<typeof startRaw>>} */
    let server;
    /** @type {string[]} heads that came to the server */
    let heads = [];
    before(async () => {
      const behave = (/** @type {Socket} */ socket, /** @type {string} */ head) => {
        heads.push(head);
        socket.write(whole('{"hello":1}'));
      };
      server = await startRaw(behave, 0, isTls ? TLS : undefined);
    });
    beforeEach(async () => {
      heads = [];
      proxy = await startProxy({ user: 'me:p%40ss' });
      // URL-encoded in the address, but not in the header.
      proxy.url = proxy.url.replace('p%40ss', 'p%2540ss');
    });
    afterEach(() => proxy.stop());
    after(() => server.stop());

    const trust = { rejectUnauthorized: true, ca: [CA.ca.pem] };
    const originOf = (host = 'vault.test') => `${scheme}://${host}:${server.port}`;
    const settings = (/** @type {Record<string, string>} */ more = {}) => {
      return { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, ...more };
    };
    /** @param {Record<string, string>} [env] */
    const dial = (env = settings(), origin = originOf(), connectTo = /** @type {string[]} */ ([])) => {
      const tls = { ...trust, network: readNetwork({ url: origin, connectTo }, [], env) };
      return createConnection({ origin, tls });
    };
    /** @param {Record<string, string>} [env] */
    const ask = async (env = settings(), origin = originOf(), timeoutMs = 10_000) => {
      const tls = { ...trust, network: readNetwork({ url: origin }, [], env) };
      const requester = createRequester({ origin, tls, timeoutMs });
      const path = '/v1/sys/health';
      try {
        return [await requester.request({ path }), await requester.request({ path })];
      } finally {
        await requester.close();
      }
    };

    test('the load keeps its connection, sends its password to the proxy, and nothing of it to the server', async () => {
      const connection = dial();
      await connection.open(10_000);
      for (let i = 0; i < 3; i++) {
        const { answer } = await exchange(connection, { method: 'POST', body: 'abc' }).ended;
        assert.deepEqual([answer?.status, String(answer?.body)], [200, '{"hello":1}']);
      }
      await connection.close();
      assert.equal(proxy.state.sockets, 1);
      const { port } = server;
      const lines = isTls
        ? [`CONNECT vault.test:${port}`]
        : Array(3).fill(`POST http://vault.test:${port}/a`);
      assert.deepEqual(proxy.state.log, lines);
      assert.equal(heads.length, 3);
      for (const head of heads) {
        assert.match(head, new RegExp(`^POST /a HTTP/1.1\r\n(?:.*\r\n)*host: vault.test:${port}`, 'i'));
        assert.doesNotMatch(head, /proxy-authorization/i);
      }
    });

    test('single calls do so, too', async () => {
      const responses = await ask();
      assert.deepEqual(
        responses.map(({ status, body }) => [status, String(body)]),
        Array(2).fill([200, '{"hello":1}']),
      );
      const { port } = server;
      const path = '/v1/sys/health';
      const lines = isTls
        ? [`CONNECT vault.test:${port}`]
        : Array(2).fill(`GET http://vault.test:${port}${path}`);
      assert.deepEqual(proxy.state.log, lines);
      for (const head of heads) assert.doesNotMatch(head, /proxy-authorization/i);
    });

    /** Fault; outcome of the load, which in absolute form reads the proxy's response as the server's; code of single calls. */
    const FAULTS = /** @type {[string, (socket: Socket) => void, string | number, string][]} */ ([
      ['asks for a password', answer(407), isTls ? 'proxy_auth_required' : 407, 'proxy_auth_required'],
      ['refuses', answer(403), isTls ? 'proxy_refused' : 403, 'proxy_refused'],
      ['cannot reach the server', answer(503), isTls ? 'proxy_bad_gateway' : 503, 'proxy_bad_gateway'],
      [
        'cuts the connection',
        (socket) => void socket.destroy(),
        isTls ? 'proxy_no_tunnel' : 'connection_reset',
        isTls ? 'proxy_no_tunnel' : 'connection_reset',
      ],
      [
        'sends garbage',
        (socket) => void socket.end('\x00\x01 no HTTP\r\n\r\n'),
        isTls ? 'proxy_no_tunnel' : 'bad_http',
        isTls ? 'proxy_no_tunnel' : 'bad_http',
      ],
    ]);
    for (const [what, fault, outcome, code] of FAULTS) {
      test(`a proxy that ${what}: ${outcome} under load, ${code} in single calls`, async () => {
        proxy.state.fault = fault;
        const connection = dial();
        const { answer, failure, beforeSent } = await exchange(connection).ended;
        assert.equal(answer?.status ?? failure, outcome);
        if (isTls) assert.equal(beforeSent, true);
        await connection.close();
        await assert.rejects(ask(), (/** @type {any} */ error) => {
          assert.deepEqual([error.code, error.exitCode], [code, 2], error.message);
          if (!code.startsWith('proxy_')) return true;
          assert.ok(error.message.includes(`127.0.0.1:${proxy.port} (${scheme.toUpperCase()}_PROXY)`));
          assert.doesNotMatch(`${error.message} ${error.remedy}`, /p@ss|p%|undefined/);
          assert.ok(error.remedy.length > 20);
          return true;
        });
        assert.equal(heads.length, 0);
      });
    }

    test('a wrong password and a proxy that is down have their own codes', async () => {
      const other = settings({ [`${scheme.toUpperCase()}_PROXY`]: proxy.url.replace('me:', 'you:') });
      await assert.rejects(ask(other), { code: 'proxy_auth_required', message: /HTTP 407\.$/ });
      const connection = dial(other);
      if (isTls)
        await assert.rejects(connection.open(10_000), { message: /requires a user name.*HTTP 407$/ });
      await connection.close();
      await proxy.stop();
      await assert.rejects(ask(), { code: 'proxy_unreachable' });
      const failed = dial();
      const { failure, beforeSent } = await exchange(failed).ended;
      assert.deepEqual([failure, beforeSent], ['proxy_unreachable', true]);
      await assert.rejects(failed.open(10_000), { message: /the proxy 127\.0\.0\.1:\d+ \(/ });
      await failed.close();
      proxy = await startProxy();
    });

    test('a proxy that does not respond is named, not the server', async () => {
      proxy.state.fault = () => {};
      const connection = dial();
      const { events } = exchange(connection);
      while (proxy.state.log.length === 0) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(connection.abort() ?? null, isTls ? 'proxy_timeout' : null);
      assert.equal(events.ends, 0);
      if (isTls)
        await assert.rejects(connection.open(20), { message: /the proxy .* did not respond in time$/ });
      await connection.close();
      await assert.rejects(ask(settings(), originOf(), 20), {
        code: isTls ? 'proxy_timeout' : 'no_response',
      });
    });

    if (isTls) {
      test('so is one that does not respond to HTTP/2', async () => {
        proxy.state.fault = () => {};
        const tls = { ...trust, network: readNetwork({ url: originOf() }, [], settings()) };
        const [stream] = createStreams({ origin: originOf(), tls, streams: 1 });
        exchange(stream);
        while (proxy.state.log.length === 0) await new Promise((resolve) => setImmediate(resolve));
        assert.equal(stream.abort(), 'proxy_timeout');
        const message = /the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) did not respond in time$/;
        await assert.rejects(stream.open(20), { code: 'proxy_timeout', message });
        await stream.close();
      });
    }

    test('NO_PROXY, and --connect-to, which the tunnel leads to', async () => {
      const [here] = [`127.0.0.1:${server.port}`];
      for (const [env, log] of /** @type {[Record<string, string>, string[]][]} */ ([
        [settings({ NO_PROXY: 'vault.test' }), []],
        [settings(), [`CONNECT ${here}`]],
      ])) {
        const connection = dial(env, originOf(), [`vault.test:${server.port}:127.0.0.1:`]);
        const { answer, failure } = await exchange(connection).ended;
        assert.equal(answer?.status, 200, `${failure}`);
        assert.deepEqual(proxy.state.log, log);
        await connection.close();
      }
      // The certificate must match the address asked for, not that connected to.
      const origin = originOf('10.1.2.3');
      const byAddress = dial({}, origin, ['10.1.2.3::127.0.0.1:']);
      assert.equal((await exchange(byAddress).ended).answer?.status, 200);
      await byAddress.close();
      if (!isTls) return;
      const wrong = dial({}, originOf('10.9.9.9'), ['10.9.9.9::127.0.0.1:']);
      assert.equal((await exchange(wrong).ended).failure, 'certificate_name_mismatch');
      await wrong.close();
    });
  });
}

test('a Unix socket: the load and single calls, with localhost as the host', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-socket-'));
  t.after(() => rmSync(folder, { recursive: true }));
  /** @type {string[]} */
  const heads = [];
  const server = await startRaw((socket, head) => {
    heads.push(head);
    socket.write(whole('hello'));
  });
  t.after(() => server.stop());
  const path = join(folder, 'a socket');
  const relay = createServer((near) => {
    const far = connect(server.port, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await once(relay.listen(path), 'listening');
  t.after(() => relay.close());
  const origin = `unix://${path}`;
  const tls = { rejectUnauthorized: true };
  const connection = createConnection({ origin, tls });
  const requester = createRequester({ origin, tls });
  assert.equal((await exchange(connection).ended).answer?.status, 200);
  assert.equal((await requester.request({ path: '/v1/x' })).status, 200);
  await connection.close();
  await requester.close();
  for (const head of heads) assert.match(head, /^host: localhost\r$/im);
  assert.equal(heads.length, 2);
  const gone = createRequester({ origin: `${origin}2`, tls });
  await assert.rejects(gone.request({ path: '/' }), { code: 'socket_unusable' });
  await gone.close();
});

test('interim responses to CONNECT are skipped, but not without end', { timeout: 10_000 }, async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n';
  const route = /** @type {any} */ ({ proxy: { authorization: null }, tunnelTo: 'vault.test:8200' });
  for (const [answer, code] of [
    [`${interim}${interim}HTTP/1.1 200 OK\r\n\r\n`],
    // No server responds before it is asked.
    ['HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'PROXY_NO_TUNNEL'],
    [interim.repeat(1000), 'PROXY_NO_TUNNEL'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'PROXY_NO_TUNNEL'],
  ]) {
    const proxy = createServer((socket) => void socket.on('error', () => {}).write(answer));
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = /** @type {AddressInfo} */ (proxy.address());
    const [socket, error] = await new Promise((resolve) => {
      const opened = openTunnel(route, { port, host: '127.0.0.1' }, (failure) => resolve([opened, failure]));
    });
    assert.equal(error?.code, code);
    socket.destroy();
    proxy.close();
  }
});

test('a tunnel that the proxy ends in place of a response', { timeout: 10_000 }, async (t) => {
  // Only half: it waits for the other end to close, too.
  const proxy = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).end());
  t.after(() => proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {AddressInfo} */ (proxy.address());
  const route = /** @type {any} */ ({ proxy: { authorization: null }, tunnelTo: 'vault.test:8200' });
  const error = await new Promise((resolve) =>
    openTunnel(route, { port, host: '127.0.0.1', allowHalfOpen: true }, resolve),
  );
  assert.equal(error.code, 'PROXY_NO_TUNNEL');
});

test('a rotation takes the addresses of each family in turn, in whatever order they are asked for', () => {
  const all = ['10.0.0.1', '10.0.0.2', 'fd00::1', 'fd00::2'];
  const found = all.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const ask = /** @type {any} */ (
    (/** @type {string} */ _host, /** @type {object} */ _options, /** @type {any} */ callback) =>
      callback(null, found)
  );
  const rotation = createRotation({ everyMs: 60_000, onAnswer() {}, ask });
  /** @type {unknown[]} */
  const taken = [];
  mock.method(process, 'nextTick', (/** @type {() => void} */ call) => call());
  for (const family of [4, 6, 4, 6])
    rotation.lookup('a.test', { family }, (_error, address) => taken.push(address));
  mock.restoreAll();
  rotation.close();
  assert.deepEqual(taken.toSorted(), all);
});

test('a rotation: new connections take the addresses in turn, and a kept one leaves an address that is gone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const found = (/** @type {string[]} */ ...addresses) =>
    addresses.map((address) => ({ address, family: 4 }));
  let answers = found('127.0.0.1', '127.0.0.2');
  let asked = 0;
  const server = await startRaw((socket) => socket.write(whole('hello')));
  t.after(() => server.stop());
  // The same port on another address of this machine.
  const [other] = [createServer((socket) => void socket.on('data', () => socket.write(whole('other'))))];
  await once(other.listen(server.port, '127.0.0.2'), 'listening');
  t.after(() => other.close());
  const ask = /** @type {any} */ (
    (/** @type {string} */ _, /** @type {object} */ __, /** @type {Function} */ callback) => {
      asked++;
      if (answers.length === 0) callback(new Error('no answer'), []);
      else callback(null, answers);
    }
  );
  const rotation = createRotation({
    everyMs: 1000,
    onAnswer: (addresses) => {
      for (const connection of connections) connection.keepOnly(addresses);
    },
    ask,
  });
  const origin = `http://vault.test:${server.port}`;
  const connections = Array.from({ length: 4 }, () =>
    createConnection({ origin, tls: { rejectUnauthorized: true }, lookup: rotation.lookup }),
  );
  const bodies = async () => {
    const texts = [];
    for (const connection of connections) texts.push(String((await exchange(connection).ended).answer?.body));
    return texts;
  };
  assert.deepEqual(await bodies(), ['hello', 'other', 'hello', 'other']);
  assert.deepEqual([await bodies(), asked], [['hello', 'other', 'hello', 'other'], 1]);
  answers = found('127.0.0.2');
  t.mock.timers.tick(1000);
  assert.deepEqual([await bodies(), asked], [Array(4).fill('other'), 2]);
  // Without an answer, the addresses stay.
  answers = [];
  t.mock.timers.tick(1000);
  assert.deepEqual([await bodies(), asked], [Array(4).fill('other'), 3]);
  rotation.close();
  t.mock.timers.tick(5000);
  assert.equal(asked, 3);
  for (const connection of connections) await connection.close();
});
