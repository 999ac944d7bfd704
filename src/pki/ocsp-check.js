/**
 * The judge of an OCSP response, by what RFC 6960 section 3.2 demands of a client. The rules, in their order; the first one
 * broken names the verdict:
 *
 * 1. it is an OCSPResponse in DER, without critical extensions we do not know (`not_ocsp`, `unknown_critical_extension`);
 * 2. its status is successful (`ocsp_*`) and its type id-pkix-ocsp-basic (`ocsp_wrong_type`);
 * 3. one SingleResponse has the CertID of the request (`cert_id_mismatch`); of several the first counts;
 * 4. a signer the issuer allows answers to the responderId (`responder_not_authorized`), and the signature over the raw
 *    tbsResponseData is its own (`unsupported_signature_algorithm`, `bad_signature`); its certificate, where it is not the
 *    issuer itself, is valid now (`responder_cert_expired`);
 * 5. thisUpdate is not in the future (`not_yet_valid`), nextUpdate, where present, not past (`expired`);
 * 6. the nonce, where one was sent and one came back, is the one sent (`nonce_mismatch`; RFC 9654 section 2.1).
 *
 * `unknown` with another CertID, as Vault answers for an issuer it does not know, is `cert_id_mismatch`: by rule 3 a client
 * may not believe it. Not checked: the validity period and the revocation of the issuer and of the responder's certificate.
 */
import { asBuffer } from './der.js';
import { OcspParseError, parseCertId, parseOcspResponse } from './ocsp-response.js';
import { createSignerFinder } from './ocsp-signer.js';
import { RememberedBytes } from './remembered.js';
import { isNullOrAbsent } from './signature.js';
/** @import { BasicResponse, OcspRefusal } from './ocsp-response.js' */
/** @import { SignerResult } from './ocsp-signer.js' */

/**
 * @typedef {'good' | 'revoked' | 'unknown'} OcspStatus
 * @typedef {'ocsp_malformed_request' | 'ocsp_internal_error' | 'ocsp_try_later' | 'ocsp_sig_required' | 'ocsp_unauthorized'
 *   | 'ocsp_unknown_error_status' | 'not_ocsp' | 'ocsp_wrong_type' | 'unknown_critical_extension' | 'cert_id_mismatch'
 *   | 'responder_not_authorized' | 'unsupported_signature_algorithm' | 'bad_signature' | 'responder_cert_expired'
 *   | 'not_yet_valid' | 'expired' | 'nonce_mismatch'} OcspFailure
 * @typedef {OcspStatus | OcspFailure} OcspVerdict
 */

/** The answers a client accepts. @type {Readonly<Record<OcspStatus, string>>} */
export const OCSP_STATUSES = Object.freeze({
  good: 'The response passed every check: the certificate is not revoked.',
  revoked: 'The response passed every check: the certificate is revoked.',
  unknown: 'The response passed every check: the responder does not know the certificate.',
});

/** Everything else, in the order in which it is looked for. @type {Readonly<Record<OcspFailure, string>>} */
export const OCSP_FAILURES = Object.freeze({
  not_ocsp: 'The body is not a DER-encoded OCSP response.',
  unknown_critical_extension: 'The response has a critical extension that this client does not understand.',
  ocsp_malformed_request: 'The responder refused: it could not read the request (malformedRequest).',
  ocsp_internal_error: 'The responder refused: it has an internal error (internalError).',
  ocsp_try_later: 'The responder refused: it is busy (tryLater).',
  ocsp_sig_required: 'The responder refused: it wants signed requests (sigRequired).',
  ocsp_unauthorized:
    'The responder refused: it may not or cannot answer for this certificate (unauthorized).',
  ocsp_unknown_error_status: 'The responder refused with a status that RFC 6960 does not define.',
  ocsp_wrong_type: 'The response is of another type than id-pkix-ocsp-basic.',
  cert_id_mismatch: 'The response does not speak of the certificate that was asked about.',
  responder_not_authorized:
    'The response is signed by neither the issuer nor a responder the issuer authorised with id-kp-OCSPSigning.',
  unsupported_signature_algorithm:
    'The signature, or that of the responder certificate, cannot be verified here.',
  bad_signature: 'The signature does not match the response and its signer.',
  responder_cert_expired: 'The responder certificate is outside its validity period.',
  not_yet_valid: 'thisUpdate is in the future.',
  expired: 'nextUpdate has passed.',
  nonce_mismatch: 'The response carries another nonce than the request.',
});

/** Every verdict with its description. @type {Readonly<Record<OcspVerdict, string>>} */
export const OCSP_VERDICTS = Object.freeze({ ...OCSP_STATUSES, ...OCSP_FAILURES });

/** @param {OcspVerdict} verdict @returns {verdict is OcspStatus} */
export function isOcspStatus(verdict) {
  return Object.hasOwn(OCSP_STATUSES, verdict);
}

/**
 * @typedef {import('./ocsp-response.js').CertId} CertId
 * @typedef {BasicResponse} BasicResponse
 * @typedef {OcspRefusal} OcspRefusal
 * @typedef {SignerResult} SignerResult
 *
 * @typedef {{certId: {raw: Uint8Array}, nonce: Uint8Array | null, nowMs: number}} OcspExpectation `nowMs` is epoch ms
 *
 * @typedef {object} OcspChecker
 * @property {(bytes: Uint8Array, expected: OcspExpectation) => OcspVerdict} check never throws, whatever the bytes
 * @property {() => {responses: number, certificates: number}} verifications real signature verifications so far
 */

