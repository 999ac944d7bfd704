/** One OCSP response in two readings of the same form: by pkijs, and by the reader under test. */
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { parseCertificate } from '../../../src/pki/certificate-der.js';
import { parseCrl } from '../../../src/pki/crl.js';
import { DerError } from '../../../src/pki/der.js';
import { parseOcspResponse } from '../../../src/pki/ocsp-response.js';

/** @import { BasicResponse } from '../../../src/pki/ocsp-response.js' */

/**
 * @typedef {object} Reading octets in hexadecimal, times in epoch milliseconds
 * @property {number} status -1: one that RFC 6960 does not define
 * @property {string} [type]
 * @property {object} [basic]
 */
/** @typedef {{reading: Reading | null, why: string}} Outcome null: refused */

const NONCE = '1.3.6.1.5.5.7.48.1.2';
const BASIC = '1.3.6.1.5.5.7.48.1.1';
const DEFINED = [0, 1, 2, 3, 5, 6];
const NAMES = [
  'successful',
  'ocsp_malformed_request',
  'ocsp_internal_error',
  'ocsp_try_later',
  '',
  'ocsp_sig_required',
  'ocsp_unauthorized',
];

/** @param {Uint8Array | ArrayBuffer} bytes */
const hex = (bytes) =>
  (bytes instanceof ArrayBuffer
    ? Buffer.from(bytes)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ).toString('hex');

/** @param {any} block of asn1js */
const valueHex = (block) => hex(block.valueBlock.valueHexView);

/** @param {Uint8Array} bytes @returns {Outcome} */
export function readWithPkijs(bytes) {
  try {
    const response = pkijs.OCSPResponse.fromBER(bytes);
    const number = response.responseStatus.valueBlock.valueDec;
    const status = DEFINED.includes(number) ? number : -1;
    if (response.responseBytes === undefined) return { reading: { status }, why: '' };
    const type = response.responseBytes.responseType;
    if (status !== 0 || type !== BASIC)
      return { reading: status === 0 ? { status, type } : { status }, why: '' };
    const basic = pkijs.BasicOCSPResponse.fromBER(response.responseBytes.response.valueBlock.valueHexView);
    return { reading: { status, type, basic: describePkijs(basic) }, why: '' };
  } catch (error) {
    return { reading: null, why: error instanceof Error ? error.message : String(error) };
  }
}

/** @param {pkijs.BasicOCSPResponse} basic */
function describePkijs({ tbsResponseData: data, signatureAlgorithm, signature, certs = [] }) {
  const { responderID, responseExtensions = [] } = data;
  const nonce = responseExtensions.find(({ extnID }) => extnID === NONCE);
  return {
    tbs: hex(data.tbsView),
    version: data.version ?? 0,
    responder:
      responderID instanceof asn1js.OctetString
        ? `key ${valueHex(responderID)}`
        : `name ${hex(responderID.valueBeforeDecode)}`,
    producedAt: data.producedAt.getTime(),
    answers: data.responses.map(describePkijsAnswer),
    nonce: nonce ? valueHex(asn1js.fromBER(nonce.extnValue.valueBlock.valueHexView).result) : null,
    algorithm: describePkijsAlgorithm(signatureAlgorithm),
    signature: valueHex(signature),
    certs: certs.map(describePkijsCertificate),
  };
}

/** @param {pkijs.Certificate} certificate */
function describePkijsCertificate(certificate) {
  return {
    tbs: hex(certificate.tbsView),
    serial: valueHex(certificate.serialNumber),
    notBefore: certificate.notBefore.value.getTime(),
    notAfter: certificate.notAfter.value.getTime(),
    subject: hex(certificate.subject.valueBeforeDecode),
    issuer: hex(certificate.issuer.valueBeforeDecode),
    key: valueHex(certificate.subjectPublicKeyInfo.subjectPublicKey),
    extensions: (certificate.extensions ?? []).map(({ extnID, extnValue }) => [extnID, valueHex(extnValue)]),
    algorithm: describePkijsAlgorithm(certificate.signatureAlgorithm),
    signature: valueHex(certificate.signatureValue),
  };
}

/** @param {pkijs.CertificateRevocationList} crl */
function describePkijsCrl(crl) {
  return {
    tbs: hex(crl.tbsView),
    issuer: hex(crl.issuer.valueBeforeDecode),
    thisUpdate: crl.thisUpdate.value.getTime(),
    nextUpdate: crl.nextUpdate?.value.getTime() ?? null,
    entries: (crl.revokedCertificates ?? []).map(({ userCertificate, revocationDate }) => [
      valueHex(userCertificate),
      revocationDate.value.getTime(),
    ]),
    algorithm: describePkijsAlgorithm(crl.signatureAlgorithm),
    signature: valueHex(crl.signatureValue),
  };
}

