import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { createDialler } from '../../src/http/dial.js';

/**
 * @param {ReturnType<typeof createDialler>} dial
 * @returns {Promise<{socket: import('node:net').Socket, end: 'ready' | string | null}>} what became of one attempt
 */
function attempt(dial) {
  return new Promise((resolve) => {
    const socket = dial({
      ready: () => resolve({ socket, end: 'ready' }),
      read: () => {},
      gone: (error) => resolve({ socket, end: /** @type {any} */ (error)?.code ?? null }),
    });
  });
}

/** @param {(port: number) => Promise<void>} use a port where nothing listens */
async function withFreePort(use) {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  await use(port);
}

test('a target that is down is dialled again and again on two sockets, and reached on them once it is up', () =>
  withFreePort(async (port) => {
    const dial = createDialler(`http://127.0.0.1:${port}`, { rejectUnauthorized: true });
    const sockets = new Set();
    for (let i = 0; i < 20; i++) {
      const { socket, end } = await attempt(dial);
      assert.equal(end, 'ECONNREFUSED');
      sockets.add(socket);
    }
    assert.ok(sockets.size <= 2, `${sockets.size} sockets`);

    const server = createServer((peer) => peer.pipe(peer)).listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    /** @type {string[]} */
    const read = [];
    const events = await new Promise((resolve) => {
      /** @type {(string | null)[]} */
      const told = [];
      const socket = dial({
        ready() {
          told.push('ready');
          socket.write('hello');
        },
        read(bytes) {
          read.push(bytes.toString());
          socket.end();
        },
        gone(error) {
          told.push(/** @type {any} */ (error)?.code ?? 'closed');
          resolve(told);
        },
      });
      sockets.add(socket);
    });
    assert.deepEqual(events, ['ready', 'closed']);
    assert.deepEqual(read, ['hello']);
    assert.ok(sockets.size <= 3);

    const { socket, end } = await attempt(dial);
    assert.equal(end, 'ready');
    socket.destroy();
    server.close();
  }));

test('a socket that was connected once is not used again', async () => {
  const server = createServer((peer) => peer.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const dial = createDialler(`http://127.0.0.1:${port}`, { rejectUnauthorized: true });
  const sockets = new Set();
  for (let i = 0; i < 5; i++) {
    const { socket, end } = await attempt(dial);
    assert.equal(end, 'ready');
    await new Promise((resolve) => socket.once('close', resolve).destroy());
    sockets.add(socket);
  }
  assert.equal(sockets.size, 5);
  server.close();
});
