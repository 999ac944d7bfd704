import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { CERTIFICATE_FAILURES, checkIssuedCertificate } from '../../src/pki/certificate-check.js';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { DerReader, TAG } from '../../src/pki/der.js';
import { encodePem } from '../../src/pki/pem.js';
import { matchPrivateKey } from '../../src/pki/private-key.js';
import { der, oid } from './ocsp-builder.js';
import { openssl, pemToDer, TestCa } from './openssl-ca.js';

const ca = new TestCa({ key: 'rsa' });
const ecCa = new TestCa({ key: 'ec' });
const stranger = new TestCa({ key: 'ec', name: 'Stranger' });
after(() => {
  for (const authority of [ca, ecCa, stranger]) authority.close();
});

const CN = 'www.example.com';
const SANS = [
  'subjectAltName=DNS:www.example.com,DNS:Alt.Example.com,DNS:xn--bcher-kva.example,DNS:*.wild.example,email:me@Example.com,IP:10.0.0.1,IP:2001:db8::1',
];
const DAY = 86_400_000;
const leaf = ca.issue(CN, { extensions: SANS, days: 3 });
const leafKey = readFileSync(leaf.keyFile, 'utf8');
const nameless = ca.issue('', { extensions: SANS });
const bare = ca.issue(CN);
const strange = stranger.issue(CN, { extensions: SANS });
const subCa = ca.issue(CN, { extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0'] });
const noCa = ca.issue(CN, { extensions: ['basicConstraints=CA:FALSE'] });
const { spki } = parseCertificate(leaf.der);
const damaged = Buffer.from(leaf.der);
damaged[damaged.length - 9] ^= 1;
const toPem = (/** @type {Buffer} */ der) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;

/** @type {Parameters<typeof checkIssuedCertificate>[0]} */
const RIGHT = {
  certificatePem: leaf.pem,
  issuingCaPem: ca.ca.pem,
  privateKeyPem: leafKey,
  expectedSpki: null,
  expected: { commonName: CN, altNames: [], ipSans: [] },
  nowMs: Date.now(),
};

/** @type {{text: string, failure: string | null, change: Partial<typeof RIGHT>}[]} */
const ROWS = [
  { text: 'the certificate that was asked for', failure: null, change: {} },
  { text: 'one from a CSR', failure: null, change: { privateKeyPem: null, expectedSpki: spki } },
  { text: 'no text', failure: 'no_certificate', change: { certificatePem: undefined } },
  { text: 'an empty text', failure: 'no_certificate', change: { certificatePem: '' } },
  { text: 'a number', failure: 'no_certificate', change: { certificatePem: 5 } },
  { text: 'no PEM', failure: 'certificate_unreadable', change: { certificatePem: 'hello' } },
  { text: 'cut PEM', failure: 'certificate_unreadable', change: { certificatePem: leaf.pem.slice(0, 400) } },
  {
    text: 'cut DER',
    failure: 'certificate_unreadable',
    change: { certificatePem: toPem(leaf.der.subarray(0, 400)) },
  },
  { text: 'a private key', failure: 'certificate_unreadable', change: { certificatePem: leafKey } },
  { text: 'no issuing CA', failure: 'no_issuing_ca', change: { issuingCaPem: null } },
  { text: 'garbage for a CA', failure: 'issuing_ca_unreadable', change: { issuingCaPem: 'x' } },
  { text: 'another CA', failure: 'wrong_issuer', change: { issuingCaPem: stranger.ca.pem } },
  {
    text: 'a CA of the same name and another key',
    failure: 'bad_signature',
    change: { issuingCaPem: ecCa.ca.pem },
  },
  {
    text: 'a certificate of another CA',
    failure: 'wrong_issuer',
    change: { certificatePem: strange.pem },
  },
  {
    text: 'a damaged signature',
    failure: 'bad_signature',
    change: { certificatePem: toPem(damaged) },
  },
  { text: 'another commonName', failure: 'wrong_subject', change: { expected: { commonName: 'other' } } },
  {
    text: 'a commonName that differs by case',
    failure: 'wrong_subject',
    change: { expected: { commonName: 'WWW.example.com' } },
  },
  {
    text: 'a subject without the commonName, which is an alternative name instead',
    failure: null,
    change: { certificatePem: nameless.pem, privateKeyPem: null },
  },
  {
    text: 'a subject without the commonName, which is no alternative name either',
    failure: 'wrong_subject',
    change: {
      certificatePem: nameless.pem,
      privateKeyPem: null,
      expected: { commonName: 'other.example.com' },
    },
  },
  { text: 'no commonName asked for', failure: null, change: { expected: {} } },
  {
    text: 'the certificate of a CA',
    failure: 'ca_certificate',
    change: { certificatePem: subCa.pem, privateKeyPem: null },
  },
  {
    text: 'one that says it is not that of a CA',
    failure: null,
    change: { certificatePem: noCa.pem, privateKeyPem: null },
  },
  {
    text: 'every alternative name asked for, in other spellings',
    failure: null,
    change: {
      expected: {
        commonName: CN,
        altNames: ['alt.example.com', 'bücher.example', '*.wild.example', 'me@example.com'],
        ipSans: ['10.0.0.1', '2001:DB8:0::0001', '::ffff:10.0.0.1'],
      },
    },
  },
  {
    text: 'an alternative name that is missing',
    failure: 'wrong_sans',
    change: { expected: { commonName: CN, altNames: ['alt.example.com', 'missing.example.com'] } },
  },
  {
    text: 'a name that only a wildcard would cover',
    failure: 'wrong_sans',
    change: { expected: { commonName: CN, altNames: ['a.wild.example'] } },
  },
  {
    text: 'an e-mail address whose local part differs by case',
    failure: 'wrong_sans',
    change: { expected: { commonName: CN, altNames: ['Me@example.com'] } },
  },
  {
    text: 'an address that is missing',
    failure: 'wrong_sans',
    change: { expected: { commonName: CN, ipSans: ['10.0.0.2'] } },
  },
  {
    text: 'an address that is none',
    failure: 'wrong_sans',
    change: { expected: { commonName: CN, ipSans: ['10.0.0'] } },
  },
  {
    text: 'alternative names asked for, and none there',
    failure: 'wrong_sans',
    change: { certificatePem: bare.pem, privateKeyPem: null, expected: { commonName: CN, altNames: [CN] } },
  },
  {
    text: 'another key than that of the CSR',
    failure: 'key_mismatch',
    change: { privateKeyPem: null, expectedSpki: parseCertificate(bare.der).spki },
  },
  {
    text: 'the private key of another certificate',
    failure: 'key_mismatch',
    change: { privateKeyPem: readFileSync(bare.keyFile, 'utf8') },
  },
  {
    text: 'no private key in the text',
    failure: 'private_key_unreadable',
    change: { privateKeyPem: 'none' },
  },
  { text: 'a private key that is a number', failure: 'private_key_unreadable', change: { privateKeyPem: 1 } },
  { text: 'a day early', failure: 'not_yet_valid', change: { nowMs: Date.now() - DAY } },
  {
    text: 'early by less than the skew',
    failure: null,
    change: { nowMs: Date.parse(new X509Certificate(leaf.pem).validFrom) - 4000 },
  },
  { text: 'four days later', failure: 'certificate_expired', change: { nowMs: Date.now() + 4 * DAY } },
];

for (const { text, failure, change } of ROWS) {
  test(`${text}: ${failure ?? 'passes'}`, () => {
    const result = checkIssuedCertificate({ ...RIGHT, ...change });
    assert.equal(result.failure, failure);
    assert.ok(failure === null || Object.hasOwn(CERTIFICATE_FAILURES, failure));
    const readable = failure !== 'no_certificate' && failure !== 'certificate_unreadable';
    assert.equal(result.serial !== null, readable);
    if (failure === null && change.certificatePem === undefined) {
      assert.deepEqual(result.serial, parseCertificate(leaf.der).serial);
    }
  });
}

for (const key of ['rsa', 'ec', 'ec384', 'ed25519', 'ed448', 'rsa-pss']) {
  test(`${key}: the key in every format matches its certificate, and another one does not`, () => {
    const mine = ecCa.issue(CN, { key });
    const other = ecCa.issue(CN, { key });
    const pkcs8 = readFileSync(mine.keyFile, 'utf8');
    const texts = [pkcs8];
    if (/^(rsa|ec|ec384)$/.test(key)) {
      texts.push(openssl(['pkey', '-in', mine.keyFile, '-traditional']).toString());
      if (key !== 'rsa') texts.push(openssl(['ec', '-in', mine.keyFile, '-no_public']).toString());
    }
    // Making an RSA key can take seconds: longer than what a certificate may be ahead of time.
    const here = { ...RIGHT, nowMs: Date.now(), certificatePem: mine.pem, issuingCaPem: ecCa.ca.pem };
    for (const text of texts) {
      const answer = { ...here, privateKeyPem: text };
      assert.equal(checkIssuedCertificate(answer).failure, null);
      assert.equal(checkIssuedCertificate({ ...answer, certificatePem: other.pem }).failure, 'key_mismatch');
    }
  });
}

test('an RSA key with the right modulus and a wrong private exponent does not match', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const der = privateKey.export({ format: 'der', type: 'pkcs1' });
  const spkiDer = publicKey.export({ format: 'der', type: 'spki' });
  const pem = (/** @type {Buffer} */ bytes) =>
    `-----BEGIN RSA PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END RSA PRIVATE KEY-----\n`;
  assert.equal(matchPrivateKey(pem(der), spkiDer), 'match');
  for (const at of [300, 400, 600, 700]) {
    const wrong = Buffer.from(der);
    wrong[at] ^= 2;
    assert.equal(matchPrivateKey(pem(wrong), spkiDer), 'mismatch', `byte ${at}`);
  }
});

test('an RSA key that borrows the modulus, or is right modulo one prime only, does not match', () => {
  const [mine, other] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const spkiDer = mine.publicKey.export({ format: 'der', type: 'spki' });
  const fieldsOf = (/** @type {import('node:crypto').KeyObject} */ key) => {
    const reader = new DerReader(key.export({ format: 'der', type: 'pkcs1' })).enter(TAG.sequence);
    return Array.from({ length: 9 }, () => reader.readInteger());
  };
  const integer = (/** @type {bigint} */ value) => integerContents(value.toString(16));
  const pem = (/** @type {Buffer[]} */ fields) =>
    encodePem('RSA PRIVATE KEY', der(0x30, ...fields.map((field) => der(0x02, field))));
  const right = fieldsOf(mine.privateKey);
  assert.equal(matchPrivateKey(pem(right), spkiDer), 'match');
  const borrowed = fieldsOf(other.privateKey).with(1, right[1]);
  assert.equal(matchPrivateKey(pem(borrowed), spkiDer), 'mismatch');
  const [d, p, q] = [right[3], right[4], right[5]].map((field) => BigInt(`0x${field.toString('hex')}`));
  for (const prime of [p, q]) {
    assert.equal(matchPrivateKey(pem(right.with(3, integer(d + prime - 1n))), spkiDer), 'mismatch');
  }
});

test('an EC key that is none of its curve does not match, not even after the right one did', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = privateKey.export({ format: 'der', type: 'sec1' });
  const spkiDer = publicKey.export({ format: 'der', type: 'spki' });
  const secretAt = 7;
  for (const octet of [0, 0xff]) {
    assert.equal(matchPrivateKey(encodePem('EC PRIVATE KEY', der), spkiDer), 'match');
    const none = Buffer.from(der).fill(octet, secretAt, secretAt + 32);
    assert.equal(matchPrivateKey(encodePem('EC PRIVATE KEY', none), spkiDer), 'unreadable');
  }
});

