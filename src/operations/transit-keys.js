/**
 * Transit's keys, and how what they make is checked: https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key
 */
import { constants, createPublicKey, verify } from 'node:crypto';

/** A ciphertext holds its nonce and its tag: bytes more than the text. */
const NONCE_AND_TAG = 12 + 16;

/** RSA-OAEP with SHA-256 (RFC 8017, 7.1.1): bytes of the modulus that are no text. */
const OAEP_OVERHEAD = 2 * 32 + 2;

/** @typedef {{modulusBytes?: number}} EncryptionKey */

/** @type {Readonly<Record<string, EncryptionKey>>} */
const ENCRYPT = Object.freeze({
  'aes256-gcm96': {},
  'aes128-gcm96': {},
  'chacha20-poly1305': {},
  'rsa-2048': { modulusBytes: 256 },
  'rsa-3072': { modulusBytes: 384 },
  'rsa-4096': { modulusBytes: 512 },
});

/** By what they can do; the first is the default. */
export const KEY_TYPES = Object.freeze({
  encrypt: Object.keys(ENCRYPT),
  sign: ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'],
});

/**
 * @param {string} keyType
 * @returns {number} the longest text that it encrypts, bytes
 */
export function longestText(keyType) {
  const { modulusBytes } = ENCRYPT[keyType];
  return modulusBytes === undefined ? Number.POSITIVE_INFINITY : modulusBytes - OAEP_OVERHEAD;
}

/**
 * @param {string} keyType
 * @param {number} size of the text, bytes
 * @returns {number} bytes of its ciphertext
 */
export function ciphertextBytes(keyType, size) {
  return ENCRYPT[keyType].modulusBytes ?? size + NONCE_AND_TAG;
}

/**
 * @param {unknown} text of an answer
 * @returns {Buffer | null} what follows the version of the key; null: it is no such text
 */
export function bytesOf(text) {
  const [, base64] = (typeof text === 'string' && /^vault:v\d+:([A-Za-z0-9+/]+={0,2})$/.exec(text)) || [];
  return base64 === undefined ? null : Buffer.from(base64, 'base64');
}

/**
 * The defaults of transit/sign: SHA-256 before it signs (not for Ed25519), ECDSA signatures as ASN.1, RSA padded by PSS with a salt
 * as long as can be.
 *
 * @param {Buffer} text
 * @param {Buffer} signature
 * @param {string} publicKey as Vault shows it: PEM; base64 of the bare key for Ed25519
 */
export function isSignature(text, signature, publicKey) {
  try {
    const key = keyOf(publicKey);
    const type = key.asymmetricKeyType;
    if (type === 'ed25519') return verify(null, text, key, signature);
    if (type === 'ec') return verify('sha256', text, key, signature);
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return verify('sha256', text, { key, ...pss }, signature);
  } catch {
    return false;
  }
}

/** @type {Map<string, import('node:crypto').KeyObject>} */
const known = new Map();

/** SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the key itself. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** @param {string} publicKey */
function keyOf(publicKey) {
  const before = known.get(publicKey);
  if (before !== undefined) return before;
  const der = () => Buffer.concat([ED25519_HEAD, Buffer.from(publicKey, 'base64')]);
  const key = publicKey.startsWith('-----')
    ? createPublicKey(publicKey)
    : createPublicKey({ key: der(), format: 'der', type: 'spki' });
  known.set(publicKey, key);
  return key;
}
