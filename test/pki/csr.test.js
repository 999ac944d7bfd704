import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { CSR_KEY_TYPES, createCsr, createCsrPool } from '../../src/pki/csr.js';
import { ipBytes } from '../../src/pki/names.js';
import { openssl } from './openssl-ca.js';

/** @param {string} pem */
function verifyWithOpenssl(pem) {
  const text = openssl(
    ['req', '-verify', '-noout', '-text', '-subject', '-nameopt', 'utf8', '-config', '/dev/null'],
    {
      input: pem,
    },
  );
  return text.toString();
}

const NAMES = {
  commonName: 'www.example.com',
  altNames: ['www.example.com', 'bücher.example', 'me@example.com'],
  ipSans: ['10.0.0.1', '2001:db8::1'],
};

for (const keyType of CSR_KEY_TYPES) {
  test(`openssl verifies a CSR with a ${keyType} key and reads its names`, async () => {
    const { pem, spki } = await createCsr({ keyType, ...NAMES });
    assert.match(tryVerify(pem), /verify OK/);
    const text = verifyWithOpenssl(pem);
    assert.match(text, /Subject: CN ?= ?www\.example\.com/);
    assert.match(
      text,
      /DNS:www\.example\.com, DNS:xn--bcher-kva\.example, email:me@example\.com, IP Address:10\.0\.0\.1, IP Address:2001:DB8:0:0:0:0:0:1/,
    );
    const theirs = openssl(['req', '-pubkey', '-noout', '-config', '/dev/null'], { input: pem });
    assert.deepEqual(createPublicKey(theirs).export({ format: 'der', type: 'spki' }), spki);
    const expected = { rsa: keyType.slice(4), ec: `P-${keyType.slice(3)}`, ed25519: 'ED25519' };
    assert.ok(text.includes(expected[/** @type {keyof typeof expected} */ (keyType.replace(/-.*/, ''))]));
  });
}

test('openssl refuses a CSR that was tampered with: the check above can fail', async () => {
  const { pem } = await createCsr({ keyType: 'ec-256', commonName: 'aaaa' });
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  der[der.indexOf('aaaa')] += 1;
  const tampered = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.doesNotMatch(tryVerify(tampered), /verify OK/);
  assert.match(tryVerify(pem), /verify OK/);
});

/** @param {string} pem */
function tryVerify(pem) {
  const args = ['req', '-verify', '-noout', '-config', '/dev/null'];
  return spawnSync('openssl', args, { input: pem }).stderr.toString();
}

test('a CSR without any names has an empty subject and empty attributes', async () => {
  const { pem } = await createCsr({ keyType: 'ec-256' });
  const text = verifyWithOpenssl(pem);
  assert.match(text, /Subject: *\n/);
  assert.doesNotMatch(text, /Alternative/);
});

test('an unknown key type and an address that is none are refused', async () => {
  const keyType = /** @type {import('../../src/pki/csr.js').CsrKeyType} */ (/** @type {unknown} */ ('dsa'));
  await assert.rejects(createCsr({ keyType }), { code: 'bad_key_type' });
  await assert.rejects(createCsr({ keyType: 'ec-256', ipSans: ['10.0.0.256'] }), { code: 'bad_ip' });
});

test('a pool has one CSR per index, each with its own key, and says how far it is', async () => {
  /** @type {number[]} */
  const progress = [];
  const pool = await createCsrPool({
    keyType: 'ec-256',
    size: 12,
    makeName: (index) => ({ commonName: `host-${index}.example.com` }),
    onProgress: (done, size) => {
      assert.equal(size, 12);
      progress.push(done);
    },
  });
  assert.deepEqual(
    progress,
    Array.from({ length: 12 }, (_, i) => i + 1),
  );
  assert.equal(new Set(pool.map(({ spki }) => spki.toString('hex'))).size, 12);
  for (const [index, { pem }] of pool.entries()) {
    assert.ok(verifyWithOpenssl(pem).includes(`host-${index}.example.com`));
  }
});

test('a pool makes no more at a time than it may, and stops when told to', async () => {
  const controller = new AbortController();
  let begun = 0;
  const pool = createCsrPool({
    keyType: 'ec-256',
    size: 1000,
    concurrency: 3,
    makeName: () => {
      begun += 1;
      return { commonName: 'x.example.com' };
    },
    onProgress: (done) => {
      assert.ok(begun - done <= 3);
      if (done === 10) controller.abort(new Error('enough'));
    },
    signal: controller.signal,
  });
  await assert.rejects(pool, /enough/);
  assert.ok(begun <= 13);
});

test('a name that cannot be made ends the pool', async () => {
  let begun = 0;
  const makeName = () => {
    begun += 1;
    throw new Error('no name');
  };
  await assert.rejects(createCsrPool({ keyType: 'ec-256', size: 1000, concurrency: 2, makeName }), /no name/);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(begun < 10);
});

test('addresses become the octets that URL parsing gives them', () => {
  assert.equal(ipBytes('10.0.0.1')?.toString('hex'), '0a000001');
  assert.equal(ipBytes('::1')?.toString('hex'), `${'00'.repeat(15)}01`);
  assert.equal(ipBytes('::')?.toString('hex'), '00'.repeat(16));
  assert.equal(ipBytes('::ffff:1.2.3.4')?.toString('hex'), '01020304');
  for (const bad of ['', '10.0.0', '1.2.3.4.5', '::1%eth0', 'g::', 'localhost'])
    assert.equal(ipBytes(bad), null);
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      if (isIP(text) === 0) return;
      const bytes = ipBytes(text);
      assert.ok(bytes !== null);
      const full =
        bytes.length === 4 ? Buffer.concat([Buffer.from(`${'00'.repeat(10)}ffff`, 'hex'), bytes]) : bytes;
      const spelled = full.toString('hex').match(/..../g)?.join(':');
      assert.equal(new URL(`http://[${text}]`).hostname, new URL(`http://[${spelled}]`).hostname);
    }),
  );
});
