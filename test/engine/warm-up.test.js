import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { choosePacing } from '../../src/engine/pacing/alarm.js';
import { startThread } from '../../src/engine/thread.js';
import { redactRequests, warmUp } from '../../src/engine/warm-up.js';
import { createConnection } from '../../src/http/connection.js';
import { createStreams } from '../../src/http/http2-connection.js';
import { load } from './load-plan.js';

/** @import { ShardInput } from '../../src/engine/shard.js' */
/** @import { Request } from '../../src/http/exchange.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */

const REQUEST = Object.freeze({ method: 'POST', path: '/x', headers: {}, body: Buffer.from('asked') });

const TLS = { rejectUnauthorized: true };

/** More requests than all parts have. */
const MANY = 20_000;

/** @param {Partial<LoadPlan>} changes @param {(index: number) => Request} request @param {string} [origin] of the target */
async function warmUpWith(changes, request, origin = 'http://127.0.0.1:1') {
  const plan = { load: load(changes) };
  const fixture = { origin, targetUrl: '', target: { product: null, version: null } };
  const input = /** @type {ShardInput} */ (
    /** @type {unknown} */ ({ plan, fixture, tls: {}, measuredMs: null, shard: 1, shards: 2 })
  );
  await warmUp(input, { request, memberOf: () => 0 }, choosePacing(plan.load, 1, 2));
}

describe('the warm-up', () => {
  /** @type {[string, Partial<LoadPlan>][]} */
  const loads = [
    ['an open loop with a pacing thread', { ratePerSecond: 1000 }],
    ['a closed loop', { model: 'closed', ratePerSecond: null, requests: 500 }],
    ['few requests', { ratePerSecond: 20, requests: 20 }],
    ['a long warm-up and a ramp', { warmupMs: 60_000, rampUpMs: 60_000, overflow: 'drop' }],
  ];
  /** @type {[string, Partial<LoadPlan>, string?][]} */
  const overTls = [
    ['an open loop over TLS', { ratePerSecond: 1000 }, 'https://127.0.0.1:1'],
    ['HTTP/2', { ratePerSecond: 1000, streamsPerConnection: 10 }],
    ['HTTP/2 over TLS', { ratePerSecond: 1000, streamsPerConnection: 10 }, 'https://127.0.0.1:1'],
  ];
  for (const [name, changes, origin] of [...loads, ...overTls]) {
    test(`of ${name} sends some requests of the plan, none to the target, and ends`, async () => {
      /** @type {Set<number>} */
      const asked = new Set();
      await warmUpWith(
        changes,
        (index) => {
          asked.add(index);
          return REQUEST;
        },
        origin,
      );
      assert.ok(asked.has(0) && asked.size > 50, `${asked.size} different requests`);
      assert.ok(asked.size < MANY, `${asked.size} different requests`);
    });
  }

  test('sends requests of the same size without their secrets', () => {
    const headers = { 'x-vault-token': 'hvs.secret', accept: '*/*' };
    const own = [
      { method: /** @type {const} */ ('POST'), path: '/a', headers, body: 'secret' },
      { method: /** @type {const} */ ('PUT'), path: '/b', headers, body: Buffer.from('secret') },
      { method: /** @type {const} */ ('GET'), path: '/c', headers, body: null },
    ];
    const request = redactRequests((index) => own[index % own.length]);
    const [text, bytes, none] = [request(0), request(1), request(2)];
    assert.deepEqual(text, {
      method: 'POST',
      path: '/a',
      headers: { 'x-vault-token': 'xxxxxxxxxx', accept: 'xxx' },
      body: 'xxxxxx',
    });
    assert.deepEqual(bytes.body, Buffer.alloc(6));
    assert.equal(none.body, null);
    assert.equal(text.headers, bytes.headers, 'the same for the same, as the encoder remembers them');
    assert.equal(request(3), text);
  });

  for (const [isHttp2, bytes] of /** @type {[boolean, number][]} */ ([
    [false, 3],
    [false, 2000],
    [true, 3],
    [true, 40_000],
  ])) {
    test(`its server sends ${bytes} bytes over HTTP/${isHttp2 ? 2 : 1.1}, in one part and in two`, async () => {
      const body = Buffer.from('0123456789'.repeat(Math.ceil(bytes / 10)).slice(0, bytes));
      const server = startThread('warm-up', new URL('../../src/engine/warm-up-target.js', import.meta.url), {
        data: { body, isHttp2, tls: null },
      });
      const origin = `http://127.0.0.1:${await server.first('listening')}`;
      const [connection] = isHttp2
        ? createStreams({ origin, tls: TLS, streams: 1 })
        : [createConnection({ origin, tls: TLS })];
      await connection.open(5000);
      let inParts = 0;
      for (let i = 0; i < 8; i++) {
        const got = await new Promise((resolve, reject) =>
          connection.send(REQUEST, {
            onSent: () => {},
            onFirstBytes: () => void inParts++,
            onResponse: (status, received) => resolve({ status, received: Buffer.from(received) }),
            onFailure: (failure) => reject(new Error(failure)),
          }),
        );
        assert.deepEqual(got, { status: 200, received: body });
      }
      await connection.close();
      await server.stop();
      // Over HTTP/2 without TLS, both parts may be read together.
      if (!isHttp2) assert.ok(inParts > 0 && inParts < 8, `${inParts} in parts`);
    });
  }

  test('ends even if no request can be sent', async () => {
    await warmUpWith({}, () => ({ ...REQUEST, path: 'no path\r\n' }));
  });
});
