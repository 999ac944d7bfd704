/**
 * Checks a certificate that a CA has just issued. The first broken rule determines the failure:
 * 1. the certificate and that of the issuing CA can be read;
 * 2. the issuer name is that CA's, its key made the signature, and its certificate allows this and is valid now;
 * 3. the serial number is the one in the response and within its range, and the names are the requested ones;
 * 4. it is not a CA certificate, and has no critical extension that this tool does not understand;
 * 5. the key is the requested one, or matches the private key in the response; 6. it is valid now.
 * Vault adds the commonName to the alternative names if it is a host name or an e-mail address, except with sign-verbatim;
 * no role adds others (generateCreationBundle in builtin/logical/pki/issuing/issue_common.go, 1.21). The issuing CA comes
 * from the response; whether it is trusted is not checked.
 */
import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import {
  allowsUsage,
  checkTimes,
  isCa,
  isNamedIssuer,
  OID,
  parseCertificate,
  publicKeyBits,
  subjectNames,
} from './certificate-der.js';
import { contextTag, DerError, DerReader, readWhole, TAG } from './der.js';
import { integer, sequence } from './der-writer.js';
import { memoize } from './memoize.js';
import { ipKey, isAlternativeName, keysOf, nameKey, readAlternativeNames } from './names.js';
import { SIGNATURE_FAILURES, verifySignature } from './signature.js';
import { decodePem, serialHex } from './text.js';
/** @import { ECDH } from 'node:crypto' */
/** @import { CertificateFields } from './certificate-der.js' */

/**
 * @typedef {keyof typeof CERTIFICATE_FAILURES} CertificateFailure
 * @typedef {object} Issued
 * @property {unknown} certificatePem
 * @property {unknown} issuingCaPem
 * @property {unknown} [privateKeyPem] null or omitted if the CA generated no key
 * @property {Uint8Array | null} [expectedSpki] public key of the CSR, raw SubjectPublicKeyInfo
 * @property {unknown} serialNumber `1a:2b`
 * @property {ReturnType<typeof expectNames>} expected
 * @property {boolean} [isVerbatim] the alternative names are those of the CSR, perhaps without the commonName
 * @property {number} nowMs epoch ms
 */

/** Every failure with its description. */
export const CERTIFICATE_FAILURES = Object.freeze({
  no_certificate: 'The response has no certificate.',
  certificate_unreadable: 'The certificate is not PEM or not DER.',
  no_issuing_ca: 'The response lacks the certificate of the issuing CA.',
  issuing_ca_unreadable: 'The certificate of the issuing CA is not PEM or not DER.',
  wrong_issuer: 'The issuer or its key identifier in the certificate is not that of the issuing CA.',
  ...SIGNATURE_FAILURES,
  issuing_ca_not_ca: 'The certificate of the issuing CA is not a CA certificate (basicConstraints).',
  issuing_ca_key_usage: 'The key usage of the issuing CA does not allow certificates (keyCertSign).',
  issuing_ca_unknown_critical_extension:
    'The issuing CA has an unknown critical extension, or one that must not be critical.',
  issuing_ca_not_yet_valid:
    'The certificate of the issuing CA is not valid yet by the clock of this machine.',
  issuing_ca_expired: 'The certificate of the issuing CA has expired by the clock of this machine.',
  serial_mismatch: 'The serial_number in the response is not that of the certificate.',
  serial_out_of_range: 'The serial number is not positive, or longer than 20 octets (RFC 5280, 4.1.2.2).',
  wrong_subject: 'The subject has a commonName or e-mail address that was not requested.',
  common_name_only: 'The commonName, a host name or e-mail address, is missing from the alternative names.',
  wrong_sans: 'The certificate lacks a requested alternative name.',
  extra_sans: 'The certificate has an alternative name that was not requested.',
  ca_certificate: 'The certificate is a CA certificate, which was not requested.',
  unknown_critical_extension:
    'The certificate has an unknown critical extension, or one that must not be critical.',
  key_mismatch: 'The key of the certificate does not match the CSR or the private key in the response.',
  private_key_unreadable: 'The private key in the response cannot be read, or is of an unknown kind.',
  not_yet_valid: 'The certificate is not valid yet by the clock of this machine.',
  certificate_expired: 'The certificate has already expired by the clock of this machine.',
});

