/**
 * Structures of RFC 5280 as plain data with views into their DER. Ten times faster than the getters of
 * `X509Certificate`, and includes the raw bytes that hashes and comparisons need.
 */
import { isAscii } from 'node:buffer';
import { SKEW_MS } from '../common/units.js';
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  emailAddress: '1.2.840.113549.1.9.1',
  rsaEncryption: '1.2.840.113549.1.1.1',
  rsassaPss: '1.2.840.113549.1.1.10',
  ecPublicKey: '1.2.840.10045.2.1',
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
    while (!set.atEnd) checkAttribute(set);
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
  const { oid, parameters } = readAlgorithm(new DerReader(rawAlgorithm));
  const signed = /** @type {Signed} */ ({ oid, parameters, data, signature: frame.readBitString() });
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
 * @param {DerReader} reader @param {{has: (oid: string) => boolean}} understood OIDs
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

/** Of a certificate or CRL: SIZE (1..MAX), well-formed values. @param {DerReader} reader @param {{has: (oid: string) => boolean}} understood */
export function readSomeExtensions(reader, understood) {
  const extensions = readExtensions(reader, understood);
  if (extensions.values.size === 0) throw new DerError('Empty list');
  for (const [oid, value] of extensions.values) {
    const read = SYNTAX.get(oid);
    if (read !== undefined) readWhole(value, read);
  }
  return extensions;
}

// Grammars of extensions. Context tags are 0x80 | number, or 0xa0 | number if constructed.

/** Moves past what it reads; `tag`: IMPLICIT. @typedef {(reader: DerReader, tag?: number) => unknown} Read */
/** @type {Read} */
const readId = (reader) => reader.readOid();
/** @type {Read} */
const readValue = (reader) => reader.skipAny();
/** INTEGER (0..MAX). @param {DerReader} reader @param {number} [tag] */
function readNumber(reader, tag) {
  const value = reader.readInteger(tag);
  if (value[0] > 0x7f) throw new DerError('Negative number', reader.from);
  return value;
}
/** @type {Read} */
const readBits = (reader, tag) => reader.readNamedBits(tag);

/** SEQUENCE. @type {(...parts: Read[]) => Read} */
const within =
  (...parts) =>
  (reader, tag = TAG.sequence) =>
    reader.inside(tag, (contents) => {
      for (const read of parts) read(contents);
    });

const checkAttribute = within(readId, readValue);

/** SEQUENCE SIZE (1..MAX) OF. @type {(read: Read) => Read} */
const listOf = (read) =>
  within((list) => {
    do read(list);
    while (!list.atEnd);
  });

/** Parts that may be absent. @type {(...parts: [tag: number, read: Read][]) => Read} */
const optional =
  (...parts) =>
  (reader) => {
    for (const [tag, read] of parts) if (reader.tag === tag) read(reader, tag);
  };

/** @param {DerReader} list */
function assertSome(list) {
  if (list.atEnd) throw new DerError('Empty list', list.pos);
}

/** Section 4.2.1.6. @type {Read} */
function readGeneralName(reader) {
  const { tag } = reader;
  if (tag === 0xa0) return reader.inside(tag, (name) => [name.readOid(), name.inside(0xa0, readValue)]);
  if (tag === 0xa4) return reader.inside(tag, readName);
  if (tag === 0x88) return reader.readOid(tag);
  const octets = reader.read();
  const isText = [0x81, 0x82, 0x86].includes(tag); // IA5String
  const isOther = [0x87, 0xa3, 0xa5].includes(tag); // IP address, x400Address, ediPartyName
  if (!isOther && (!isText || !isAscii(octets))) throw new DerError('Not a GeneralName', reader.from);
}

/** Section 4.2.1.3: at least one bit is set. @param {DerReader} reader */
function readKeyUsage(reader) {
  if (reader.readNamedBits().every((octet, i) => i === 0 || octet === 0))
    throw new DerError('keyUsage without a usage', reader.from);
}

/** Section 5.3.1; removeFromCRL (8) is only for delta CRLs, which this tool does not accept. @param {DerReader} reader */
function readReason(reader) {
  if (![0, 1, 2, 3, 4, 5, 6, 9, 10].includes(reader.readSmallNumber(TAG.enumerated)))
    throw new DerError('Not a reason in a complete CRL', reader.from);
}

const readNames = listOf(readGeneralName);
const readPointName = optional([0xa0, readNames], [0xa1, listOf(checkAttribute)]);
const readPointStart = optional([0xa0, within(assertSome, readPointName)], [0x81, readBits]);
const readPointIssuer = optional([0xa2, readNames]);
/** Section 4.2.1.13: reasons alone are no distribution point. @type {Read} */
const readPoint = (reader) =>
  reader.inside(TAG.sequence, (point) => {
    const isNamed = point.tag === 0xa0;
    readPointStart(point);
    if (!isNamed && point.tag !== 0xa2) throw new DerError('Distribution point without a name', point.pos);
    readPointIssuer(point);
  });
