/**
 * Who signed an OCSP response, and whether the issuer let it (RFC 6960 section 4.2.2.2): the issuer itself, or a
 * certificate that the issuer itself issued and that has id-kp-OCSPSigning.
 */
import { createHash, createPublicKey } from 'node:crypto';
import { hasExtendedKeyUsage, OID, parseCertificate } from './certificate-der.js';
import { DerError } from './der.js';
import { RememberedBytes } from './remembered.js';
import { verifySignature } from './signature.js';

/** @import { KeyObject } from 'node:crypto' */

/**
 * @typedef {import('./ocsp-response.js').BasicResponse} BasicResponse
 * @typedef {KeyObject} KeyObject
 *
 * @typedef {object} Signer
 * @property {Buffer} name raw subject
 * @property {Buffer} keyHash SHA-1 of the contents of the public key's BIT STRING
 * @property {KeyObject} key
 * @property {number} notBefore epoch ms
 * @property {number} notAfter epoch ms
 *
 * @typedef {'responder_not_authorized' | 'unsupported_signature_algorithm' | 'bad_signature'} SignerFailure
 * @typedef {{failure: SignerFailure, signer: null} | {failure: null, signer: Signer | null}} SignerResult `signer` null: the
 *   issuer itself, whose validity period is the caller's business
 */

/** Certificates of responders a CA has at one time: one or two. */
const MAX_RESPONDERS = 32;

/**
 * @param {Uint8Array} issuerDer
 * @param {(kind: 'response' | 'certificate') => void} onVerify called before each real signature verification
 * @returns {(response: BasicResponse) => SignerResult} the signer whose key the signature fits
 * @throws {DerError} when the issuer cannot be read
 */
export function createSignerFinder(issuerDer, onVerify) {
  const issuer = readSigner(issuerDer).signer;
  const assessCert = createResponderAssessor(issuer, onVerify);
  return (response) => {
    /** @type {SignerFailure} */
    let failure = 'responder_not_authorized';
    for (const candidate of candidates(response, issuer, assessCert)) {
      if (candidate.failure !== null) {
        if (failure === 'responder_not_authorized') failure = candidate.failure;
        continue;
      }
      onVerify('response');
      const result = verifySignature(response.signed, candidate.signer.key);
      if (result === 'valid') {
        return { failure: null, signer: candidate.signer === issuer ? null : candidate.signer };
      }
      failure = result === 'bad' ? 'bad_signature' : 'unsupported_signature_algorithm';
    }
    return { failure, signer: null };
  };
}

/**
 * Signers with the responderId: the issuer first, then the enclosed certificates.
 *
 * @param {BasicResponse} response
 * @param {Signer} issuer
 * @param {(der: Buffer) => Assessment} assessCert
 */
function* candidates(response, issuer, assessCert) {
  if (isNamed(issuer, response.responderId)) yield { failure: null, signer: issuer };
  for (const der of response.certs) {
    const assessment = assessCert(der);
    if (assessment.signer === null || !isNamed(assessment.signer, response.responderId)) continue;
    if (assessment.failure !== null) yield { failure: assessment.failure, signer: assessment.signer };
    else yield { failure: null, signer: assessment.signer };
  }
}

/** @param {Signer} signer @param {BasicResponse['responderId']} responderId */
function isNamed(signer, responderId) {
  return responderId.value.equals(responderId.kind === 'name' ? signer.name : signer.keyHash);
}

/**
 * @typedef {{failure: SignerFailure | null, signer: Signer | null}} Assessment `signer` null: not a readable certificate
 *
 * @param {Signer} issuer
 * @param {(kind: 'response' | 'certificate') => void} onVerify
 * @returns {(der: Buffer) => Assessment} remembered per certificate; its validity period is left to the caller
 */
function createResponderAssessor(issuer, onVerify) {
  const known = /** @type {RememberedBytes<Assessment>} */ (new RememberedBytes(MAX_RESPONDERS));
  return (der) => {
    const assessment = known.get(der);
    if (assessment !== undefined) return assessment;
    const copy = Buffer.from(der);
    return known.set(copy, assessResponder(copy, issuer, onVerify));
  };
}

/**
 * @param {Buffer} der
 * @param {Signer} issuer
 * @param {(kind: 'response' | 'certificate') => void} onVerify
 * @returns {Assessment}
 */
function assessResponder(der, issuer, onVerify) {
  try {
    const { certificate, signer } = readSigner(der);
    if (!certificate.issuer.equals(issuer.name) || !hasExtendedKeyUsage(certificate, OID.ocspSigning)) {
      return { failure: 'responder_not_authorized', signer };
    }
    onVerify('certificate');
    const result = verifySignature(certificate.signed, issuer.key);
    if (result === 'unsupported') return { failure: 'unsupported_signature_algorithm', signer };
    return { failure: result === 'valid' ? null : 'responder_not_authorized', signer };
  } catch {
    return { failure: 'responder_not_authorized', signer: null };
  }
}

/** @param {Uint8Array} der */
function readSigner(der) {
  const certificate = parseCertificate(der);
  const signer = {
    name: certificate.subject,
    keyHash: createHash('sha1').update(certificate.spkiBits).digest(),
    key: readPublicKey(certificate.spki),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  };
  return { certificate, signer };
}

/** @param {Buffer} spki */
function readPublicKey(spki) {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    throw new DerError('Public key is of a kind that cannot be read');
  }
}