/** Clocks of a tester and its target are kept by NTP; more would hide answers that are too old. */
export const DEFAULT_SKEW_MS = 5000;

/** An RSA responder repeats itself for a second per serial; one with ECDSA never does, so more would only be memory. */
export const DEFAULT_MAX_REMEMBERED = 1024;

/** Longer responses are not remembered: they bound the memory. */
const MAX_REMEMBERED_BYTES = 16_384;

/** @type {Readonly<Record<OcspRefusal, OcspVerdict>>} */
const REFUSALS = Object.freeze({
  malformedRequest: 'ocsp_malformed_request',
  internalError: 'ocsp_internal_error',
  tryLater: 'ocsp_try_later',
  sigRequired: 'ocsp_sig_required',
  unauthorized: 'ocsp_unauthorized',
  unknownError: 'ocsp_unknown_error_status',
});

/**
 * What holds for the same bytes at any time: a verdict, or the response, with its signature looked at when first needed.
 *
 * @typedef {{verdict: OcspVerdict} | {verdict: null, response: BasicResponse, signed: SignerResult | null}} Known
 */

/**
 * @param {object} options
 * @param {Uint8Array} options.issuerDer certificate of the issuer of every certificate asked about
 * @param {number} [options.skewMs] how far the clocks may be apart
 * @param {number} [options.maxRemembered] responses whose signature need not be verified again
 * @returns {OcspChecker}
 * @throws {DerError} when the issuer cannot be read
 */
export function createOcspChecker({
  issuerDer,
  skewMs = DEFAULT_SKEW_MS,
  maxRemembered = DEFAULT_MAX_REMEMBERED,
}) {
  const count = { response: 0, certificate: 0 };
  const findSigner = createSignerFinder(Buffer.from(issuerDer), (kind) => {
    count[kind] += 1;
  });
  const remembered = /** @type {RememberedBytes<Known>} */ (new RememberedBytes(maxRemembered));
  return {
    check(bytes, expected) {
      const known = recall(remembered, bytes);
      return known.verdict ?? judge(known, findSigner, expected, skewMs);
    },
    verifications: () => ({ responses: count.response, certificates: count.certificate }),
  };
}

/** @param {RememberedBytes<Known>} remembered @param {Uint8Array} bytes */
function recall(remembered, bytes) {
  const known = remembered.get(bytes);
  if (known !== undefined) return known;
  if (bytes.length > MAX_REMEMBERED_BYTES) return read(asBuffer(bytes));
  const copy = Buffer.from(bytes); // the caller may use its buffer again
  return remembered.set(copy, read(copy));
}

/**
 * Rules 1 and 2.
 *
 * @param {Buffer} bytes
 * @returns {Known}
 */
function read(bytes) {
  try {
    const response = parseOcspResponse(bytes);
    if (response.status !== 'successful') return { verdict: REFUSALS[response.status] };
    if (response.signed === null) return { verdict: 'ocsp_wrong_type' };
    return { verdict: null, response, signed: null };
  } catch (error) {
    const code = error instanceof OcspParseError ? error.code : 'malformed';
    return { verdict: code === 'malformed' ? 'not_ocsp' : code };
  }
}

/**
 * Rules 3 to 6.
 *
 * @param {Extract<Known, {verdict: null}>} known
 * @param {(response: BasicResponse) => SignerResult} findSigner
 * @param {OcspExpectation} expected
 * @param {number} skewMs
 * @returns {OcspVerdict}
 */
function judge(known, findSigner, { certId, nonce, nowMs }, skewMs) {
  const { response } = known;
  const single = findSingle(response.responses, certId.raw);
  if (single === undefined) return 'cert_id_mismatch';
  known.signed ??= findSigner(response);
  const { failure, signer } = known.signed;
  if (failure !== null) return failure;
  if (signer !== null && (nowMs + skewMs < signer.notBefore || nowMs - skewMs > signer.notAfter)) {
    return 'responder_cert_expired';
  }
  if (single.thisUpdate > nowMs + skewMs) return 'not_yet_valid';
  if (single.nextUpdate !== null && single.nextUpdate < nowMs - skewMs) return 'expired';
  if (nonce !== null && response.nonce !== null && !response.nonce.equals(nonce)) return 'nonce_mismatch';
  return single.status;
}

/** @param {BasicResponse['responses']} responses @param {Uint8Array} askedRaw */
function findSingle(responses, askedRaw) {
  for (const single of responses) if (isSameCertId(single.certId, askedRaw)) return single;
  return undefined;
}

/**
 * The same bytes; or the same but for parameters of the hash algorithm that are NULL here and absent there.
 *
 * @param {CertId} answered
 * @param {Uint8Array} askedRaw
 */
function isSameCertId(answered, askedRaw) {
  if (answered.raw.equals(askedRaw)) return true;
  if (Math.abs(answered.raw.length - askedRaw.length) !== 2) return false;
  const asked = parseCertId(askedRaw);
  return (
    answered.hashOid === asked.hashOid &&
    isNullOrAbsent(answered.hashParameters) &&
    isNullOrAbsent(asked.hashParameters) &&
    Buffer.compare(answered.issuerNameHash, asked.issuerNameHash) === 0 &&
    Buffer.compare(answered.issuerKeyHash, asked.issuerKeyHash) === 0 &&
    Buffer.compare(answered.serial, asked.serial) === 0
  );
}
