import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCsr } from '../../src/dev/csr.js';
import { CSR_KEY_TYPES, createCsr, createCsrPool } from '../../src/pki/csr.js';
import { decodePem } from '../../src/pki/text.js';
import { oid } from './ocsp-builder.js';

/** @import { CsrKeyType } from '../../src/pki/csr.js' */

const NAMES = {
  commonName: 'www.example.com',
  altNames: ['www.example.com', 'bücher.example', 'me@EXAMPLE.com'],
  ipSans: ['10.0.0.1', '2001:db8::1'],
};
const read = (/** @type {string} */ pem) =>
  readCsr(decodePem(pem, /^CERTIFICATE REQUEST$/) ?? Buffer.alloc(0));

// RSA keys of more bits take seconds: openssl.slow.js.
for (const keyType of CSR_KEY_TYPES.filter((type) => !/3072|4096/.test(type))) {
  test(`a CSR with a ${keyType} key is signed by it and has its names`, async () => {
    const { pem, spki } = await createCsr({ keyType, ...NAMES });
    const { commonName, altNames, signatureValid, key, spki: theirs } = read(pem);
    const [type, bits] = keyType.split('-');
    assert.ok(signatureValid);
    assert.deepEqual([key.type, key.bits], [type, Number(bits ?? 0)]);
    assert.deepEqual(theirs, spki);
    assert.equal(commonName, NAMES.commonName);
    assert.deepEqual(altNames.dns, ['www.example.com', 'xn--bcher-kva.example']);
    assert.deepEqual(altNames.emails, ['me@example.com']);
    assert.equal(altNames.ips.length, 2);
  });
}

test('a CSR without any names has neither commonName nor alternative names, and can be read', async () => {
  const { pem } = await createCsr({ keyType: 'ec-256' });
  assert.equal(read(pem).commonName, '');
  const bytes = decodePem(pem, /REQUEST/);
  for (const id of ['2.5.4.3', '2.5.29.17', '1.2.840.113549.1.9.14']) assert.ok(!bytes?.includes(oid(id)));
});

test('an unknown key type and an address that is none are refused', async () => {
  const keyType = /** @type {CsrKeyType} */ (/** @type {unknown} */ ('dsa'));
  await assert.rejects(createCsr({ keyType }), { code: 'bad_key_type', message: /"dsa"/ });
  await assert.rejects(createCsr({ keyType: 'ec-256', ipSans: ['10.0.0.256'] }), {
    code: 'bad_ip',
    message: /10\.0\.0\.256/,
  });
});

test('a pool has one CSR per index, each with its own key, and reports its progress', async () => {
  /** @type {[number, number][]} */
  const progress = [];
  const pool = await createCsrPool({
    keyType: 'ec-256',
    size: 5,
    makeName: (index) => ({ commonName: `host-${index}.example.com` }),
    onProgress: (...numbers) => progress.push(numbers),
  });
  assert.deepEqual(
    progress,
    [1, 2, 3, 4, 5].map((done) => [done, 5]),
  );
  assert.equal(new Set(pool.map(({ spki }) => spki.toString('hex'))).size, 5);
  assert.deepEqual(
    pool.map(({ pem }) => read(pem).commonName),
    [0, 1, 2, 3, 4].map((index) => `host-${index}.example.com`),
  );
});

test('a pool keeps to its concurrency, and stops at its signal or where a name cannot be made', async () => {
  const controller = new AbortController();
  let begun = 0;
  const stopped = createCsrPool({
    keyType: 'ec-256',
    size: 1000,
    concurrency: 3,
    makeName: () => ({ commonName: `x${begun++}.example.com` }),
    onProgress: (done) => {
      assert.ok(begun - done <= 3);
      if (done === 10) controller.abort(new Error('enough'));
    },
    signal: controller.signal,
  });
  await assert.rejects(stopped, /enough/);
  assert.ok(begun <= 13);
  let asked = 0;
  const makeName = () => {
    asked += 1;
    throw new Error('no name');
  };
  await assert.rejects(createCsrPool({ keyType: 'ec-256', size: 1000, concurrency: 2, makeName }), /no name/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(asked < 10);
});