const readPoints = listOf(readPoint);
const readNumbers = optional([0x80, readNumber], [0x81, readNumber]);
const readSubtrees = listOf(within(readGeneralName, readNumbers));
const readQualifiers = optional([TAG.sequence, listOf(within(readId, readValue))]);
/** Section 4.2.1.4: each policy at most once. @param {DerReader} reader */
function readPolicies(reader) {
  const policies = new Set();
  for (const list = reader.enter(TAG.sequence); policies.size === 0 || !list.atEnd; )
    list.inside(TAG.sequence, (policy) => {
      const id = policy.readOid();
      if (policies.has(id)) throw new DerError('Policy occurs twice', policy.pos);
      policies.add(id);
      readQualifiers(policy);
    });
}

/** @param {DerReader} fields @returns {number} CAs that may be below it; -1: it is no CA */
function readBasicConstraints(fields) {
  const isAuthority = fields.tag === TAG.boolean && fields.readBoolean();
  const length = fields.tag === TAG.integer ? readNumber(fields) : null;
  const below = length === null ? Number.POSITIVE_INFINITY : Number(`0x${length.toString('hex')}`);
  return isAuthority ? below : -1;
}

/** Extensions that are never critical (sections 4.2, 5.2 and 5.3), with readers of their values. @type {ReadonlyMap<string, Read>} */
const NEVER_CRITICAL = new Map([
  [OID.subjectKeyIdentifier, (value) => value.read(TAG.octetString)],
  [OID.authorityKeyIdentifier, within(optional([0x80, readValue], [0xa1, readNames], [0x82, readNumber]))],
  ['2.5.29.18', readNames], // issuerAltName
  ['2.5.29.46', readPoints], // freshestCRL
  [OID.authorityInfoAccess, listOf(within(readId, readGeneralName))],
  [OID.crlNumber, readNumber],
  ['2.5.29.21', readReason],
  ['2.5.29.24', (value) => value.readGeneralizedTime()], // invalidityDate
]);

/** Others of section 4.2.1, and id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2.1; some CAs leave its NULL out). @type {ReadonlyMap<string, Read>} */
const UNDERSTOOD = new Map([
  [OID.keyUsage, readKeyUsage],
  [OID.subjectAltName, readNames],
  [OID.basicConstraints, within(readBasicConstraints)],
  ['2.5.29.30', within(assertSome, optional([0xa0, readSubtrees], [0xa1, readSubtrees]))], // nameConstraints
  [OID.crlDistributionPoints, readPoints],
  ['2.5.29.32', readPolicies], // certificatePolicies
  ['2.5.29.33', listOf(within(readId, readId))], // policyMappings
  ['2.5.29.36', within(assertSome, readNumbers)], // policyConstraints
  [OID.extKeyUsage, listOf(readId)],
  ['2.5.29.54', readNumber], // inhibitAnyPolicy
  ['1.3.6.1.5.5.7.48.1.5', (value) => value.atEnd || readValue(value)],
]);
const SYNTAX = new Map([...NEVER_CRITICAL, ...UNDERSTOOD]);

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
  for (const tag of [0x81, 0x82]) if (tbs.tag === tag) tbs.readNamedBits(tag); // unique identifiers
  const extensions =
    tbs.insideOptional(contextTag(3), (list) => readSomeExtensions(list, UNDERSTOOD)) ?? NO_EXTENSIONS;
  tbs.finish();
  if (extensions !== NO_EXTENSIONS && version !== 2) throw new DerError('Extensions without version 3');
  return {
    version, // 0: version 1
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

/** An end before the beginning is late. @template {string} T @param {{notBefore: number, notAfter: number}} times @param {number} nowMs @param {T} early @param {T} late */
export const checkTimes = ({ notBefore, notAfter }, nowMs, early, late) =>
  notBefore > nowMs + SKEW_MS ? early : notAfter < Math.max(nowMs - SKEW_MS, notBefore) ? late : null;

/** @param {DerReader} validity */
const readValidity = (validity) => ({ notBefore: validity.readTime(), notAfter: validity.readTime() });

/** Checks RSA and EC keys, about which OpenSSL is lax. @param {Uint8Array} spki @returns {Buffer} contents of its BIT STRING @throws {DerError} */
export const publicKeyBits = (spki) =>
  new DerReader(spki).inside(TAG.sequence, (fields) => {
    const { oid, parameters } = readAlgorithm(fields);
    const bits = fields.readBitString();
    const tag = parameters?.[0];
    if (oid === OID.ecPublicKey && (tag !== TAG.oid || ![2, 3, 4].includes(bits[0])))
      throw new DerError('EC key without a named curve, or not a point'); // RFC 5480 section 2
    if (oid === OID.rsaEncryption && tag !== TAG.null) throw new DerError('RSA key without NULL'); // RFC 3279 section 2.3.1
    if (oid === OID.rsaEncryption || oid === OID.rsassaPss)
      readWhole(bits, (key) => key.inside(TAG.sequence, readRsaKey));
    return bits;
  });

/** RFC 8017 section 3.1: an exponent is odd and at least 3; with 1, anyone can sign. @param {DerReader} key */
function readRsaKey(key) {
  const [modulus, exponent] = [key.readInteger(), key.readInteger()];
  const isOdd = (exponent[exponent.length - 1] & 1) === 1;
  if (modulus[0] > 0x7f || exponent[0] > 0x7f || !isOdd || exponent.equals(Buffer.of(1)))
    throw new DerError('Not an RSA key', key.from);
}

/** @param {Buffer | undefined} value of an extension that is a SEQUENCE OF; undefined: an empty one */
const listIn = (value = EMPTY_SEQUENCE) => new DerReader(value).enter(value[0]);
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
  return (bits[1] & USAGE[usage]) !== 0;
}

