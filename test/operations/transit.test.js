import assert from 'node:assert/strict';
import { constants, createPublicKey, generateKeyPairSync, publicEncrypt, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { secretValue } from '../../src/operations/request-parts.js';
import { bytesOf, isSignature, transit as operation } from '../../src/operations/transit.js';
import { encodePem } from '../../src/pki/text.js';
import { assertAllSeen, assertRow, assertUsage, CALL, planOf, REFUSALS } from './calls-support.js';

/** @import { Row } from './calls-support.js' */

const FIXTURE = {
  ...CALL,
  mount: 'tr',
  dataSeed: 3,
  prepared: ['vault:v1:AAAA', 'vault:v1:BBBB'],
  publicKey: null,
};
const given = (/** @type {string} */ action, more = {}) =>
  planOf(operation, { action, pool: 2, size: 6, ...more });
const ed25519 = generateKeyPairSync('ed25519');
const bare = ed25519.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
const text = (/** @type {number} */ number) => secretValue(3, number, 6);
const wrapped = (/** @type {Buffer} */ bytes) => `vault:v1:${bytes.toString('base64')}`;
const signature = wrapped(sign(null, Buffer.from(text(1), 'base64'), ed25519.privateKey));

test('requests: path, and a body for each action', () => {
  const bodyOf = (/** @type {string} */ action) => {
    const request = operation.createRequester(given(action), FIXTURE)(3);
    assert.equal(request.path, `/base/v1/tr/${action}/load`);
    return JSON.parse(String(request.body));
  };
  assert.deepEqual(bodyOf('encrypt'), { plaintext: text(1) });
  assert.deepEqual(bodyOf('decrypt'), { ciphertext: 'vault:v1:BBBB' });
  assert.deepEqual(bodyOf('sign'), { input: text(1) });
  assert.deepEqual(bodyOf('verify'), { input: text(1), signature: 'vault:v1:BBBB' });
});

test('inputs that the target makes are rejected if they are invalid or too long', async () => {
  const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
  /** @type {[string, unknown, boolean][]} */
  const table = [
    ['decrypt', wrapped(Buffer.alloc(34)), true],
    ['decrypt', wrapped(Buffer.alloc(1_000_000)), false],
    ['decrypt', `vault:v${'1'.repeat(100_000)}:${Buffer.alloc(34).toString('base64')}`, false],
    ['decrypt', { a: 1 }, false],
    ['verify', wrapped(Buffer.alloc(512)), true],
    ['verify', wrapped(Buffer.alloc(1_000_000)), false],
  ];
  for (const [action, output, isRight] of table) {
    const client = {
      ...{ origin: 'http://v', hasToken: true, health: async () => ({ status: 200, json: health }) },
      read: async () => ({ data: { ttl: 0, expire_time: null } }),
      write: async () => ({ data: { ciphertext: output, signature: output } }),
    };
    const events = { keepAlive() {}, beforeAgain() {}, warn() {}, notice() {}, onEnd() {}, progress() {} };
    const context = { plan: given(action), client, token: 't', signal: new AbortController().signal };
    const prepared = operation.prepare(/** @type {any} */ ({ ...context, ...events }));
    if (isRight) assert.deepEqual((await prepared).prepared, [output, output]);
    else await assert.rejects(prepared, { code: 'transit_response', exitCode: 2 });
  }
});

test('responses to each action; every outcome can occur', () => {
  /** @type {Record<string, Row[]>} */
  const tables = {
    encrypt: [
      [
        'a ciphertext of 6 bytes has 34',
        200,
        { data: { ciphertext: wrapped(Buffer.alloc(34)) } },
        'encrypted',
      ],
      ['a byte too few', 200, { data: { ciphertext: wrapped(Buffer.alloc(33)) } }, 'wrong_length'],
      ['a byte too many', 200, { data: { ciphertext: wrapped(Buffer.alloc(35)) } }, 'wrong_length'],
      ['without its version', 200, { data: { ciphertext: 'AAAA' } }, 'no_ciphertext'],
      ['a number', 200, { data: { ciphertext: 5 } }, 'no_ciphertext'],
      ['nothing', 200, { data: null }, 'no_ciphertext'],
    ],
    decrypt: [
      ['the text', 200, { data: { plaintext: text(1) } }, 'decrypted'],
      ['another text', 200, { data: { plaintext: text(0) } }, 'wrong_plaintext'],
      ['no text', 200, { data: {} }, 'wrong_plaintext'],
    ],
    sign: [
      ['a signature of the text', 200, { data: { signature } }, 'signed'],
      [
        'a signature of another text',
        200,
        { data: { signature: wrapped(sign(null, Buffer.from(text(0), 'base64'), ed25519.privateKey)) } },
        'bad_signature',
      ],
      ['rubbish', 200, { data: { signature: wrapped(Buffer.alloc(64)) } }, 'bad_signature'],
      ['none', 200, { data: {} }, 'no_signature'],
    ],
    verify: [
      ['good', 200, { data: { valid: true } }, 'verified'],
      ['called bad', 200, { data: { valid: false } }, 'signature_rejected'],
      ['neither', 200, { data: { valid: 'true' } }, 'signature_rejected'],
    ],
  };
  const good = ['encrypted', 'decrypted', 'signed', 'verified'];
  const seen = Object.entries(tables).flatMap(([action, rows]) => {
    const classify = operation.createClassifier(given(action), { ...FIXTURE, publicKey: bare });
    return [...rows, ...REFUSALS].map((row) => assertRow(classify, row, { good, index: 3 }));
  });
  assertAllSeen(operation, seen);
});

test('an RSA ciphertext is as long as the modulus', () => {
  const classify = operation.createClassifier(given('encrypt', { keyType: 'rsa-3072' }), FIXTURE);
  const row = (/** @type {number} */ length, /** @type {string} */ outcome) =>
    assertRow(
      classify,
      [`${length} bytes`, 200, { data: { ciphertext: wrapped(Buffer.alloc(length)) } }, outcome],
      { good: ['encrypted'] },
    );
  row(384, 'encrypted');
  row(256, 'wrong_length');
});

describe('signatures', () => {
  const data = Buffer.from('text');
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_MAX_SIGN };
  for (const [type, pair, more, others] of /** @type {const} */ ([
    ['ecdsa-p256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), {}, ['ed25519', 'ecdsa-p384']],
    ['ecdsa-p384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), {}, ['rsa-2048', 'ecdsa-p256']],
    ['ecdsa-p521', generateKeyPairSync('ec', { namedCurve: 'P-521' }), {}, ['rsa-2048', 'ecdsa-p384']],
    ['rsa-2048', generateKeyPairSync('rsa', { modulusLength: 2048 }), pss, ['rsa-3072', 'ed25519']],
  ])) {
    test(`${type}: valid ones verify, others do not`, () => {
      const pem = String(pair.publicKey.export({ type: 'spki', format: 'pem' }));
      const right = sign('sha256', data, { key: pair.privateKey, ...more });
      assert.equal(isSignature(data, right, pem, type), true);
      for (const other of others)
        assert.equal(isSignature(data, right, pem, other), false, `of an ${other} key`);
      assert.equal(isSignature(Buffer.from('texT'), right, pem, type), false);
      assert.equal(isSignature(data, right.subarray(1), pem, type), false);
      const sha512 = sign('sha512', data, { key: pair.privateKey, ...more });
      assert.equal(isSignature(data, sha512, pem, type), false);
    });
  }
  test('RSA: one without its leading zero is bad', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
    let right = Buffer.from([1]);
    while (right[0] !== 0) right = sign('sha256', data, { key: privateKey, ...pss });
    assert.equal(isSignature(data, right, pem, 'rsa-1024'), true);
    assert.equal(isSignature(data, right.subarray(1), pem, 'rsa-1024'), false);
  });
  test('a key on a curve that Vault does not use, or at infinity, verifies nothing', () => {
    for (const namedCurve of ['secp112r1', 'secp256k1']) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
      const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
      const right = sign('sha256', data, privateKey);
      for (const type of ['ecdsa-p256', 'ecdsa-p521', 'ecdsa-'])
        assert.equal(isSignature(data, right, pem, type), false);
    }
    const infinite = '3019301306072a8648ce3d020106082a8648ce3d03010703020000';
    const pem = encodePem('PUBLIC KEY', Buffer.from(infinite, 'hex'));
    assert.equal(isSignature(data, Buffer.alloc(70), pem, 'ecdsa-p256'), false);
  });
  test('an RSA key with the exponent 1, with which anyone can sign, verifies nothing', () => {
    const n = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }).n;
    const key = createPublicKey({ key: { kty: 'RSA', n, e: 'AQ' }, format: 'jwk' });
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const made = sign('sha256', data, { key: privateKey, padding, saltLength: 94 });
    const encoded = publicEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, made);
    const pem = String(key.export({ type: 'spki', format: 'pem' }));
    assert.equal(isSignature(data, encoded, pem, 'rsa-1024'), false);
  });
  test('an invalid public key makes every signature bad', () => {
    assert.equal(isSignature(data, Buffer.alloc(64), 'undefined', 'ed25519'), false);
    assert.equal(isSignature(data, Buffer.alloc(64), '-----BEGIN PUBLIC KEY-----', 'rsa-2048'), false);
  });
});

