import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startTarget } from '../targets/start.js';
import { connectTo, exchange, startRaw, whole } from './raw-server.js';

/** @typedef {import('./raw-server.js').Behaviour} Behaviour */

/** @type {Behaviour} */
const ok = (socket) => void socket.write(whole('hello'));

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

describe('a connection', () => {
  test('is opened beforehand and then used, one socket in all', async () => {
    await connection.open(1000);
    for (let i = 0; i < 5; i++) assert.equal((await ask(ok)).answer?.status, 200);
    assert.deepEqual([server.state.connections, server.state.requests], [1, 5]);
  });

  test('is made anew when the server has closed it between requests, first or later', async () => {
    for (const open of [true, false]) {
      if (open) await connection.open(1000);
      else await ask(ok);
      for (const socket of server.sockets) socket.end();
      while (server.sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal((await ask(ok)).answer?.status, 200);
    }
  });

  test('an abort ends an exchange without a word; the next one has a connection of its own', async () => {
    for (const silent of [
      () => {},
      (/** @type {import('node:net').Socket} */ s) =>
        void s.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
    ]) {
      server.state.behave = silent;
      const before = server.state.requests;
      const { told } = exchange(connection);
      while (server.state.requests === before) await new Promise((resolve) => setImmediate(resolve));
      connection.abort();
      assert.equal((await ask(ok)).answer?.body.toString(), 'hello');
      assert.deepEqual([told.sent, told.ends], [1, 0]);
    }
  });

  test('a refused connection is said to be so, nothing counts as sent; later it works again', async () => {
    await ask(ok);
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const refused = await exchange(connection).ended;
    assert.deepEqual([refused.failure, refused.beforeSent, refused.sent], ['connection_refused', true, 0]);
    await assert.rejects(connection.open(1000), { message: 'refused the connection: nothing listens there' });
    server = await startRaw(ok, server.port);
    assert.equal((await ask(ok)).answer?.status, 200);
  });

  test('after a close nothing is sent, and a request ends at once', async () => {
    await connection.close();
    const told = await ask(ok);
    assert.deepEqual([told.failure, told.beforeSent, server.state.requests], ['aborted', true, 0]);
  });

  test('a request that HTTP does not allow is a failure, not an exception', async () => {
    const told = await ask(ok, { headers: { 'bad header': 'x' } });
    assert.deepEqual([told.answer, told.beforeSent, told.ends], [null, true, 1]);
  });
});

/** Takes two connections and no more: what comes then is not even refused. */
const FULL = `const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 20);
  });`;

test('a server that takes no connection is given up in time, and no socket stays behind', async () => {
  const worker = new Worker(FULL, { eval: true });
  const port = await new Promise((resolve) => worker.once('message', resolve));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  const before = sockets();
  const fill = Array.from({ length: 6 }, () => connectTo(`http://127.0.0.1:${port}`));
  const opened = await Promise.allSettled(fill.map((one) => one.open(200)));
  const reasons = opened.flatMap((one) => (one.status === 'rejected' ? one.reason.message : []));
  assert.ok(reasons.length >= 3, `${reasons.length}`);
  assert.deepEqual([...new Set(reasons)], ['did not take the connection in time']);
  const { told } = exchange(fill[5]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  fill[5].abort();
  for (const one of fill) await one.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([told.sent, told.ends], [0, 0]);
  assert.equal(sockets(), before);
  await worker.terminate();
});

/** @type {[string, string | number][]} behaviour of test/targets, outcome */
const TARGETS = [
  ['ok', 200],
  ['drip', 200],
  ['chunked', 200],
  ['http-1.0', 200],
  ['empty-body', 200],
  ['redirect-self', 307],
  ['error-500', 500],
  ['rate-limited', 429],
  ['garbage', 'bad_http'],
  ['close-before-answer', 'connection_reset'],
  ['reset', 'connection_reset'],
  ['close-in-head', 'connection_reset'],
  ['close-in-body', 'truncated'],
  ['close-in-chunk', 'truncated'],
  ['tls-alert', 'wrong_scheme_http_to_https_port'],
];

test('one connection survives every misbehaving target in turn, its death and its return', async () => {
  const target = await startTarget({ behaviour: 'ok', delayMs: 1 });
  const own = connectTo(target.url);
  for (const [name, outcome] of TARGETS) {
    await target.behave(name);
    const told = await exchange(own).ended;
    assert.equal(told.answer?.status ?? told.failure, outcome, name);
  }
  for (const stuck of ['silent', 'stalls-in-body']) {
    await target.behave(stuck);
    const { told } = exchange(own);
    await target.behave('ok');
    own.abort();
    assert.equal((await exchange(own).ended).answer?.status, 200, `after ${stuck}`);
    assert.equal(told.ends, 0);
  }
  await target.die();
  assert.match(String((await exchange(own).ended).failure), /^connection_re(fused|set)$/);
  assert.equal((await exchange(own).ended).failure, 'connection_refused');
  await target.comeBack();
  assert.equal((await exchange(own).ended).answer?.status, 200);
  await own.close();
  await target.stop();
});
