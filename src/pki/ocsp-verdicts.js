/** The closed list of what an answer of an OCSP responder can be. Outcome names, `--help` and the docs come from here. */

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
  good: 'The answer passed every check and says the certificate is not revoked.',
  revoked: 'The answer passed every check and says the certificate is revoked.',
  unknown: 'The answer passed every check and says the responder does not know the certificate.',
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

/**
 * @param {OcspVerdict} verdict
 * @returns {verdict is OcspStatus}
 */
export function isOcspStatus(verdict) {
  return Object.hasOwn(OCSP_STATUSES, verdict);
}
