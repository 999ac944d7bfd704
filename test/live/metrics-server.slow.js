import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createMetricsServer } from '../../src/live/metrics-server.js';

test('an incomplete request is closed', { timeout: 120_000 }, async (t) => {
  const server = await createMetricsServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const socket = connect(Number(server.address.split(':')[1]), '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n');
  // Its head comes byte by byte: the connection is never silent.
  const dripping = setInterval(() => socket.write('X'), 500);
  t.after(() => clearInterval(dripping));
  const [chunk] = await once(socket, 'data');
  assert.match(String(chunk), /^HTTP\/1\.1 408 /);
});
