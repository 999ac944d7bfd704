/**
 * Checks a certificate that a CA has just issued. The first broken rule, in this order, determines the failure: the
 * certificate and its issuing CA are readable; that CA's name and key issued it; it has the requested names, and is no
 * CA certificate; its key is the requested one, or matches the private key in the response; it is valid now. Extra
 * names are allowed: Vault adds the commonName to the alternative names, and roles may add more. The issuing CA comes
 * from the response; whether it is trusted is not checked.
 */
import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import { commonNameOf, isCa, OID, parseCertificate } from './certificate-der.js';
import { contextTag, DerReader, readWhole, TAG } from './der.js';
import { includesIp, includesName, readAlternativeNames } from './names.js';
import { remember } from './remember.js';
import { verifySignature } from './signature.js';
import { decodePem } from './text.js';
/** @import { ECDH } from 'node:crypto' */
/** @import { CertificateFields } from './certificate-der.js' */

/**
 * @typedef {keyof typeof CERTIFICATE_FAILURES} CertificateFailure
 * @typedef {object} Issued
 * @property {unknown} certificatePem
 * @property {unknown} issuingCaPem
 * @property {unknown} [privateKeyPem] null or omitted if the CA generated no key
 * @property {Uint8Array | null} [expectedSpki] public key of the CSR, raw SubjectPublicKeyInfo
 * @property {{commonName?: string | null, altNames?: readonly string[], ipSans?: readonly string[]}} expected
 * @property {number} nowMs epoch ms
 */

/** Every failure with its description. */
export const CERTIFICATE_FAILURES = Object.freeze({
  no_certificate: 'The response has no certificate.',
  certificate_unreadable: 'The certificate is not PEM or not DER.',
  no_issuing_ca: 'The response lacks the certificate of the issuing CA.',
  issuing_ca_unreadable: 'The certificate of the issuing CA is not PEM or not DER.',
  wrong_issuer: 'The issuer in the certificate is not the issuing CA.',
  unsupported_signature_algorithm: 'This tool cannot verify the signature of the certificate.',
  bad_signature: 'The issuing CA did not sign the certificate.',
  wrong_subject: 'The commonName of the certificate is not the requested one.',
  wrong_sans: 'The certificate lacks a requested alternative name.',
  ca_certificate: 'The certificate is a CA certificate, which was not requested.',
  unknown_critical_extension: 'The certificate has a critical extension that this tool does not understand.',
  key_mismatch: 'The key of the certificate does not match the CSR or the private key in the response.',
  private_key_unreadable: 'The private key in the response cannot be read.',
  not_yet_valid: 'The certificate is not valid yet.',
  certificate_expired: 'The certificate has already expired.',
});

/** Allowed difference between the clocks. */
const SKEW_MS = 5000;

/** By PEM text, which is the same in every response of a mount. */
const recallIssuingCa = remember(16, readIssuingCa);

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
  return (
    checkIssuer(certificate, issued.issuingCaPem) ??
    checkNames(certificate, issued.expected) ??
    (isCa(certificate) ? 'ca_certificate' : null) ??
    (certificate.critical === null ? null : 'unknown_critical_extension') ??
    checkKey(certificate, issued) ??
    (certificate.notBefore > issued.nowMs + SKEW_MS ? 'not_yet_valid' : null) ??
    (certificate.notAfter < issued.nowMs - SKEW_MS ? 'certificate_expired' : null)
  );
}

/** @param {CertificateFields} certificate @param {unknown} pem @returns {CertificateFailure | null} */
function checkIssuer({ issuer, signed }, pem) {
  if (typeof pem !== 'string' || pem === '') return 'no_issuing_ca';
  const ca = recallIssuingCa(pem);
  if (ca === null) return 'issuing_ca_unreadable';
  if (!issuer.equals(ca.subject)) return 'wrong_issuer';
  const result = verifySignature(signed, ca.key);
  if (result === 'valid') return null;
  return result === 'bad' ? 'bad_signature' : 'unsupported_signature_algorithm';
}

/** @param {string} pem */
function readIssuingCa(pem) {
  try {
    const { subject, spki } = readCertificate(pem);
    return { subject, key: createPublicKey({ key: spki, format: 'der', type: 'spki' }) };
  } catch {
    return null;
  }
}

/**
 * If a role omits the commonName from the subject (`require_cn=false`), it is in the alternative names instead.
 * @param {CertificateFields} certificate
 * @param {Issued['expected']} expected
 * @returns {CertificateFailure | null}
 */