/** By PEM text, which is the same in every response of a mount. */
const cachedIssuingCa = memoize(16, readIssuingCa, 500_000);
/** Comparing two long texts takes less than the hash of one. @type {{pem: string, ca: ReturnType<typeof readIssuingCa>}} */
let last = { pem: '', ca: null };

/**
 * @param {Issued} issued
 * @returns {{failure: CertificateFailure | null, serial: Buffer | null}} `serial`: raw INTEGER contents, null
 *   if unreadable; never throws
 */
export function checkIssuedCertificate(issued) {
  const { certificatePem: pem } = issued;
  if (typeof pem !== 'string' || pem === '') return { failure: 'no_certificate', serial: null };
  try {
    const certificate = readCertificate(pem);
    return { failure: findFailure(certificate, issued), serial: certificate.serial };
  } catch {
    return { failure: 'certificate_unreadable', serial: null };
  }
}

/** @param {string} pem @throws {DerError} */
const readCertificate = (pem) => parseCertificate(decodePem(pem, /^CERTIFICATE$/) ?? Buffer.alloc(0));

/** @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null} */
function findFailure(certificate, issued) {
  const { serialNumber } = issued;
  const isSerial =
    typeof serialNumber === 'string' && serialNumber.toLowerCase() === serialHex(certificate.serial);
  return (
    checkIssuer(certificate, issued) ??
    (isSerial ? null : 'serial_mismatch') ??
    (isInRange(certificate.serial) ? null : 'serial_out_of_range') ??
    checkNames(certificate, issued) ??
    (isCa(certificate) ? 'ca_certificate' : null) ??
    (certificate.unknownCritical === null ? null : 'unknown_critical_extension') ??
    checkKey(certificate, issued) ??
    checkTimes(certificate, issued.nowMs, 'not_yet_valid', 'certificate_expired')
  );
}

/** @param {Buffer} serial contents of the INTEGER: with a zero before a set high bit, as Go counts */
const isInRange = (serial) => serial.length <= 20 && serial[0] < 0x80 && serial.some((octet) => octet !== 0);

/** @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null} */
function checkIssuer(certificate, { issuingCaPem: pem, nowMs }) {
  if (typeof pem !== 'string' || pem === '') return 'no_issuing_ca';
  if (pem !== last.pem) last = { pem, ca: cachedIssuingCa(pem) };
  const { ca } = last;
  if (ca === null) return 'issuing_ca_unreadable';
  if (!isNamedIssuer(certificate, ca)) return 'wrong_issuer';
  return (
    verifySignature(certificate.signed, ca.key) ??
    ca.failure ??
    checkTimes(ca, nowMs, 'issuing_ca_not_yet_valid', 'issuing_ca_expired')
  );
}

/** @param {string} pem */
function readIssuingCa(pem) {
  try {
    const ca = readCertificate(pem);
    const key = createPublicKey({ key: ca.spki, format: 'der', type: 'spki' });
    /** @type {CertificateFailure | null} */
    let failure = ca.unknownCritical === null ? null : 'issuing_ca_unknown_critical_extension';
    if (!allowsUsage(ca, 'keyCertSign')) failure = 'issuing_ca_key_usage';
    if (!isCa(ca)) failure = 'issuing_ca_not_ca';
    return { ...ca, key, failure };
  } catch {
    return null;
  }
}

/** @param {{commonName?: string | null, altNames?: readonly string[], ipSans?: readonly string[]}} requested @returns to compare with */
export const expectNames = ({ commonName = null, altNames = [], ipSans = [] }) => ({
  commonName,
  own: commonName ? nameKey(commonName) : '',
  others: [...altNames.map(nameKey), ...ipSans.map(ipKey)],
});

