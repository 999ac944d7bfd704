/** Key pairs, and the signatures of the CAs: SHA-256 with RSA (PKCS#1 v1.5) or ECDSA. */
import { createPublicKey, generateKeyPair, sign } from 'node:crypto';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { bitString, NULL, OID_DER, sequence } from './der.js';

/** @import { KeyObject } from 'node:crypto' */

const generate = promisify(generateKeyPair);

/** An RSA key takes a thread for 100 ms: one of the pool's four threads stays free for signatures. */
const limitRsa = pLimit(3);

/**
 * @typedef {object} KeyKind
 * @property {'rsa' | 'ec' | 'ed25519'} type
 * @property {number} [bits] RSA modulus, or 256, 384, 521 for EC
 *
 * @typedef {{privateKey: KeyObject, spki: Buffer}} KeyPair
 */

/** By the names OpenSSL gives; the key of any other curve counts as too short. */
const CURVE_BITS = /** @type {Record<string, number>} */ ({
  prime256v1: 256,
  secp384r1: 384,
  secp521r1: 521,
});

const CURVES = /** @type {Record<number, string>} */ ({ 256: 'P-256', 384: 'P-384', 521: 'P-521' });

/** @param {KeyKind} kind @returns {Promise<KeyPair>} */
export async function newKeyPair({ type, bits }) {
  const { publicKey, privateKey } = await keyPairOf(type, bits);
  return { privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) };
}

/** @param {KeyKind['type']} type @param {number} [bits] */
function keyPairOf(type, bits) {
  if (type === 'ed25519') return generate('ed25519');
  if (type === 'ec') return generate('ec', { namedCurve: CURVES[bits ?? 256] });
  return limitRsa(() => generate('rsa', { modulusLength: bits ?? 2048 }));
}

/**
 * As in Vault's responses: PKCS#1 for RSA, SEC 1 for EC, PKCS#8 for Ed25519 or on demand.
 *
 * @param {KeyObject} privateKey
 * @param {boolean} pkcs8
 * @returns {{label: string, der: Buffer}}
 */
export function exportPrivateKey(privateKey, pkcs8) {
  const type = privateKey.asymmetricKeyType;
  if (!pkcs8 && type === 'rsa') {
    return { label: 'RSA PRIVATE KEY', der: privateKey.export({ type: 'pkcs1', format: 'der' }) };
  }
  if (!pkcs8 && type === 'ec') {
    return { label: 'EC PRIVATE KEY', der: privateKey.export({ type: 'sec1', format: 'der' }) };
  }
  return { label: 'PRIVATE KEY', der: privateKey.export({ type: 'pkcs8', format: 'der' }) };
}

/**
 * Kind of a public key, for the role's `key_type` rule.
 *
 * @param {Uint8Array} spki
 * @returns {{type: string, bits: number, key: KeyObject}}
 */
export function readPublicKey(spki) {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const type = key.asymmetricKeyType ?? 'unknown';
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const bits = type === 'ec' ? (CURVE_BITS[namedCurve] ?? 0) : modulusLength;
  return { type, bits, key };
}

const signOnThread = /** @type {(digest: string, data: Buffer, key: KeyObject) => Promise<Buffer>} */ (
  promisify(sign)
);

/**
 * @typedef {object} Signer
 * @property {Buffer} algorithm AlgorithmIdentifier
 * @property {(tbs: Buffer) => Promise<Buffer>} sign
 */

/** @param {KeyObject} privateKey RSA or EC @returns {Signer} */
export function createSigner(privateKey) {
  if (privateKey.asymmetricKeyType === 'rsa') {
    return {
      algorithm: sequence(OID_DER.sha256WithRsa, NULL),
      sign: (tbs) => signOnThread('sha256', tbs, privateKey),
    };
  }
  // A P-256 signature takes less time than the way to a thread and back.
  return {
    algorithm: sequence(OID_DER.ecdsaWithSha256),
    sign: async (tbs) => sign('sha256', tbs, privateKey),
  };
}

/**
 * SEQUENCE { tbs, algorithm, signature }: a certificate, a CRL, or the head of a BasicOCSPResponse.
 *
 * @param {Signer} signer
 * @param {Buffer} tbs
 */
export async function signed(signer, tbs) {
  return sequence(tbs, signer.algorithm, bitString(await signer.sign(tbs)));
}
