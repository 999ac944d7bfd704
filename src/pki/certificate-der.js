/**
 * Certificate (RFC 5280 section 4.1) as plain data with views into its DER: ten times cheaper than the getters of
 * `X509Certificate`, and it gives the raw bytes that hashes and comparisons need.
 */
import { contextTag, DerError, DerReader, TAG } from './der.js';
import { demandSameAlgorithm, readAlgorithm, readExtensions, readName, readSigned } from './fields.js';
/** @import { Signed } from './fields.js' */

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extKeyUsage: '2.5.29.37',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  ocsp: '1.3.6.1.5.5.7.48.1',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
});

/**
 * @typedef {object} CertificateFields
 * @property {Buffer} serial raw INTEGER contents
 * @property {Buffer} issuer raw Name
 * @property {number} notBefore epoch ms
 * @property {number} notAfter epoch ms
 * @property {Buffer} subject raw Name
 * @property {Buffer} spki raw SubjectPublicKeyInfo
 * @property {Buffer} spkiBits contents of its BIT STRING
 * @property {Map<string, Buffer>} extensions extnValue contents by OID
 * @property {Signed} signed
 */

/**
 * @param {Uint8Array} der of one certificate, nothing behind it
 * @returns {CertificateFields}
 * @throws {DerError}
 */
export function parseCertificate(der) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  checkVersion(tbs.enterOptional(contextTag(0)));
  const serial = tbs.readInteger();
  demandSameAlgorithm(tbs, rawAlgorithm);
  const issuer = readName(tbs);
  const validity = tbs.enter(TAG.sequence);
  const notBefore = validity.readTime();
  const notAfter = validity.readTime();
  validity.finish();
  const subject = readName(tbs);
  const spki = tbs.readRaw(TAG.sequence);
  const spkiBits = publicKeyBits(spki);
  tbs.enterOptional(contextTag(1, false)); // unique identifiers
  tbs.enterOptional(contextTag(2, false));
  const extensions = readExtensionValues(tbs);
  tbs.finish();
  return { serial, issuer, notBefore, notAfter, subject, spki, spkiBits, extensions, signed };
}

/** @param {DerReader | null} explicit */
function checkVersion(explicit) {
  if (explicit === null) return;
  if (explicit.readSmallNumber(TAG.integer) > 2) throw new DerError('Not a version of certificates');
  explicit.finish();
}

/**
 * @param {Uint8Array} spki SubjectPublicKeyInfo
 * @returns {Buffer} contents of the BIT STRING: what OCSP hashes
 */
export function publicKeyBits(spki) {
  const fields = new DerReader(spki).enter(TAG.sequence);
  readAlgorithm(fields);
  const bits = fields.readBitString();
  fields.finish();
  return bits;
}

/** @param {DerReader} tbs */
function readExtensionValues(tbs) {
  /** @type {Map<string, Buffer>} */
  const values = new Map();
  const explicit = tbs.enterOptional(contextTag(3));
  if (explicit === null) return values;
  const list = explicit.enter(TAG.sequence);
  explicit.finish();
  list.demandSome();
  readExtensions(list, (oid, value) => values.set(oid, value));
  return values;
}

/**
 * @param {CertificateFields} certificate
 * @param {string} purpose OID of a KeyPurposeId
 * @returns {boolean} whether extKeyUsage (RFC 5280 section 4.2.1.12) lists it; anyExtendedKeyUsage does not count
 */
export function hasExtendedKeyUsage(certificate, purpose) {
  const value = certificate.extensions.get(OID.extKeyUsage);
  if (value === undefined) return false;
  const list = new DerReader(value).enter(TAG.sequence);
  while (!list.atEnd) if (list.readOid() === purpose) return true;
  return false;
}

/**
 * @param {CertificateFields} certificate
 * @returns {boolean} basicConstraints (RFC 5280 section 4.2.1.9) marks it as a CA's
 */
export function isCa(certificate) {
  const value = certificate.extensions.get(OID.basicConstraints);
  if (value === undefined) return false;
  const fields = new DerReader(value).enter(TAG.sequence);
  return !fields.atEnd && fields.tag === TAG.boolean && fields.readBoolean();
}

/**
 * @param {CertificateFields} certificate
 * @returns {string[]} http(s) addresses of its OCSP responders (RFC 5280 section 4.2.2.1), in their order
 */
export function ocspAddresses(certificate) {
  const value = certificate.extensions.get(OID.authorityInfoAccess);
  const urls = [];
  const list = value && new DerReader(value).enter(TAG.sequence);
  while (list && !list.atEnd) {
    const access = list.enter(TAG.sequence);
    const method = access.readOid();
    if (method === OID.ocsp && access.tag === contextTag(6, false))
      urls.push(access.read().toString('latin1'));
  }
  return urls.filter((url) => /^https?:\/\//i.test(url));
}

/**
 * @param {Uint8Array} name raw Name
 * @returns {string | null} the last commonName, which is the most specific one
 */
export function commonNameOf(name) {
  const names = new DerReader(name).enter(TAG.sequence);
  let found = null;
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    while (!set.atEnd) {
      const attribute = set.enter(TAG.sequence);
      if (attribute.readOid() === OID.commonName) found = directoryString(attribute);
    }
  }
  return found;
}

/** @param {DerReader} attribute @returns {string} a DirectoryString, RFC 5280 section 4.1.2.4 */
function directoryString(attribute) {
  const tag = attribute.tag;
  const value = attribute.read();
  if (tag === TAG.utf8String) return value.toString('utf8');
  if (tag === TAG.bmpString && value.length % 2 === 0) return Buffer.from(value).swap16().toString('utf16le');
  return value.toString('latin1');
}