function checkNames(certificate, { commonName, altNames = [], ipSans = [] }) {
  const names = readAlternativeNames(certificate.extensions.get(OID.subjectAltName));
  if (commonName) {
    const subject = commonNameOf(certificate.subject);
    if (subject === null ? !includesName(names, commonName) : subject !== commonName) return 'wrong_subject';
  }
  if (!altNames.every((name) => includesName(names, name))) return 'wrong_sans';
  return ipSans.every((ip) => includesIp(names, ip)) ? null : 'wrong_sans';
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
 * product is the modulus, and the exponents are inverse. Others: derives the public key from the private key.
 * @param {string} pem unencrypted PKCS#8, PKCS#1 or SEC 1
 * @param {Uint8Array} spki raw SubjectPublicKeyInfo of the certificate
 * @returns {CertificateFailure | null} never throws, and reveals nothing about the key
 */
export function checkPrivateKey(pem, spki) {
  try {
    const der = decodePem(pem, /^(?:RSA |EC )?PRIVATE KEY$/);
    if (der === null) return 'private_key_unreadable';
    return isKeyOf(der, Buffer.from(spki)) ? null : 'key_mismatch';
  } catch {
    return 'private_key_unreadable';
  }
}

/** @param {Buffer} der @param {Buffer} spki */
function isKeyOf(der, spki) {
  const publicKey = new DerReader(spki).enter(TAG.sequence);
  const algorithm = publicKey.enter(TAG.sequence);
  const oid = algorithm.readOid();
  const bits = publicKey.readBitString();
  if (oid === RSA_ENCRYPTION) return isRsaKeyOf(unwrap(der), bits);
  const curve = oid === EC_PUBLIC_KEY ? CURVES[algorithm.readOid()] : undefined;
  if (curve !== undefined) return isEcKeyOf(unwrap(der), curve, bits);
  if (oid === ED25519) return isEd25519KeyOf(unwrap(der), bits);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).equals(spki);
}

/** The key inside PKCS#8 (RFC 5208 section 5), or the bytes unchanged. @param {Buffer} der */
function unwrap(der) {
  const fields = readWhole(der, (reader) => reader.enter(TAG.sequence));
  fields.readSmallNumber();
  if (fields.tag !== TAG.sequence) return der;
  fields.next();
  return fields.read(TAG.octetString);
}

/** RFC 8017 A.1.2: n = p q; e d = 1 modulo p - 1 and q - 1. @param {Buffer} der @param {Buffer} bits RSAPublicKey */
function isRsaKeyOf(der, bits) {
  const certified = new DerReader(bits).enter(TAG.sequence);
  const fields = new DerReader(der).enter(TAG.sequence);
  if (fields.readSmallNumber() !== 0) return false;
  const readNumber = (/** @type {DerReader} */ reader) => BigInt(`0x${reader.readInteger().toString('hex')}`);
  const [n, e, d, p, q] = Array.from({ length: 5 }, () => readNumber(fields));
  const isInverse = (/** @type {bigint} */ order) => (e * (d % order)) % order === 1n;
  const isPublic = n === readNumber(certified) && e === readNumber(certified);
  return isPublic && p > 1n && q > 1n && p * q === n && isInverse(p - 1n) && isInverse(q - 1n);
}

/** By curve: creating one takes as long as the multiplication itself. @type {Record<string, ECDH>} */
const keyAgreements = {};

/** ECPrivateKey, RFC 5915 section 3. @param {Buffer} der @param {string} curve @param {Buffer} bits the point */
function isEcKeyOf(der, curve, bits) {
  const fields = new DerReader(der).enter(TAG.sequence);
  if (fields.readSmallNumber() !== 1) return false;
  const secret = fields.read(TAG.octetString);
  const parameters = fields.insideOptional(contextTag(0), (field) => field.readOid());
  if (parameters !== null && CURVES[parameters] !== curve) return false;
  keyAgreements[curve] ??= createECDH(curve);
  const ecdh = keyAgreements[curve];
  ecdh.setPrivateKey(secret); // throws for bytes that are not a key of the curve, and keeps the previous key
  return ecdh.getPublicKey().equals(bits);
}

/** RFC 8410 section 7. JWK: OpenSSL takes 0.4 ms to recognise a DER key. @param {Buffer} der @param {Buffer} bits */
function isEd25519KeyOf(der, bits) {
  const d = new DerReader(der).read(TAG.octetString).toString('base64url');
  const x = bits.toString('base64url');
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
  return createPublicKey(key).export({ format: 'jwk' }).x === x;
}
