import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createRequester } from '../../src/http/request.js';
import { connectTo, exchange } from './raw-server.js';

/** Takes two connections and no more: what comes then is not even refused. */
const FULL = `const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 20);
  });`;

test('a server that accepts no connection times out, and no socket is left open', async () => {
  const worker = new Worker(FULL, { eval: true });
  const port = await new Promise((resolve) => worker.once('message', resolve));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  const before = sockets();
  const fill = Array.from({ length: 6 }, () => connectTo(`http://127.0.0.1:${port}`));
  const opened = await Promise.allSettled(fill.map((one) => one.open(200)));
  const reasons = opened.flatMap((one) => (one.status === 'rejected' ? one.reason.message : []));
  assert.ok(reasons.length >= 3, `${reasons.length}`);
  assert.deepEqual([...new Set(reasons)], ['did not accept the connection in time']);
  const { events } = exchange(fill[5]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  fill[5].abort();
  for (const one of fill) await one.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([events.sent, events.ends], [0, 0]);
  assert.equal(sockets(), before);
  await worker.terminate();
});

test('a host name that does not exist (RFC 6761)', async () => {
  const requester = createRequester({ origin: 'http://nothing.invalid', timeoutMs: 60_000 });
  await assert.rejects(requester.request({ path: '/' }), { code: 'host_not_found', exitCode: 2 });
  await requester.close();
});

/** Sends the head and the body in one piece; 2 ms later it resets the connection, or ends it. */
const CLOSING = `const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', (request) => {
      socket.write('HTTP/1.1 200 OK\\r\\n\\r\\npart');
      setTimeout(() => (request.includes('/reset') ? socket.resetAndDestroy() : socket.end()), 2);
    });
  }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

test('a reset that arrives together with a body is no end of that body', async () => {
  const worker = new Worker(CLOSING, { eval: true });
  const port = await new Promise((resolve) => worker.once('message', resolve));
  const connection = connectTo(`http://127.0.0.1:${port}`);
  for (const [path, outcome] of [
    ['/end', 'part'],
    ['/reset', 'truncated'],
    ['/end', 'part'],
  ]) {
    const { ended } = exchange(connection, { path });
    // This thread reads nothing until both have arrived: only the server's own thread sends them.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    const { answer, failure, ends } = await ended;
    assert.deepEqual([answer?.body.toString() ?? failure, ends], [outcome, 1]);
  }
  await connection.close();
  await worker.terminate();
});