test("Vault's text formats", () => {
  assert.deepEqual(bytesOf('vault:v1:aGk='), Buffer.from('hi'));
  for (const none of [
    'vault:v12:aGk=',
    'vault:v1:',
    'vault:v:aGk=',
    'aGk=',
    'vault:v1:a k=',
    'vault:v1:aGk',
    `vault:v1:${'A'.repeat(49)}`,
    5,
    undefined,
    null,
  ]) {
    assert.equal(bytesOf(none), null, String(none));
  }
});

test('impossible options are rejected', () => {
  assertUsage(
    () => planOf(operation, { action: 'sign', keyType: 'aes256-gcm96' }),
    /--action sign does not work with a key of type aes256-gcm96\. Use one of ed25519, ecdsa-p256/,
  );
  assertUsage(
    () => planOf(operation, { action: 'decrypt', keyType: 'ed25519' }),
    /--action decrypt does not/,
  );
  assertUsage(
    () => planOf(operation, { keyType: 'rsa-2048', size: 191 }),
    /encrypts at most 190 bytes, but --size is 191/,
  );
  assert.ok(planOf(operation, { keyType: 'rsa-2048', size: 190 }));
  assert.ok(planOf(operation, { action: 'sign', keyType: 'rsa-2048', size: 191 }));
  assertUsage(() => planOf(operation, { size: 500_000, pool: 1000 }), /exceed 64 MiB/);
});
