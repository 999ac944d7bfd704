/**
 * Reads an OCSPResponse (RFC 6960 section 4.2.1) into plain data; `ocsp-check.js` decides whether to accept it.
 * Like other clients, accepts an encoded DEFAULT value, which DER forbids.
 */
import {
  NO_EXTENSIONS,
  OID,
  parseCertificate,
  readAlgorithm,
  readExtensions,
  readName,
} from './certificate-der.js';
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';

/** Extensions that a client may accept even if they are critical. */
const UNDERSTOOD = new Set([
  OID.ocspNonce,
  '1.3.6.1.5.5.7.48.1.3', // CRL references, RFC 6960 section 4.4.2
  '1.3.6.1.5.5.7.48.1.6', // archive cutoff, 4.4.4
  '1.3.6.1.5.5.7.48.1.9', // extended revoked definition, 4.4.8
  '2.5.29.21', // reason code, as CRL entry extension, 4.4.5
  '2.5.29.24', // invalidity date
]);

/** @typedef {ReturnType<typeof readCertId>} CertId RFC 6960 section 4.1.1 */

/** @param {Uint8Array} raw DER of one CertID @throws {DerError} */
export const parseCertId = (raw) => readWhole(raw, readCertId);

/** @param {DerReader} reader */
function readCertId(reader) {
  const start = reader.pos;
  const fields = reader.enter(TAG.sequence);
  const raw = reader.bytes.subarray(start, reader.to);
  const { oid: hashOid, parameters: hashParameters } = readAlgorithm(fields);
  const issuerNameHash = fields.read(TAG.octetString);
  const issuerKeyHash = fields.read(TAG.octetString);
  const serial = fields.readInteger(); // raw contents
  fields.finish();
  return { raw, hashOid, hashParameters, issuerNameHash, issuerKeyHash, serial };
}

/**
 * There must be at least one extension, but Go's golang.org/x/crypto/ocsp, and so Vault, sends an empty list with
 * every response (seen with Vault 1.21.1).
 * @param {DerReader} reader
 */
const readMessageExtensions = (reader) =>
  reader.insideOptional(contextTag(1), (list) => readExtensions(list, UNDERSTOOD)) ?? NO_EXTENSIONS;

/** OCSPResponseStatus, as the verdicts of `ocsp-check.js`; 4 is not used. */
const STATUSES = /** @type {const} */ ([
  'successful',
  'ocsp_malformed_request',
  'ocsp_internal_error',
  'ocsp_try_later',
  'ocsp_unknown_error_status',
  'ocsp_sig_required',
  'ocsp_unauthorized',
]);

/** @typedef {Exclude<(typeof STATUSES)[number], 'successful'>} OcspRefusal */
/** @typedef {ReturnType<typeof readBasic>} BasicResponse */

/**
 * @param {Uint8Array} bytes
 * @returns {BasicResponse | {status: 'successful', typeOid: string, signed: null} | {status: OcspRefusal}} with views
 *   into `bytes`; `signed` is null for a type other than id-pkix-ocsp-basic
 * @throws {DerError}
 */
export function parseOcspResponse(bytes) {
  const response = readWhole(bytes, (reader) => reader.inside(TAG.sequence, readOuter));
  if (!('typeOid' in response)) return response;
  const { status, typeOid, basic } = response;
  return typeOid === OID.ocspBasic ? readWhole(basic, readBasic) : { status, typeOid, signed: null };
}

/** @param {DerReader} response */
function readOuter(response) {
  const status = STATUSES[response.readSmallNumber(TAG.enumerated)] ?? 'ocsp_unknown_error_status';
  if (status !== 'successful') return { status }; // a refusal has no responseBytes
  return {
    status,
    ...response.inside(contextTag(0), (bytes) => bytes.inside(TAG.sequence, readResponseBytes)),
  };
}

/** @param {DerReader} fields */
const readResponseBytes = (fields) => ({ typeOid: fields.readOid(), basic: fields.read(TAG.octetString) });

