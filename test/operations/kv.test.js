import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kvRead as read, kvWrite as write } from '../../src/operations/kv.js';
import { secretValue } from '../../src/operations/request-parts.js';
import { assertAllSeen, assertRow, assertUsage, CALL, planOf, REFUSALS } from './calls-support.js';

/** @import { Row } from './calls-support.js' */

const V1 = { ...CALL, mount: 'some/kv', version: '1' };
const V2 = { ...V1, version: '2' };

test('kv-write: requests depend only on --data-seed, --size and the secret number', () => {
  const request = write.createRequester(planOf(write, { paths: 3, size: 5, seed: 8 }), V2);
  const again = write.createRequester(planOf(write, { paths: 3, size: 5, seed: 9 }), V2);
  const value = secretValue(1, 1, 5);
  assert.equal(Buffer.from(value, 'base64').length, 5);
  assert.deepEqual(request(1), {
    method: 'POST',
    path: '/base/v1/some/kv/data/vault-pki-load/seed-1/1',
    headers: CALL.headers,
    body: JSON.stringify({ data: { value } }),
  });
  assert.deepEqual(request(4), request(1), 'the fourth is about the second of three again');
  assert.deepEqual(again(1), request(1));
  const other = write.createRequester(planOf(write, { paths: 3, size: 5, dataSeed: 7 }), V1)(1);
  assert.equal(other.path, '/base/v1/some/kv/vault-pki-load/seed-7/1');
  assert.deepEqual(JSON.parse(String(other.body)), { value: secretValue(7, 1, 5) });
  assert.notEqual(secretValue(7, 1, 5), value);
});

test('kv-write: responses', () => {
  /** @type {Row[]} */
  const second = [
    ['a version means that the secret was written', 200, { data: { version: 3 } }, 'written'],
    ['without a version', 200, { data: {} }, 'no_version'],
    ['version 0 is invalid', 200, { data: { version: 0 } }, 'no_version'],
    ['a version must be a number', 200, { data: { version: true } }, 'no_version'],
    ['no data', 200, { data: null }, 'no_version'],
    ['an empty response is not from version 2', 204, '', 'not_json'],
    ...REFUSALS,
  ];
  /** @type {Row[]} */
  const first = [
    ['version 1 responds without a body', 204, '', 'written'],
    ['warnings are accepted', 200, { request_id: 'r', warnings: ['w'] }, 'written'],
    ['an empty 200 is not from Vault', 200, '', 'not_json'],
    ['nor is a 200 without a request_id', 200, {}, 'not_vault'],
    ['another 2xx is rejected', 202, { ok: false }, 'not_vault'],
    ...REFUSALS,
  ];
  const good = ['written'];
  const classify = write.createClassifier(planOf(write), V2);
  assertAllSeen(write, [
    ...second.map((row) => assertRow(classify, row, { good })),
    ...first.map((row) => assertRow(write.createClassifier(planOf(write), V1), row, { good })),
  ]);
});

test('kv-read: only the complete secret that was written passes', () => {
  const plan = planOf(read, { paths: 4, size: 40, pick: 'in-turn' });
  const right = secretValue(1, 1, 40);
  const index = 5;
  /** @type {Row[]} */
  const second = [
    ['the secret that was written', 200, { data: { data: { value: right } } }, 'read'],
    ['another secret', 200, { data: { data: { value: secretValue(1, 2, 40) } } }, 'wrong_secret'],
    ['a truncated secret', 200, { data: { data: { value: right.slice(0, -4) } } }, 'wrong_secret'],
    ['the format of version 1', 200, { data: { value: right } }, 'wrong_secret'],
    ['no data', 200, { data: null }, 'wrong_secret'],
    ...REFUSALS,
  ];
  const classify = read.createClassifier(plan, V2);
  assertAllSeen(
    read,
    second.map((row) => assertRow(classify, row, { good: ['read'], index })),
  );
  const plain = read.createClassifier(plan, V1);
  assertRow(plain, ['version 1', 200, { data: { value: right } }, 'read'], { good: ['read'], index });
});

