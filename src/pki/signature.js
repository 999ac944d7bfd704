/** Verifies signatures by algorithm identifier, with `node:crypto`, over the raw signed bytes. */
import { constants, verify } from 'node:crypto';
import { OID, readAlgorithm } from './certificate-der.js';
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';

/** @import { KeyObject } from 'node:crypto' */

/**
 * `family`: the required type of key; without it, a swapped identifier would pass.
 * @type {Readonly<Record<string, {family: 'rsa' | 'ec' | 'ed25519' | 'ed448', hash: string | null}>>}
 */
const ALGORITHMS = Object.freeze({
  '1.2.840.113549.1.1.5': { family: 'rsa', hash: 'sha1' },
  '1.2.840.113549.1.1.11': { family: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { family: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { family: 'rsa', hash: 'sha512' },
  '1.2.840.113549.1.1.14': { family: 'rsa', hash: 'sha224' },
  '1.2.840.10045.4.1': { family: 'ec', hash: 'sha1' },
  '1.2.840.10045.4.3.1': { family: 'ec', hash: 'sha224' },
  '1.2.840.10045.4.3.2': { family: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { family: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { family: 'ec', hash: 'sha512' },
  '1.3.101.112': { family: 'ed25519', hash: null },
  '1.3.101.113': { family: 'ed448', hash: null },
});

/** OpenSSL's limit, only for large keys (OPENSSL_RSA_MAX_PUBEXP_BITS): verification time grows with the exponent. */
export const MAX_RSA_EXPONENT = 2n ** 64n;

const ID_MGF1 = '1.2.840.113549.1.1.8';

/** Hashes by OID. @type {Readonly<Record<string, string>>} */
export const HASHES = Object.freeze({
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  '2.16.840.1.101.3.4.2.4': 'sha224',
});

const UNSUPPORTED = 'unsupported_signature_algorithm';

/** Every failure with its description. */
export const SIGNATURE_FAILURES = Object.freeze({
  unsupported_signature_algorithm: 'This tool cannot verify a signature with this algorithm.',
  rsa_exponent_too_large: "The signer's RSA key has an exponent of more than 64 bits: too slow to verify.",
  bad_signature: "The signature does not match the signed data and the signer's key.",
});

/**
 * @param {{oid: string, parameters: Uint8Array | null, data: Uint8Array, signature: Uint8Array}} signed
 * @param {KeyObject} key public key of the signer
 * @returns {keyof typeof SIGNATURE_FAILURES | null} null: valid; never throws
 */
export function verifySignature({ oid, parameters, data, signature }, key) {
  try {
    if (rsaDetails(key).publicExponent >= MAX_RSA_EXPONENT) return 'rsa_exponent_too_large';
    if (oid === OID.rsassaPss) return verifyPss(parameters, data, signature, key);
    const algorithm = ALGORITHMS[oid];
    if (algorithm === undefined) return UNSUPPORTED;
    // Absent with EdDSA (RFC 8410 section 3) and ECDSA (RFC 5758 section 3.2), but some CAs write NULL for ECDSA.
    if (parameters !== null && (algorithm.hash === null || !isNullOrAbsent(parameters))) return UNSUPPORTED;
    if (key.asymmetricKeyType !== algorithm.family) return 'bad_signature';
    return verify(algorithm.hash, data, key, signature) ? null : 'bad_signature';
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    return /UNSUPPORTED|INVALID_DIGEST/.test(code ?? '') ? UNSUPPORTED : 'bad_signature';
  }
}

/** RSA only: reading the details of an EC key at infinity crashes the process. @param {KeyObject} key */
export function rsaDetails(key) {
  const details = key.asymmetricKeyType?.startsWith('rsa') ? key.asymmetricKeyDetails : {};
  return { publicExponent: details?.publicExponent ?? 0n, modulusLength: details?.modulusLength ?? null };
}

/** @param {Uint8Array | null} parameters @param {Uint8Array} data @param {Uint8Array} signature @param {KeyObject} key */
function verifyPss(parameters, data, signature, key) {
  const pss = readPssParameters(parameters);
  if (pss === null) return UNSUPPORTED;
  const { modulusLength } = rsaDetails(key);
  // RFC 8017, 8.1.2: as long as the modulus. OpenSSL accepts one without its leading zeros.
  if (modulusLength === null || signature.length !== Math.ceil(modulusLength / 8)) return 'bad_signature';
  const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pss.saltLength };
  return verify(pss.hash, data, options, signature) ? null : 'bad_signature';
}

/** RSASSA-PSS-params (RFC 4055 section 3.1); null: not supported by Node.js. @param {Uint8Array | null} parameters */
function readPssParameters(parameters) {
  if (parameters === null) return null;
  return new DerReader(parameters).inside(TAG.sequence, (fields) => {
    const hash = fields.insideOptional(contextTag(0), readHash) ?? 'sha1';
    const mgfHash = fields.insideOptional(contextTag(1), readMgf1Hash) ?? 'sha1';
    const saltLength = fields.insideOptional(contextTag(2), readSaltLength) ?? 20;
    const trailer = fields.insideOptional(contextTag(3), (field) => field.readSmallNumber()) ?? 1;
    return hash === '' || mgfHash !== hash || trailer !== 1 ? null : { hash, saltLength };
  });
}

/** @param {DerReader} field @returns {string} empty: not supported */
function readHash(field) {
  const { oid, parameters } = readAlgorithm(field);
  return isNullOrAbsent(parameters) ? (HASHES[oid] ?? '') : '';
}

/** @param {DerReader} field @returns {string} empty: not supported */
function readMgf1Hash(field) {
  const { oid, parameters } = readAlgorithm(field);
  return oid === ID_MGF1 && parameters !== null ? readWhole(parameters, readHash) : '';
}

/** May need two octets: at most 222 for RSA-2048 with SHA-256. @param {DerReader} field */
function readSaltLength(field) {
  const value = field.readInteger();
  if (value.length > 3 || value[0] > 0x7f) throw new DerError('Salt length is out of range');
  return value.readUIntBE(0, value.length);
}

/** @param {Uint8Array | null} parameters */
export const isNullOrAbsent = (parameters) =>
  parameters === null || (parameters.length === 2 && parameters[0] === TAG.null && parameters[1] === 0);
