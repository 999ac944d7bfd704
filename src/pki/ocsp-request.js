/** Builds OCSP requests (RFC 6960 section 4.1.1). */
import { createHash } from 'node:crypto';
import { withoutSlashAtEnd } from '../common/options.js';
import { OID, parseCertificate } from './certificate-der.js';
import { asBuffer } from './der.js';
import { explicit, extension, integer, NULL, octetString, oid, sequence } from './der-writer.js';
import { parseCertId } from './ocsp-response.js';
import { HASHES } from './signature.js';

/** RFC 9654 section 2.1. */
export const MAX_NONCE_LENGTH = 128;

/** RFC 9919 section 5 (RFC 5019 before it): GET is required for URLs up to this many bytes. */
const MAX_GET_URL_BYTES = 255;

/**
 * Hashes of the issuer's raw subject Name and of the contents of its public key's BIT STRING, and the serial (RFC 6960
 * section 4.1.1). The hash algorithm has NULL parameters, as with OpenSSL.
 * @param {{issuerDer: Uint8Array, serial: Uint8Array, hash: 'sha1' | 'sha256'}} options serial: raw INTEGER contents
 */
export function createCertId({ issuerDer, serial, hash }) {
  const { subject, spkiBits } = parseCertificate(issuerDer);
  const digestOf = (/** @type {Buffer} */ bytes) => octetString(createHash(hash).update(bytes).digest());
  const [hashOid] = Object.entries(HASHES).find(([, name]) => name === hash) ?? [''];
  const algorithm = sequence(oid(hashOid), NULL);
  return parseCertId(sequence(algorithm, digestOf(subject), digestOf(spkiBits), integer(serial)));
}

/**
 * @param {{certId: {raw: Uint8Array}, nonce?: Uint8Array | null}} options
 * @returns {Buffer} DER, the same bytes `openssl ocsp` would send
 */
export function buildOcspRequest({ certId, nonce = null }) {
  const requests = sequence(sequence(certId.raw));
  if (nonce === null) return sequence(sequence(requests));
  const extensions = sequence(extension(OID.ocspNonce, octetString(nonce)));
  return sequence(sequence(requests, explicit(2, extensions)));
}

/**
 * Path of a GET request (RFC 6960 appendix A.1): base64, percent-encoded, since `//` in a path is often collapsed.
 * @param {string} basePath of the responder; with or without a trailing slash @param {Uint8Array} der
 */
export function ocspGetPath(basePath, der) {
  return `${withoutSlashAtEnd(basePath)}/${encodeURIComponent(asBuffer(der).toString('base64'))}`;
}

/** The method for `auto`. @param {string} origin @param {string} getPath from `ocspGetPath` */
export const chooseOcspMethod = (origin, getPath) =>
  Buffer.byteLength(origin + getPath) <= MAX_GET_URL_BYTES ? 'GET' : 'POST';
