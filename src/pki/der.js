/**
 * A strict reader of DER (X.690 section 10): definite lengths in their shortest form, every bound checked, one pass, no
 * recursion. Values are views into the given bytes, never copies. Whatever the bytes, only `DerError` is thrown.
 */

/** The bytes are not the DER that was expected. The message has the fault and its offset, never the bytes. */
export class DerError extends Error {
  /** @param {string} problem @param {number} [offset] */
  constructor(problem, offset) {
    super(offset === undefined ? problem : `${problem} at offset ${offset}`);
    this.name = 'DerError';
  }
}

/** The same memory as a Buffer. @param {Uint8Array} bytes */
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

/** @param {number} year @param {Uint8Array} bytes @param {number} at of `MMDDHHMMSSZ` */
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

/** @param {Uint8Array} bytes @param {number} at @param {number} count */
function digits(bytes, at, count) {
  let value = 0;
  for (let i = at; i < at + count; i += 1) {
    const digit = bytes[i] - 0x30;
    if (!(digit >= 0 && digit <= 9)) throw new DerError('Not a digit', i);
    value = value * 10 + digit;
  }
  return value;
}

/** Identifier octets (X.690 section 8.1.2) of what PKI messages are made of. */
export const TAG = Object.freeze({
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
});

/**
 * Identifier octet of a context-specific tag, number 0 to 30.
 *
 * @param {number} number
 * @param {boolean} [constructed] true for EXPLICIT tagging and for IMPLICIT tagging of a SEQUENCE
 */
export function contextTag(number, constructed = true) {
  return 0x80 | (constructed ? 0x20 : 0) | number;
}

/**
 * A cursor over consecutive elements. `read*` and `enter` demand a tag and move past the element; `tag` looks ahead.
 */
export class DerReader {
  /** @param {Uint8Array} bytes @param {number} [start] @param {number} [end] */
  constructor(bytes, start = 0, end = bytes.length) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes);
    this.pos = start;
    this.end = end;
    /** Where the contents of the last element read began and ended. */
    this.from = start;
    this.to = start;
  }

  /** Identifier octet of the next element, -1 at the end. */
  get tag() {
    return this.pos < this.end ? this.bytes[this.pos] : -1;
  }

  get atEnd() {
    return this.pos >= this.end;
  }

  /** Moves past one element, leaving its contents in `from`..`to`. @param {number} [tag] any when left out */
  next(tag) {
    const { bytes, end, pos } = this;
    if (pos + 2 > end) throw new DerError('Element is missing or cut off', pos);
    const identifier = bytes[pos];
    if (tag !== undefined && identifier !== tag) {
      throw new DerError(`Expected tag 0x${tag.toString(16)}, found 0x${identifier.toString(16)}`, pos);
    }
    if ((identifier & 0x1f) === 0x1f) throw new DerError('Tag numbers above 30 are not supported', pos);
    let length = bytes[pos + 1];
    let from = pos + 2;
    if (length >= 0x80) {
      const octets = length & 0x7f;
      length = longLength(bytes, from, octets, end);
      from += octets;
    }
    if (length > end - from) throw new DerError('Length goes past the end', pos);
    this.from = from;
    this.to = from + length;
    this.pos = this.to;
  }

  /** @param {number} [tag] @returns {Buffer} contents */
  read(tag) {
    this.next(tag);
    return this.bytes.subarray(this.from, this.to);
  }

  /** @param {number} [tag] @returns {Buffer} the whole element: identifier, length and contents */
  readRaw(tag) {
    const start = this.pos;
    this.next(tag);
    return this.bytes.subarray(start, this.to);
  }

  /** @param {number} tag of a constructed element @returns {DerReader} over its contents */
  enter(tag) {
    this.next(tag);
    return new DerReader(this.bytes, this.from, this.to);
  }

  /**
   * The contents of an OPTIONAL element.
   *
   * @param {number} tag
   * @returns {DerReader | null} null, and nothing is moved, when the next element is another one
   */
  enterOptional(tag) {
    return this.tag === tag ? this.enter(tag) : null;
  }

  /** Demands that nothing is left. */
  finish() {
    if (this.pos !== this.end) throw new DerError('Unexpected trailing bytes', this.pos);
  }

  /** Demands that something is left: for SIZE (1..MAX). */
  demandSome() {
    if (this.pos === this.end) throw new DerError('List without elements', this.pos);
  }

  /** Contents of an INTEGER, kept raw: minimal, with its leading zero (X.690 section 8.3.2). */
  readInteger() {
    const value = this.read(TAG.integer);
    checkInteger(value, this.from);
    return value;
  }

  /** An ENUMERATED or INTEGER that must be small: 0 to 127. @param {number} [tag] */
  readSmallNumber(tag = TAG.enumerated) {
    this.next(tag);
    if (this.to - this.from !== 1 || this.bytes[this.from] > 0x7f) {
      throw new DerError('Not a small non-negative number', this.from);
    }
    return this.bytes[this.from];
  }

  /** DER has exactly two BOOLEANs: 0x00 and 0xff (X.690 section 11.1). */
  readBoolean() {
    this.next(TAG.boolean);
    const value = this.bytes[this.from];
    if (this.to - this.from !== 1 || (value !== 0 && value !== 0xff)) {
      throw new DerError('Not a BOOLEAN', this.from);
    }
    return value === 0xff;
  }

  /** Dotted text of an OBJECT IDENTIFIER. */
  readOid() {
    this.next(TAG.oid);
    return oidText(this.bytes, this.from, this.to);
  }

  /** Contents of a BIT STRING of whole octets, as keys and signatures are. */
  readBitString() {
    const value = this.read(TAG.bitString);
    if (value.length === 0 || value[0] !== 0)
      throw new DerError('Not a BIT STRING of whole octets', this.from);
    return value.subarray(1);
  }

  /** Epoch milliseconds of a GeneralizedTime. */
  readGeneralizedTime() {
    this.next(TAG.generalizedTime);
    return parseGeneralizedTime(this.bytes, this.from, this.to);
  }

  /** Epoch milliseconds of a `Time` (RFC 5280 section 4.1.2.5): UTCTime or GeneralizedTime. */
  readTime() {
    if (this.tag !== TAG.utcTime) return this.readGeneralizedTime();
    this.next(TAG.utcTime);
    return parseUtcTime(this.bytes, this.from, this.to);
  }
}

/**
 * Long form of the length octets (X.690 sections 8.1.3.5 and 10.1): no more octets than needed. Four are enough for us.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} octets
 * @param {number} end
 */
function longLength(bytes, at, octets, end) {
  if (octets === 0) throw new DerError('Indefinite length', at - 1);
  if (octets > 4) throw new DerError('Length of more than four octets', at - 1);
  if (at + octets > end) throw new DerError('Length is cut off', at - 1);
  let length = 0;
  for (let i = 0; i < octets; i += 1) length = length * 256 + bytes[at + i];
  if (length < 0x80 || bytes[at] === 0) throw new DerError('Length is not in its shortest form', at - 1);
  return length;
}
