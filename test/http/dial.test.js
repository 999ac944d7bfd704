import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { createDialler } from '../../src/http/connection.js';
import { altNames, TestCa } from '../pki/test-ca.js';

/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { TestContext } from 'node:test' */

const TRUST = { rejectUnauthorized: true };

/**
 * @param {ReturnType<typeof createDialler>} dial
 * @returns {Promise<{socket: Socket, end: 'ready' | string | null}>} what became of one attempt
 */
function attempt(dial) {
  return new Promise((resolve) => {
    const dialled = dial({
      ready: () => resolve({ socket, end: 'ready' }),
      read: () => {},
      gone: (error) => resolve({ socket, end: /** @type {any} */ (error)?.code ?? null }),
    });
    const socket = /** @type {Socket} without a tunnel */ (dialled);
  });
}

/** @returns {Promise<number>} where nothing listens */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @param {TestContext} t @param {number} port @param {(peer: Socket) => void} onPeer */
async function listen(t, port, onPeer) {
  const server = createServer(onPeer).listen(port, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return /** @type {AddressInfo} */ (server.address()).port;
}

for (const host of ['127.0.0.1', 'localhost']) {
  test(`repeated dials of a dead target reuse two sockets, which connect once it is up: ${host}`, async (t) => {
    const port = await freePort();
    const dial = createDialler(`http://${host}:${port}`, TRUST);
    const sockets = new Set();
    for (let i = 0; i < 20; i++) {
      const { socket, end } = await attempt(dial);
      assert.equal(end, 'ECONNREFUSED');
      sockets.add(socket);
    }
    assert.equal(sockets.size, 2);

    await listen(t, port, (peer) => peer.pipe(peer));
    /** @type {string[]} */
    const read = [];
    const seen = await new Promise((resolve) => {
      /** @type {string[]} */
      const events = [];
      const dialled = dial({
        ready() {
          events.push('ready');
          socket.write('hello');
        },
        read(bytes) {
          read.push(bytes.toString());
          socket.end();
        },
        gone(error) {
          events.push(/** @type {any} */ (error)?.code ?? 'closed');
          resolve(events);
        },
      });
      const socket = /** @type {Socket} */ (dialled);
      sockets.add(socket);
    });
    assert.deepEqual(seen, ['ready', 'closed']);
    assert.deepEqual(read, ['hello']);
    assert.equal(sockets.size, 2);
  });
}

test('a socket that was once connected is not reused', async (t) => {
  const port = await listen(t, 0, (peer) => peer.end());
  const dial = createDialler(`http://127.0.0.1:${port}`, TRUST);
  const sockets = new Set();
  for (let i = 0; i < 5; i++) {
    const { socket, end } = await attempt(dial);
    assert.equal(end, 'ready');
    await new Promise((resolve) => socket.once('close', resolve).destroy());
    sockets.add(socket);
  }
  assert.equal(sockets.size, 5);
});

test('a socket abandoned during its DNS lookup is not reused; the next one shares the lookup', async (t) => {
  const port = await listen(t, 0, () => {});
  /** @type {(() => void)[]} */
  const held = [];
  const { lookup } = dns;
  t.mock.method(dns, 'lookup', (/** @type {unknown[]} */ ...args) => {
    held.push(() => /** @type {Function} */ (lookup)(...args));
  });
  const dial = createDialler(`http://localhost:${port}`, TRUST);
  const given = /** @type {Socket} */ (dial({ ready() {}, read() {}, gone() {} }));
  given.destroy();
  await once(given, 'close');
  const second = attempt(dial);
  assert.equal(held.length, 1);
  for (const release of held) release();
  const { socket, end } = await second;
  assert.equal(end, 'ready');
  assert.notEqual(socket, given);
  socket.destroy();
});

for (const host of ['127.0.0.1', 'localhost']) {
  test(`TCP_NODELAY is set on TLS sockets, too: ${host}`, async (t) => {
    const { pem: cert, keyPem: key } = new TestCa().issue('server');
    const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    // Of TCP sockets; those of TLS call it for theirs.
    const handle = Object.getPrototypeOf(/** @type {any} */ (server)._handle);
    const { mock } = t.mock.method(handle, 'setNoDelay');
    const { port } = /** @type {AddressInfo} */ (server.address());
    const dial = createDialler(`https://${host}:${port}`, { rejectUnauthorized: false });
    const { socket, end } = await attempt(dial);
    socket.destroy();
    assert.equal(end, 'ready');
    const calls = mock.calls.map((/** @type {any} */ call) => [call.arguments[0], call.result]);
    assert.deepEqual(calls.at(-1), [true, 0]);
  });
}

test('each certificate of the server is checked, and one that it repeats is converted once', async (t) => {
  const ca = new TestCa();
  const [right, wrong] = ['127.0.0.1', '127.0.0.2'].map((address) => {
    const { pem: cert, keyPem: key } = ca.issue('server', { extensions: [altNames({ ip: [address] })] });
    return { cert, key };
  });
  const server = createTlsServer(right).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  const dial = createDialler(`https://127.0.0.1:${port}`, { ca: [ca.ca.pem], rejectUnauthorized: true });
  const { mock } = t.mock.method(X509Certificate.prototype, 'toLegacyObject');
  const ends = [];
  for (const certificate of [right, right, wrong, wrong, right, right]) {
    server.setSecureContext(certificate);
    const { socket, end } = await attempt(dial);
    socket.destroy();
    ends.push(end);
  }
  const mismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';
  assert.deepEqual(ends, ['ready', 'ready', mismatch, mismatch, 'ready', 'ready']);
  assert.equal(mock.callCount(), 3);
});

test('from a local address dials only addresses of its family, whichever the name has first', async (t) => {
  const port = await listen(t, 0, (peer) => peer.on('error', () => {}).once('data', () => peer.destroy()));
  const families = /** @type {unknown[]} */ ([]);
  t.mock.method(
    dns,
    'lookup',
    (/** @type {string} */ _, /** @type {any} */ { family, all }, /** @type {any} */ done) => {
      families.push(family);
      const [address, found] = family === 4 ? ['127.0.0.1', 4] : ['::1', 6];
      process.nextTick(() => (all ? done(null, [{ address, family: found }]) : done(null, address, found)));
    },
  );
  for (const [scheme, expected] of /** @type {[string, RegExp][]} */ ([
    ['http', /^ready$/],
    ['https', /^(ECONNRESET|null)$/],
  ])) {
    const dial = createDialler(`${scheme}://dual.test:${port}`, TRUST, { localAddress: '127.0.0.1' });
    const { socket, end } = await attempt(dial);
    socket.destroy();
    assert.match(String(end), expected);
  }
  assert.deepEqual(families, [4, 4]);
});

/** Accepts nothing while it is stopped, and a full queue drops every SYN. */
const STOPPABLE = `
import { createServer } from 'node:net';
const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port));`;

test('the first of two addresses has more than 250 ms to accept', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const server = spawn(process.execPath, ['--input-type=module', '-e', STOPPABLE], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => server.kill('SIGKILL'));
  const [port] = await once(server, 'message');
  server.kill('SIGSTOP');
  /** Fills the queue. @returns {Promise<boolean>} it was not full yet */
  const isAccepted = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    return Promise.race([once(socket, 'connect').then(() => true), sleep(300, false)]);
  };
  while (await isAccepted());
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  /** @type {any} */
  const lookup = (/** @type {string} */ _, /** @type {object} */ __, /** @type {Function} */ callback) =>
    callback(null, addresses);
  const dialled = attempt(createDialler(`http://two.test:${port}`, TRUST, { lookup, timeoutMs: 20_000 }));
  await sleep(400);
  server.kill('SIGCONT');
  const { socket, end } = await dialled;
  assert.deepEqual([end, socket.remoteAddress], ['ready', '127.0.0.1']);
  socket.destroy();
});