/**
 * If a role omits the commonName from the subject (`require_cn=false`), it is in the alternative names instead.
 * @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null}
 */
function checkNames(certificate, { expected, isVerbatim = false }) {
  const { commonName, own, others } = expected;
  const found = keysOf(readAlternativeNames(certificate.extensions.get(OID.subjectAltName)));
  const isOwnMissing = commonName && !found.includes(own);
  const subject = subjectNames(certificate.subject);
  const isRequested = (/** @type {string} */ key) => key === own || others.includes(key);
  const hasOther = subject.some(({ isEmail, text }) =>
    isEmail || !commonName ? !isRequested(nameKey(text)) : text !== commonName,
  );
  if (hasOther || (isOwnMissing && !subject.some(({ isEmail }) => !isEmail))) return 'wrong_subject';
  const isExtra = !found.every(isRequested);
  if (isOwnMissing && !isVerbatim && isAlternativeName(commonName))
    return isExtra ? 'extra_sans' : 'common_name_only';
  if (!others.every((key) => found.includes(key))) return 'wrong_sans';
  return isExtra ? 'extra_sans' : null;
}

/** @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null} */
function checkKey({ spki }, { expectedSpki = null, privateKeyPem = null }) {
  if (expectedSpki !== null && !spki.equals(expectedSpki)) return 'key_mismatch';
  if (privateKeyPem === null) return null;
  return typeof privateKeyPem === 'string' ? checkPrivateKey(privateKeyPem, spki) : 'private_key_unreadable';
}

/** OpenSSL's names of the curves that CAs use. @type {Readonly<Record<string, string>>} */
const CURVES = Object.freeze({
  '1.2.840.10045.3.1.7': 'prime256v1',
  '1.3.132.0.33': 'secp224r1',
  '1.3.132.0.34': 'secp384r1',
  '1.3.132.0.35': 'secp521r1',
});

/**
 * Unlike `X509Certificate.checkPrivateKey`, rejects a private key that only repeats the public half. RSA: the product of
 * p and q, not tested for being prime, is the modulus, and the exponents are inverses. Others: derives the public key
 * from the private key. Rejects kinds of keys that Vault does not create.
 * @param {string} pem unencrypted PKCS#8, PKCS#1 or SEC 1
 * @param {Uint8Array} spki raw SubjectPublicKeyInfo of the certificate
 * @returns {CertificateFailure | null} never throws, and reveals nothing about the key
 */
export function checkPrivateKey(pem, spki) {
  try {
    return isKeyOf(pem, Buffer.from(spki)) ? null : 'key_mismatch';
  } catch {
    return 'private_key_unreadable';
  }
}

/** @param {string} pem @param {Buffer} spki */
function isKeyOf(pem, spki) {
  const algorithm = new DerReader(spki).enter(TAG.sequence).readRaw(TAG.sequence);
  const bits = publicKeyBits(spki);
  const fields = new DerReader(algorithm).enter(TAG.sequence);
  const oid = fields.readOid();
  const [label, matches, ownCurve] = KINDS[oid] ?? [];
  const curve = oid === OID.ecPublicKey ? CURVES[fields.readOid()] : ownCurve;
  const isKnown = curve !== undefined && (curve === '' || fields.atEnd);
  if (!isKnown || label === undefined || matches === undefined) throw new DerError('Unknown kind of key');
  const der = decodePem(pem, label);
  const key = der ?? unwrap(decodePem(pem, /^PRIVATE KEY$/) ?? Buffer.alloc(0), algorithm, bits);
  return key !== null && matches(key, bits, curve, der !== null);
}

/** By algorithm: label of a key outside PKCS#8, check, curve in JWK (RSA: none). @type {Readonly<Record<string, [RegExp, typeof isEcKeyOf, string?]>>} */
const KINDS = Object.freeze({
  [OID.rsaEncryption]: [/^RSA PRIVATE KEY$/, isRsaKeyOf, ''],
  [OID.rsassaPss]: [/^$/, isRsaKeyOf, ''],
  [OID.ecPublicKey]: [/^EC PRIVATE KEY$/, isEcKeyOf],
  '1.3.101.112': [/^$/, isEdwardsKeyOf, 'Ed25519'],
  '1.3.101.113': [/^$/, isEdwardsKeyOf, 'Ed448'],
});

