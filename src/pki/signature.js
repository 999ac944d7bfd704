/** Signatures by algorithm identifier, verified with `node:crypto` over the raw bytes that were signed. */
import { constants, verify } from 'node:crypto';
import { readAlgorithm } from './certificate-der.js';
import { contextTag, DerError, DerReader, TAG } from './der.js';

/** @import { KeyObject } from 'node:crypto' */

/**
 * `family` is the only type of key that may be used with the algorithm: without that a swapped identifier would do.
 * @type {Readonly<Record<string, {family: 'rsa' | 'ec' | 'ed25519' | 'ed448', hash: string | null}>>}
 */
const ALGORITHMS = Object.freeze({
  '1.2.840.113549.1.1.5': { family: 'rsa', hash: 'sha1' },
  '1.2.840.113549.1.1.11': { family: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { family: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { family: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.1': { family: 'ec', hash: 'sha1' },
  '1.2.840.10045.4.3.2': { family: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { family: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { family: 'ec', hash: 'sha512' },
  '1.3.101.112': { family: 'ed25519', hash: null },
  '1.3.101.113': { family: 'ed448', hash: null },
});

const RSASSA_PSS = '1.2.840.113549.1.1.10';
const ID_MGF1 = '1.2.840.113549.1.1.8';

/** Hashes by OID. @type {Readonly<Record<string, string>>} */
export const HASHES = Object.freeze({
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
});

/**
 * @param {{oid: string, parameters: Uint8Array | null, data: Uint8Array, signature: Uint8Array}} signed
 * @param {KeyObject} key public key of the signer
 * @returns {'valid' | 'bad' | 'unsupported'} never throws
 */
export function verifySignature({ oid, parameters, data, signature }, key) {
  try {
    if (oid === RSASSA_PSS) return verifyPss(parameters, data, signature, key);
    const algorithm = ALGORITHMS[oid];
    if (algorithm === undefined || !mayHave(parameters, algorithm.family)) return 'unsupported';
    if (key.asymmetricKeyType !== algorithm.family) return 'bad';
    return verify(algorithm.hash, data, key, signature) ? 'valid' : 'bad';
  } catch (error) {
    return isUnsupported(error) ? 'unsupported' : 'bad';
  }
}

/** @param {Uint8Array | null} parameters @param {Uint8Array} data @param {Uint8Array} signature @param {KeyObject} key */
function verifyPss(parameters, data, signature, key) {
  const pss = readPssParameters(parameters);
  if (pss === null) return 'unsupported';
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'rsa-pss') return 'bad';
  const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pss.saltLength };
  return verify(pss.hash, data, options, signature) ? 'valid' : 'bad';
}

/**
 * @param {Uint8Array | null} parameters RSASSA-PSS-params (RFC 4055 section 3.1); the defaults are SHA-1 and 20
 * @returns {{hash: string, saltLength: number} | null} null for what Node.js cannot do, such as another hash for MGF1 than for the message
 * @throws {DerError}
 */
function readPssParameters(parameters) {
  if (parameters === null) return null;
  const fields = new DerReader(parameters).enter(TAG.sequence);
  const hash = readExplicit(fields, 0, readHash, 'sha1');
  const mgfHash = readExplicit(fields, 1, readMgf1Hash, 'sha1');
  const saltLength = readExplicit(fields, 2, readSaltLength, 20);
  const trailer = readExplicit(fields, 3, (field) => field.readSmallNumber(TAG.integer), 1);
  fields.finish();
  return hash === null || mgfHash !== hash || trailer !== 1 ? null : { hash, saltLength };
}

/**
 * @param {DerReader} fields
 * @param {number} number of the EXPLICIT tag
 * @param {(field: DerReader) => T} read
 * @param {T} missing
 * @returns {T}
 * @template T
 */
function readExplicit(fields, number, read, missing) {
  const field = fields.enterOptional(contextTag(number));
  if (field === null) return missing;
  const value = read(field);
  field.finish();
  return value;
}

/** @param {DerReader} field @returns {string | null} */
function readHash(field) {
  const { oid, parameters } = readAlgorithm(field);
  return isNullOrAbsent(parameters) ? (HASHES[oid] ?? null) : null;
}

/** @param {DerReader} field @returns {string | null} */
function readMgf1Hash(field) {
  const { oid, parameters } = readAlgorithm(field);
  if (oid !== ID_MGF1 || parameters === null) return null;
  const inner = new DerReader(parameters);
  const hash = readHash(inner);
  inner.finish();
  return hash;
}

/** The longest salt that fits may need two octets: 222 for RSA-2048 with SHA-256. @param {DerReader} field */
function readSaltLength(field) {
  const value = field.readInteger();
  if (value.length > 3 || value[0] > 0x7f) throw new DerError('Salt length is out of range');
  return value.readUIntBE(0, value.length);
}

/** @param {Uint8Array | null} parameters */
export function isNullOrAbsent(parameters) {
  return (
    parameters === null || (parameters.length === 2 && parameters[0] === TAG.null && parameters[1] === 0)
  );
}

/**
 * RFC 8410 section 3: none with EdDSA. None with ECDSA, either (RFC 5758 section 3.2), but some CAs write NULL.
 * @param {Uint8Array | null} parameters
 * @param {string} family
 */
function mayHave(parameters, family) {
  return family.startsWith('ed') ? parameters === null : isNullOrAbsent(parameters);
}

/** @param {unknown} error */
function isUnsupported(error) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /UNSUPPORTED|INVALID_DIGEST/.test(code);
}
