import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { choosePacing } from '../../src/engine/pacing/alarm.js';
import { redactRequests, warmUp } from '../../src/engine/warm-up.js';
import { load } from './load-plan.js';

/** @import { ShardInput } from '../../src/engine/shard.js' */
/** @import { Request } from '../../src/http/exchange.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */

const REQUEST = Object.freeze({ method: 'POST', path: '/x', headers: {}, body: Buffer.from('asked') });

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

  test('ends even if no request can be sent', async () => {
    await warmUpWith({}, () => ({ ...REQUEST, path: 'no path\r\n' }));
  });
});
