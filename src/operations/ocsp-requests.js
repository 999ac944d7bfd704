/** OCSP requests for many serials of one issuer: a template per serial length, filled in with serial and nonce. */
import { createHash } from 'node:crypto';
import { fillBytes } from '../common/random.js';
import { buildOcspRequest, createCertId } from '../pki/ocsp-request.js';
import { parseCertId } from '../pki/ocsp-response.js';

const NONCE_LENGTH = 32;
const NONCE_STREAM = 200;

/** Maximum length of a serial (RFC 5280 section 4.1.2.2). Invented serials are positive and minimally encoded. */
const INVENTED_LENGTH = 20;
const SERIAL_STREAM = 300;

/** @typedef {ReturnType<typeof createTemplate>} Template */
/** @typedef {ReturnType<typeof createRequestSet>} RequestSet plain data */
/** @typedef {{issuerDer: Uint8Array, hash: 'sha1' | 'sha256', nonce: boolean, otherIssuer?: boolean}} TemplateOptions */

/** @param {TemplateOptions & {serials: Uint8Array[], order: Uint32Array}} options
 *   `serials`: if empty, one per request is invented; `order`: index modulo its length -> number of the serial */
export function createRequestSet({ serials, order, ...options }) {
  const offsets = new Uint32Array(serials.length + 1);
  /** By length of the serial. @type {Record<number, Template>} */
  const templates = {};
  for (const [i, serial] of serials.entries()) {
    offsets[i + 1] = offsets[i] + serial.length;
    templates[serial.length] ??= createTemplate(serial, options);
  }
  if (serials.length === 0) {
    templates[INVENTED_LENGTH] = createTemplate(inventSerial(Buffer.alloc(INVENTED_LENGTH), 0, 0), options);
  }
  // The last offset is the end of the last serial.
  return { serials: new Uint8Array(Buffer.concat(serials)), offsets, order, templates };
}

/** @param {Uint8Array} serial INTEGER contents @param {TemplateOptions} options */
function createTemplate(serial, { issuerDer, hash, nonce, otherIssuer = false }) {
  const { raw: ownRaw } = createCertId({ issuerDer, serial, hash });
  const raw = Buffer.from(ownRaw);
  if (otherIssuer) {
    const { issuerNameHash, issuerKeyHash } = parseCertId(raw);
    issuerNameHash.set(createHash(hash).update('name of no issuer').digest());
    issuerKeyHash.set(createHash(hash).update('key of no issuer').digest());
  }
  const bytes = buildOcspRequest({ certId: { raw }, nonce: nonce ? Buffer.alloc(NONCE_LENGTH) : null });
  return {
    request: new Uint8Array(bytes), // DER with a serial of the right length
    serialAt: bytes.indexOf(raw) + raw.length - serial.length,
    // The nonce is the only extension, and extensions come last.
    nonceAt: nonce ? bytes.length - NONCE_LENGTH : -1,
    certId: new Uint8Array(raw), // ends with the serial
    ownCertId: otherIssuer ? new Uint8Array(ownRaw) : null, // of the real issuer
  };
}

/** @param {Buffer} serial is overwritten @param {number} seed @param {number} index @returns {Buffer} `serial` */
function inventSerial(serial, seed, index) {
  fillBytes(serial, seed, index, SERIAL_STREAM);
  serial[0] = (serial[0] & 0x7f) | 0x40;
  return serial;
}

/** @param {RequestSet} set @param {number} seed with the index, determines the nonces */
export function openRequestSet({ serials, offsets, order, templates }, seed) {
  const expectations = Object.fromEntries(
    Object.entries(templates).map(([length, template]) => [length, createExpectation(template)]),
  );
  const invented = Buffer.alloc(INVENTED_LENGTH);
  /** @param {number} index @returns {Uint8Array} valid until the next call */
  const serialOf = (index) => {
    if (order.length === 0) return inventSerial(invented, seed, index);
    const n = order[index % order.length];
    return serials.subarray(offsets[n], offsets[n + 1]);
  };
  return {
    /** @returns {boolean} every request is the same */
    constant: order.length === 1 && Object.values(templates)[0].nonceAt < 0,
    /** @param {number} index @returns {Buffer} DER */
    request(index) {
      const serial = serialOf(index);
      const { request, serialAt, nonceAt } = templates[serial.length];
      const bytes = Buffer.from(request);
      bytes.set(serial, serialAt);
      if (nonceAt >= 0) fillBytes(bytes.subarray(nonceAt, nonceAt + NONCE_LENGTH), seed, index, NONCE_STREAM);
      return bytes;
    },
    /** @param {number} index @returns expected values of its response; valid until the next call */
    expectation(index) {
      const serial = serialOf(index);
      const expectation = expectations[serial.length];
      const { certId, ownCertId, nonce } = expectation;
      certId.raw.set(serial, certId.raw.length - serial.length);
      ownCertId?.raw.set(serial, ownCertId.raw.length - serial.length);
      if (nonce !== null) fillBytes(nonce, seed, index, NONCE_STREAM);
      return expectation;
    },
  };
}

/** @param {Template} template, whose serial and nonce will be overwritten */
function createExpectation({ certId, ownCertId, nonceAt }) {
  return {
    certId: { raw: Buffer.from(certId) },
    ownCertId: ownCertId === null ? null : { raw: Buffer.from(ownCertId) },
    nonce: nonceAt < 0 ? null : Buffer.alloc(NONCE_LENGTH),
    nowMs: 0,
  };
}
