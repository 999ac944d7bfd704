/**
 * The judge of a certificate that a CA has just issued. The rules, in their order; the first one broken names the failure:
 * it is there and can be read, its issuing CA too; that CA's name and key issued it; it has the requested names, and is no CA itself; it has
 * the key that was asked for or came along; it is valid now. Extra names are allowed: Vault adds the commonName to the alternative
 * names, and roles may add more. The issuing CA is the one the answer names: whether it is to be trusted is not asked.
 */
import { createPublicKey } from 'node:crypto';
import { commonNameOf, isCa, OID, parseCertificate } from './certificate-der.js';
import { includesIp, includesName, readAlternativeNames } from './names.js';
import { matchPrivateKey } from './private-key.js';
import { Remembered } from './remembered.js';
import { verifySignature } from './signature.js';
import { decodePem } from './text.js';
/** @import { KeyObject } from 'node:crypto' */

/**
 * @typedef {import('./certificate-der.js').CertificateFields} CertificateFields
 *
 * @typedef {'no_certificate' | 'certificate_unreadable' | 'no_issuing_ca' | 'issuing_ca_unreadable' | 'wrong_issuer'
 *   | 'unsupported_signature_algorithm' | 'bad_signature' | 'wrong_subject' | 'wrong_sans' | 'ca_certificate' | 'key_mismatch'
 *   | 'private_key_unreadable' | 'not_yet_valid' | 'certificate_expired'} CertificateFailure
 *
 * @typedef {object} IssuedAnswer
 * @property {unknown} certificatePem
 * @property {unknown} issuingCaPem
 * @property {unknown} [privateKeyPem] null or left out where the CA made no key
 * @property {Uint8Array | null} [expectedSpki] public key of the CSR, raw SubjectPublicKeyInfo
 * @property {{commonName?: string | null, altNames?: readonly string[], ipSans?: readonly string[]}} expected
 * @property {number} nowMs epoch ms
 * @property {number} [skewMs] how far the clocks may be apart
 */

/** Every failure with its description. @type {Readonly<Record<CertificateFailure, string>>} */
export const CERTIFICATE_FAILURES = Object.freeze({
  no_certificate: 'The response has no certificate.',
  certificate_unreadable: 'The certificate is not PEM or not DER.',
  no_issuing_ca: 'The response does not have the CA that issued the certificate.',
  issuing_ca_unreadable: 'The certificate of the issuing CA is not PEM or not DER.',
  wrong_issuer: 'The certificate names another issuer than the issuing CA.',
  unsupported_signature_algorithm: 'The signature of the certificate cannot be verified here.',
  bad_signature: 'The issuing CA did not sign the certificate.',
  wrong_subject: 'The certificate has another commonName than was asked for.',
  wrong_sans: 'The certificate lacks an alternative name that was asked for.',
  ca_certificate: 'The certificate is that of a CA, which was not asked for.',
  key_mismatch:
    'The certificate has another key than was asked for, or than the private key that came with it.',
  private_key_unreadable: 'The private key that came with the certificate cannot be read.',
  not_yet_valid: 'The certificate is not valid yet.',
  certificate_expired: 'The certificate has expired already.',
});

export const DEFAULT_SKEW_MS = 5000;

/** @typedef {{fields: CertificateFields, key: KeyObject} | null} IssuingCa null: unreadable */

/** Issuing CAs by their text. A mount has a few; an answer repeats the text each time. */
const issuingCas = /** @type {Remembered<string, {ca: IssuingCa}>} */ (new Remembered(16));

/**
 * @param {IssuedAnswer} answer
 * @returns {{failure: CertificateFailure | null, serial: Buffer | null}} `serial`: raw INTEGER contents, once it is readable;
 *   never throws
 */
export function checkIssuedCertificate(answer) {
  const { certificatePem } = answer;
  if (typeof certificatePem !== 'string' || certificatePem === '')
    return { failure: 'no_certificate', serial: null };
  try {
    const der = decodePem(certificatePem, /^CERTIFICATE$/);
    if (der === null) return { failure: 'certificate_unreadable', serial: null };
    const certificate = parseCertificate(der);
    return { failure: judge(certificate, answer), serial: Buffer.from(certificate.serial) };
  } catch {
    return { failure: 'certificate_unreadable', serial: null };
  }
}