/** @param {CertificateFields} certificate @returns {boolean} whether its basicConstraints (section 4.2.1.9) allow so many CAs below it */
export const isCa = ({ extensions }, below = 0) =>
  readBasicConstraints(listIn(extensions.get(OID.basicConstraints))) >= below;

/** @param {Pick<CertificateFields, 'extensions'>} certificate @returns {string[]} http(s) URLs of its OCSP responders (section 4.2.2.1), in order */
export function ocspUrls({ extensions }) {
  const urls = [];
  for (const list = listIn(extensions.get(OID.authorityInfoAccess)); !list.atEnd; ) {
    const access = list.enter(TAG.sequence);
    if (access.readOid() === OID.ocsp && access.tag === contextTag(6, false))
      urls.push(access.read().toString('latin1'));
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

/** directoryNames of authorityCertIssuer. @type {WeakMap<Buffer, Buffer[]>} */
const keyIssuers = new WeakMap();

/** Read once, as a chain compares them with every CA in it. @param {Buffer} names raw, a view into `value` @param {Buffer} value @returns {Buffer[]} the first and, if others differ, one of them */
function readKeyIssuers(names, value) {
  const known = keyIssuers.get(value);
  if (known !== undefined) return known;
  /** @type {Buffer[]} */
  const found = [];
  for (const list = listIn(names); !list.atEnd && found.length < 2; ) {
    const isDirectoryName = list.tag === 0xa4;
    const name = list.read();
    if (isDirectoryName && !found[0]?.equals(name)) found.push(name);
  }
  keyIssuers.set(value, found);
  return found;
}

/**
 * Whether it names the CA as its issuer and, as OpenSSL checks, its authorityKeyIdentifier (section 4.2.1.1) no other key,
 * issuer or serial number of the CA. @param {Pick<CertificateFields, 'issuer' | 'extensions'>} certificate or CRL
 * @param {CertificateFields} ca
 */
export function isNamedIssuer({ issuer, extensions }, ca) {
  if (!issuer.equals(ca.subject)) return false;
  const own = ca.extensions.get(OID.subjectKeyIdentifier);
  const value = extensions.get(OID.authorityKeyIdentifier) ?? EMPTY_SEQUENCE;
  const fields = listIn(value);
  const keyId = fields.tag === 0x80 ? fields.read() : null;
  if (keyId !== null && own !== undefined && !keyId.equals(new DerReader(own).read())) return false;
  const named = fields.tag === 0xa1 ? readKeyIssuers(fields.readRaw(), value) : [];
  if (!named.every((name) => name.equals(ca.issuer))) return false;
  return fields.atEnd || fields.read().equals(ca.serial);
}

const ONE_OCTET = /** @type {number[]} */ ([TAG.printableString, TAG.teletexString, TAG.ia5String]);

/** @param {Buffer} der @returns {string} a DirectoryString (section 4.1.2.4), or the IA5String of an e-mail address */
function directoryString(der) {
  const tag = der[0];
  const value = new DerReader(der).read();
  if (tag === TAG.utf8String) return value.toString('utf8');
  if (tag === TAG.bmpString) return Buffer.from(value).swap16().toString('utf16le');
  if (!ONE_OCTET.includes(tag)) throw new DerError('Not a DirectoryString');
  return value.toString('latin1');
}
