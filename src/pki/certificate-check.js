/**
 * Checks a certificate that a CA has just issued. The first broken rule determines the failure:
 * 1. the certificate and that of the issuing CA can be read;
 * 2. the issuer name is that CA's, its key made the signature, and its certificate allows this and is valid now;
 * 3. the serial number is the one in the response, and the names are the requested ones;
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
  subjectNames,
} from './certificate-der.js';
import { contextTag, DerReader, readWhole, TAG } from './der.js';
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
 * @property {{commonName?: string | null, altNames?: readonly string[], ipSans?: readonly string[]}} expected
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
  issuing_ca_unknown_critical_extension: 'The issuing CA has a critical extension unknown to this tool.',
  issuing_ca_not_yet_valid: 'The certificate of the issuing CA is not valid yet.',
  issuing_ca_expired: 'The certificate of the issuing CA has expired.',
  serial_mismatch: 'The serial_number in the response is not that of the certificate.',
  wrong_subject: 'The subject has a commonName or e-mail address that was not requested.',
  common_name_only: 'The commonName, a host name or e-mail address, is missing from the alternative names.',
  wrong_sans: 'The certificate lacks a requested alternative name.',
  extra_sans: 'The certificate has an alternative name that was not requested.',
  ca_certificate: 'The certificate is a CA certificate, which was not requested.',
  unknown_critical_extension: 'The certificate has a critical extension that this tool does not understand.',
  key_mismatch: 'The key of the certificate does not match the CSR or the private key in the response.',
  private_key_unreadable: 'The private key in the response cannot be read.',
  not_yet_valid: 'The certificate is not valid yet.',
  certificate_expired: 'The certificate has already expired.',
});

/** By PEM text, which is the same in every response of a mount. */
const cachedIssuingCa = memoize(16, readIssuingCa);

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
    return { failure: findFailure(certificate, issued), serial: Buffer.from(certificate.serial) };
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
    checkNames(certificate, issued) ??
    (isCa(certificate) ? 'ca_certificate' : null) ??
    (certificate.unknownCritical === null ? null : 'unknown_critical_extension') ??
    checkKey(certificate, issued) ??
    checkTimes(certificate, issued.nowMs, 'not_yet_valid', 'certificate_expired')
  );
}

