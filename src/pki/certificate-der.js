/**
 * Structures of RFC 5280 as plain data with views into their DER: AlgorithmIdentifier, Name, Extensions, Certificate. Ten times cheaper
 * than the getters of `X509Certificate`, and with the raw bytes that hashes and comparisons need.
 */
import { contextTag, DerError, DerReader, TAG } from './der.js';

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  crlDistributionPoints: '2.5.29.31',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  extensionRequest: '1.2.840.113549.1.9.14',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
  ocsp: '1.3.6.1.5.5.7.48.1',
  caIssuers: '1.3.6.1.5.5.7.48.2',
  ocspBasic: '1.3.6.1.5.5.7.48.1.1',
  ocspNonce: '1.3.6.1.5.5.7.48.1.2',
});

/** @typedef {{oid: string, parameters: Buffer | null, data: Buffer, signature: Buffer}} Signed `data`: the raw bytes that are signed */

/** @param {DerReader} reader */
export function readAlgorithm(reader) {
  const algorithm = reader.enter(TAG.sequence);
  const oid = algorithm.readOid();
  const parameters = algorithm.atEnd ? null : readAny(algorithm);
  algorithm.finish();
  return { oid, parameters };
}

/** Levels of constructed elements within an ANY; names and algorithms have three at most. */
const MAX_DEPTH = 16;

/** An element of any type; only its lengths are checked, to the last level. @param {DerReader} reader @returns {Buffer} raw */
export function readAny(reader) {
  const start = reader.pos;
  skipAny(reader, 0);
  return reader.bytes.subarray(start, reader.to);
}

/** @param {DerReader} reader @param {number} depth */
function skipAny(reader, depth) {
  const isConstructed = (reader.tag & 0x20) !== 0;
  reader.next();
  if (!isConstructed) return;
  if (depth === MAX_DEPTH) throw new DerError('Elements are nested too deeply', reader.from);
  const inner = new DerReader(reader.bytes, reader.from, reader.to);
  while (!inner.atEnd) skipAny(inner, depth + 1);
}

/** Name (section 4.1.2.4), whose values may be of any kind. @param {DerReader} reader @returns {Buffer} raw */
export function readName(reader) {
  const start = reader.pos;
  const names = reader.enter(TAG.sequence);
  const raw = reader.bytes.subarray(start, reader.to);
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    set.demandSome();
    while (!set.atEnd) {
      const attribute = set.enter(TAG.sequence);
      attribute.readOid();
      readAny(attribute);
      attribute.finish();
    }
  }
  return raw;
}

/**
 * The frame of certificates, CRLs and CSRs: fields, the algorithm, the signature over the fields.
 * @param {Uint8Array} der nothing behind it
 * @returns {{signed: Signed, tbs: DerReader, rawAlgorithm: Buffer}}
 * @throws {DerError}
 */
export function readSigned(der) {
  const outer = new DerReader(der);
  const fields = outer.enter(TAG.sequence);
  outer.finish();
  const data = fields.readRaw(TAG.sequence);
  const rawAlgorithm = fields.readRaw(TAG.sequence);
  const signature = fields.readBitString();
  fields.finish();
  const signed = { ...readAlgorithm(new DerReader(rawAlgorithm)), data, signature };
  return { signed, tbs: new DerReader(data).enter(TAG.sequence), rawAlgorithm };
}

/** Sections 4.1.1.2 and 5.1.1.2. @param {DerReader} tbs @param {Buffer} rawAlgorithm of the signature around it */
export function demandSameAlgorithm(tbs, rawAlgorithm) {
  if (!tbs.readRaw(TAG.sequence).equals(rawAlgorithm)) throw new DerError('Signature algorithms differ');
}

/** @typedef {{values: Map<string, Buffer>, critical: string | null}} Extensions `values`: contents of extnValue by OID */

/**
 * Extensions (section 4.2), each at most once.
 * @param {DerReader} reader
 * @param {ReadonlySet<string>} understood OIDs
 * @returns {Extensions} `critical`: the first critical one that is not understood
 */
export function readExtensions(reader, understood) {
  const list = reader.enter(TAG.sequence);
  /** @type {Extensions} */
  const extensions = { values: new Map(), critical: null };
  while (!list.atEnd) {
    const extension = list.enter(TAG.sequence);
    const oid = extension.readOid();
    const isCritical = extension.tag === TAG.boolean && extension.readBoolean();
    const value = extension.read(TAG.octetString);
    extension.finish();
    if (extensions.values.has(oid)) throw new DerError('Extension occurs twice', list.pos);
    extensions.values.set(oid, value);
    if (isCritical && !understood.has(oid)) extensions.critical ??= oid;
  }
  return extensions;
}

