/** Certificates that people give in files: read, named, and matched with each other before anything is sent. */
import { X509Certificate } from 'node:crypto';
import { usageError } from '../common/errors.js';
import { ocspAddresses, parseCertificate } from './certificate-der.js';
import { DerError, DerReader, TAG } from './der.js';
import { verifySignature } from './signature.js';
import { pemBlocks } from './text.js';

/**
 * @typedef {object} Certificate
 * @property {Buffer} der
 * @property {X509Certificate} x509
 * @property {Buffer} serial raw INTEGER contents
 * @property {Buffer} subjectDer raw Name
 * @property {Buffer} issuerDer raw Name
 * @property {Buffer} spkiBits contents of the public key's BIT STRING
 */

const MAX_FILE_BYTES = 4 * 1024 * 1024;

const REMEDY = 'Give a certificate in PEM (-----BEGIN CERTIFICATE-----) or DER.';

/**
 * @param {Uint8Array} bytes PEM, one or a chain, with any text around it; or DER of one
 * @param {string} name of the file, for messages
 * @returns {Certificate[]} at least one, in the order of the file
 * @throws {PkiLoadError}
 */
export function readCertificates(bytes, name) {
  if (bytes.length > MAX_FILE_BYTES) {
    const size = `${Math.ceil(bytes.length / 1024 / 1024)} MiB`;
    throw usageError('certificate_file_too_large', `${name} has ${size}, which no certificate has.`, REMEDY);
  }
  const source = Buffer.from(bytes);
  const text = source.toString('latin1');
  if (text.trim() === '') throw usageError('certificate_file_empty', `${name} is empty.`, REMEDY);
  if (text.includes('-----BEGIN ')) return readPem(text, name);
  if (source[0] !== TAG.sequence) {
    throw usageError('no_certificate', `${name} is neither PEM nor DER and holds no certificate.`, REMEDY);
  }
  const other = kindOfDer(source);
  if (other !== null) throw notCertificate(other, name);
  return [readDer(source, name)];
}

/** @param {string} text @param {string} name */
function readPem(text, name) {
  const certificates = [];
  let other = null;
  for (const { label, body } of pemBlocks(text)) {
    if (body === null) {
      const where =
        label === '' ? 'in the middle of a PEM line' : `without its line -----END ${printable(label)}-----`;
      throw usageError(
        'certificate_truncated',
        `${name} ends ${where}; it is cut off.`,
        'Copy the file again.',
      );
    }
    if (label === 'CERTIFICATE' || label === 'X509 CERTIFICATE') {
      if (!/^[A-Za-z0-9+/=\s]*$/.test(body)) throw unreadable(name, 'its PEM is not base64');
      certificates.push(readDer(Buffer.from(body, 'base64'), name));
    } else other ??= label;
  }
  if (certificates.length === 0) throw notCertificate(kindOfLabel(other ?? ''), name);
  return certificates;
}

/** @param {Buffer} der @param {string} name @returns {Certificate} */
function readDer(der, name) {
  try {
    const { serial, subject, issuer, spkiBits } = parseCertificate(der);
    return { der, x509: new X509Certificate(der), serial, subjectDer: subject, issuerDer: issuer, spkiBits };
  } catch (error) {
    throw unreadable(name, error instanceof DerError ? error.message : 'OpenSSL rejects it');
  }
}

/** @param {string} name @param {string} why */
function unreadable(name, why) {
  return usageError(
    'certificate_unreadable',
    `${name} holds a certificate that cannot be read: ${why}.`,
    REMEDY,
  );
}

/** @typedef {'key' | 'csr' | 'crl' | 'public' | 'other'} OtherKind */

/** @type {Readonly<Record<OtherKind, {code: string, text: string}>>} */
const OTHERS = Object.freeze({
  key: { code: 'private_key_given', text: 'a private key' },
  csr: { code: 'csr_given', text: 'a certificate signing request' },
  crl: { code: 'crl_given', text: 'a certificate revocation list' },
  public: { code: 'public_key_given', text: 'a public key' },
  other: { code: 'no_certificate', text: 'something else' },
});