/** @param {Buffer} der */
function describeCrl(der) {
  /** @type {[string, number][]} */
  const entries = [];
  const { signed, issuer, thisUpdateMs, nextUpdateMs } = parseCrl(der, (serial, ms) =>
    entries.push([hex(serial), ms]),
  );
  return {
    tbs: hex(signed.data),
    issuer: hex(issuer),
    thisUpdate: thisUpdateMs,
    nextUpdate: nextUpdateMs,
    entries,
    algorithm: describeAlgorithm(signed.oid, signed.parameters),
    signature: hex(signed.signature),
  };
}

/**
 * A certificate or a CRL in both readings; null: refused.
 * @param {Buffer} bytes
 * @param {'certificate' | 'crl'} kind
 * @returns {{ours: object | null, theirs: object | null}}
 */
export function readBoth(bytes, kind) {
  const attempt = (/** @type {() => object} */ read, /** @type {Function} */ expected) => {
    try {
      return read();
    } catch (error) {
      if (error instanceof expected) return null;
      throw error;
    }
  };
  const isCrl = kind === 'crl';
  const ours = () => (isCrl ? describeCrl(bytes) : describeCertificate(bytes));
  const theirs = () =>
    isCrl
      ? describePkijsCrl(pkijs.CertificateRevocationList.fromBER(bytes))
      : describePkijsCertificate(pkijs.Certificate.fromBER(bytes));
  return { ours: attempt(ours, DerError), theirs: attempt(theirs, Error) };
}

/** @param {pkijs.SingleResponse} answer */
function describePkijsAnswer({ certID, certStatus, thisUpdate, nextUpdate }) {
  const [revokedAt, reason] = certStatus.idBlock.tagNumber === 1 ? certStatus.valueBlock.value : [];
  return {
    certId: {
      hash: describePkijsAlgorithm(certID.hashAlgorithm),
      name: valueHex(certID.issuerNameHash),
      key: valueHex(certID.issuerKeyHash),
      serial: valueHex(certID.serialNumber),
    },
    status: ['good', 'revoked', 'unknown'][certStatus.idBlock.tagNumber],
    revokedAt: revokedAt?.toDate().getTime() ?? null,
    reason: reason?.valueBlock.value[0].valueBlock.valueDec ?? null,
    thisUpdate: thisUpdate.getTime(),
    nextUpdate: nextUpdate?.getTime() ?? null,
  };
}

/** @param {pkijs.AlgorithmIdentifier} algorithm parameters as asn1js got them from the bytes */
function describePkijsAlgorithm({ algorithmId, algorithmParams }) {
  return {
    oid: algorithmId,
    parameters: algorithmParams === undefined ? null : hex(algorithmParams.valueBeforeDecodeView),
  };
}

/** @param {Uint8Array} bytes @returns {Outcome} */
export function readOurselves(bytes) {
  try {
    const response = parseOcspResponse(bytes);
    if (response.status !== 'successful')
      return { reading: { status: NAMES.indexOf(response.status) }, why: '' };
    const { typeOid: type } = response;
    if (response.signed === null) return { reading: { status: 0, type }, why: '' };
    if (response.unknownCritical !== null)
      return { reading: null, why: `critical extension ${response.unknownCritical}` };
    return { reading: { status: 0, type, basic: describeOurs(response) }, why: '' };
  } catch (error) {
    if (error instanceof DerError) return { reading: null, why: error.message };
    throw error;
  }
}

/** @param {BasicResponse} response */
function describeOurs({ signed, version, responderId, producedAt, responses, nonce, certs }) {
  return {
    tbs: hex(signed.data),
    version,
    responder: `${responderId.kind === 'name' ? 'name' : 'key'} ${hex(responderId.value)}`,
    producedAt,
    answers: responses.map(({ certId, unknownCritical: _, ...answer }) => ({
      certId: {
        hash: describeAlgorithm(certId.hashOid, certId.hashParameters),
        name: hex(certId.issuerNameHash),
        key: hex(certId.issuerKeyHash),
        serial: hex(certId.serial),
      },
      ...answer,
    })),
    nonce: nonce === null ? null : hex(nonce),
    algorithm: describeAlgorithm(signed.oid, signed.parameters),
    signature: hex(signed.signature),
    certs: certs.map(describeCertificate),
  };
}

/** @param {Uint8Array} der */
function describeCertificate(der) {
  const certificate = parseCertificate(der);
  const { signed, serial, notBefore, notAfter, subject, issuer, spkiBits, extensions } = certificate;
  return {
    tbs: hex(signed.data),
    serial: hex(serial),
    notBefore,
    notAfter,
    subject: hex(subject),
    issuer: hex(issuer),
    key: hex(spkiBits),
    extensions: [...extensions].map(([oid, value]) => [oid, hex(value)]),
    algorithm: describeAlgorithm(signed.oid, signed.parameters),
    signature: hex(signed.signature),
  };
}

/** @param {string} oid @param {Uint8Array | null} parameters */
function describeAlgorithm(oid, parameters) {
  return { oid, parameters: parameters === null ? null : hex(parameters) };
}
