/**
 * OCSPRequest (RFC 6960 section 4.1.1), built by pkijs, which is loaded on first use. Too slow for the request loop (0.3 ms):
 * that one copies a template and patches its nonce.
 */
import { createHash } from 'node:crypto';
import { parseCertificate } from './certificate-der.js';
import { asBuffer } from './der.js';
import { ID_PKIX_OCSP_NONCE, parseCertId } from './ocsp-response.js';

/** @import { CertId } from './ocsp-response.js' */

/** OIDs of the hashes a CertID is made with. */
const HASH_OIDS = Object.freeze({ sha1: '1.3.14.3.2.26', sha256: '2.16.840.1.101.3.4.2.1' });

/** RFC 9654 section 2.1: clients that send a nonce use 32 octets; 1 to 128 are allowed. */
export const DEFAULT_NONCE_LENGTH = 32;
const MAX_NONCE_LENGTH = 128;

/** RFC 9919 section 5 (RFC 5019 before it): up to this many bytes of URL, GET is required. */
const MAX_GET_URL_BYTES = 255;

/**
 * Names a certificate to a responder: hashes of the issuer's raw subject Name and of the contents of its public key's BIT
 * STRING, and the serial (RFC 6960 section 4.1.1). The hash algorithm is given with NULL parameters, as OpenSSL does.
 *
 * @param {{issuerDer: Uint8Array, serial: Uint8Array, hash: 'sha1' | 'sha256'}} options serial: raw INTEGER contents
 * @returns {Promise<CertId>}
 */
export async function createCertId({ issuerDer, serial, hash }) {
  const issuer = parseCertificate(issuerDer);
  const { AlgorithmIdentifier, CertID } = await import('pkijs');
  const asn1js = await import('asn1js');
  const certId = new CertID({
    hashAlgorithm: new AlgorithmIdentifier({
      algorithmId: HASH_OIDS[hash],
      algorithmParams: new asn1js.Null(),
    }),
    issuerNameHash: new asn1js.OctetString({ valueHex: createHash(hash).update(issuer.subject).digest() }),
    issuerKeyHash: new asn1js.OctetString({ valueHex: createHash(hash).update(issuer.spkiBits).digest() }),
    serialNumber: new asn1js.Integer({ valueHex: serial }),
  });
  return parseCertId(Buffer.from(certId.toSchema().toBER()));
}

/**
 * @param {{certId: {raw: Uint8Array}, nonce?: Uint8Array | null}} options
 * @returns {Promise<Buffer>} DER, the same bytes `openssl ocsp` would send
 */
export async function buildOcspRequest({ certId, nonce = null }) {
  const { CertID, Extension, OCSPRequest, Request, TBSRequest } = await import('pkijs');
  const asn1js = await import('asn1js');
  const requestList = [new Request({ reqCert: new CertID({ schema: asn1js.fromBER(certId.raw).result }) })];
  /** @type {{requestList: InstanceType<typeof Request>[], requestExtensions?: InstanceType<typeof Extension>[]}} */
  const fields = { requestList };
  if (nonce !== null) {
    const extnValue = new asn1js.OctetString({ valueHex: nonce }).toBER();
    fields.requestExtensions = [new Extension({ extnID: ID_PKIX_OCSP_NONCE, critical: false, extnValue })];
  }
  const request = new OCSPRequest({ tbsRequest: new TBSRequest(fields) });
  return Buffer.from(request.toSchema(true).toBER());
}

/**
 * A request whose nonce the caller overwrites: `nonceLength` bytes at `nonceOffset` of a copy of `bytes`.
 *
 * @param {{certId: {raw: Uint8Array}, nonceLength?: number}} options 0: no nonce
 * @returns {Promise<{bytes: Buffer, nonceOffset: number, nonceLength: number}>} `nonceOffset` is -1 without a nonce
 */
export async function createOcspRequestTemplate({ certId, nonceLength = DEFAULT_NONCE_LENGTH }) {
  if (!Number.isInteger(nonceLength) || nonceLength < 0 || nonceLength > MAX_NONCE_LENGTH) {
    throw new RangeError(`nonceLength is ${nonceLength}, not 0 to ${MAX_NONCE_LENGTH}`);
  }
  const nonce = nonceLength === 0 ? null : new Uint8Array(nonceLength);
  const bytes = await buildOcspRequest({ certId, nonce });
  // The nonce is the only extension and extensions come last, so its octets are the last of the message.
  return { bytes, nonceOffset: nonce === null ? -1 : bytes.length - nonceLength, nonceLength };
}

/**
 * Path of a GET request (RFC 6960 appendix A.1): standard base64, percent-encoded, since `//` in a path is often collapsed.
 *
 * @param {string} basePath of the responder; with or without a slash at its end
 * @param {Uint8Array} der
 */
export function ocspGetPath(basePath, der) {
  return `${basePath.replace(/\/+$/, '')}/${encodeURIComponent(asBuffer(der).toString('base64'))}`;
}

/**
 * What `auto` means: GET where the whole URL has at most 255 bytes, as RFC 9919 section 5 requires, else POST.
 *
 * @param {string} origin e.g. `http://127.0.0.1:8200`
 * @param {string} getPath from `ocspGetPath`
 * @returns {'GET' | 'POST'}
 */
export function chooseOcspMethod(origin, getPath) {
  return Buffer.byteLength(origin) + Buffer.byteLength(getPath) <= MAX_GET_URL_BYTES ? 'GET' : 'POST';
}