/** @param {OtherKind} kind @param {string} name */
function notCertificate(kind, name) {
  const { code, text } = OTHERS[kind];
  return usageError(code, `${name} holds ${text}, not a certificate.`, REMEDY);
}

/** @param {string} label @returns {OtherKind} */
function kindOfLabel(label) {
  if (label.endsWith('PRIVATE KEY')) return 'key';
  if (label.endsWith('CERTIFICATE REQUEST')) return 'csr';
  if (label.endsWith('CRL')) return 'crl';
  return label.endsWith('PUBLIC KEY') ? 'public' : 'other';
}

/**
 * A guess by the tags of the first elements.
 *
 * @param {Buffer} der
 * @returns {OtherKind | null} null: perhaps a certificate
 */
function kindOfDer(der) {
  try {
    const outer = new DerReader(der).enter(TAG.sequence);
    if (outer.tag === TAG.integer) return 'key';
    const tags = tagsOf(outer.enter(TAG.sequence));
    if (/^(02)?3030(17|18)/.test(tags)) return 'crl';
    if (/^023030a0$/.test(tags)) return 'csr';
    return outer.tag === TAG.bitString ? 'public' : null;
  } catch {
    return null;
  }
}

/** @param {DerReader} reader */
function tagsOf(reader) {
  let tags = '';
  while (!reader.atEnd && tags.length < 16) {
    tags += reader.tag.toString(16).padStart(2, '0');
    reader.next();
  }
  return tags;
}

/**
 * @param {Certificate} leaf
 * @param {Certificate} issuer
 * @param {{leaf: string, issuer: string}} names of the files
 * @throws {PkiLoadError} unless the issuer's key signed the leaf
 */
export function assertIssued(leaf, issuer, names) {
  if (isIssuedBy(leaf, issuer)) return;
  if (leaf.der.equals(issuer.der)) {
    const message = `${names.leaf} and ${names.issuer} hold the same certificate, which did not issue itself.`;
    throw usageError(
      'wrong_issuer',
      message,
      `Give the certificate of ${nameText(leaf.x509.issuer)} as the issuer.`,
    );
  }
  if (isIssuedBy(issuer, leaf)) {
    const message = `${names.leaf} issued ${names.issuer}: the two were swapped.`;
    throw usageError('certificates_swapped', message, 'Give them the other way round.');
  }
  const sameName = leaf.issuerDer.equals(issuer.subjectDer);
  const message = sameName
    ? `${names.issuer} has the name of the issuer of ${names.leaf}, but its key did not sign it.`
    : `${names.issuer} (${nameText(issuer.x509.subject)}) did not issue ${names.leaf}, whose issuer is ${nameText(leaf.x509.issuer)}.`;
  const remedy = sameName
    ? 'Perhaps the CA was made anew: give the certificate it had when it issued.'
    : 'Give the certificate of that issuer.';
  throw usageError('wrong_issuer', message, remedy);
}

/** @param {Certificate} leaf @param {Certificate} issuer */
function isIssuedBy(leaf, issuer) {
  if (!leaf.issuerDer.equals(issuer.subjectDer)) return false;
  return verifySignature(parseCertificate(leaf.der).signed, issuer.x509.publicKey) === 'valid';
}

/** @param {string | undefined} name subject or issuer of X509Certificate: one attribute per line */
function nameText(name) {
  return printable(name ?? '').slice(0, 200) || 'without a name';
}

/** @param {string} text */
function printable(text) {
  return text.replace(/\n/g, ', ').replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');
}

/**
 * @param {Certificate} certificate
 * @returns {string[]} addresses of its OCSP responders, from Authority Information Access
 */
export function ocspUrls(certificate) {
  try {
    return ocspAddresses(parseCertificate(certificate.der));
  } catch {
    return [];
  }
}