/** @param {Extensions} extensions @throws {DerError} where there is none: SIZE (1..MAX) */
export function demandSome({ values }) {
  if (values.size === 0) throw new DerError('List without elements');
}

/**
 * @typedef {object} CertificateFields
 * @property {Buffer} serial raw INTEGER contents
 * @property {Buffer} issuer raw Name
 * @property {number} notBefore epoch ms
 * @property {number} notAfter epoch ms
 * @property {Buffer} subject raw Name
 * @property {Buffer} spki raw SubjectPublicKeyInfo
 * @property {Buffer} spkiBits contents of its BIT STRING: what OCSP hashes
 * @property {Extensions['values']} extensions
 * @property {string | null} critical OID of a critical extension that is not understood: the certificate must be rejected (section 4.2)
 * @property {Signed} signed
 */

/** Those of section 4.2.1, which end in these numbers, and id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2.1). */
const UNDERSTOOD = new Set([
  ...[14, 15, 17, 18, 19, 30, 31, 32, 33, 35, 36, 37, 46, 54].map((number) => `2.5.29.${number}`),
  OID.authorityInfoAccess,
  '1.3.6.1.5.5.7.48.1.5',
]);

/** @param {Uint8Array} der of one certificate, nothing behind it @returns {CertificateFields} @throws {DerError} */
export function parseCertificate(der) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  const version = tbs.enterOptional(contextTag(0));
  if (version !== null && version.readSmallNumber(TAG.integer) > 2)
    throw new DerError('Not a version of certificates');
  version?.finish();
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
  const explicit = tbs.enterOptional(contextTag(3));
  tbs.finish();
  const extensions = explicit === null ? null : readExtensions(explicit, UNDERSTOOD);
  explicit?.finish();
  if (extensions !== null) demandSome(extensions);
  return {
    ...{ serial, issuer, notBefore, notAfter, subject, spki, spkiBits, signed },
    extensions: extensions?.values ?? new Map(),
    critical: extensions?.critical ?? null,
  };
}

/** @param {Uint8Array} spki SubjectPublicKeyInfo @returns {Buffer} contents of its BIT STRING */
export function publicKeyBits(spki) {
  const fields = new DerReader(spki).enter(TAG.sequence);
  readAlgorithm(fields);
  const bits = fields.readBitString();
  fields.finish();
  return bits;
}

/**
 * @param {CertificateFields} certificate
 * @param {string} purpose OID of a KeyPurposeId
 * @returns {boolean} whether extKeyUsage (section 4.2.1.12) lists it; anyExtendedKeyUsage does not count
 */
export function hasExtendedKeyUsage({ extensions }, purpose) {
  const value = extensions.get(OID.extKeyUsage);
  const list = value && new DerReader(value).enter(TAG.sequence);
  while (list && !list.atEnd) if (list.readOid() === purpose) return true;
  return false;
}

/** @param {CertificateFields} certificate @returns {boolean} by its keyUsage (section 4.2.1.3), where it has one */
export function maySign({ extensions }) {
  const value = extensions.get(OID.keyUsage);
  if (value === undefined) return true;
  const bits = new DerReader(value).read(TAG.bitString); // the first octet counts the unused bits
  return bits.length > 1 && (bits[1] & 0x80) !== 0;
}

/** @param {CertificateFields} certificate @returns {boolean} by its basicConstraints (section 4.2.1.9) */
export function isCa({ extensions }) {
  const value = extensions.get(OID.basicConstraints);
  const fields = value && new DerReader(value).enter(TAG.sequence);
  return fields?.tag === TAG.boolean && fields.readBoolean();
}

/** @param {CertificateFields} certificate @returns {string[]} http(s) addresses of its OCSP responders (section 4.2.2.1), in their order */
export function ocspAddresses({ extensions }) {
  const value = extensions.get(OID.authorityInfoAccess);
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

/** @param {Uint8Array} name raw Name @returns {string | null} the last commonName, which is the most specific one */
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

/** @param {DerReader} attribute @returns {string} a DirectoryString (section 4.1.2.4) */
function directoryString(attribute) {
  const { tag } = attribute;
  const value = attribute.read();
  if (tag === TAG.utf8String) return value.toString('utf8');
  if (tag === TAG.bmpString && value.length % 2 === 0) return Buffer.from(value).swap16().toString('utf16le');
  return value.toString('latin1');
}
