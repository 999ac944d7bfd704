/**
 * OCSP requests for many serials of one issuer. pkijs builds one request for each length of serial that occurs; the
 * request loop copies it and writes the serial and the nonce into their places. What travels to the threads is plain.
 */
import { createCertId, createOcspRequestTemplate } from '../pki/ocsp-request.js';
import { fillBytes } from '../random.js';

const NONCE_LENGTH = 32;
const NONCE_STREAM = 200;

/**
 * @typedef {object} Template
 * @property {Uint8Array} request DER with a serial of the right length
 * @property {number} serialAt in `request`
 * @property {number} nonceAt in `request`; -1 without a nonce
 * @property {Uint8Array} certId DER; the serial is its last part
 */
/**
 * @typedef {object} RequestSet plain data
 * @property {Uint8Array} serials INTEGER contents, one after the other
 * @property {Uint32Array} offsets of each serial, and the end of the last
 * @property {Uint32Array} order index modulo its length -> number of the serial
 * @property {Record<number, Template>} templates by length of the serial
 */

/**
 * @param {object} options
 * @param {Uint8Array} options.issuerDer
 * @param {Uint8Array[]} options.serials at least one
 * @param {Uint32Array} options.order
 * @param {'sha1' | 'sha256'} options.hash
 * @param {boolean} options.nonce
 * @returns {Promise<RequestSet>}
 */
export async function createRequestSet({ issuerDer, serials, order, hash, nonce }) {
  const offsets = new Uint32Array(serials.length + 1);
  /** @type {Record<number, Template>} */
  const templates = {};
  for (const [i, serial] of serials.entries()) {
    offsets[i + 1] = offsets[i] + serial.length;
    templates[serial.length] ??= await createTemplate(issuerDer, serial, hash, nonce);
  }
  const packed = new Uint8Array(offsets[serials.length]);
  serials.forEach((serial, i) => {
    packed.set(serial, offsets[i]);
  });
  return { serials: packed, offsets, order, templates };
}

/**
 * @param {Uint8Array} issuerDer
 * @param {Uint8Array} serial
 * @param {'sha1' | 'sha256'} hash
 * @param {boolean} nonce
 * @returns {Promise<Template>}
 */
async function createTemplate(issuerDer, serial, hash, nonce) {
  const { raw } = await createCertId({ issuerDer, serial, hash });
  const { bytes, nonceOffset } = await createOcspRequestTemplate({
    certId: { raw },
    nonceLength: nonce ? NONCE_LENGTH : 0,
  });
  const serialAt = bytes.indexOf(raw) + raw.length - serial.length;
  return { request: new Uint8Array(bytes), serialAt, nonceAt: nonceOffset, certId: new Uint8Array(raw) };
}

/**
 * @param {RequestSet} set
 * @param {number} seed nonces follow from it and the index
 */
export function openRequestSet({ serials, offsets, order, templates }, seed) {
  const expectations = Object.fromEntries(
    Object.entries(templates).map(([length, template]) => [length, blankExpectation(template)]),
  );
  /** @param {number} index */
  const serialOf = (index) => {
    const n = order[index % order.length];
    return serials.subarray(offsets[n], offsets[n + 1]);
  };
  return {
    /** @returns {boolean} every request is the same */
    constant: order.length === 1 && Object.values(templates)[0].nonceAt < 0,
    /**
     * @param {number} index
     * @returns {Buffer} DER
     */
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
     * @returns {{certId: {raw: Buffer}, nonce: Buffer | null}} what the answer must be about; valid until the next call
     */
    expectation(index) {
      const serial = serialOf(index);
      const expectation = expectations[serial.length];
      const { raw } = expectation.certId;
      raw.set(serial, raw.length - serial.length);
      if (expectation.nonce !== null) fillBytes(expectation.nonce, seed, index, NONCE_STREAM);
      return expectation;
    },
  };
}

/** @param {Template} template @returns {{certId: {raw: Buffer}, nonce: Buffer | null}} with a serial to be overwritten */
function blankExpectation({ certId, nonceAt }) {
  return { certId: { raw: Buffer.from(certId) }, nonce: nonceAt < 0 ? null : Buffer.alloc(NONCE_LENGTH) };
}