/** @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null} */
function checkIssuer(certificate, { issuingCaPem: pem, nowMs }) {
  if (typeof pem !== 'string' || pem === '') return 'no_issuing_ca';
  const ca = cachedIssuingCa(pem);
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

/**
 * If a role omits the commonName from the subject (`require_cn=false`), it is in the alternative names instead.
 * @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null}
 */
function checkNames(certificate, { expected, isVerbatim = false }) {
  const { commonName, altNames = [], ipSans = [] } = expected;
  const found = keysOf(readAlternativeNames(certificate.extensions.get(OID.subjectAltName)));
  const own = commonName ? nameKey(commonName) : '';
  const isOwnMissing = commonName && !found.includes(own);
  const requested = [...altNames.map(nameKey), ...ipSans.map(ipKey)];
  const subject = subjectNames(certificate.subject);
  const isRequested = (/** @type {string} */ key) => key === own || requested.includes(key);
  const hasOther = subject.some(({ isEmail, text }) =>
    isEmail || !commonName ? !isRequested(nameKey(text)) : text !== commonName,
  );
  if (hasOther || (isOwnMissing && !subject.some(({ isEmail }) => !isEmail))) return 'wrong_subject';
  if (isOwnMissing && !isVerbatim && isAlternativeName(commonName)) return 'common_name_only';
  if (!requested.every((key) => found.includes(key))) return 'wrong_sans';
  return found.every(isRequested) ? null : 'extra_sans';
}

/** @param {CertificateFields} certificate @param {Issued} issued @returns {CertificateFailure | null} */
function checkKey({ spki }, { expectedSpki = null, privateKeyPem = null }) {
  if (expectedSpki !== null && !spki.equals(expectedSpki)) return 'key_mismatch';
  if (privateKeyPem === null) return null;
  return typeof privateKeyPem === 'string' ? checkPrivateKey(privateKeyPem, spki) : 'private_key_unreadable';
}

const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';

/** OpenSSL's names of the curves that CAs use. @type {Readonly<Record<string, string>>} */
const CURVES = Object.freeze({
  '1.2.840.10045.3.1.7': 'prime256v1',
  '1.3.132.0.33': 'secp224r1',
  '1.3.132.0.34': 'secp384r1',
  '1.3.132.0.35': 'secp521r1',
});

/**
 * Unlike `X509Certificate.checkPrivateKey`, rejects a private key that only repeats the public half. RSA: the primes'
 * product is the modulus, and the exponents are inverses. Others: derives the public key from the private key.
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
  const publicKey = new DerReader(spki).enter(TAG.sequence);
  const algorithm = publicKey.readRaw(TAG.sequence);
  const bits = publicKey.readBitString();
  const fields = new DerReader(algorithm).enter(TAG.sequence);
  const oid = fields.readOid();
  const curve = oid === EC_PUBLIC_KEY ? (CURVES[fields.readOid()] ?? '') : null;
  const [label, matches] = OWN[oid] ?? [];
  if (label === undefined || matches === undefined || curve === '') {
    const key = createPrivateKey({ key: readPkcs8(pem), format: 'der', type: 'pkcs8' });
    return createPublicKey(key).export({ format: 'der', type: 'spki' }).equals(spki);
  }
  const der = decodePem(pem, label) ?? unwrap(readPkcs8(pem), algorithm);
  return der !== null && matches(der, bits, curve ?? '');
}

/** By algorithm: the label of such a key that is not in PKCS#8, and a faster check than OpenSSL's. @type {Readonly<Record<string, [RegExp, typeof isEcKeyOf]>>} */
const OWN = Object.freeze({
  [RSA_ENCRYPTION]: [/^RSA PRIVATE KEY$/, isRsaKeyOf],
  [EC_PUBLIC_KEY]: [/^EC PRIVATE KEY$/, isEcKeyOf],
  [ED25519]: [/^$/, isEd25519KeyOf],
});

/** @param {string} pem @throws {DerError} */
const readPkcs8 = (pem) => decodePem(pem, /^PRIVATE KEY$/) ?? Buffer.alloc(0);

/** @param {Buffer} der PKCS#8 (RFC 5958 section 2) @param {Buffer} algorithm @returns {Buffer | null} null: of another algorithm */
const unwrap = (der, algorithm) =>
  readWhole(der, (reader) =>
    reader.inside(TAG.sequence, (fields) => {
      fields.readSmallNumber();
      const isSame = fields.readRaw(TAG.sequence).equals(algorithm);
      const key = fields.read(TAG.octetString);
      for (const tag of [contextTag(0), contextTag(1, false)]) if (fields.tag === tag) fields.next();
      return isSame ? key : null;
    }),
  );

/** RFC 8017 A.1.2: n = p q; e d = 1 modulo p - 1 and q - 1; q qInv = 1 modulo p. @param {Buffer} der @param {Buffer} bits RSAPublicKey */
function isRsaKeyOf(der, bits) {
  const certified = new DerReader(bits).enter(TAG.sequence);
  const fields = readWhole(der, (reader) => reader.enter(TAG.sequence));
  if (fields.readSmallNumber() !== 0) return false;
  const parts = Array.from({ length: 8 }, () => fields.readInteger());
  fields.finish();
  const isPublic = parts[0].equals(certified.readInteger()) && parts[1].equals(certified.readInteger());
  const [n, e, d, p, q, dP, dQ, qInv] = parts.map((part) => BigInt(`0x${part.toString('hex')}`));
  /** @type {(part: bigint, order: bigint) => boolean} */
  const isInverse = (part, order) => d % order === part && (e * part) % order === 1n;
  if (!isPublic || !certified.atEnd || p <= 1n || q <= 1n || p * q !== n) return false;
  return isInverse(dP, p - 1n) && isInverse(dQ, q - 1n) && qInv < p && (q * qInv) % p === 1n;
}

/** By curve: creating one takes as long as the multiplication itself. @type {Record<string, ECDH>} */
const keyAgreements = {};

/** ECPrivateKey, RFC 5915 section 3. @param {Buffer} der @param {Buffer} bits the point @param {string} curve */
function isEcKeyOf(der, bits, curve) {
  const fields = readWhole(der, (reader) => reader.enter(TAG.sequence));
  if (fields.readSmallNumber() !== 1) return false;
  const secret = fields.read(TAG.octetString);
  const parameters = fields.insideOptional(contextTag(0), (field) => field.readOid());
  const point = fields.insideOptional(contextTag(1), (field) => field.readBitString()) ?? bits;
  fields.finish();
  if ((parameters !== null && CURVES[parameters] !== curve) || !point.equals(bits)) return false;
  keyAgreements[curve] ??= createECDH(curve);
  const ecdh = keyAgreements[curve];
  ecdh.setPrivateKey(secret); // throws for bytes that are not a key of the curve, and keeps the previous key
  return ecdh.getPublicKey().equals(bits);
}

/** RFC 8410 section 7. Uses JWK: OpenSSL takes 0.4 ms to recognise a DER key. @param {Buffer} der @param {Buffer} bits */
function isEd25519KeyOf(der, bits) {
  const d = readWhole(der, (reader) => reader.read(TAG.octetString)).toString('base64url');
  const x = bits.toString('base64url');
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
  return createPublicKey(key).export({ format: 'jwk' }).x === x;
}
