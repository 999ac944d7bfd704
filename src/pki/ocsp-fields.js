/** The parts that occur in several places of an OCSP message: CertID, AlgorithmIdentifier, Name, Extensions. */
import { DerError, DerReader, TAG } from './der.js';
import { readAny } from './der-any.js';

/**
 * @typedef {object} CertId RFC 6960 section 4.1.1
 * @property {Buffer} raw the whole element
 * @property {string} hashOid
 * @property {Uint8Array | null} hashParameters raw; NULL or absent mean the same
 * @property {Uint8Array} issuerNameHash
 * @property {Uint8Array} issuerKeyHash
 * @property {Uint8Array} serial raw INTEGER contents
 */

export const ID_PKIX_OCSP_NONCE = '1.3.6.1.5.5.7.48.1.2';

/** Extensions a client may meet in an answer without having to reject it when they are critical. */
const KNOWN_EXTENSIONS = new Set([
  ID_PKIX_OCSP_NONCE,
  '1.3.6.1.5.5.7.48.1.3', // CRL references, RFC 6960 section 4.4.2
  '1.3.6.1.5.5.7.48.1.6', // archive cutoff, 4.4.4
  '1.3.6.1.5.5.7.48.1.9', // extended revoked definition, 4.4.8
  '2.5.29.21', // reason code, as CRL entry extension, 4.4.5
  '2.5.29.24', // invalidity date
]);

/** `malformed`: not DER of an OCSPResponse. `unknown_critical_extension`: RFC 5280 section 4.2 forbids to go on. */
export class OcspParseError extends Error {
  /**
   * @param {'malformed' | 'unknown_critical_extension'} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'OcspParseError';
    this.code = code;
  }
}

/**
 * @param {Uint8Array} raw DER of one CertID
 * @returns {CertId}
 * @throws {OcspParseError}
 */
export function parseCertId(raw) {
  try {
    const reader = new DerReader(raw);
    const certId = readCertId(reader);
    reader.finish();
    return certId;
  } catch (error) {
    if (error instanceof DerError) throw new OcspParseError('malformed', error.message);
    throw error;
  }
}

/**
 * @param {DerReader} reader
 * @returns {CertId}
 */
export function readCertId(reader) {
  const start = reader.pos;
  const fields = reader.enter(TAG.sequence);
  const raw = reader.bytes.subarray(start, reader.to);
  const { oid, parameters } = readAlgorithm(fields);
  const issuerNameHash = fields.read(TAG.octetString);
  const issuerKeyHash = fields.read(TAG.octetString);
  const serial = fields.readInteger();
  fields.finish();
  return { raw, hashOid: oid, hashParameters: parameters, issuerNameHash, issuerKeyHash, serial };
}

/** @param {DerReader} reader */
export function readAlgorithm(reader) {
  const algorithm = reader.enter(TAG.sequence);
  const oid = algorithm.readOid();
  const parameters = algorithm.atEnd ? null : readAny(algorithm);
  algorithm.finish();
  return { oid, parameters };
}

/**
 * Name (RFC 5280 section 4.1.2.4): an RDNSequence whose values may be of any kind.
 *
 * @param {DerReader} reader
 * @returns {Buffer} raw
 */
export function readName(reader) {
  const start = reader.pos;
  const names = reader.enter(TAG.sequence);
  const raw = reader.bytes.subarray(start, reader.to);
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    set.demandSome();
    while (!set.atEnd) {
      const attribute = set.enter(TAG.sequence);
      attribute.readOid();
      readAny(attribute);
      attribute.finish();
    }
  }
  return raw;
}

/**
 * Extensions (RFC 5280 section 4.2: each at most once) behind an EXPLICIT tag. There should be at least one, but Go's
 * golang.org/x/crypto/ocsp, and so Vault, sends an empty list with every answer (seen with Vault 1.21.1).
 *
 * @param {DerReader} reader
 * @param {number} tag
 * @returns {Buffer | null} the nonce (RFC 9654 section 2.1: an OCTET STRING in the extnValue)
 */
export function readExtensions(reader, tag) {
  const explicit = reader.enterOptional(tag);
  if (explicit === null) return null;
  const list = explicit.enter(TAG.sequence);
  explicit.finish();
  const seen = new Set();
  let nonce = null;
  while (!list.atEnd) {
    const extension = list.enter(TAG.sequence);
    const oid = extension.readOid();
    const critical = extension.tag === TAG.boolean && extension.readBoolean();
    const value = extension.read(TAG.octetString);
    extension.finish();
    if (seen.has(oid)) throw new DerError('Extension occurs twice');
    seen.add(oid);
    if (critical && !KNOWN_EXTENSIONS.has(oid)) {
      throw new OcspParseError('unknown_critical_extension', `Critical extension ${oid} is not understood`);
    }
    if (oid === ID_PKIX_OCSP_NONCE) nonce = readNonce(value);
  }
  return nonce;
}

/** @param {Buffer} value */
function readNonce(value) {
  const reader = new DerReader(value);
  const nonce = reader.read(TAG.octetString);
  reader.finish();
  return nonce;
}
