/** X.509 v3 extensions (RFC 5280 section 4.2) and the names inside them. */
import { isIPv4 } from 'node:net';
import {
  directoryString,
  element,
  explicit,
  ia5,
  implicit,
  octetString,
  sequence,
  set,
  TRUE,
} from './der.js';
import { OID_DER } from './oids.js';

/**
 * @param {Buffer} oid DER
 * @param {Buffer} value DER
 * @param {boolean} [critical]
 */
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

/**
 * @typedef {{dns: string[], emails: string[], ips: string[]}} AltNames
 */

/**
 * @param {AltNames} names
 * @returns {Buffer} empty where there is no name
 */
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

/**
 * @param {string} ip valid IPv4 or IPv6 text, without a zone
 * @returns {Buffer} 4 or 16 bytes
 */
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
