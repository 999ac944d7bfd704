/** Reads certificate files, and checks before a run that one certificate issued another. */
import { X509Certificate } from 'node:crypto';
import { usageError } from '../common/errors.js';
import { redactTokens } from '../common/sanitize.js';
import { parseCertificate } from './certificate-der.js';
import { DerError, TAG } from './der.js';
import { SIGNATURE_FAILURES, verifySignature } from './signature.js';
import { decodeBody, pemBlocks } from './text.js';

/** @import { Signed } from './certificate-der.js' */
/** @typedef {ReturnType<typeof readDer>} Certificate */

/** The smallest certificates have 400 bytes, and each takes 0.5 ms or more. */
const MAX_FILE_BYTES = 512 * 1024;

const REMEDY = 'Use a certificate in PEM (-----BEGIN CERTIFICATE-----) or DER.';
/** @param {string} code @param {string} message @param {string} [remedy] */
const certificateError = (code, message, remedy = REMEDY) => usageError(code, message, remedy);

/**
 * @param {Uint8Array} bytes PEM of one certificate or a chain, with any text around it; or DER of one
 * @param {string} name of the file, for messages @returns {Certificate[]} at least one, in the order of the file
 * @throws {PkiLoadError}
 */
export function readCertificates(bytes, name) {
  if (bytes.length > MAX_FILE_BYTES)
    throw certificateError('certificate_file_too_large', `${name} is larger than 512 KiB.`);
  const source = Buffer.from(bytes);
  const text = source.toString('latin1');
  if (text.trim() === '') throw certificateError('certificate_file_empty', `${name} is empty.`);
  if (text.includes('-----BEGIN ')) return readPem(text, name);
  if (source[0] === TAG.sequence) return [readDer(source, name)];
  throw certificateError('no_certificate', `${name} is neither PEM nor DER and contains no certificate.`);
}

/** @param {string} text @param {string} name */
function readPem(text, name) {
  const certificates = [];
  const others = [];
  for (const { label, body } of pemBlocks(text)) {
    const message = `${name} is truncated: a PEM block has no END line.`;
    if (body === null) throw certificateError('certificate_truncated', message, 'Copy the file again.');
    if (label === 'CERTIFICATE' || label === 'X509 CERTIFICATE') {
      const der = decodeBody(body);
      if (der === null) throw unreadableError(name, 'its PEM is not base64');
      certificates.push(readDer(der, name));
    } else others.push(label);
  }
  if (certificates.length > 0) return certificates;
  const message = `${name} contains a PEM block "${printable(others[0])}", not a certificate.`;
  throw certificateError('no_certificate', message);
}

/** @param {Buffer} der @param {string} name */
function readDer(der, name) {
  try {
    const { subject: subjectDer, issuer: issuerDer, ...fields } = parseCertificate(der);
    return { ...fields, der, x509: new X509Certificate(der), subjectDer, issuerDer };
  } catch (error) {
    throw unreadableError(name, error instanceof DerError ? error.message : 'OpenSSL rejects it');
  }
}

/** @param {string} name @param {string} why */
const unreadableError = (name, why) =>
  certificateError('certificate_unreadable', `${name} contains an invalid certificate: ${why}.`);

/**
 * @param {Certificate} leaf @param {Certificate} issuer @param {{leaf: string, issuer: string}} names of the files
 * @throws {PkiLoadError} unless the issuer's key signed the leaf
 */
export function assertIssued(leaf, issuer, names) {
  assertKey(issuer, names.issuer);
  if (isSignedBy(leaf, issuer)) return;
  if (isSignedBy(issuer, leaf)) {
    if (names.leaf === names.issuer) {
      const message = `${names.leaf} has a certificate after that of its issuer: the leaf certificate must come first.`;
      throw usageError('leaf_not_first', message, 'Reverse the order of the certificates in the file.');
    }
    const message = `${names.leaf} issued ${names.issuer}: the two were swapped.`;
    throw usageError('certificates_swapped', message, 'Swap them.');
  }
  const failure = verifySignature(leaf.signed, issuer.x509.publicKey);
  if (leaf.issuerDer.equals(issuer.subjectDer) && failure !== null && failure !== 'bad_signature')
    throw usageError(
      failure,
      `${names.leaf}: ${SIGNATURE_FAILURES[failure]}`,
      'Use a certificate with another signature.',
    );
  const why = leaf.issuerDer.equals(issuer.subjectDer)
    ? 'the name of the issuer matches, but the key does not'
    : `the issuer is ${nameText(leaf.x509.issuer)}`;
  const message = `${names.issuer} (${nameText(issuer.x509.subject)}) did not issue ${names.leaf}: ${why}.`;
  throw usageError('wrong_issuer', message, 'Use the certificate of the CA that issued it.');
}

/** @param {{issuerDer: Buffer, signed: Signed}} leaf @param {Certificate} issuer @returns {boolean} false, too, if OpenSSL cannot decode the key */
export function isSignedBy({ issuerDer, signed }, { subjectDer, x509 }) {
  try {
    return issuerDer.equals(subjectDer) && verifySignature(signed, x509.publicKey) === null;
  } catch {
    return false;
  }
}

/** @param {Certificate} issuer @param {string} name of the file @throws {PkiLoadError} if it can verify no signature */
export function assertKey({ x509 }, name) {
  try {
    x509.publicKey;
  } catch {
    const message = `${name} (${nameText(x509.subject)}) has a public key that OpenSSL cannot decode.`;
    throw usageError(
      'unreadable_key',
      message,
      'Use the certificate of a CA with an RSA, EC or Ed25519 key.',
    );
  }
}

/** @param {string | undefined} name subject or issuer of X509Certificate: one attribute per line */
const nameText = (name) => printable(redactTokens(name ?? '')).slice(0, 200) || 'unnamed';

/** @param {string} text */
const printable = (text) => text.replace(/\n/g, ', ').replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');
