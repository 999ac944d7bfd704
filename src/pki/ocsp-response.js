/**
 * OCSPResponse (RFC 6960 section 4.2.1) as plain data. Only reads: `ocsp-check.js` decides whether a client may accept it. A DEFAULT
 * value that is encoded although DER forbids it is accepted, as verifying clients do.
 */
import { OID, parseCertificate, readAlgorithm, readExtensions, readName } from './certificate-der.js';
import { contextTag, DerError, DerReader, TAG } from './der.js';

/** @import { Extensions, Signed } from './certificate-der.js' */

/**
 * @typedef {object} CertId RFC 6960 section 4.1.1
 * @property {Buffer} raw the whole element
 * @property {string} hashOid
 * @property {Uint8Array | null} hashParameters raw; NULL or absent mean the same
 * @property {Uint8Array} issuerNameHash
 * @property {Uint8Array} issuerKeyHash
 * @property {Uint8Array} serial raw INTEGER contents
 */

/** Extensions that a client need not reject when they are critical. */
const UNDERSTOOD = new Set([
  OID.ocspNonce,
  '1.3.6.1.5.5.7.48.1.3', // CRL references, RFC 6960 section 4.4.2
  '1.3.6.1.5.5.7.48.1.6', // archive cutoff, 4.4.4
  '1.3.6.1.5.5.7.48.1.9', // extended revoked definition, 4.4.8
  '2.5.29.21', // reason code, as CRL entry extension, 4.4.5
  '2.5.29.24', // invalidity date
]);

/** @param {Uint8Array} raw DER of one CertID @returns {CertId} @throws {DerError} */
export function parseCertId(raw) {
  const reader = new DerReader(raw);
  const certId = readCertId(reader);
  reader.finish();
  return certId;
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
 * @param {DerReader} reader
 * @returns {Extensions | null}
 */
function readMessageExtensions(reader) {
  const explicit = reader.enterOptional(contextTag(1));
  const extensions = explicit === null ? null : readExtensions(explicit, UNDERSTOOD);
  explicit?.finish();
  return extensions;
}

/** RFC 9654 section 2.1: an OCTET STRING. @param {Buffer} value of the extension */
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
 * @property {string | null} critical OID of a critical extension that is not understood
 * @typedef {object} BasicResponse
 * @property {'successful'} status
 * @property {string} typeOid
 * @property {Signed} signed of tbsResponseData
 * @property {number} version 0 is v1
 * @property {{kind: 'name' | 'keyHash', value: Buffer}} responderId a raw Name, or the SHA-1 of a public key
 * @property {number} producedAt epoch ms
 * @property {SingleResponse[]} responses
 * @property {Buffer | null} nonce
 * @property {string | null} critical OID of a critical extension that is not understood, of the response or of a single one
 * @property {Buffer[]} certs raw certificates
 * @typedef {{status: 'successful', typeOid: string, signed: null}} OtherResponse of a type we do not know
 * @typedef {'malformedRequest' | 'internalError' | 'tryLater' | 'sigRequired' | 'unauthorized' | 'unknownError'} OcspRefusal
 * @typedef {{status: OcspRefusal}} RefusedResponse
 */

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
 * @throws {DerError}
 */
export function parseOcspResponse(bytes) {
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
  return typeOid === OID.ocspBasic ? readBasic(basic) : { status, typeOid, signed: null };
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
  return { status: 'successful', typeOid: OID.ocspBasic, signed, ...fields, certs };
}

/** @param {DerReader} data */
function readResponseData(data) {
  const version = readVersion(data);
  const responderId = readResponderId(data);
  const producedAt = data.readGeneralizedTime();
  const list = data.enter(TAG.sequence);
  /** @type {string | null} */
  let critical = null;
  const responses = [];
  while (!list.atEnd) {
    const single = readSingle(list.enter(TAG.sequence));
    critical ??= single.critical;
    responses.push(single);
  }
  const extensions = readMessageExtensions(data);
  data.finish();
  critical ??= extensions?.critical ?? null;
  const nonceValue = extensions?.values.get(OID.ocspNonce);
  const nonce = nonceValue === undefined ? null : readNonce(nonceValue);
  return { version, responderId, producedAt, responses, nonce, critical };
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
  const critical = readMessageExtensions(single)?.critical ?? null;
  single.finish();
  return { certId, status, revokedAt, reason, thisUpdate, nextUpdate, critical };
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
