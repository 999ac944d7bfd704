import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import {
  buildOcspRequest,
  chooseOcspMethod,
  createCertId,
  createOcspRequestTemplate,
  DEFAULT_NONCE_LENGTH,
  ocspGetPath,
} from '../../src/pki/ocsp-request.js';
import { TestCa } from './openssl-ca.js';

const ca = new TestCa({ key: 'rsa' });
const ecCa = new TestCa({ key: 'ec', name: 'Zertifizierungsstelle Ü' });
after(() => {
  ca.close();
  ecCa.close();
});

const SERIALS = [
  { text: 'a serial of one byte', serial: '0x05' },
  { text: 'a serial that needs a leading zero', serial: '0xf00dcafe' },
  {
    text: 'a serial of 20 octets with the high bit set',
    serial: '0xfedcba98765432100123456789abcdef01234567',
  },
  { text: 'a serial beyond 2^53', serial: '0x7fffffffffffffff' },
];

for (const hash of /** @type {const} */ (['sha1', 'sha256'])) {
  for (const { text, serial } of SERIALS) {
    for (const authority of [ca, ecCa]) {
      test(`a request equals that of openssl: ${authority.key} CA, ${hash}, ${text}`, async () => {
        const leaf = authority.issue('leaf', { serial });
        const certId = await createCertId({
          issuerDer: authority.ca.der,
          serial: parseCertificate(leaf.der).serial,
          hash,
        });
        const request = await buildOcspRequest({ certId });
        assert.equal(
          request.toString('hex'),
          authority.request(leaf, [`-${hash}`, '-no_nonce']).toString('hex'),
        );
      });
    }
  }
}

test('a request with the nonce openssl chose equals that of openssl', async () => {
  const leaf = ca.issue('leaf');
  const theirs = ca.request(leaf, ['-nonce']);
  const nonceLength = theirs[theirs.length - 17] === 16 ? 16 : 32;
  const certId = await createCertId({
    issuerDer: ca.ca.der,
    serial: parseCertificate(leaf.der).serial,
    hash: 'sha1',
  });
  const request = await buildOcspRequest({ certId, nonce: theirs.subarray(-nonceLength) });
  assert.equal(request.toString('hex'), theirs.toString('hex'));
});

test('a template patched with a nonce is the request built with that nonce', async () => {
  const certId = await createCertId({ issuerDer: ca.ca.der, serial: Buffer.from([1]), hash: 'sha256' });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 128 }), async (nonce) => {
      const template = await createOcspRequestTemplate({ certId, nonceLength: nonce.length });
      const patched = Buffer.from(template.bytes);
      patched.set(nonce, template.nonceOffset);
      assert.deepEqual(patched, await buildOcspRequest({ certId, nonce }));
    }),
    { numRuns: 60 },
  );
});

test('a template has 32 nonce octets by default, and none when asked for none', async () => {
  const certId = await createCertId({ issuerDer: ca.ca.der, serial: Buffer.from([1]), hash: 'sha1' });
  const template = await createOcspRequestTemplate({ certId });
  assert.equal(template.nonceLength, DEFAULT_NONCE_LENGTH);
  assert.equal(template.bytes.length - template.nonceOffset, 32);
  const without = await createOcspRequestTemplate({ certId, nonceLength: 0 });
  assert.equal(without.nonceOffset, -1);
  assert.deepEqual(without.bytes, await buildOcspRequest({ certId }));
  await assert.rejects(createOcspRequestTemplate({ certId, nonceLength: 129 }), RangeError);
});

test('the path of a GET decodes to the request, and has no character of base64 that means something in a path', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1 }),
      fc.constantFrom('/v1/pki/ocsp', '/v1/pki/ocsp/', ''),
      (bytes, base) => {
        const path = ocspGetPath(base, bytes);
        const prefix = `${base.replace(/\/$/, '')}/`;
        assert.ok(path.startsWith(prefix));
        const last = path.slice(prefix.length);
        assert.match(last, /^[A-Za-z0-9%]+$/);
        assert.deepEqual(Buffer.from(decodeURIComponent(last), 'base64'), Buffer.from(bytes));
      },
    ),
  );
  assert.equal(ocspGetPath('/ocsp', Buffer.from('fbff', 'hex')), '/ocsp/%2B%2F8%3D');
});

test('auto is GET up to 255 bytes of URL and POST beyond', () => {
  const origin = 'http://127.0.0.1:8200';
  assert.equal(chooseOcspMethod(origin, `/${'a'.repeat(254 - origin.length)}`), 'GET');
  assert.equal(chooseOcspMethod(origin, `/${'a'.repeat(255 - origin.length)}`), 'POST');
});

test('a request with a nonce is random only where the nonce is', async () => {
  const certId = await createCertId({ issuerDer: ca.ca.der, serial: Buffer.from([7]), hash: 'sha1' });
  const one = await buildOcspRequest({ certId, nonce: randomBytes(32) });
  const other = await buildOcspRequest({ certId, nonce: randomBytes(32) });
  assert.deepEqual(one.subarray(0, -32), other.subarray(0, -32));
  assert.notDeepEqual(one, other);
});
