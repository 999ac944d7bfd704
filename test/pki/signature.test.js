import assert from 'node:assert/strict';
import { constants, createPublicKey, sign } from 'node:crypto';
import { test } from 'node:test';
import { verifySignature } from '../../src/pki/signature.js';
import { bytesOf, der, oid } from './ocsp-builder.js';
import { makeKeys, rsaKeyWith } from './test-ca.js';

/** @import { KeyObject } from 'node:crypto' */

const data = Buffer.from('what is signed');
const NULL = bytesOf('0500');
const UNSUPPORTED = 'unsupported_signature_algorithm';
const SHA256 = '2.16.840.1.101.3.4.2.1';
const keys = Object.fromEntries(['rsa', 'ec', 'ed25519', 'ed448'].map((kind) => [kind, makeKeys(kind)]));
/** Of the other families, none of which may pass. @param {string} kind */
const wrongKey = (kind) => keys[kind === 'ec' ? 'ed25519' : 'ec'].publicKey;

/** @typedef {{oid: string, parameters: Buffer | null, signature: Buffer, key: KeyObject}} Signed */

const sha256 = der(0x30, oid(SHA256), NULL);
const bare = der(0x30, oid(SHA256));
const mgf = (/** @type {Buffer[]} */ ...hash) => der(0x30, oid('1.2.840.113549.1.1.8'), ...hash);
const salt = bytesOf('a203 020120');
const pssSign = (/** @type {string} */ hash, /** @type {number} */ saltLength) =>
  sign(hash, data, { key: keys.rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
const signatures = { sha256: pssSign('sha256', 32), sha1: pssSign('sha1', 20), long: pssSign('sha256', 222) };

/** @param {Buffer[]} fields @param {keyof typeof signatures} [by] @returns {Signed} */
const pss = (fields, by = 'sha256') => ({
  oid: '1.2.840.113549.1.1.10',
  parameters: der(0x30, ...fields),
  signature: signatures[by],
  key: keys.rsa.publicKey,
});
/** Made again until it begins with a zero, one in 256. */
let zeroFirst = signatures.sha256;
while (zeroFirst[0] !== 0) zeroFirst = pssSign('sha256', 32);
const [hash, mgf1] = [der(0xa0, sha256), der(0xa1, mgf(sha256))];

/** @type {[string, ReturnType<typeof verifySignature>, Signed][]} */
const CASES = [
  ['PSS', null, pss([hash, mgf1, salt])],
  [
    'PSS without the leading zero of the signature, which OpenSSL accepts',
    'bad_signature',
    { ...pss([hash, mgf1, salt]), signature: zeroFirst.subarray(1) },
  ],
  ['PSS with a leading zero', null, { ...pss([hash, mgf1, salt]), signature: zeroFirst }],
  ['PSS with hashes without NULL', null, pss([der(0xa0, bare), der(0xa1, mgf(bare)), salt])],
  ['PSS with an explicit trailer', null, pss([hash, mgf1, salt, bytesOf('a303020101')])],
  ['PSS with all defaults', null, pss([], 'sha1')],
  ['PSS with the longest salt', null, pss([hash, mgf1, bytesOf('a204 020200de')], 'long')],
  ['PSS with another trailer', UNSUPPORTED, pss([hash, mgf1, salt, bytesOf('a303020102')])],
  ['PSS with two hashes', 'bad_signature', pss([der(0xa0, sha256, sha256), mgf1, salt])],
  ['PSS with two MGFs', 'bad_signature', pss([hash, der(0xa1, mgf(sha256), mgf(sha256)), salt])],
  ['PSS with an MGF of two hashes', 'bad_signature', pss([hash, der(0xa1, mgf(sha256, sha256)), salt])],
  ['PSS with trailing data after the salt', 'bad_signature', pss([hash, mgf1, salt, NULL])],
  ['PSS with a negative salt length', 'bad_signature', pss([hash, mgf1, bytesOf('a203 0201a0')])],
  ['PSS with a salt length of four octets', 'bad_signature', pss([hash, mgf1, bytesOf('a206 020401000020')])],
  [
    'PSS with another parameter of the hash than NULL',
    UNSUPPORTED,
    pss([der(0xa0, der(0x30, oid(SHA256), der(0x04))), mgf1, salt]),
  ],
  ['PSS without MGF, which is SHA-1 then', UNSUPPORTED, pss([hash, salt])],
  ['PSS with another MGF', UNSUPPORTED, pss([hash, der(0xa1, der(0x30, oid('1.2.3'), sha256)), salt])],
  ['PSS with an MGF without a hash', UNSUPPORTED, pss([hash, der(0xa1, mgf()), salt])],
  ['PSS with another salt length', 'bad_signature', pss([hash, mgf1])],
  ['PSS without parameters', UNSUPPORTED, { ...pss([]), parameters: null }],
  ['PSS by an EC key', 'bad_signature', { ...pss([hash, mgf1, salt]), key: keys.ec.publicKey }],
  ['an unknown algorithm', UNSUPPORTED, { ...pss([]), oid: '1.2.3.4' }],
  ...fixed('rsa', '1.2.840.113549.1.1.5', 'sha1'),
  ...fixed('rsa', '1.2.840.113549.1.1.11', 'sha256'),
  ...fixed('rsa', '1.2.840.113549.1.1.12', 'sha384'),
  ...fixed('rsa', '1.2.840.113549.1.1.13', 'sha512'),
  ...fixed('ec', '1.2.840.10045.4.1', 'sha1'),
  ...fixed('ec', '1.2.840.10045.4.3.2', 'sha256'),
  ...fixed('ec', '1.2.840.10045.4.3.3', 'sha384'),
  ...fixed('ec', '1.2.840.10045.4.3.4', 'sha512'),
  ...fixed('ed25519', '1.3.101.112', null),
  ...fixed('ed448', '1.3.101.113', null),
];

for (const [octets, result] of /** @type {const} */ ([
  [8, 'bad_signature'],
  [9, 'rsa_exponent_too_large'],
  [384, 'rsa_exponent_too_large'],
])) {
  const key = rsaKeyWith(Buffer.alloc(octets, 0x7f));
  const signature = Buffer.alloc(256, 1);
  CASES.push(
    [`an RSA exponent of ${octets} octets`, result, { ...pss([hash, mgf1, salt]), signature, key }],
    [`the same, PKCS#1`, result, { oid: '1.2.840.113549.1.1.11', parameters: NULL, signature, key }],
  );
}

/** @param {string} kind @param {string} id @param {string | null} digest @returns {typeof CASES} */
function fixed(kind, id, digest) {
  const { privateKey, publicKey: key } = keys[kind];
  const given = { oid: id, signature: sign(digest, data, privateKey), key, parameters: null };
  const name = `${kind} ${digest ?? ''}`;
  return [
    [name, null, given],
    [`${name} with NULL`, digest === null ? UNSUPPORTED : null, { ...given, parameters: NULL }],
    [`${name} with other parameters`, UNSUPPORTED, { ...given, parameters: bytesOf('0400') }],
    [`${name} with a longer parameter`, UNSUPPORTED, { ...given, parameters: bytesOf('040100') }],
    [`${name} by another key`, 'bad_signature', { ...given, key: wrongKey(kind) }],
  ];
}

for (const [name, result, { key, ...signed }] of CASES) {
  test(`${name}: ${result ?? 'valid'}`, () => {
    assert.equal(verifySignature({ ...signed, data }, key), result);
    const other = verifySignature({ ...signed, data: Buffer.from('what is not') }, key);
    assert.equal(other, result ?? 'bad_signature');
  });
}

test('an EC key at infinity verifies nothing, and does not crash the process', () => {
  const spki = bytesOf('3019 3013 06072a8648ce3d0201 06082a8648ce3d030107 0302 0000');
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const signed = { oid: '1.2.840.10045.4.3.2', parameters: null, data, signature: Buffer.from([1]) };
  assert.equal(verifySignature(signed, key), 'bad_signature');
});