/**
 * @param {CertificateFields} certificate
 * @param {IssuedAnswer} answer
 * @returns {CertificateFailure | null}
 */
function judge(certificate, answer) {
  return (
    checkIssuer(certificate, answer.issuingCaPem) ??
    checkNames(certificate, answer.expected) ??
    (isCa(certificate) ? 'ca_certificate' : null) ??
    checkKey(certificate, answer) ??
    checkValidity(certificate, answer)
  );
}

/**
 * @param {CertificateFields} certificate
 * @param {unknown} issuingCaPem
 * @returns {CertificateFailure | null}
 */
function checkIssuer(certificate, issuingCaPem) {
  if (typeof issuingCaPem !== 'string' || issuingCaPem === '') return 'no_issuing_ca';
  const ca = readIssuingCa(issuingCaPem);
  if (ca === null) return 'issuing_ca_unreadable';
  if (!certificate.issuer.equals(ca.fields.subject)) return 'wrong_issuer';
  const result = verifySignature(certificate.signed, ca.key);
  if (result === 'unsupported') return 'unsupported_signature_algorithm';
  return result === 'bad' ? 'bad_signature' : null;
}

/** @param {string} pem @returns {IssuingCa} */
function readIssuingCa(pem) {
  const known = issuingCas.get(pem) ?? issuingCas.set(pem, { ca: parseIssuingCa(pem) });
  return known.ca;
}

/** @param {string} pem @returns {IssuingCa} */
function parseIssuingCa(pem) {
  try {
    const der = decodePem(pem, /^CERTIFICATE$/);
    if (der === null) return null;
    const fields = parseCertificate(Buffer.from(der));
    return { fields, key: createPublicKey({ key: fields.spki, format: 'der', type: 'spki' }) };
  } catch {
    return null;
  }
}

/**
 * The commonName is the one asked for; where a role leaves it out of the subject (`require_cn=false`), it is among the
 * alternative names instead. Those asked for are all there.
 *
 * @param {CertificateFields} certificate
 * @param {IssuedAnswer['expected']} expected
 * @returns {CertificateFailure | null}
 */
function checkNames(certificate, { commonName, altNames = [], ipSans = [] }) {
  const value = certificate.extensions.get(OID.subjectAltName);
  const names = value === undefined ? { dns: [], email: [], ip: [] } : readAlternativeNames(value);
  if (commonName) {
    const subject = commonNameOf(certificate.subject);
    if (subject === null ? !includesName(names, commonName) : subject !== commonName) return 'wrong_subject';
  }
  const complete =
    altNames.every((name) => includesName(names, name)) && ipSans.every((ip) => includesIp(names, ip));
  return complete ? null : 'wrong_sans';
}

/**
 * @param {CertificateFields} certificate
 * @param {IssuedAnswer} answer
 * @returns {CertificateFailure | null}
 */
function checkKey({ spki }, { expectedSpki = null, privateKeyPem = null }) {
  if (expectedSpki !== null && !spki.equals(expectedSpki)) return 'key_mismatch';
  if (privateKeyPem === null) return null;
  const result = typeof privateKeyPem === 'string' ? matchPrivateKey(privateKeyPem, spki) : 'unreadable';
  if (result === 'unreadable') return 'private_key_unreadable';
  return result === 'mismatch' ? 'key_mismatch' : null;
}

/**
 * @param {CertificateFields} certificate
 * @param {IssuedAnswer} answer
 * @returns {CertificateFailure | null}
 */
function checkValidity({ notBefore, notAfter }, { nowMs, skewMs = DEFAULT_SKEW_MS }) {
  if (notBefore > nowMs + skewMs) return 'not_yet_valid';
  return notAfter < nowMs - skewMs ? 'certificate_expired' : null;
}
