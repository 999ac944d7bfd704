/** OCSPRequest (RFC 6960 section 4.1.1). The request loop copies a template and writes its own nonce into it. */
import { createHash } from 'node:crypto';
import { OID, parseCertificate } from './certificate-der.js';
import { asBuffer } from './der.js';
import { explicit, extension, integer, NULL, octetString, oid, sequence } from './der-writer.js';
import { parseCertId } from './ocsp-response.js';
import { HASHES } from './signature.js';

/** @import { CertId } from './ocsp-response.js' */

/** RFC 9654 section 2.1. */
export const MAX_NONCE_LENGTH = 128;

/** RFC 9919 section 5 (RFC 5019 before it): up to this many bytes of URL, GET is required. */
const MAX_GET_URL_BYTES = 255;

/**
 * Names a certificate to a responder: hashes of the issuer's raw subject Name and of the contents of its public key's BIT
 * STRING, and the serial (RFC 6960 section 4.1.1). The hash algorithm is given with NULL parameters, as OpenSSL does.
 * @param {{issuerDer: Uint8Array, serial: Uint8Array, hash: 'sha1' | 'sha256'}} options serial: raw INTEGER contents
 * @returns {CertId}
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
  const extensions =
    nonce === null ? [] : [explicit(2, sequence(extension(OID.ocspNonce, octetString(nonce))))];
  return sequence(sequence(requests, ...extensions));
}

/**
 * A request whose nonce the caller overwrites: `nonceLength` bytes at `nonceOffset` of a copy of `bytes`.
 * @param {{certId: {raw: Uint8Array}, nonceLength: number}} options 0: no nonce, or up to 128
 * @returns {{bytes: Buffer, nonceOffset: number, nonceLength: number}} `nonceOffset` is -1 without a nonce
 */
export function createOcspRequestTemplate({ certId, nonceLength }) {
  const nonce = nonceLength === 0 ? null : new Uint8Array(nonceLength);
  const bytes = buildOcspRequest({ certId, nonce });
  // The nonce is the only extension and extensions come last, so its octets are the last of the message.
  return { bytes, nonceOffset: nonce === null ? -1 : bytes.length - nonceLength, nonceLength };
}

/**
 * Path of a GET request (RFC 6960 appendix A.1): standard base64, percent-encoded, since `//` in a path is often collapsed.
 * @param {string} basePath of the responder; with or without a slash at its end
 * @param {Uint8Array} der
 */
export function ocspGetPath(basePath, der) {
  return `${basePath.replace(/\/+$/, '')}/${encodeURIComponent(asBuffer(der).toString('base64'))}`;
}

/**
 * What `auto` means: GET where the whole URL has at most 255 bytes, as RFC 9919 section 5 requires, else POST.
 * @param {string} origin e.g. `http://127.0.0.1:8200`
 * @param {string} getPath from `ocspGetPath`
 * @returns {'GET' | 'POST'}
 */
export function chooseOcspMethod(origin, getPath) {
  return Buffer.byteLength(origin) + Buffer.byteLength(getPath) <= MAX_GET_URL_BYTES ? 'GET' : 'POST';
}