test('kv-read: every secret is read once before any repeats, in turn or in a seeded order', () => {
  const numbers = (/** @type {Record<string, unknown>} */ given) => {
    const request = read.createRequester(planOf(read, { paths: 50, ...given }), V2);
    return Array.from({ length: 100 }, (_, i) => Number(/\/(\d+)$/.exec(request(i).path)?.[1]));
  };
  const all = Array.from({ length: 50 }, (_, i) => i);
  assert.deepEqual(numbers({ pick: 'in-turn' }), [...all, ...all]);
  const random = numbers({});
  assert.deepEqual(
    random.slice(0, 50).toSorted((a, b) => a - b),
    all,
  );
  assert.deepEqual(random.slice(50), random.slice(0, 50));
  assert.notDeepEqual(random.slice(0, 50), all);
  assert.deepEqual(numbers({}), random);
  assert.notDeepEqual(numbers({ seed: 2 }), random);
});

test('kv-read judges in the same order as it sends', () => {
  const plan = planOf(read, { paths: 20, size: 8 });
  const request = read.createRequester(plan, V2);
  const classify = read.createClassifier(plan, V2);
  for (let index = 0; index < 45; index++) {
    const number = Number(/\/(\d+)$/.exec(request(index).path)?.[1]);
    const body = { data: { data: { value: secretValue(1, number, 8) } } };
    assertRow(classify, ['as it was written', 200, body, 'read'], { good: ['read'], index });
  }
});

test('contradictory options are rejected', () => {
  assertUsage(
    () => planOf(read, { filled: true }),
    /--filled reads existing secrets, but --kv-mount is not given/,
  );
  for (const mount of ['/', 'a//b', 'a/../b', 'with space']) {
    assertUsage(() => planOf(write, { kvMount: mount }), /--kv-mount is .* not the path of a mount/);
  }
  assertUsage(() => planOf(write, { size: 0 }), /--size is "0"; it must be at least 1/);
  assertUsage(() => planOf(write, { size: 1024 * 1024 }), /at most 524288/);
  assertUsage(() => planOf(write, { kvVersion: '3' }), /--kv-version/);
});

test('the secrets left in an existing store are reported with the flags that read them', async () => {
  const found = { data: { path: 'kv/', type: 'kv', options: { version: '2' } } };
  const left = async (/** @type {Record<string, unknown>} */ given, more = {}) => {
    /** @type {string[]} */
    const said = [];
    /** @type {(() => Promise<void>)[]} */
    const ends = [];
    await write.prepare(
      /** @type {any} */ ({
        plan: planOf(write, { kvMount: 'kv', requests: 7, ...given }),
        client: {
          origin: CALL.origin,
          hasToken: true,
          health: async () => ({
            status: 200,
            json: { initialized: true, sealed: false, version: '1.21.1' },
          }),
          read: async (/** @type {string} */ path) =>
            path.startsWith('sys/') ? found : { data: { num_uses: 0, expire_time: null, ttl: 0 } },
        },
        beforeAgain() {},
        onEnd: (/** @type {() => Promise<void>} */ end) => ends.push(end),
        notice: (/** @type {string} */ text) => said.push(text),
        warn: (/** @type {string} */ text) => said.push(text),
        ...more,
      }),
    );
    assert.deepEqual(said, [], 'not before the end');
    for (const end of ends) await end();
    return said.join();
  };
  assert.equal(
    await left({}),
    'Up to 7 secrets stay in kv, below vault-pki-load/seed-1/; if all were written, kv-read --kv-mount kv --filled --paths 7 --size 1024 --data-seed 1 reads them.',
  );
  assert.match(await left({ size: 9, dataSeed: 5 }), /--paths 7 --size 9 --data-seed 5 reads them/);
  assert.equal(
    await left({ kvMount: 'kv', paths: 3 }).then((text) => text.includes('--paths 3 --size')),
    true,
  );
  const place = 'secrets stay in kv, below vault-pki-load/seed-1/.';
  const isEven = (/** @type {number} */ index) => index % 2 === 0;
  assert.equal(await left({}, { owns: isEven }), `Up to 4 ${place}`, 'of a mix');
  assert.equal(await left({ shard: '0/2' }), `Up to 4 ${place}`, 'of a part');
});
