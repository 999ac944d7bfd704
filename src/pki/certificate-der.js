/**
 * Structures of RFC 5280 as plain data with views into their DER. Ten times faster than the getters of
 * `X509Certificate`, and includes the raw bytes that hashes and comparisons need.
 */
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';

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

/** @typedef {{oid: string, parameters: Buffer | null, data: Buffer, signature: Buffer}} Signed `data`: raw */

/** @param {DerReader} reader */
export const readAlgorithm = (reader) =>
  reader.inside(TAG.sequence, (fields) => ({
    oid: fields.readOid(),
    parameters: fields.atEnd ? null : fields.readAny(),
  }));

/** Name (section 4.1.2.4), whose values may be of any type. @param {DerReader} reader @returns {Buffer} raw */
export function readName(reader) {
  const start = reader.pos;
  const names = reader.enter(TAG.sequence);
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    if (set.atEnd) throw new DerError('Empty list', set.pos);
    while (!set.atEnd) set.inside(TAG.sequence, readAttribute);
  }
  return reader.bytes.subarray(start, reader.to);
}

/** @param {DerReader} attribute */
const readAttribute = (attribute) => ({ oid: attribute.readOid(), value: attribute.readAny() });

/** Frame of certificates, CRLs and CSRs: fields, algorithm, signature. @param {Uint8Array} der @throws {DerError} */
export const readSigned = (der) => readWhole(der, (reader) => reader.inside(TAG.sequence, readFrame));

/** @param {DerReader} frame */
function readFrame(frame) {
  const data = frame.readRaw(TAG.sequence);
  const rawAlgorithm = frame.readRaw(TAG.sequence);
  const algorithm = readAlgorithm(new DerReader(rawAlgorithm));
  const signed = /** @type {Signed} */ ({ ...algorithm, data, signature: frame.readBitString() });
  return { signed, tbs: new DerReader(data).enter(TAG.sequence), rawAlgorithm };
}

/** Sections 4.1.1.2 and 5.1.1.2. @param {DerReader} tbs @param {Buffer} rawAlgorithm of the signature around it */
export function assertSameAlgorithm(tbs, rawAlgorithm) {
  if (!tbs.readRaw(TAG.sequence).equals(rawAlgorithm)) throw new DerError('Signature algorithms differ');
}

/** @typedef {{values: Map<string, Buffer>, critical: string | null}} Extensions `values`: of extnValue, by OID */

/** For a message without extensions. @type {Extensions} */
export const NO_EXTENSIONS = Object.freeze({ values: new Map(), critical: null });

/**
 * Extensions (section 4.2), each at most once.
 * @param {DerReader} reader @param {ReadonlySet<string>} understood OIDs
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

/** `readExtensions` with SIZE (1..MAX). @param {DerReader} reader @param {ReadonlySet<string>} understood */
export function readSomeExtensions(reader, understood) {
  const extensions = readExtensions(reader, understood);
  if (extensions.values.size === 0) throw new DerError('Empty list');
  return extensions;
}

/** Extensions of section 4.2.1, by the end of their OIDs, and id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2.1). */
const UNDERSTOOD = new Set([
  ...[14, 15, 17, 18, 19, 30, 31, 32, 33, 35, 36, 37, 46, 54].map((number) => `2.5.29.${number}`),
  OID.authorityInfoAccess,
  '1.3.6.1.5.5.7.48.1.5',
]);

/** @typedef {ReturnType<typeof parseCertificate>} CertificateFields */

/** @param {Uint8Array} der one certificate without trailing bytes @throws {DerError} */
export function parseCertificate(der) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  const version = tbs.insideOptional(contextTag(0), (field) => field.readSmallNumber()) ?? 0;
  if (version > 2) throw new DerError('Unknown certificate version');
  const serial = tbs.readInteger();
  assertSameAlgorithm(tbs, rawAlgorithm);
  const issuer = readName(tbs);
  const { notBefore, notAfter } = tbs.inside(TAG.sequence, readValidity);
  const subject = readName(tbs);
  const spki = tbs.readRaw(TAG.sequence);
  for (const number of [1, 2]) if (tbs.tag === contextTag(number, false)) tbs.next(); // unique identifiers
  const extensions =
    tbs.insideOptional(contextTag(3), (list) => readSomeExtensions(list, UNDERSTOOD)) ?? NO_EXTENSIONS;
  tbs.finish();
  return {
    serial, // raw INTEGER contents
    issuer, // raw Name, like `subject`
    notBefore, // epoch ms
    notAfter,
    subject,
    spki, // raw SubjectPublicKeyInfo
    spkiBits: publicKeyBits(spki), // contents of its BIT STRING, which OCSP hashes
    signed,
    extensions: extensions.values,
    critical: extensions.critical, // not understood: the certificate must be rejected (section 4.2)
  };
}

