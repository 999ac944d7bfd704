/**
 * OCSP requests for many serials of one issuer. pkijs builds one request for each length of serial that occurs; the
 * request loop copies it and writes the serial and the nonce into their places. What travels to the threads is plain.
 */
import { createHash } from 'node:crypto';
import { fillBytes } from '../common/random.js';
import { createCertId, createOcspRequestTemplate } from '../pki/ocsp-request.js';
import { parseCertId } from '../pki/ocsp-response.js';

const NONCE_LENGTH = 32;
const NONCE_STREAM = 200;

/** Of serials that are invented: as long as serials may be (RFC 5280 section 4.1.2.2), positive and in their shortest form. */
const INVENTED_LENGTH = 20;
const SERIAL_STREAM = 300;

/**
 * @typedef {object} Template
 * @property {Uint8Array} request DER with a serial of the right length
 * @property {number} serialAt in `request`
 * @property {number} nonceAt in `request`; -1 without a nonce
 * @property {Uint8Array} certId DER; the serial is its last part
 * @property {Uint8Array | null} ownCertId the same of the real issuer, where the request is about another; else null
 */
/**
 * @typedef {object} RequestSet plain data
 * @property {Uint8Array} serials INTEGER contents, one after the other
 * @property {Uint32Array} offsets of each serial, and the end of the last
 * @property {Uint32Array} order index modulo its length -> number of the serial; empty: each request has a serial of its own, which
 *   follows from the seed and its index
 * @property {Record<number, Template>} templates by length of the serial
 */

/**
 * @param {object} options
 * @param {Uint8Array} options.issuerDer
 * @param {Uint8Array[]} options.serials none: they are invented
 * @param {Uint32Array} options.order
 * @param {'sha1' | 'sha256'} options.hash
 * @param {boolean} options.nonce
 * @param {boolean} [options.otherIssuer] asks about an invented issuer
 * @returns {Promise<RequestSet>}
 */
export async function createRequestSet({ issuerDer, serials, order, hash, nonce, otherIssuer = false }) {
  const how = { issuerDer, hash, nonce, otherIssuer };
  const offsets = new Uint32Array(serials.length + 1);
  /** @type {Record<number, Template>} */
  const templates = {};
  for (const [i, serial] of serials.entries()) {
    offsets[i + 1] = offsets[i] + serial.length;
    templates[serial.length] ??= await createTemplate(serial, how);
  }
  if (serials.length === 0) {
    templates[INVENTED_LENGTH] = await createTemplate(inventSerial(Buffer.alloc(INVENTED_LENGTH), 0, 0), how);
  }
  const packed = new Uint8Array(offsets[serials.length]);
  serials.forEach((serial, i) => {
    packed.set(serial, offsets[i]);
  });
  return { serials: packed, offsets, order, templates };
}

/**
 * @param {Uint8Array} serial
 * @param {{issuerDer: Uint8Array, hash: 'sha1' | 'sha256', nonce: boolean, otherIssuer: boolean}} how
 * @returns {Promise<Template>}
 */
async function createTemplate(serial, { issuerDer, hash, nonce, otherIssuer }) {
  const { raw: ownRaw } = await createCertId({ issuerDer, serial, hash });
  const raw = otherIssuer ? ofOtherIssuer(ownRaw, hash) : ownRaw;
  const { bytes, nonceOffset } = await createOcspRequestTemplate({
    certId: { raw },
    nonceLength: nonce ? NONCE_LENGTH : 0,
  });
  return {
    request: new Uint8Array(bytes),
    serialAt: bytes.indexOf(raw) + raw.length - serial.length,
    nonceAt: nonceOffset,
    certId: new Uint8Array(raw),
    ownCertId: otherIssuer ? new Uint8Array(ownRaw) : null,
  };
}

/**
 * @param {Uint8Array} raw CertID
 * @param {'sha1' | 'sha256'} hash
 * @returns {Buffer} with hashes of a name and a key that no issuer has
 */
function ofOtherIssuer(raw, hash) {
  const copy = Buffer.from(raw);
  const { issuerNameHash, issuerKeyHash } = parseCertId(copy);
  issuerNameHash.set(createHash(hash).update('name of an issuer that is none').digest());
  issuerKeyHash.set(createHash(hash).update('key of an issuer that is none').digest());
  return copy;
}

/**
 * @param {Buffer} serial filled
 * @param {number} seed
 * @param {number} index
 * @returns {Buffer} `serial`, 158 of its bits drawn
 */
function inventSerial(serial, seed, index) {
  fillBytes(serial, seed, index, SERIAL_STREAM);
  serial[0] = (serial[0] & 0x7f) | 0x40;
  return serial;
}

/** @param {RequestSet} set @param {number} seed nonces follow from it and the index */
export function openRequestSet({ serials, offsets, order, templates }, seed) {
  const expectations = Object.fromEntries(
    Object.entries(templates).map(([length, template]) => [length, blankExpectation(template)]),
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
    /**
     * @param {number} index
     * @returns {Expectation} what the answer must be about; valid until the next call
     */
    expectation(index) {
      const serial = serialOf(index);
      const expectation = expectations[serial.length];
      setSerial(expectation.certId.raw, serial);
      if (expectation.ownCertId !== null) setSerial(expectation.ownCertId.raw, serial);
      if (expectation.nonce !== null) fillBytes(expectation.nonce, seed, index, NONCE_STREAM);
      return expectation;
    },
  };
}

/** @typedef {{certId: {raw: Buffer}, ownCertId: {raw: Buffer} | null, nonce: Buffer | null}} Expectation */

/** @param {Buffer} certId @param {Uint8Array} serial its last part from now on */
function setSerial(certId, serial) {
  certId.set(serial, certId.length - serial.length);
}

/** @param {Template} template @returns {Expectation} with a serial to be overwritten */
function blankExpectation({ certId, ownCertId, nonceAt }) {
  return {
    certId: { raw: Buffer.from(certId) },
    ownCertId: ownCertId === null ? null : { raw: Buffer.from(ownCertId) },
    nonce: nonceAt < 0 ? null : Buffer.alloc(NONCE_LENGTH),
  };
}