/** @param {Buffer} der PKCS#8 (RFC 5958 section 2) @param {Buffer} algorithm @param {Buffer} bits @returns {Buffer | null} null: with another algorithm or public key */
const unwrap = (der, algorithm, bits) =>
  readWhole(der, (reader) =>
    reader.inside(TAG.sequence, (fields) => {
      fields.readSmallNumber();
      const isSame = fields.readRaw(TAG.sequence).equals(algorithm);
      const key = fields.read(TAG.octetString);
      if (fields.tag === contextTag(0)) fields.next();
      const tag = contextTag(1, false);
      const isOther = fields.tag === tag && !fields.readBitString(tag).equals(bits);
      return isSame && !isOther ? key : null;
    }),
  );

/** RFC 8017 A.1.2: n = p q; e d = 1 modulo p - 1 and q - 1; q qInv = 1 modulo p. @param {Buffer} der @param {Buffer} bits RSAPublicKey */
function isRsaKeyOf(der, bits) {
  const fields = readWhole(der, (reader) => reader.enter(TAG.sequence));
  if (fields.readSmallNumber() !== 0) return false;
  const parts = Array.from({ length: 8 }, () => fields.readInteger());
  fields.finish();
  if (parts[0].length < 257) throw new DerError('Shorter than 2048 bits, which Vault does not create');
  const isPublic = bits.equals(sequence(integer(parts[0]), integer(parts[1])));
  // A negative one ends in no comparison below.
  const [n, e, d, p, q, dP, dQ, qInv] = parts.map((part) =>
    BigInt.asIntN(8 * part.length, BigInt(`0x${part.toString('hex')}`)),
  );
  /** @type {(part: bigint, order: bigint) => boolean} */
  const isInverse = (part, order) => d % order === part && (e * part) % order === 1n;
  if (!isPublic || p <= 1n || q <= 1n || p * q !== n || d >= n) return false;
  return isInverse(dP, p - 1n) && isInverse(dQ, q - 1n) && qInv < p && (q * qInv) % p === 1n;
}

/** By curve: creating one takes as long as the multiplication itself. @type {Record<string, ECDH>} */
const keyAgreements = {};

/** ECPrivateKey, RFC 5915 section 3. @param {Buffer} der @param {Buffer} bits the point @param {string} curve @param {boolean} isAlone must name its curve */
function isEcKeyOf(der, bits, curve, isAlone) {
  const fields = readWhole(der, (reader) => reader.enter(TAG.sequence));
  if (fields.readSmallNumber() !== 1) return false;
  const secret = fields.read(TAG.octetString);
  const parameters = fields.insideOptional(contextTag(0), (field) => field.readOid());
  const point = fields.insideOptional(contextTag(1), (field) => field.readBitString()) ?? bits;
  fields.finish();
  const isSame = parameters === null ? !isAlone : CURVES[parameters] === curve;
  if (!isSame || !point.equals(bits)) return false;
  keyAgreements[curve] ??= createECDH(curve);
  const ecdh = keyAgreements[curve];
  ecdh.setPrivateKey(secret); // throws for bytes that are not a key of the curve, and keeps the previous key
  return ecdh.getPublicKey().equals(bits);
}

/** RFC 8410 section 7. Uses JWK: OpenSSL takes 0.4 ms to recognise a DER key. @param {Buffer} der @param {Buffer} bits @param {string} crv */
function isEdwardsKeyOf(der, bits, crv) {
  const d = readWhole(der, (reader) => reader.read(TAG.octetString)).toString('base64url');
  const x = bits.toString('base64url');
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv, d, x } });
  return createPublicKey(key).export({ format: 'jwk' }).x === x;
}