/** Allowed difference between two NTP-synchronised clocks; a larger one would hide stale responses. */
export const SKEW_MS = 5000;

/** @template {string} T @param {{notBefore: number, notAfter: number}} times @param {number} nowMs @param {T} early @param {T} late */
export const checkTimes = ({ notBefore, notAfter }, nowMs, early, late) =>
  notBefore > nowMs + SKEW_MS ? early : notAfter < nowMs - SKEW_MS ? late : null;

/** @param {DerReader} validity */
const readValidity = (validity) => ({ notBefore: validity.readTime(), notAfter: validity.readTime() });

/** @param {Uint8Array} spki SubjectPublicKeyInfo @returns {Buffer} contents of its BIT STRING */
export const publicKeyBits = (spki) =>
  new DerReader(spki).inside(TAG.sequence, (fields) => {
    readAlgorithm(fields);
    return fields.readBitString();
  });

/** @param {Buffer | undefined} value of an extension that is a SEQUENCE OF; undefined: an empty one */
const listIn = (value = EMPTY_SEQUENCE) => new DerReader(value).enter(TAG.sequence);
const EMPTY_SEQUENCE = Buffer.from([TAG.sequence, 0]);

/**
 * @param {CertificateFields} certificate @param {string} purpose OID of a KeyPurposeId
 * @returns {boolean} whether extKeyUsage (section 4.2.1.12) lists it; anyExtendedKeyUsage does not count
 */
export function hasExtendedKeyUsage({ extensions }, purpose) {
  const list = listIn(extensions.get(OID.extKeyUsage));
  while (!list.atEnd) if (list.readOid() === purpose) return true;
  return false;
}

/** Bits of keyUsage (section 4.2.1.3), all in its first octet. */
const USAGE = Object.freeze({ digitalSignature: 0x80, keyCertSign: 0x04, crlSign: 0x02 });

/** @param {CertificateFields} certificate @param {keyof typeof USAGE} usage @returns {boolean} by its keyUsage, if present */
export function allowsUsage({ extensions }, usage) {
  const value = extensions.get(OID.keyUsage);
  if (value === undefined) return true;
  const bits = new DerReader(value).read(TAG.bitString); // the first octet counts the unused bits
  return bits.length > 1 && (bits[1] & USAGE[usage]) !== 0;
}

/** @param {CertificateFields} certificate @returns {boolean} by its basicConstraints (section 4.2.1.9) */
export function isCa({ extensions }) {
  const fields = listIn(extensions.get(OID.basicConstraints));
  return fields.tag === TAG.boolean && fields.readBoolean();
}

/**
 * @param {Pick<CertificateFields, 'extensions'>} certificate
 * @returns {string[]} http(s) URLs of its OCSP responders (section 4.2.2.1), in order; none if the extension is malformed
 */
export function ocspUrls({ extensions }) {
  const urls = [];
  try {
    const list = listIn(extensions.get(OID.authorityInfoAccess));
    while (!list.atEnd) {
      const access = list.enter(TAG.sequence);
      if (access.readOid() === OID.ocsp && access.tag === contextTag(6, false))
        urls.push(access.read().toString('latin1'));
    }
  } catch {
    return [];
  }
  return urls.filter((url) => /^https?:\/\//i.test(url));
}

/** @param {Uint8Array} name raw Name @returns {string | null} the last commonName, which is the most specific one */
export function commonNameOf(name) {
  const names = new DerReader(name).enter(TAG.sequence);
  let commonName = null;
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    while (!set.atEnd) {
      const { oid, value } = set.inside(TAG.sequence, readAttribute);
      if (oid === OID.commonName) commonName = directoryString(value);
    }
  }
  return commonName;
}

/** @param {Buffer} der @returns {string} a DirectoryString (section 4.1.2.4) */
function directoryString(der) {
  const tag = der[0];
  const value = new DerReader(der).read();
  if (tag === TAG.utf8String) return value.toString('utf8');
  if (tag === TAG.bmpString && value.length % 2 === 0) return Buffer.from(value).swap16().toString('utf16le');
  return value.toString('latin1');
}
