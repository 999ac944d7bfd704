/** Connections that close after a number of requests: what they open, and when each part of the exchange happened. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createConnection } from '../../src/http/connection.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { startRaw, whole } from './raw-server.js';

/** @import { Handshakes } from '../../src/http/connection.js' */
/** @import { Connection } from '../../src/http/exchange.js' */

const CA = new TestCa();
const SERVER = CA.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
const [cert, key] = [SERVER.pem, SERVER.keyPem];
const TRUST = { ca: [CA.ca.pem], rejectUnauthorized: true };

/** @param {Connection} connection @returns {Promise<string[]>} what happened, in order */
function askOnce(connection) {
  /** @type {string[]} */
  const log = [];
  return new Promise((resolve) => {
    connection.send(
      { method: 'GET', path: '/', headers: {}, body: null },
      {
        onConnect: () => void log.push('dial'),
        onConnected: () => void log.push('connected'),
        onSent: () => void log.push('sent'),
        onFirstBytes: () => void log.push('first bytes'),
        onResponse: (status) => resolve([...log, `${status}`]),
        onFailure: (failure) => resolve([...log, failure]),
      },
    );
  });
}

/** @param {Connection} connection @param {number} times */
async function ask(connection, times) {
  const logs = [];
  for (let i = 0; i < times; i++) logs.push((await askOnce(connection)).join(', '));
  await connection.close();
  return logs;
}

for (const tls of [undefined, { cert, key }]) {
  describe(`connections over ${tls === undefined ? 'TCP' : 'TLS'}`, () => {
    /** @type {Awaited<ReturnType<typeof startRaw>>} */
    let server;
    before(async () => {
      server = await startRaw((socket) => void socket.write(whole('hello')), 0, tls);
    });
    after(() => server.stop());
    const isTls = tls !== undefined;
    const dialled = ['dial', ...(isTls ? ['connected'] : []), 'sent', '200'].join(', ');
    const kept = 'sent, 200';

    /** @type {[number | null, string[]][]} requests per connection; what six requests did */
    const TABLE = [
      [null, [dialled, kept, kept, kept, kept, kept]],
      [1, Array(6).fill(dialled)],
      [2, [dialled, kept, dialled, kept, dialled, kept]],
      [4, [dialled, kept, kept, kept, dialled, kept]],
    ];
    for (const [maxRequests, expected] of TABLE) {
      test(`${maxRequests ?? 'no limit of'} requests per connection`, async () => {
        const handshakes = /** @type {Handshakes} */ ({});
        const before = server.state.connections;
        const connection = createConnection({ origin: server.origin, tls: TRUST, maxRequests, handshakes });
        assert.deepEqual(await ask(connection, 6), expected);
        const opened = expected.filter((log) => log === dialled).length;
        assert.equal(server.state.connections - before, opened);
        const counted = Object.values(handshakes).reduce((sum, { count }) => sum + count, 0);
        assert.equal(counted, isTls ? opened : 0);
      });
    }

    test('an open connection serves as many requests', async () => {
      const before = server.state.connections;
      const connection = createConnection({ origin: server.origin, tls: TRUST, maxRequests: 2 });
      await connection.open(10_000);
      assert.deepEqual(await ask(connection, 3), [kept, kept, dialled]);
      assert.equal(server.state.connections - before, 2);
    });

    test('the first bytes are noted only if the rest comes later', async () => {
      server.state.behave = (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab');
        setTimeout(() => socket.write('c'), 20);
        setTimeout(() => socket.write('d'), 40);
      };
      const connection = createConnection({ origin: server.origin, tls: TRUST });
      assert.deepEqual(await ask(connection, 2), [
        dialled.replace('200', 'first bytes, 200'),
        'sent, first bytes, 200',
      ]);
    });
  });
}

describe('TLS sessions', () => {
  for (const version of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
    for (const resumes of [false, true]) {
      test(`${version}: ${resumes ? 'each but the first is resumed' : 'none is resumed'}`, async () => {
        const tls = { cert, key, minVersion: version, maxVersion: version };
        const server = await startRaw((socket) => void socket.write(whole('hello')), 0, tls);
        const handshakes = /** @type {Handshakes} */ ({});
        const connection = createConnection({
          ...{ origin: server.origin, tls: TRUST, maxRequests: 1, resumes, handshakes },
        });
        await ask(connection, 5);
        await server.stop();
        assert.deepEqual(Object.values(handshakes), [{ count: 5, resumed: resumes ? 4 : 0 }]);
        assert.match(Object.keys(handshakes)[0], new RegExp(`^${version} [A-Z0-9_]+ -$`));
      });
    }
  }
});

test("a server's keep-alive time counts from each response, also if only the first one has it", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const fields = ['Keep-Alive: timeout=2'];
  const server = await startRaw((socket) => {
    const field = fields.pop();
    socket.write(`HTTP/1.1 200 OK\r\n${field === undefined ? '' : `${field}\r\n`}Content-Length: 0\r\n\r\n`);
  });
  t.after(() => server.stop());
  const connection = createConnection({ origin: server.origin, tls: TRUST });
  const [logs, open] = [/** @type {string[]} */ ([]), /** @type {boolean[]} */ ([])];
  for (const idleMs of [0, 900, 900, 900, 1100, 5000]) {
    nowMs += idleMs;
    open.push(connection.isOpen());
    logs.push((await askOnce(connection)).join(', '));
  }
  await connection.close();
  const [dialled, kept] = ['dial, sent, 200', 'sent, 200'];
  assert.deepEqual(logs, [dialled, kept, kept, kept, dialled, kept]);
  assert.deepEqual(
    open,
    logs.map((log) => log === kept),
  );
});
