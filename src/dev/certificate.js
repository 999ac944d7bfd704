/** X.509 certificates and extensions (RFC 5280 section 4), and the two-level PKI: a root, and the intermediate that issues. */
import { createHash, randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { publicKeyBits } from '../pki/certificate-der.js';
import {
  directoryString,
  element,
  explicit,
  ia5,
  implicit,
  integer,
  OID_DER,
  octetString,
  rawInteger,
  sequence,
  set,
  TRUE,
  time,
  toPem,
} from './der.js';
import { createSigner, exportPrivateKey, newKeyPair, signed } from './keys.js';
/** @import { KeyPair, Signer } from './keys.js' */

/** @param {Buffer} oid DER @param {Buffer} value DER @param {boolean} [critical] */
export function extension(oid, value, critical = false) {
  return critical ? sequence(oid, TRUE, octetString(value)) : sequence(oid, octetString(value));
}

/** digitalSignature, keyEncipherment, keyAgreement: Vault's default for a role. */
export const LEAF_KEY_USAGE = extension(OID_DER.keyUsage, element(0x03, Buffer.from([3, 0xa8])), true);

/** keyCertSign, cRLSign. */
export const CA_KEY_USAGE = extension(OID_DER.keyUsage, element(0x03, Buffer.from([1, 0x06])), true);

export const CA_CONSTRAINTS = extension(OID_DER.basicConstraints, sequence(TRUE), true);

export const LEAF_EXTENDED_KEY_USAGE = extension(
  OID_DER.extendedKeyUsage,
  sequence(OID_DER.serverAuth, OID_DER.clientAuth),
);

/** @param {Uint8Array} keyId */
export const subjectKeyIdentifier = (keyId) => extension(OID_DER.subjectKeyIdentifier, octetString(keyId));

/** @param {Uint8Array} keyId */
export const authorityKeyIdentifier = (keyId) =>
  extension(OID_DER.authorityKeyIdentifier, sequence(implicit(0, keyId)));

/**
 * @typedef {object} IssuerUrls
 * @property {string[]} issuing_certificates
 * @property {string[]} ocsp_servers
 * @property {string[]} crl_distribution_points
 */

/**
 * AIA and CRL distribution points, each left out where there is no URL.
 *
 * @param {IssuerUrls} urls
 * @returns {{access: Buffer, crl: Buffer}} possibly empty
 */
export function urlExtensions(urls) {
  const access = [
    ...urls.ocsp_servers.map((url) => sequence(OID_DER.ocsp, uri(url))),
    ...urls.issuing_certificates.map((url) => sequence(OID_DER.caIssuers, uri(url))),
  ];
  const points = urls.crl_distribution_points.map((url) => sequence(explicit(0, explicit(0, uri(url)))));
  return {
    access: access.length > 0 ? extension(OID_DER.authorityInfoAccess, sequence(...access)) : Buffer.alloc(0),
    crl: points.length > 0 ? extension(OID_DER.crlDistributionPoints, sequence(...points)) : Buffer.alloc(0),
  };
}

/** @param {string} url */
const uri = (url) => implicit(6, ia5(url));

/** @typedef {{dns: string[], emails: string[], ips: string[]}} AltNames */

/** @param {AltNames} names @returns {Buffer} empty where there is no name */
export function subjectAltName({ dns, emails, ips }) {
  if (dns.length + emails.length + ips.length === 0) return Buffer.alloc(0);
  const names = [
    ...dns.map((name) => implicit(2, ia5(name))),
    ...emails.map((name) => implicit(1, ia5(name))),
    ...ips.map((ip) => implicit(7, ipBytes(ip))),
  ];
  return extension(OID_DER.subjectAltName, sequence(...names));
}

/** @param {string} commonName */
export function nameOf(commonName) {
  return sequence(set(sequence(OID_DER.commonName, directoryString(commonName))));
}

/** @param {string} ip valid IPv4 or IPv6 text, without a zone @returns {Buffer} 4 or 16 bytes */
export function ipBytes(ip) {
  if (isIPv4(ip)) return Buffer.from(ip.split('.').map(Number));
  // `::ffff:1.2.3.4`: the URL parser turns the dotted tail into hex groups.
  const text = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const [head, tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

const VERSION_3 = explicit(0, integer(2));

/** @returns {Buffer} 20 random bytes that are a positive, minimal INTEGER */
export function newSerial() {
  const serial = randomBytes(20);
  serial[0] = serial[0] & 0x7f || 1;
  return serial;
}

/**
 * Key identifier, method 1 of RFC 5280 section 4.2.1.2.
 *
 * @param {Uint8Array} spki
 */
export function keyIdOf(spki) {
  return createHash('sha1').update(publicKeyBits(spki)).digest();
}

/**
 * @param {object} parts
 * @param {Buffer} parts.serial
 * @param {Buffer} parts.issuerName DER
 * @param {Signer} parts.signer of the issuer
 * @param {number} parts.notBefore epoch seconds
 * @param {number} parts.notAfter epoch seconds
 * @param {string} parts.commonName
 * @param {Buffer} parts.spki
 * @param {(keyIdExtension: Buffer) => Buffer[]} parts.extensions gets the subject key identifier to place among them
 * @returns {Promise<Buffer>} DER
 */
export async function buildCertificate(parts) {
  const { serial, issuerName, signer, notBefore, notAfter, commonName, spki } = parts;
  const tbs = sequence(
    VERSION_3,
    rawInteger(serial),
    signer.algorithm,
    issuerName,
    sequence(time(notBefore), time(notAfter)),
    nameOf(commonName),
    spki,
    explicit(3, sequence(...parts.extensions(subjectKeyIdentifier(keyIdOf(spki))))),
  );
  return signed(signer, tbs);
}

const YEAR_SECONDS = 365 * 86_400;
const BACKDATE_SECONDS = 30;

/**
 * @typedef {object} Authority
 * @property {Buffer} name DER of its subject
 * @property {Buffer} keyId
 * @property {Buffer} keyBits public key, as CertIDs hash it
 * @property {Buffer} der its certificate
 * @property {string} pem
 * @property {Buffer} serial
 * @property {number} notAfter epoch seconds
 * @property {Signer} signer
 */

/** @param {'rsa' | 'ec'} keyType @returns {Promise<{root: Authority, intermediate: Authority}>} */
export async function createAuthorities(keyType) {
  const kind = { type: keyType, bits: keyType === 'rsa' ? 2048 : 256 };
  const [rootKeys, issuerKeys] = await Promise.all([newKeyPair(kind), newKeyPair(kind)]);
  const root = await createAuthority('vault-pki-load dev root', rootKeys, 10, null);
  const intermediate = await createAuthority('vault-pki-load dev intermediate', issuerKeys, 5, root);
  return { root, intermediate };
}

/**
 * @param {string} commonName
 * @param {KeyPair} keys
 * @param {number} years
 * @param {Authority | null} parent null: signs itself
 * @returns {Promise<Authority>}
 */
async function createAuthority(commonName, { privateKey, spki }, years, parent) {
  const signer = createSigner(privateKey);
  const name = nameOf(commonName);
  const keyId = keyIdOf(spki);
  const serial = newSerial();
  const now = Math.floor(Date.now() / 1000);
  const notAfter = now + years * YEAR_SECONDS;
  const der = await buildCertificate({
    serial,
    issuerName: parent?.name ?? name,
    signer: parent?.signer ?? signer,
    notBefore: now - BACKDATE_SECONDS,
    notAfter,
    commonName,
    spki,
    extensions: (ski) => [CA_KEY_USAGE, CA_CONSTRAINTS, ski, authorityKeyIdentifier(parent?.keyId ?? keyId)],
  });
  const pem = toPem('CERTIFICATE', der);
  return { name, keyId, keyBits: publicKeyBits(spki), der, pem, serial, notAfter, signer };
}

/**
 * A certificate for the HTTPS listener, issued by the root, unlike in production.
 *
 * @param {Authority} root
 * @param {string} host listening address, named besides localhost
 * @returns {Promise<{key: string, cert: string}>} PEM
 */
export async function createServerCertificate(root, host) {
  const { privateKey, spki } = await newKeyPair({ type: 'ec', bits: 256 });
  const isIp = /^[0-9.]+$|:/.test(host);
  const names = subjectAltName({
    dns: [...new Set(['localhost', ...(isIp ? [] : [host])])],
    emails: [],
    ips: [...new Set(['127.0.0.1', '::1', ...(isIp ? [host] : [])])],
  });
  const now = Math.floor(Date.now() / 1000);
  const der = await buildCertificate({
    serial: newSerial(),
    issuerName: root.name,
    signer: root.signer,
    notBefore: now - BACKDATE_SECONDS,
    notAfter: now + YEAR_SECONDS,
    commonName: 'localhost',
    spki,
    extensions: (ski) => [
      LEAF_KEY_USAGE,
      LEAF_EXTENDED_KEY_USAGE,
      ski,
      authorityKeyIdentifier(root.keyId),
      names,
    ],
  });
  const key = exportPrivateKey(privateKey, true);
  return { key: `${toPem(key.label, key.der)}\n`, cert: `${toPem('CERTIFICATE', der)}\n` };
}
