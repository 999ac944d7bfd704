import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { verifySignature } from '../../src/pki/signature.js';
import { der, oid } from './ocsp-builder.js';

const data = Buffer.from('what is signed');
const NULL = Buffer.from([5, 0]);
const PSS = '1.2.840.113549.1.1.10';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

const sha256 = der(0x30, oid('2.16.840.1.101.3.4.2.1'), NULL);
const sha256Bare = der(0x30, oid('2.16.840.1.101.3.4.2.1'));
const mgf = (/** @type {Buffer[]} */ ...hash) => der(0x30, oid('1.2.840.113549.1.1.8'), ...hash);
const salt = der(0xa2, der(0x02, Buffer.from([32])));
const pssSignature = sign('sha256', data, {
  key: rsa.privateKey,
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: 32,
});

/** @param {...Buffer} fields */
const pss = (...fields) => ({
  oid: PSS,
  parameters: der(0x30, ...fields),
  signature: pssSignature,
  key: rsa.publicKey,
});

/** @type {[string, 'valid' | 'bad' | 'unsupported', {oid: string, parameters: Buffer | null, signature: Buffer, key: import('node:crypto').KeyObject}][]} */
const CASES = [
  ['PSS', 'valid', pss(der(0xa0, sha256), der(0xa1, mgf(sha256)), salt)],
  ['PSS with hashes without NULL', 'valid', pss(der(0xa0, sha256Bare), der(0xa1, mgf(sha256Bare)), salt)],
  [
    'PSS with its trailer said',
    'valid',
    pss(der(0xa0, sha256), der(0xa1, mgf(sha256)), salt, der(0xa3, der(0x02, Buffer.from([1])))),
  ],
  [
    'PSS with another trailer',
    'unsupported',
    pss(der(0xa0, sha256), der(0xa1, mgf(sha256)), salt, der(0xa3, der(0x02, Buffer.from([2])))),
  ],
  ['PSS with two hashes', 'bad', pss(der(0xa0, sha256, sha256), der(0xa1, mgf(sha256)), salt)],
  ['PSS with two MGFs', 'bad', pss(der(0xa0, sha256), der(0xa1, mgf(sha256), mgf(sha256)), salt)],
  ['PSS with an MGF of two hashes', 'bad', pss(der(0xa0, sha256), der(0xa1, mgf(sha256, sha256)), salt)],
  ['PSS with more behind the salt', 'bad', pss(der(0xa0, sha256), der(0xa1, mgf(sha256)), salt, NULL)],
  [
    'PSS with another parameter of the hash than NULL',
    'unsupported',
    pss(der(0xa0, der(0x30, oid('2.16.840.1.101.3.4.2.1'), der(0x04))), der(0xa1, mgf(sha256)), salt),
  ],
  ['PSS without MGF, which is SHA-1 then', 'unsupported', pss(der(0xa0, sha256), salt)],
  ['PSS with another salt length', 'bad', pss(der(0xa0, sha256), der(0xa1, mgf(sha256)))],
  ...fixed('ECDSA', '1.2.840.10045.4.3.2', ec, 'sha256', 'valid'),
  ...fixed('Ed25519', '1.3.101.112', ed, null, 'unsupported'),
  ...fixed('RSA', '1.2.840.113549.1.1.11', rsa, 'sha256', 'valid'),
];

/**
 * @param {string} name
 * @param {string} id
 * @param {import('node:crypto').KeyPairKeyObjectResult} pair
 * @param {string | null} hash
 * @param {'valid' | 'unsupported'} withNull
 * @returns {typeof CASES}
 */
function fixed(name, id, { privateKey, publicKey }, hash, withNull) {
  const signature = sign(hash, data, privateKey);
  const given = { oid: id, signature, key: publicKey };
  return [
    [name, 'valid', { ...given, parameters: null }],
    [`${name} with NULL`, withNull, { ...given, parameters: NULL }],
    [`${name} with other parameters`, 'unsupported', { ...given, parameters: Buffer.from([4, 0]) }],
    [
      `${name} by another key`,
      'bad',
      { ...given, parameters: null, key: publicKey === ec.publicKey ? ed.publicKey : ec.publicKey },
    ],
  ];
}

for (const [name, result, { key, ...signed }] of CASES) {
  test(`${name}: ${result}`, () => {
    assert.equal(verifySignature({ ...signed, data }, key), result);
    if (result === 'valid') {
      assert.equal(verifySignature({ ...signed, data: Buffer.from('what is not') }, key), 'bad');
    }
  });
}
