/**
 * Checks an OCSP response as a client must (RFC 6960 section 3.2). The first broken rule, in this order, determines the
 * verdict:
 * 1. it is an OCSPResponse in DER, without too many certificates (`not_ocsp`, `too_many_certificates`) and without
 *    unknown critical extensions (`unknown_critical_extension`);
 * 2. its status is successful (`ocsp_*`) and its type id-pkix-ocsp-basic (`ocsp_wrong_type`);
 * 3. a SingleResponse has the CertID of the request (`cert_id_mismatch`), and no other one contradicts its status
 *    (`several_statuses`); of several, the first counts;
 * 4. the responderId names a signer that the issuer allows (`responder_not_authorized`), whose signature over the raw
 *    tbsResponseData is valid (`unsupported_signature_algorithm`, `rsa_exponent_too_large`, `bad_signature`). Unless the issuer signed, the
 *    signer's certificate has a key usage that allows it (`responder_key_usage`), no unknown critical extension
 *    (`responder_unknown_critical_extension`), and is valid now (`responder_cert_expired`; one of several with the key is enough);
 * 5. thisUpdate is not in the future (`not_yet_valid`); nextUpdate has not passed (`expired`) or, if absent, thisUpdate
 *    is at most a day old (`too_old`);
 * 6. the nonce, if both sent and returned, is the same (`nonce_mismatch`; RFC 9654 section 2.1).
 *
 * By rule 3, Vault's response for an unknown issuer, `unknown` with another CertID, is `cert_id_mismatch`.
 * Not checked: validity and revocation of the issuer, revocation of the responder.
 */
import { createHash, createPublicKey } from 'node:crypto';
import {
  allowsUsage,
  checkTimes,
  hasExtendedKeyUsage,
  isCa,
  isNamedIssuer,
  OID,
  parseCertificate,
} from './certificate-der.js';
import { asBuffer } from './der.js';
import { memoize } from './memoize.js';
import { parseCertId, parseOcspResponse } from './ocsp-response.js';
import { isNullOrAbsent, SIGNATURE_FAILURES, verifySignature } from './signature.js';

/** @import { CertificateFields } from './certificate-der.js' */
/** @import { BasicResponse, CertId } from './ocsp-response.js' */

/** As in Firefox (mozilla::pkix, NonOwningDERArray); responders send one to three. */
const MAX_CERTIFICATES = 8;

/** RFC 6960 section 3.2 requires "sufficiently recent" without a limit; this one is that of Firefox (mozilla::pkix). */
const DAY_MS = 86_400_000;

/** The verdicts that a client accepts. */
const OCSP_STATUSES = Object.freeze({
  good: 'The response passed every check: the certificate is not revoked.',
  revoked: 'The response passed every check: the certificate is revoked.',
  unknown: 'The response passed every check: the responder does not know the certificate.',
});

export const OCSP_FAILURES = Object.freeze({
  not_ocsp: 'The body is not a DER-encoded OCSP response.',
  unknown_critical_extension: 'The response has a critical extension that this tool does not understand.',
  ocsp_malformed_request: 'The responder refused: it could not read the request (malformedRequest).',
  ocsp_internal_error: 'The responder refused: it has an internal error (internalError).',
  ocsp_try_later: 'The responder refused: it is busy (tryLater).',
  ocsp_sig_required: 'The responder refused: it requires signed requests (sigRequired).',
  ocsp_unauthorized: 'The responder refused: it is not responsible for this certificate (unauthorized).',
  ocsp_unknown_error_status: 'The responder refused with a status that RFC 6960 does not define.',
  ocsp_wrong_type: 'The type of the response is not id-pkix-ocsp-basic.',
  cert_id_mismatch: 'The response is not about the requested certificate.',
  several_statuses: 'The response has different statuses for the requested certificate.',
  responder_not_authorized:
    'The response is signed by neither the issuer nor a responder the issuer authorized with id-kp-OCSPSigning.',
  too_many_certificates: `The response has more than ${MAX_CERTIFICATES} certificates.`,
  ...SIGNATURE_FAILURES,
  responder_unknown_critical_extension:
    'The responder certificate has an unknown critical extension, or one that must not be critical.',
  responder_key_usage: 'The key usage of the responder certificate does not allow signatures.',
  responder_cert_expired:
    'The responder certificate is outside its validity period by the clock of this machine.',
  not_yet_valid: 'thisUpdate is in the future by the clock of this machine.',
  expired: 'nextUpdate has passed by the clock of this machine, or is before thisUpdate.',
  too_old: 'The response has no nextUpdate, and thisUpdate is more than a day ago.',
  nonce_mismatch: 'The nonce of the response differs from that of the request.',
});

