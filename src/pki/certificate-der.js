/**
 * Structures of RFC 5280 as plain data with views into their DER. Ten times faster than the getters of
 * `X509Certificate`, and includes the raw bytes that hashes and comparisons need.
 */
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  emailAddress: '1.2.840.113549.1.9.1',
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

/** @typedef {{values: Map<string, Buffer>, unknownCritical: string | null}} Extensions `values`: of extnValue, by OID */

/** For a message without extensions. @type {Extensions} */
export const NO_EXTENSIONS = Object.freeze({ values: new Map(), unknownCritical: null });

/**
 * Extensions (section 4.2), each at most once.
 * @param {DerReader} reader @param {ReadonlySet<string>} understood OIDs
 * @returns {Extensions} `unknownCritical`: the first critical one that is not understood
 */
export function readExtensions(reader, understood) {
  const list = reader.enter(TAG.sequence);
  /** @type {Extensions} */
  const extensions = { values: new Map(), unknownCritical: null };
  while (!list.atEnd) {
    const extension = list.enter(TAG.sequence);
    const oid = extension.readOid();
    const isCritical = extension.tag === TAG.boolean && extension.readBoolean();
    const value = extension.read(TAG.octetString);
    extension.finish();
    if (extensions.values.has(oid)) throw new DerError('Extension occurs twice', list.pos);
    extensions.values.set(oid, value);
    if (isCritical && !understood.has(oid)) extensions.unknownCritical ??= oid;
  }
  return extensions;
}

/** `readExtensions` with SIZE (1..MAX). @param {DerReader} reader @param {ReadonlySet<string>} understood */
export function readSomeExtensions(reader, understood) {
  const extensions = readExtensions(reader, understood);
  if (extensions.values.size === 0) throw new DerError('Empty list');
  return extensions;
}

/** A SEQUENCE that is not empty. @param {DerReader} value */
function readFields(value) {
  if (value.tag !== TAG.sequence || value.readAny().length === 2) throw new DerError('Not a list', value.pos);
}

/** @param {DerReader} fields @returns {boolean} whether it is a CA */
function readBasicConstraints(fields) {
  const isAuthority = fields.tag === TAG.boolean && fields.readBoolean();
  const isNegative = fields.tag === TAG.integer && fields.readInteger()[0] > 0x7f;
  if (isNegative) throw new DerError('Negative pathLenConstraint', fields.pos);
  return isAuthority;
}

/** @param {DerReader} purposes */
function readPurposes(purposes) {
  do purposes.readOid();
  while (!purposes.atEnd);
}

/** @param {DerReader} fields */
function readAuthorityKeyIdentifier(fields) {
  for (const tag of [contextTag(0, false), contextTag(1), contextTag(2, false)])
    if (fields.tag === tag) fields.readAny();
}

/**
 * Extensions of section 4.2.1 and id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2.1), with readers of their values.
 * @type {ReadonlyMap<string, (value: DerReader) => unknown>}
 */
const SYNTAX = new Map([
  ...[17, 18, 30, 31, 32, 33, 36, 46].map(
    (number) => /** @type {const} */ ([`2.5.29.${number}`, readFields]),
  ),
  [OID.authorityInfoAccess, readFields],
  [OID.subjectKeyIdentifier, (value) => value.read(TAG.octetString)],
  [OID.keyUsage, (value) => value.readNamedBits()],
  [OID.basicConstraints, (value) => value.inside(TAG.sequence, readBasicConstraints)],
  [OID.authorityKeyIdentifier, (value) => value.inside(TAG.sequence, readAuthorityKeyIdentifier)],
  [OID.extKeyUsage, (value) => value.inside(TAG.sequence, readPurposes)],
  ['2.5.29.54', (value) => value.readInteger()],
  ['1.3.6.1.5.5.7.48.1.5', (value) => value.readAny()],
]);
const UNDERSTOOD = new Set(SYNTAX.keys());

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
  if (extensions !== NO_EXTENSIONS && version !== 2) throw new DerError('Extensions without version 3');
  for (const [oid, value] of extensions.values) {
    const read = SYNTAX.get(oid);
    if (read !== undefined) readWhole(value, read);
  }
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
    unknownCritical: extensions.unknownCritical, // not understood: the certificate must be rejected (section 4.2)
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

/** Bits of keyUsage (section 4.2.1.3), all in its first octet. OCSP: digitalSignature or nonRepudiation (4.2.1.12). */
const USAGE = Object.freeze({ signatures: 0xc0, keyCertSign: 0x04, crlSign: 0x02 });

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
export const commonNameOf = (name) => subjectNames(name).findLast(({ isEmail }) => !isEmail)?.text ?? null;

/** @param {Uint8Array} name raw Name @returns {{isEmail: boolean, text: string}[]} its commonNames and e-mail addresses */
export function subjectNames(name) {
  const names = new DerReader(name).enter(TAG.sequence);
  const found = [];
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    while (!set.atEnd) {
      const { oid, value } = set.inside(TAG.sequence, readAttribute);
      const isEmail = oid === OID.emailAddress;
      if (isEmail || oid === OID.commonName) found.push({ isEmail, text: directoryString(value) });
    }
  }
  return found;
}

/**
 * @param {Pick<CertificateFields, 'issuer' | 'extensions'>} certificate @param {Pick<CertificateFields, 'subject' | 'extensions'>} ca
 * @returns {boolean} whether it names the CA as its issuer and, like OpenSSL, no other key identifier (section 4.2.1.1)
 */
export function isNamedIssuer({ issuer, extensions }, ca) {
  const identifier = ca.extensions.get(OID.subjectKeyIdentifier);
  const fields = listIn(extensions.get(OID.authorityKeyIdentifier));
  const isOtherKey =
    identifier !== undefined &&
    fields.tag === contextTag(0, false) &&
    !fields.read().equals(new DerReader(identifier).read());
  return !isOtherKey && issuer.equals(ca.subject);
}

const ONE_OCTET = /** @type {number[]} */ ([TAG.printableString, TAG.teletexString, TAG.ia5String]);

/** @param {Buffer} der @returns {string} a DirectoryString (section 4.1.2.4), or the IA5String of an e-mail address */
function directoryString(der) {
  const tag = der[0];
  const value = new DerReader(der).read();
  if (tag === TAG.utf8String) return value.toString('utf8');
  if (tag === TAG.bmpString && value.length % 2 === 0) return Buffer.from(value).swap16().toString('utf16le');
  if (!ONE_OCTET.includes(tag)) throw new DerError('Not a DirectoryString');
  return value.toString('latin1');
}
