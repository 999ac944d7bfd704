/**
 * OCSPResponse (RFC 6960 section 4.2.1) as plain data. Only reads: whether a client may accept it is the business of
 * `ocsp-check.js`. A DEFAULT value that is encoded although DER says it should not be is accepted, as verifying clients do.
 */
import { parseCertificate } from './certificate-der.js';
import { asBuffer, contextTag, DerError, DerReader, TAG } from './der.js';
import { OcspParseError, readAlgorithm, readCertId, readExtensions, readName } from './ocsp-fields.js';

export { OcspParseError, parseCertId } from './ocsp-fields.js';

/** @typedef {import('./ocsp-fields.js').CertId} CertId */

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
 * @property {Buffer} tbs raw tbsResponseData: what is signed
 * @property {number} version 0 is v1
 * @property {{kind: 'name' | 'keyHash', value: Buffer}} responderId a raw Name, or the SHA-1 of a public key
 * @property {number} producedAt epoch ms
 * @property {SingleResponse[]} responses
 * @property {Buffer | null} nonce
 * @property {string} signatureOid
 * @property {Buffer | null} signatureParameters raw
 * @property {Buffer} signature
 * @property {Buffer[]} certs raw certificates
 *
 * @typedef {{status: 'successful', typeOid: string, tbs: null}} OtherResponse of a type we do not know
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
  return typeOid === ID_PKIX_OCSP_BASIC ? readBasic(basic) : { status, typeOid, tbs: null };
}

/**
 * @param {Buffer} bytes BasicOCSPResponse
 * @returns {BasicResponse}
 */
function readBasic(bytes) {
  const outer = new DerReader(bytes);
  const basic = outer.enter(TAG.sequence);
  outer.finish();
  const tbs = basic.readRaw(TAG.sequence);
  const data = readResponseData(new DerReader(tbs).enter(TAG.sequence));
  const algorithm = readAlgorithm(basic);
  const signature = basic.readBitString();
  const certs = readCerts(basic);
  basic.finish();
  return {
    status: 'successful',
    typeOid: ID_PKIX_OCSP_BASIC,
    tbs,
    ...data,
    signatureOid: algorithm.oid,
    signatureParameters: algorithm.parameters,
    signature,
    certs,
  };
}

/** @param {DerReader} data */
function readResponseData(data) {
  const version = readVersion(data);
  const responderId = readResponderId(data);
  const producedAt = data.readGeneralizedTime();
  const list = data.enter(TAG.sequence);
  const responses = [];
  while (!list.atEnd) responses.push(readSingle(list.enter(TAG.sequence)));
  const nonce = readExtensions(data, contextTag(1));
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

/**
 * @param {DerReader} data
 * @returns {BasicResponse['responderId']}
 */
function readResponderId(data) {
  const kind = data.tag === contextTag(2) ? 'keyHash' : 'name';
  const explicit = data.enter(contextTag(kind === 'name' ? 1 : 2));
  const value = kind === 'name' ? readName(explicit) : explicit.read(TAG.octetString);
  explicit.finish();
  return { kind, value };
}

/**
 * @param {DerReader} single
 * @returns {SingleResponse}
 */
function readSingle(single) {
  const certId = readCertId(single);
  const { status, revokedAt, reason } = readCertStatus(single);
  const thisUpdate = single.readGeneralizedTime();
  const explicit = single.enterOptional(contextTag(0));
  const nextUpdate = explicit === null ? null : explicit.readGeneralizedTime();
  explicit?.finish();
  readExtensions(single, contextTag(1));
  single.finish();
  return { certId, status, revokedAt, reason, thisUpdate, nextUpdate };
}

/**
 * @param {DerReader} single
 * @returns {Pick<SingleResponse, 'status' | 'revokedAt' | 'reason'>}
 */
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