/** Every verdict with its description. */
export const OCSP_OUTCOMES = Object.freeze({ ...OCSP_STATUSES, ...OCSP_FAILURES });

/** @typedef {keyof typeof OCSP_STATUSES} OcspStatus @typedef {keyof typeof OCSP_FAILURES} OcspFailure */
/** @typedef {OcspStatus | OcspFailure} OcspVerdict */

/** @type {(verdict: OcspVerdict) => verdict is OcspStatus} */
export const isOcspStatus = (verdict) => Object.hasOwn(OCSP_STATUSES, verdict);

/** @typedef {{certId: {raw: Uint8Array}, nonce: Uint8Array | null, nowMs: number}} OcspExpectation `nowMs`: epoch ms */
/** @typedef {ReturnType<typeof createOcspChecker>} OcspChecker */

/** An RSA responder repeats its response for a serial within a second; an ECDSA responder never repeats. */
const MAX_CACHED = 1024;

/** Longer responses are not cached, to limit memory, and all together only so many bytes. */
const [MAX_CACHED_BYTES, MAX_ALL_CACHED] = [16_384, 4_000_000];

/** A CA has one or two responder certificates at a time, in all of so many bytes. */
const [MAX_RESPONDERS, MAX_ALL_RESPONDERS] = [32, 500_000];

/**
 * @typedef {ReturnType<typeof readSigner>} Signer
 * @typedef {{failure: OcspFailure, signer: Signer | null} | {failure: null, signer: Signer}} Candidate `signer` null: unreadable
 * @typedef {{failure: OcspFailure | null, signers: CertificateFields[]}} SignerResult `signers`: certificates with the
 *   key that signed, one of which must be valid; empty if the issuer itself signed
 * @typedef {{verdict: OcspVerdict} | {verdict: null, response: BasicResponse, signed: SignerResult | null}} Parsed result
 *   for the same bytes: a verdict, or the response, whose signature is verified when first needed
 */

/**
 * `issuerDer`: certificate of the CA that issued the checked certificates; `maxCached`: responses whose signature
 * is not verified again.
 * @param {{issuerDer: Uint8Array, maxCached?: number}} options
 * @throws {DerError} if the issuer cannot be read
 */
export function createOcspChecker({ issuerDer, maxCached = MAX_CACHED }) {
  const issuer = readSigner(Buffer.from(issuerDer));
  const cached = memoize(maxCached, (key) => read(Buffer.from(key, 'latin1')), MAX_ALL_CACHED);
  /** Comparing bytes is faster than looking them up. @type {{bytes: Buffer, parsed: Parsed} | null} */
  let last = null;
  const assess = memoize(
    MAX_RESPONDERS,
    (key) => assessResponder(Buffer.from(key, 'latin1'), issuer),
    MAX_ALL_RESPONDERS,
  );

  /** @param {Buffer} bytes the caller may reuse them */
  function parseCached(bytes) {
    if (bytes.length > MAX_CACHED_BYTES) return read(bytes);
    const parsed = cached(bytes.toString('latin1'));
    if (maxCached > 0) last = { bytes: Buffer.from(bytes), parsed };
    return parsed;
  }

  /** Rule 4: the issuer, then the enclosed certificates. @param {BasicResponse} response @returns {SignerResult} */
  function findSigners({ signed, responderId, certs }) {
    /** @type {SignerResult} */
    const result = { failure: 'responder_not_authorized', signers: [] };
    for (const { failure, signer } of [
      { failure: null, signer: issuer },
      ...certs.map((der) => assess(der.toString('latin1'))),
    ]) {
      if (signer === null || !isNamed(signer, responderId)) continue;
      if (failure !== null) {
        if (result.failure === 'responder_not_authorized') result.failure = failure;
        continue;
      }
      const verdict = verifySignature(signed, signer.key);
      if (verdict === null && signer === issuer) return { failure: null, signers: [] };
      if (verdict === null) result.signers.push(signer.certificate);
      else result.failure = verdict;
    }
    return result.signers.length > 0 ? { ...result, failure: null } : result;
  }

  return {
    /** Never throws. @param {Uint8Array} bytes @param {OcspExpectation} expected @returns {OcspVerdict} */
    check(bytes, { certId, nonce, nowMs }) {
      const parsed = last?.bytes.equals(bytes) ? last.parsed : parseCached(asBuffer(bytes));
      if (parsed.verdict !== null) return parsed.verdict;
      const { response } = parsed;
      const { responses } = response;
      const single = responses.find((item) => isSameCertId(item.certId, certId.raw));
      if (single === undefined) return 'cert_id_mismatch';
      if (responses.length > 1 && isContradicted(single, responses)) return 'several_statuses';
      parsed.signed ??= findSigners(response);
      const { failure, signers } = parsed.signed;
      if (failure !== null) return failure;
      const faults = signers.map((cert) => checkTimes(cert, nowMs, 'early', 'late'));
      if (faults.length > 0 && !faults.includes(null)) return 'responder_cert_expired';
      const times = {
        notBefore: single.thisUpdate,
        notAfter: single.nextUpdate ?? single.thisUpdate + DAY_MS,
      };
      const late = single.nextUpdate === null ? 'too_old' : 'expired';
      const fault = checkTimes(times, nowMs, 'not_yet_valid', late);
      if (fault !== null) return fault;
      if (nonce !== null && response.nonce !== null && !response.nonce.equals(nonce)) return 'nonce_mismatch';
      return single.status;
    },
  };
}