/** @param {string} hex */
function integerContents(hex) {
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return bytes[0] > 0x7f ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}

test('a certificate whose outer signature algorithm differs from the signed one is unreadable', () => {
  const { tbs, signature } = parseCertificate(leaf.der);
  const bits = der(0x03, Buffer.alloc(1), signature);
  const assemble = (/** @type {Buffer[]} */ ...parameters) =>
    toPem(der(0x30, tbs, der(0x30, oid('1.2.840.113549.1.1.11'), ...parameters), bits));
  const same = assemble(Buffer.from([5, 0]));
  assert.equal(checkIssuedCertificate({ ...RIGHT, certificatePem: same }).failure, null);
  assert.equal(
    checkIssuedCertificate({ ...RIGHT, certificatePem: assemble() }).failure,
    'certificate_unreadable',
  );
});

test('an EC key that repeats the public point with another private number does not match', () => {
  const pem = openssl(['pkey', '-in', leaf.keyFile, '-traditional']).toString();
  const wrong = Buffer.from(pemToDer(pem));
  wrong[20] ^= 1;
  const text = `-----BEGIN EC PRIVATE KEY-----\n${wrong.toString('base64')}\n-----END EC PRIVATE KEY-----\n`;
  assert.equal(checkIssuedCertificate({ ...RIGHT, privateKeyPem: text }).failure, 'key_mismatch');
});

test('a mutated certificate never passes, and nothing is ever thrown', () => {
  fc.assert(
    fc.property(fc.nat({ max: leaf.der.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const der = Buffer.from(leaf.der);
      der[at] ^= change;
      assert.notEqual(checkIssuedCertificate({ ...RIGHT, certificatePem: toPem(der) }).failure, null);
    }),
    { numRuns: 200 },
  );
});

test('whatever the texts, the result is one of the closed list', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(leaf.pem, ca.ca.pem, leafKey, toPem(damaged), null, 1));
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.array(fc.string()),
      (certificatePem, issuingCaPem, privateKeyPem, altNames) => {
        const expected = { commonName: CN, altNames, ipSans: altNames };
        const { failure } = checkIssuedCertificate({
          ...RIGHT,
          certificatePem,
          issuingCaPem,
          privateKeyPem,
          expected,
        });
        assert.ok(failure === null || Object.hasOwn(CERTIFICATE_FAILURES, failure));
      },
    ),
    { numRuns: 200 },
  );
});
