/** Reasons against a measurement, from real runs in which they hold. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import net from 'node:net';
import { describe, test } from 'node:test';
import { checkVerdicts } from '../../src/result/check/check-verdicts.js';
import { validateResult } from '../../src/result/schema.js';
import { cannedOcsp, runHere } from './support.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { AddressInfo } from 'node:net' */

/**
 * Answers every request with the canned response, after a while, one at a time where `queue` says so.
 * @param {{after: (fn: () => any) => void}} t
 * @param {{delayMs?: number | (() => number), queue?: boolean, headers?: Record<string, string>}} behaviour
 */
async function target(t, { delayMs = 0, queue = false, headers = {} }) {
  const { args, response } = cannedOcsp(t);
  let freeAt = 0;
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    req.resume().on('end', () => {
      const now = performance.now();
      freeAt = (queue ? Math.max(now, freeAt) : now) + (typeof delayMs === 'number' ? delayMs : delayMs());
      setTimeout(
        () => res.writeHead(200, { 'Content-Type': 'application/ocsp-response', ...headers }).end(response),
        freeAt - now,
      );
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = /** @type {AddressInfo} */ (server.address());
  const [, , cert, , issuer] = args;
  return { cert, issuer, 'ocsp-url': `http://127.0.0.1:${port}/` };
}

/** @param {Result} result */
function codes({ measurement }) {
  return measurement.reasons.map(({ code }) => code);
}

describe('the verdict of a run on its own measurement', { concurrency: 1 }, () => {
  test('connections that the target closes are counted as setup in the latency', async (t) => {
    const subject = await target(t, { headers: { Connection: 'close' } });
    const result = await runHere('ocsp', { ...subject, rate: 100, duration: '2s' });
    assert.ok(codes(result).includes('connection_setup'), codes(result).join());
    const setups = Number(result.measurement.observed?.connectionSetups);
    assert.ok(setups > 180 && setups <= 200, `${setups} of 200`);
  });

  test('a closed loop whose target turns half of the connections away does not show few errors', async (t) => {
    const subject = await target(t, {});
    /** @type {net.Socket[]} */
    const accepted = [];
    const proxy = net.createServer((socket) => {
      const upstream = net.connect(Number(new URL(subject['ocsp-url']).port), '127.0.0.1');
      socket.pipe(upstream).pipe(socket);
      for (const one of [socket, upstream]) one.on('error', () => {});
      accepted.push(socket);
    });
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(null)));
    const { port } = /** @type {AddressInfo} */ (proxy.address());
    const timer = setInterval(() => {
      // All four of the run are open.
      if (accepted.length < 5) return;
      clearInterval(timer);
      proxy.close();
      for (const socket of accepted.slice(-2)) socket.destroy();
    }, 10);
    t.after(() => clearInterval(timer));
    const options = { concurrency: 4, duration: '3s', require: ['errors<5%', 'p90<1s'] };
    const result = await runHere('ocsp', { ...subject, 'ocsp-url': `http://127.0.0.1:${port}/`, ...options });
    const { failed, succeeded } = result.totals;
    assert.ok(failed > 0 && failed < 0.05 * succeeded, `${failed} of ${succeeded}`);
    assert.deepEqual(
      result.requirements.slice(0, 2).map(({ verdict }) => verdict),
      ['not proven', 'not proven'],
    );
    assert.ok(codes(result).includes('connections_rested'), codes(result).join());
    assert.deepEqual([...checkVerdicts(result)], [], 'the file can be read');
  });

  test('with more load than the target can handle, the backlog grows', async (t) => {
    const subject = await target(t, { delayMs: 20, queue: true });
    const result = await runHere('ocsp', { ...subject, rate: 100, duration: '3s', concurrency: 1 });
    assert.equal(result.totals.neverSent, 0, 'it was worked off in the end');
    assert.ok(codes(result).includes('backlog_growing'), codes(result).join());
    assert.equal(result.measurement.verdict, 'valid');
    assert.ok(Number(result.measurement.observed?.backlogShare) > 0.8);
  });

  test('a backlog that waits entirely inside the target grows, too', async (t) => {
    const subject = await target(t, { delayMs: 20, queue: true });
    const result = await runHere('ocsp', { ...subject, rate: 100, duration: '3s', concurrency: 400 });
    assert.ok(codes(result).includes('backlog_growing'), codes(result).join());
    assert.equal(result.measurement.observed?.backlogShare, 0, 'nobody waited for a connection');
  });

  test('with many times what the target can handle, most requests are never sent', async (t) => {
    const subject = await target(t, { delayMs: 10, queue: true });
    const options = { ...subject, rate: 2000, duration: '1s', concurrency: 1, timeout: '500ms' };
    const result = await runHere('ocsp', options);
    assert.ok(result.totals.neverSent > 1000);
    assert.ok(codes(result).includes('backlog_growing'));
  });

  test('the result has the observations of both threads', async (t) => {
    const subject = await target(t, { delayMs: 5 });
    const result = await runHere('ocsp', {
      ...subject,
      rate: 100,
      duration: '2s',
      warmup: '500ms',
      threads: 2,
    });
    const { observed } = result.measurement;
    assert.ok(observed !== undefined);
    assert.equal(observed.ownResponseMs?.count, result.latencyMs.response.count);
    assert.equal(observed.lagMs.count, result.totals.sent);
    assert.ok(Number(observed.ownResponseMs?.p99) <= Number(result.latencyMs.response.p99));
    assert.equal(observed.readLateMs?.count, result.totals.sent);
    assert.ok(Number(observed.readLateMs?.min) > 0);
    assert.ok(Number(observed.cpu.processCores) > 0);
    assert.equal(observed.connectionSetups, 0);
    validateResult(JSON.parse(JSON.stringify(result)));
  });

  test('a target that gets slower from second to second has not settled', async (t) => {
    const begun = performance.now();
    const subject = await target(t, { delayMs: () => 5 + (performance.now() - begun) / 50 });
    const result = await runHere('ocsp', { ...subject, rate: 50, duration: '10s', concurrency: 20 });
    assert.ok(codes(result).includes('still_changing'), codes(result).join());
  });
});
