/**
 * Whether a private key is the one of a certificate. RSA: the primes multiply to the certificate's modulus and the exponents
 * fit each other. EC: the public point is computed from the private number. EdDSA and others: it is derived from the private key. So a key that merely
 * repeats the public half, which `X509Certificate.checkPrivateKey` would accept, does not pass.
 */
import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import { DerReader, oidText, TAG } from './der.js';
import { decodePem } from './text.js';

/** @import { ECDH } from 'node:crypto' */

const PRIVATE_KEY = /^(?:RSA |EC )?PRIVATE KEY$/;
const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
const EC_PUBLIC_KEY = '1.2.840.10045.2.1';

/** Names OpenSSL has for the curves CAs use. @type {Readonly<Record<string, string>>} */
const CURVES = Object.freeze({
  '1.2.840.10045.3.1.7': 'prime256v1',
  '1.3.132.0.33': 'secp224r1',
  '1.3.132.0.34': 'secp384r1',
  '1.3.132.0.35': 'secp521r1',
});

/** @type {Readonly<Record<string, string>>} */
const EDWARDS = Object.freeze({ '1.3.101.112': 'Ed25519', '1.3.101.113': 'Ed448' });

/**
 * @param {string} pem unencrypted PKCS#8, PKCS#1 or SEC 1
 * @param {Uint8Array} spki raw SubjectPublicKeyInfo
 * @returns {'match' | 'mismatch' | 'unreadable'} never throws, and reveals nothing of the key
 */
export function matchPrivateKey(pem, spki) {
  try {
    const der = decodePem(pem, PRIVATE_KEY);
    if (der === null) return 'unreadable';
    return matches(der, Buffer.from(spki)) ? 'match' : 'mismatch';
  } catch {
    return 'unreadable';
  }
}

/** @param {Buffer} der @param {Buffer} spki */
function matches(der, spki) {
  const publicKey = new DerReader(spki).enter(TAG.sequence);
  const algorithm = publicKey.enter(TAG.sequence);
  const oid = algorithm.readOid();
  const bits = publicKey.readBitString();
  if (oid === RSA_ENCRYPTION) return matchesRsa(unwrap(der), bits);
  const curve = oid === EC_PUBLIC_KEY ? CURVES[algorithm.readOid()] : undefined;
  if (curve !== undefined) return matchesEc(unwrap(der), curve, bits);
  const edwards = EDWARDS[oid];
  if (edwards !== undefined) return matchesEdwards(unwrap(der), edwards, bits);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).equals(spki);
}

/** The key inside PKCS#8 (RFC 5208 section 5), or the bytes as they are. @param {Buffer} der */
function unwrap(der) {
  const outer = new DerReader(der);
  const fields = outer.enter(TAG.sequence);
  outer.finish();
  fields.readSmallNumber(TAG.integer);
  if (fields.tag !== TAG.sequence) return der;
  fields.next();
  return fields.read(TAG.octetString);
}

/**
 * RSAPrivateKey, RFC 8017 appendix A.1.2: n = p q, and e d = 1 modulo p - 1 and q - 1.
 *
 * @param {Buffer} der
 * @param {Buffer} bits RSAPublicKey
 */
function matchesRsa(der, bits) {
  const wanted = new DerReader(bits).enter(TAG.sequence);
  const fields = new DerReader(der).enter(TAG.sequence);
  if (fields.readSmallNumber(TAG.integer) !== 0) return false;
  const modulus = fields.readInteger();
  const exponent = fields.readInteger();
  if (!modulus.equals(wanted.readInteger()) || !exponent.equals(wanted.readInteger())) return false;
  const [n, e, d, p, q] = [
    modulus,
    exponent,
    fields.readInteger(),
    fields.readInteger(),
    fields.readInteger(),
  ].map(toBigInt);
  return (
    p > 1n &&
    q > 1n &&
    p * q === n &&
    (e * (d % (p - 1n))) % (p - 1n) === 1n &&
    (e * (d % (q - 1n))) % (q - 1n) === 1n
  );
}

/**
 * One of each curve: to make one takes OpenSSL as long as to multiply the point.
 *
 * @type {Record<string, ECDH>}
 */
const keyAgreements = {};

/**
 * ECPrivateKey, RFC 5915 section 3.
 *
 * @param {Buffer} der
 * @param {string} curve
 * @param {Buffer} bits uncompressed point
 */
function matchesEc(der, curve, bits) {
  const fields = new DerReader(der).enter(TAG.sequence);
  if (fields.readSmallNumber(TAG.integer) !== 1) return false;
  const secret = fields.read(TAG.octetString);
  if (fields.tag === 0xa0) {
    const named = CURVES[oidText(fields.enter(0xa0).read(TAG.oid))];
    if (named !== curve) return false;
  }
  keyAgreements[curve] ??= createECDH(curve);
  const ecdh = keyAgreements[curve];
  ecdh.setPrivateKey(secret); // throws for bytes that are no key of the curve, and keeps the previous one
  return ecdh.getPublicKey().equals(bits);
}

/**
 * CurvePrivateKey, RFC 8410 section 7. By way of JWK since OpenSSL takes 0.4 ms to find out what a DER key is.
 *
 * @param {Buffer} der
 * @param {string} crv
 * @param {Buffer} bits
 */
function matchesEdwards(der, crv, bits) {
  const d = new DerReader(der).read(TAG.octetString).toString('base64url');
  const x = bits.toString('base64url');
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv, d, x } });
  return createPublicKey(key).export({ format: 'jwk' }).x === x;
}

/** @param {Buffer} bytes */
function toBigInt(bytes) {
  return BigInt(`0x${bytes.toString('hex')}`);
}
