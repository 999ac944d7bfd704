/** A small DER writer, and OCSP responses made with it. */
import { createHash } from 'node:crypto';
import { parseCertificate } from '../../src/pki/certificate-der.js';
/** @import { Issued } from './test-ca.js' */

/** @param {number} tag @param {...Uint8Array} contents */
export function der(tag, ...contents) {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

/** @param {string} dotted */
export function oid(dotted) {
  const [a, b, ...rest] = dotted.split('.').map(Number);
  const octets = [a * 40 + b, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, Buffer.from(octets));
}

/** @param {string} hex with spaces where they help */
export const bytesOf = (hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

/** @param {number} ms */
export function generalizedTime(ms) {
  return der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

/** @param {string} id @param {boolean} critical @param {Uint8Array} value */
export function extension(id, critical, value) {
  return der(0x30, oid(id), ...(critical ? [Buffer.from([0x01, 0x01, 0xff])] : []), der(0x04, value));
}

/** @param {{certId: Uint8Array, thisUpdate: number, nextUpdate?: number | null, status?: Buffer, extensions?: Buffer[]}} options */
export function single({ certId, thisUpdate, nextUpdate = null, status = bytesOf('8000'), extensions }) {
  return der(
    0x30,
    certId,
    status,
    generalizedTime(thisUpdate),
    ...(nextUpdate === null ? [] : [der(0xa0, generalizedTime(nextUpdate))]),
    ...(extensions ? [der(0xa1, der(0x30, ...extensions))] : []),
  );
}

/**
 * @param {object} options
 * @param {Issued} options.signer
 * @param {Buffer[]} options.singles
 * @param {Buffer[]} [options.extensions] responseExtensions
 * @param {Buffer[]} [options.certs]
 * @param {number} [options.producedAt]
 * @param {Buffer} [options.responderId] instead of the signer's name
 * @param {Buffer} [options.version]
 * @param {string} [options.type] OID of the response type
 * @param {Buffer} [options.algorithm] AlgorithmIdentifier instead of that of the signer's key
 * @param {(tbs: Buffer) => Buffer} [options.signWith]
 */
export function buildResponse({
  signer,
  singles,
  extensions,
  certs = [],
  producedAt = Date.now(),
  responderId = der(0xa1, parseCertificate(signer.der).subject),
  version = Buffer.alloc(0),
  type = '1.3.6.1.5.5.7.48.1.1',
  algorithm = signer.algorithm,
  signWith = (tbs) => signer.sign(tbs),
}) {
  const tbs = der(
    0x30,
    version,
    responderId,
    generalizedTime(producedAt),
    der(0x30, ...singles),
    ...(extensions ? [der(0xa1, der(0x30, ...extensions))] : []),
  );
  const signature = der(0x03, Buffer.from([0]), signWith(tbs));
  const enclosed = certs.length > 0 ? [der(0xa0, der(0x30, ...certs))] : [];
  const basic = der(0x30, tbs, algorithm, signature, ...enclosed);
  return der(0x30, der(0x0a, Buffer.from([0])), der(0xa0, der(0x30, oid(type), der(0x04, basic))));
}

/** @param {number} status */
export function refusal(status) {
  return Buffer.from([0x30, 0x03, 0x0a, 0x01, status]);
}

/** @param {Issued} signer @param {string} [hash] */
export function keyHashResponderId(signer, hash = 'sha1') {
  return der(0xa2, der(0x04, createHash(hash).update(parseCertificate(signer.der).spkiBits).digest()));
}
