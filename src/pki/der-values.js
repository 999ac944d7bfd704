/**
 * The primitive values of DER (X.690 section 8) that PKI messages are made of: from contents octets to JavaScript.
 */

/** The bytes are not the DER that was expected. The message says what and at which offset, never the bytes. */
export class DerError extends Error {
  /**
   * @param {string} problem
   * @param {number} [offset]
   */
  constructor(problem, offset) {
    super(offset === undefined ? problem : `${problem} at offset ${offset}`);
    this.name = 'DerError';
  }
}

/**
 * The same memory as a Buffer.
 *
 * @param {Uint8Array} bytes
 */
export function asBuffer(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * X.690 section 8.3.2: the first nine bits of an INTEGER are neither all zero nor all one.
 *
 * @param {Uint8Array} value
 * @param {number} [offset]
 */
export function checkInteger(value, offset) {
  const redundant =
    value.length > 1 &&
    ((value[0] === 0 && (value[1] & 0x80) === 0) || (value[0] === 0xff && (value[1] & 0x80) !== 0));
  if (value.length === 0 || redundant) throw new DerError('INTEGER is not in its shortest form', offset);
}

/**
 * Texts of OIDs already met, by a hash of their octets; the same dozen comes back in every message. Bounded: strange ones
 * are not kept.
 *
 * @type {Map<number, {octets: Buffer, text: string}>}
 */
const knownOids = new Map();
const MAX_KNOWN_OIDS = 256;

/**
 * @param {Uint8Array} bytes contents of an OBJECT IDENTIFIER (X.690 section 8.19)
 * @param {number} [from]
 * @param {number} [to]
 * @returns {string} dotted
 */
export function oidText(bytes, from = 0, to = bytes.length) {
  let hash = to - from;
  for (let i = from; i < to; i += 1) hash = (Math.imul(hash, 31) + bytes[i]) | 0;
  const known = knownOids.get(hash);
  if (known !== undefined && isAt(known.octets, bytes, from, to)) return known.text;
  const octets = Buffer.from(bytes.subarray(from, to));
  const text = decodeOid(octets);
  if (knownOids.size < MAX_KNOWN_OIDS) knownOids.set(hash, { octets, text });
  return text;
}

/**
 * @param {Uint8Array} octets
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to
 */
function isAt(octets, bytes, from, to) {
  if (octets.length !== to - from) return false;
  for (let i = 0; i < octets.length; i += 1) if (octets[i] !== bytes[from + i]) return false;
  return true;
}

/** @param {Uint8Array} value */
function decodeOid(value) {
  if (value.length === 0 || value.length > 128 || value[value.length - 1] & 0x80) {
    throw new DerError('Not an OBJECT IDENTIFIER');
  }
  const arcs = [];
  let arc = 0n;
  let first = true;
  for (const octet of value) {
    if (first && octet === 0x80) throw new DerError('OBJECT IDENTIFIER arc is not in its shortest form');
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    first = (octet & 0x80) === 0;
    if (!first) continue;
    if (arcs.length === 0) {
      const root = arc < 40n ? 0n : arc < 80n ? 1n : 2n;
      arcs.push(root, arc - root * 40n);
    } else arcs.push(arc);
    arc = 0n;
  }
  return arcs.join('.');
}

/**
 * `YYYYMMDDHHMMSSZ`; RFC 5280 section 4.1.2.5.2 demands Zulu and seconds and forbids fractions.
 *
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to
 * @returns {number} epoch milliseconds
 */
export function parseGeneralizedTime(bytes, from = 0, to = bytes.length) {
  if (to - from !== 15) throw new DerError('Not a GeneralizedTime YYYYMMDDHHMMSSZ', from);
  return dateTime(digits(bytes, from, 4), bytes, from + 4);
}

/**
 * `YYMMDDHHMMSSZ`; years 50 to 99 are 19xx (RFC 5280 section 4.1.2.5.1).
 *
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to
 * @returns {number} epoch milliseconds
 */
export function parseUtcTime(bytes, from = 0, to = bytes.length) {
  if (to - from !== 13) throw new DerError('Not a UTCTime YYMMDDHHMMSSZ', from);
  const year = digits(bytes, from, 2);
  return dateTime(year < 50 ? 2000 + year : 1900 + year, bytes, from + 2);
}

/**
 * @param {number} year
 * @param {Uint8Array} bytes
 * @param {number} at of `MMDDHHMMSSZ`
 */
function dateTime(year, bytes, at) {
  const month = digits(bytes, at, 2);
  const day = digits(bytes, at + 2, 2);
  const hour = digits(bytes, at + 4, 2);
  const minute = digits(bytes, at + 6, 2);
  const second = digits(bytes, at + 8, 2);
  const daysInMonth = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  if (bytes[at + 10] !== 0x5a || day < 1 || day > daysInMonth || hour > 23 || minute > 59 || second > 59) {
    throw new DerError('Not a valid time', at);
  }
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  return year >= 100 ? ms : new Date(ms).setUTCFullYear(year, month - 1, day);
}

/** @param {number} year */
function isLeap(year) {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} count
 */
function digits(bytes, at, count) {
  let value = 0;
  for (let i = at; i < at + count; i += 1) {
    const digit = bytes[i] - 0x30;
    if (!(digit >= 0 && digit <= 9)) throw new DerError('Not a digit', i);
    value = value * 10 + digit;
  }
  return value;
}
