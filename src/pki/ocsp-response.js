/**
 * OCSPResponse (RFC 6960 section 4.2.1) as plain data. Only reads: `ocsp-check.js` decides whether a client may accept it. A DEFAULT
 * value that is encoded although DER forbids it is accepted, as verifying clients do.
 */
import { parseCertificate } from './certificate-der.js';
import { asBuffer, contextTag, DerError, DerReader, TAG } from './der.js';
import { readAlgorithm, readExtensions, readName } from './fields.js';
/** @import { Signed } from './fields.js' */

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
  /** @param {'malformed' | 'unknown_critical_extension'} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = 'OcspParseError';
    this.code = code;
  }
}

/** @param {Uint8Array} raw DER of one CertID @returns {CertId} @throws {OcspParseError} */
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

/** @param {DerReader} reader @returns {CertId} */
function readCertId(reader) {
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

/**
 * Extensions behind an EXPLICIT tag. There should be at least one, but Go's golang.org/x/crypto/ocsp, and so Vault, sends an empty list
 * with every response (seen with Vault 1.21.1).
 *
 * @param {DerReader} reader
 * @param {number} tag
 * @returns {Buffer | null} the nonce (RFC 9654 section 2.1: an OCTET STRING in the extnValue)
 */
function readNonceOf(reader, tag) {
  const explicit = reader.enterOptional(tag);
  if (explicit === null) return null;
  const list = explicit.enter(TAG.sequence);
  explicit.finish();
  /** @type {Buffer | null} */
  let nonce = null;
  readExtensions(list, (oid, value, isCritical) => {
    if (isCritical && !KNOWN_EXTENSIONS.has(oid)) {
      throw new OcspParseError('unknown_critical_extension', `Critical extension ${oid} is not understood`);
    }
    if (oid === ID_PKIX_OCSP_NONCE) nonce = readNonce(value);
  });
  return nonce;
}

/** @param {Buffer} value */
function readNonce(value) {
  const reader = new DerReader(value);
  const nonce = reader.read(TAG.octetString);
  reader.finish();
  return nonce;
}

/**
 * @typedef {object} SingleResponse
 * @property {CertId} certId
 * @property {'good' | 'revoked' | 'unknown'} status
 * @property {number | null} revokedAt epoch ms
 * @property {number | null} reason CRLReason, RFC 5280 section 5.3.1
 * @property {number} thisUpdate epoch ms
 * @property {number | null} nextUpdate epoch ms
 *
 * @typedef {object} BasicResponse
 * @property {'successful'} status
 * @property {typeof ID_PKIX_OCSP_BASIC} typeOid
 * @property {Signed} signed of tbsResponseData
 * @property {number} version 0 is v1
 * @property {{kind: 'name' | 'keyHash', value: Buffer}} responderId a raw Name, or the SHA-1 of a public key
 * @property {number} producedAt epoch ms
 * @property {SingleResponse[]} responses
 * @property {Buffer | null} nonce
 * @property {Buffer[]} certs raw certificates
 *
 * @typedef {{status: 'successful', typeOid: string, signed: null}} OtherResponse of a type we do not know
 *
 * @typedef {'malformedRequest' | 'internalError' | 'tryLater' | 'sigRequired' | 'unauthorized' | 'unknownError'} OcspRefusal
 * @typedef {{status: OcspRefusal}} RefusedResponse
 */

export const ID_PKIX_OCSP_BASIC = '1.3.6.1.5.5.7.48.1.1';

/** OCSPResponseStatus; 4 is not used. @type {readonly (OcspRefusal | 'successful')[]} */
const STATUSES = Object.freeze([
  'successful',
  'malformedRequest',
  'internalError',
  'tryLater',
  'unknownError',
  'sigRequired',
  'unauthorized',
]);

/**
 * @param {Uint8Array} bytes
 * @returns {BasicResponse | OtherResponse | RefusedResponse} with views into `bytes`
 * @throws {OcspParseError} and nothing else
 */
export function parseOcspResponse(bytes) {
  try {
    return readResponse(asBuffer(bytes));
  } catch (error) {
    if (error instanceof DerError) throw new OcspParseError('malformed', error.message);
    throw error;
  }
}

/** @param {Buffer} bytes */
function readResponse(bytes) {
  const outer = new DerReader(bytes);
  const response = outer.enter(TAG.sequence);
  outer.finish();
  const status = STATUSES[response.readSmallNumber()] ?? 'unknownError';
  if (status !== 'successful') {
    response.finish(); // responseBytes are left out of a refusal
    return { status };
  }
  const explicit = response.enter(contextTag(0));
  response.finish();
  const responseBytes = explicit.enter(TAG.sequence);
  explicit.finish();
  const typeOid = responseBytes.readOid();
  const basic = responseBytes.read(TAG.octetString);
  responseBytes.finish();
  return typeOid === ID_PKIX_OCSP_BASIC ? readBasic(basic) : { status, typeOid, signed: null };
}

/** @param {Buffer} bytes BasicOCSPResponse @returns {BasicResponse} */
function readBasic(bytes) {
  const outer = new DerReader(bytes);
  const basic = outer.enter(TAG.sequence);
  outer.finish();
  const data = basic.readRaw(TAG.sequence);
  const fields = readResponseData(new DerReader(data).enter(TAG.sequence));
  const signed = { ...readAlgorithm(basic), data, signature: basic.readBitString() };
  const certs = readCerts(basic);
  basic.finish();
  return { status: 'successful', typeOid: ID_PKIX_OCSP_BASIC, signed, ...fields, certs };
}

/** @param {DerReader} data */
function readResponseData(data) {
  const version = readVersion(data);
  const responderId = readResponderId(data);
  const producedAt = data.readGeneralizedTime();
  const list = data.enter(TAG.sequence);
  const responses = [];
  while (!list.atEnd) responses.push(readSingle(list.enter(TAG.sequence)));
  const nonce = readNonceOf(data, contextTag(1));
  data.finish();
  return { version, responderId, producedAt, responses, nonce };
}

/** @param {DerReader} data */
function readVersion(data) {
  const explicit = data.enterOptional(contextTag(0));
  if (explicit === null) return 0;
  const version = explicit.readSmallNumber(TAG.integer);
  explicit.finish();
  if (version !== 0) throw new DerError('ResponseData is not version 1');
  return version;
}

/** @param {DerReader} data @returns {BasicResponse['responderId']} */
function readResponderId(data) {
  const kind = data.tag === contextTag(2) ? 'keyHash' : 'name';
  const explicit = data.enter(contextTag(kind === 'name' ? 1 : 2));
  const value = kind === 'name' ? readName(explicit) : explicit.read(TAG.octetString);
  explicit.finish();
  return { kind, value };
}

/** @param {DerReader} single @returns {SingleResponse} */
function readSingle(single) {
  const certId = readCertId(single);
  const { status, revokedAt, reason } = readCertStatus(single);
  const thisUpdate = single.readGeneralizedTime();
  const explicit = single.enterOptional(contextTag(0));
  const nextUpdate = explicit === null ? null : explicit.readGeneralizedTime();
  explicit?.finish();
  readNonceOf(single, contextTag(1));
  single.finish();
  return { certId, status, revokedAt, reason, thisUpdate, nextUpdate };
}

/** @param {DerReader} single @returns {Pick<SingleResponse, 'status' | 'revokedAt' | 'reason'>} */
function readCertStatus(single) {
  const tag = single.tag;
  if (tag === contextTag(1)) {
    const revoked = single.enter(tag);
    const revokedAt = revoked.readGeneralizedTime();
    const explicit = revoked.enterOptional(contextTag(0));
    const reason = explicit === null ? null : explicit.readSmallNumber(TAG.enumerated);
    explicit?.finish();
    revoked.finish();
    return { status: 'revoked', revokedAt, reason };
  }
  const status = tag === contextTag(0, false) ? 'good' : 'unknown';
  const value = single.read(contextTag(status === 'good' ? 0 : 2, false));
  if (value.length > 0) throw new DerError('CertStatus is not a NULL');
  return { status, revokedAt: null, reason: null };
}

/** @param {DerReader} basic */
function readCerts(basic) {
  const explicit = basic.enterOptional(contextTag(0));
  if (explicit === null) return [];
  const list = explicit.enter(TAG.sequence);
  explicit.finish();
  const certs = [];
  while (!list.atEnd) {
    const raw = list.readRaw(TAG.sequence);
    parseCertificate(raw);
    certs.push(raw);
  }
  return certs;
}
