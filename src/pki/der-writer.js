/** Writes DER (X.690 section 10) and the parts of requests and certificates (RFC 5280). Validates nothing. */
import { memoize } from './memoize.js';

/** @param {number} tag identifier octet @param {...Uint8Array} parts contents, in order @returns {Buffer} */
export function element(tag, ...parts) {
  let length = 0;
  for (const part of parts) length += part.length;
  const octets = length < 0x80 ? 0 : Math.ceil((32 - Math.clz32(length)) / 8);
  const out = Buffer.allocUnsafe(2 + octets + length);
  out[0] = tag;
  out[1] = octets === 0 ? length : 0x80 | octets;
  if (octets > 0) out.writeUIntBE(length, 2, octets);
  let at = 2 + octets;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** @param {...Uint8Array} parts */
export const sequence = (...parts) => element(0x30, ...parts);

/** @param {...Uint8Array} parts already in DER order */
export const set = (...parts) => element(0x31, ...parts);

/** [number] EXPLICIT, or IMPLICIT over a constructed type. @param {number} number @param {...Uint8Array} parts */
export const explicit = (number, ...parts) => element(0xa0 | number, ...parts);

/** [number] IMPLICIT over a primitive type. @param {number} number @param {Uint8Array} contents */
export const implicit = (number, contents) => element(0x80 | number, contents);

/** @param {Uint8Array} contents */
export const octetString = (contents) => element(0x04, contents);

/** @param {Uint8Array} contents whole octets */
export const bitString = (contents) => element(0x03, Buffer.alloc(1), contents);

/** @param {Uint8Array | number} value contents, or a number of 0 to 127 */
export const integer = (value) => element(0x02, typeof value === 'number' ? Buffer.from([value]) : value);

export const TRUE = Buffer.from([0x01, 0x01, 0xff]);
export const NULL = Buffer.from([0x05, 0x00]);

/** From dotted text. Cached: every message contains the same dozen. */
export const oid = memoize(256, (dotted) => {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const group = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) group.unshift(0x80 | (left & 0x7f));
    return group;
  });
  return element(0x06, Buffer.from(octets));
});

/** @param {number} epochSeconds whole */
export const generalizedTime = (epochSeconds) =>
  element(0x18, Buffer.from(new Date(epochSeconds * 1000).toISOString().replace(/\.000|[-:T]/g, '')));

/** `Time` of RFC 5280 section 4.1.2.5: UTCTime up to 2049, then GeneralizedTime. @param {number} epochSeconds whole */
export function time(epochSeconds) {
  const general = generalizedTime(epochSeconds);
  return general.toString('latin1', 2, 6) < '2050' ? element(0x17, general.subarray(4)) : general;
}

/** @param {string} id @param {Uint8Array} value DER @param {boolean} [isCritical] */
export const extension = (id, value, isCritical = false) =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octetString(value));

/** A Name with only a commonName. @param {string} commonName empty: an empty Name */
export const nameOf = (commonName) =>
  commonName === ''
    ? sequence()
    : sequence(set(sequence(oid('2.5.4.3'), element(0x0c, Buffer.from(commonName)))));