/** BasicOCSPResponse. @param {DerReader} reader */
function readBasic(reader) {
  const basic = reader.enter(TAG.sequence);
  const data = basic.readRaw(TAG.sequence);
  const fields = new DerReader(data).inside(TAG.sequence, readResponseData);
  const signed = { ...readAlgorithm(basic), data, signature: basic.readBitString() };
  const certs = basic.insideOptional(contextTag(0), readCerts) ?? [];
  basic.finish();
  return { status: /** @type {const} */ ('successful'), typeOid: OID.ocspBasic, signed, ...fields, certs };
}

/** @param {DerReader} data */
function readResponseData(data) {
  const version = data.insideOptional(contextTag(0), (field) => field.readSmallNumber()) ?? 0;
  if (version !== 0) throw new DerError('ResponseData is not version 1');
  const responderId = readResponderId(data);
  const producedAt = data.readGeneralizedTime();
  const responses = [];
  let unknownCritical = null;
  for (const list = data.enter(TAG.sequence); !list.atEnd; ) {
    const single = list.inside(TAG.sequence, readSingle);
    unknownCritical ??= single.unknownCritical;
    responses.push(single);
  }
  const extensions = readMessageExtensions(data);
  unknownCritical ??= extensions.unknownCritical; // of the response or a SingleResponse
  const nonceValue = extensions.values.get(OID.ocspNonce);
  const nonce = nonceValue === undefined ? null : readWhole(nonceValue, readOctets); // RFC 9654 section 2.1
  return { version, responderId, producedAt, responses, nonce, unknownCritical };
}

/** @param {DerReader} reader */
const readOctets = (reader) => reader.read(TAG.octetString);

/** @param {DerReader} data @returns {{kind: 'name' | 'keyHash', value: Buffer}} raw Name, or SHA-1 of the key */
function readResponderId(data) {
  const keyHash = data.insideOptional(contextTag(2), readOctets);
  if (keyHash !== null) return { kind: 'keyHash', value: keyHash };
  return { kind: 'name', value: data.inside(contextTag(1), readName) };
}

/** SingleResponse; times in epoch ms. @param {DerReader} single */
function readSingle(single) {
  const certId = readCertId(single);
  const { status, revokedAt, reason } = readCertStatus(single);
  const thisUpdate = single.readGeneralizedTime();
  const nextUpdate = single.insideOptional(contextTag(0), (explicit) => explicit.readGeneralizedTime());
  const { unknownCritical } = readMessageExtensions(single);
  return { certId, status, revokedAt, reason, thisUpdate, nextUpdate, unknownCritical };
}

/** @typedef {{status: 'good' | 'revoked' | 'unknown', revokedAt: number | null, reason: number | null}} CertStatus */

/** @param {DerReader} single @returns {CertStatus} `reason`: CRLReason, RFC 5280 section 5.3.1 */
function readCertStatus(single) {
  if (single.tag === contextTag(1)) return single.inside(contextTag(1), readRevoked);
  const status = single.tag === contextTag(0, false) ? 'good' : 'unknown';
  const value = single.read(contextTag(status === 'good' ? 0 : 2, false));
  if (value.length > 0) throw new DerError('CertStatus is not a NULL');
  return { status, revokedAt: null, reason: null };
}

/** @param {DerReader} revoked @returns {CertStatus} */
const readRevoked = (revoked) => ({
  status: 'revoked',
  revokedAt: revoked.readGeneralizedTime(),
  reason: revoked.insideOptional(contextTag(0), (explicit) => explicit.readSmallNumber(TAG.enumerated)),
});

/** @param {DerReader} explicit @returns {Buffer[]} raw certificates */
function readCerts(explicit) {
  const certs = [];
  for (const list = explicit.enter(TAG.sequence); !list.atEnd; ) {
    const raw = list.readRaw(TAG.sequence);
    parseCertificate(raw);
    certs.push(raw);
  }
  return certs;
}