/** Rules 1 and 2. @param {Buffer} bytes @returns {Parsed} */
function read(bytes) {
  try {
    const response = parseOcspResponse(bytes);
    if (response.status !== 'successful') return { verdict: response.status };
    if (response.signed === null) return { verdict: 'ocsp_wrong_type' };
    if (response.certs.length > MAX_CERTIFICATES) return { verdict: 'too_many_certificates' };
    if (response.unknownCritical !== null) return { verdict: 'unknown_critical_extension' };
    return { verdict: null, response, signed: null };
  } catch {
    return { verdict: 'not_ocsp' };
  }
}

/**
 * The issuer itself must have issued the responder's certificate, with id-kp-OCSPSigning (RFC 6960 section 4.2.2.2).
 * @param {Buffer} der @param {Signer} issuer @returns {Candidate}
 */
function assessResponder(der, issuer) {
  try {
    const signer = readSigner(der);
    const { certificate } = signer;
    const { certificate: ca } = issuer;
    // RFC 5280 section 6.1.4, (k) to (o). A root of version 1 has no extensions; OpenSSL accepts it, too.
    const isOldRoot = ca.version === 0 && ca.subject.equals(ca.issuer);
    const mayIssue = (isCa(ca) || isOldRoot) && allowsUsage(ca, 'keyCertSign');
    const isIssuer = mayIssue && ca.unknownCritical === null;
    if (!isIssuer || !isNamedIssuer(certificate, ca) || !hasExtendedKeyUsage(certificate, OID.ocspSigning))
      return { failure: 'responder_not_authorized', signer };
    const failure = verifySignature(certificate.signed, issuer.key);
    if (failure === 'bad_signature') return { failure: 'responder_not_authorized', signer };
    if (failure !== null) return { failure, signer };
    if (certificate.unknownCritical !== null)
      return { failure: 'responder_unknown_critical_extension', signer };
    if (!allowsUsage(certificate, 'signatures')) return { failure: 'responder_key_usage', signer };
    return { failure: null, signer };
  } catch {
    return { failure: 'responder_not_authorized', signer: null };
  }
}

/** @param {Buffer} der @throws {Error} if the certificate or its key cannot be read */
function readSigner(der) {
  const certificate = parseCertificate(der);
  const keyHash = createHash('sha1').update(certificate.spkiBits).digest();
  const key = createPublicKey({ key: certificate.spki, format: 'der', type: 'spki' });
  return { keyHash, key, certificate };
}

/** @param {Signer} signer @param {BasicResponse['responderId']} responderId */
const isNamed = ({ certificate, keyHash }, { kind, value }) =>
  value.equals(kind === 'name' ? certificate.subject : keyHash);

/** @param {BasicResponse['responses'][number]} single @param {BasicResponse['responses']} responses */
const isContradicted = ({ status, certId }, responses) =>
  responses.some((other) => other.status !== status && isSameCertId(other.certId, certId.raw));

/**
 * Equal, except that absent and NULL parameters of the hash algorithm count as the same.
 * @param {CertId} received @param {Uint8Array} wantedRaw
 */
function isSameCertId(received, wantedRaw) {
  if (received.raw.equals(wantedRaw)) return true;
  // NULL takes two octets; the length field of the CertID may be an octet longer with it.
  if (![2, 3].includes(Math.abs(received.raw.length - wantedRaw.length))) return false;
  const wanted = parseCertId(wantedRaw);
  return (
    received.hashOid === wanted.hashOid &&
    [received, wanted].every(({ hashParameters }) => isNullOrAbsent(hashParameters)) &&
    received.issuerNameHash.equals(wanted.issuerNameHash) &&
    received.issuerKeyHash.equals(wanted.issuerKeyHash) &&
    received.serial.equals(wanted.serial)
  );
}
