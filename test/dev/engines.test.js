/** Engines mounted on the embedded server: what they keep, make and forget. The words of their refusals: test/vault/operations.vault.js. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { bytesOf, ciphertextBytes, isSignature, KEY_TYPES } from '../../src/operations/transit.js';
import { ask } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
  await made('sys/mounts/one', { type: 'kv', options: { version: '1' } });
  await made('sys/mounts/two', { type: 'kv', options: { version: '2' } });
  await made('sys/mounts/tr', { type: 'transit' });
  await made('sys/auth/ar', { type: 'approle' });
});
after(() => server.close());

/** @param {string} path @param {unknown} body */
async function made(path, body) {
  assert.equal((await ask(server, 'POST', path, body)).status, 204, path);
}

it('KV version 1 keeps the last write', async () => {
  await made('one/a/b', { x: '1' });
  await made('one/a/b', { y: '2' });
  assert.deepEqual((await ask(server, 'GET', 'one/a/b')).json.data, { y: '2' });
  assert.equal((await ask(server, 'GET', 'one/a/c')).status, 404);
});

it('KV version 2 counts versions', async () => {
  for (const version of [1, 2]) {
    const { json } = await ask(server, 'POST', 'two/data/a', { data: { version } });
    assert.equal(json.data.version, version);
  }
  const { json } = await ask(server, 'GET', 'two/data/a');
  assert.deepEqual([json.data.data, json.data.metadata.version], [{ version: 2 }, 2]);
});

describe('transit', () => {
  const plaintext = Buffer.from('a text').toString('base64');
  for (const type of KEY_TYPES.encrypt) {
    it(`${type}: decrypts its own ciphertext, which differs each time`, async () => {
      await ask(server, 'POST', `tr/keys/${type}`, { type });
      const [a, b] = [1, 2].map(() => ask(server, 'POST', `tr/encrypt/${type}`, { plaintext }));
      const { ciphertext } = (await a).json.data;
      assert.notEqual(ciphertext, (await b).json.data.ciphertext);
      assert.equal(bytesOf(ciphertext)?.length, ciphertextBytes(type, 6));
      const { json } = await ask(server, 'POST', `tr/decrypt/${type}`, { ciphertext });
      assert.deepEqual(json.data, { plaintext });
    });
  }
  for (const type of KEY_TYPES.sign) {
    it(`${type}: its public key verifies its signatures`, async () => {
      // An RSA key exists already, as it also encrypts: making one takes seconds.
      await ask(server, 'POST', `tr/keys/${type}`, { type });
      const { json: key } = await ask(server, 'GET', `tr/keys/${type}`);
      const { json: signed } = await ask(server, 'POST', `tr/sign/${type}`, { input: plaintext });
      const { signature } = signed.data;
      const bytes = /** @type {Buffer} */ (bytesOf(signature));
      assert.equal(isSignature(Buffer.from('a text'), bytes, key.data.keys[1].public_key, type), true);
      const valid = async (/** @type {string} */ input) =>
        (await ask(server, 'POST', `tr/verify/${type}`, { input, signature })).json.data.valid;
      assert.equal(await valid(plaintext), true);
      assert.equal(await valid(Buffer.from('another').toString('base64')), false);
    });
  }
});

it('AppRole: a login has the lifetime, type and policies of its role; a wrong secret ID is refused', async () => {
  await made('auth/ar/role/r', {
    token_ttl: '60s',
    token_type: 'batch',
    token_policies: ['p'],
    secret_id_ttl: 90,
  });
  const { json: role } = await ask(server, 'GET', 'auth/ar/role/r/role-id');
  const { json: secret } = await ask(server, 'POST', 'auth/ar/role/r/secret-id', {});
  assert.equal(secret.data.secret_id_ttl, 90);
  const login = (/** @type {string} */ secretId) =>
    ask({ url: server.url }, 'POST', 'auth/ar/login', { role_id: role.data.role_id, secret_id: secretId });
  const { auth } = (await login(secret.data.secret_id)).json;
  assert.deepEqual(
    [auth.lease_duration, auth.token_type, auth.policies, auth.accessor],
    [60, 'batch', ['default', 'p'], ''],
  );
  assert.equal((await login('x')).status, 400);
});

it('unmounting removes all content', async () => {
  await made('sys/mounts/short', { type: 'kv', options: { version: '1' } });
  await made('short/a', { x: 1 });
  assert.equal((await ask(server, 'DELETE', 'sys/mounts/short')).status, 204);
  assert.equal((await ask(server, 'GET', 'short/a')).status, 404);
  await made('sys/mounts/short', { type: 'kv', options: { version: '1' } });
  assert.equal((await ask(server, 'GET', 'short/a')).status, 404);
});
