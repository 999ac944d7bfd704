/**
 * A strict reader of DER (X.690 section 10): definite lengths in their shortest form, every bound checked, one
 * pass. Values are views into the given bytes, never copies. Malformed input throws a `DerError`.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { memoize } from './memoize.js';

/** The bytes are not the expected DER. The message states the problem and its offset, never the bytes. */
export class DerError extends Error {
  /** @param {string} problem @param {number} [offset] */
  constructor(problem, offset) {
    super(offset === undefined ? problem : `${problem} at offset ${offset}`);
    this.name = 'DerError';
  }
}

/** The same memory as a Buffer. @param {Uint8Array} bytes */
export const asBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Identifier octets (X.690 section 8.1.2) in PKI messages. */
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
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
});

/**
 * @param {number} number 0 to 30, context-specific
 * @param {boolean} [constructed] EXPLICIT, or IMPLICIT over a SEQUENCE
 */
export const contextTag = (number, constructed = true) => (constructed ? 0xa0 : 0x80) | number;

/** Levels of constructed elements within an ANY; names and algorithms have at most three. */
const MAX_ANY_DEPTH = 16;

/** Universal types that are constructed in DER, as bits by tag number (X.690 sections 8 and 10.2). */
const CONSTRUCTED = (1 << 8) | (1 << 11) | (1 << 16) | (1 << 17) | (1 << 29);

/** @param {RegExp} pattern of Latin-1 @returns {(octets: Buffer) => boolean} */
const matches = (pattern) => (octets) => pattern.test(octets.toString('latin1'));

/** @param {Buffer} octets big-endian */
function isUtf32(octets) {
  if (octets.length % 4 !== 0) return false;
  for (let at = 0; at < octets.length; at += 4) {
    const character = octets.readUInt32BE(at);
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) return false;
  }
  return true;
}

/**
 * Contents of string types (X.680 section 41) by tag; a TeletexString may have any. Like Go's crypto/x509, accepts `*`
 * and `&` in a PrintableString. @type {Readonly<Record<number, (octets: Buffer) => boolean>>}
 */
const STRINGS = Object.freeze({
  [TAG.utf8String]: isUtf8,
  18: matches(/^[0-9 ]*$/), // NumericString
  [TAG.printableString]: matches(/^[A-Za-z0-9 '()+,./:=?*&-]*$/),
  [TAG.ia5String]: isAscii,
  26: matches(/^[ -~]*$/), // VisibleString
  28: isUtf32, // UniversalString
  [TAG.bmpString]: matches(/^(?:[^\xd8-\xdf].)*$/s), // without surrogates
});

/** A cursor over elements. `read*` and `enter` check the tag and move past the element. */
export class DerReader {
  /** @param {Uint8Array} bytes @param {number} [start] @param {number} [end] */
  constructor(bytes, start = 0, end = bytes.length) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes);
    this.pos = start;
    this.end = end;
    /** Bounds of the contents of the last element read. */
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

  /** Moves past one element, leaving its contents in `from`..`to`. @param {number} [tag] any if omitted */
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

  /** `read` must read all contents. @template T @param {number} tag @param {(contents: DerReader) => T} read */
  inside(tag, read) {
    const contents = this.enter(tag);
    const value = read(contents);
    contents.finish();
    return value;
  }

  /** Null if the tag differs. @template T @param {number} tag @param {(contents: DerReader) => T} read */
  insideOptional(tag, read) {
    return this.tag === tag ? this.inside(tag, read) : null;
  }

  /** @throws {DerError} if bytes are left */
  finish() {
    if (this.pos !== this.end) throw new DerError('Unexpected trailing bytes', this.pos);
  }

  /**
   * An element of any type. Checks lengths, the form of universal types, and the contents of BOOLEAN, numbers, BIT
   * STRING, OIDs, strings, times and NULL at every level. @returns {Buffer} raw
   */
  readAny() {
    const start = this.pos;
    this.skipAny();
    return this.bytes.subarray(start, this.to);
  }

  /** Checks like `readAny`. */
  skipAny(depth = 0) {
    const { pos: start, tag } = this;
    const isUniversal = tag >= 0 && tag < 0x40;
    if (tag === 0 || (isUniversal && ((CONSTRUCTED >> (tag & 0x1f)) & 1) !== tag >> 5))
      throw new DerError('Not the DER form of this type', start);
    if (tag === TAG.boolean) this.readBoolean();
    else if (tag === TAG.integer || tag === TAG.enumerated) this.readInteger(tag);
    else if (tag === TAG.oid) this.readOid();
    else if (tag === TAG.bitString) this.readNamedBits();
    else if (tag === TAG.utcTime || tag === TAG.generalizedTime) this.readTime();
    else this.next();
    if (tag in STRINGS && !STRINGS[tag](this.bytes.subarray(this.from, this.to)))
      throw new DerError('Not text of this type', start);
    if (tag === TAG.null && this.from !== this.to) throw new DerError('NULL with contents', start);
    if ((tag & 0x20) !== 0) {
      if (depth === MAX_ANY_DEPTH) throw new DerError('Elements are nested too deeply', start);
      const inner = new DerReader(this.bytes, this.from, this.to);
      while (!inner.atEnd) inner.skipAny(depth + 1);
    }
  }

  /** Contents, kept raw: their first nine bits are neither all zero nor all one (X.690 section 8.3.2). */
  readInteger(tag = /** @type {number} */ (TAG.integer)) {
    const value = this.read(tag);
    const nineBits = value.length === 1 ? 1 : (value[0] << 1) | (value[1] >> 7);
    if (value.length === 0 || nineBits === 0 || nineBits === 0x1ff)
      throw new DerError('INTEGER is not in its shortest form', this.from);
    return value;
  }

  /** An INTEGER or ENUMERATED of 0 to 127. */
  readSmallNumber(tag = /** @type {number} */ (TAG.integer)) {
    this.next(tag);
    const value = this.bytes[this.from];
    if (this.to - this.from !== 1 || value > 0x7f)
      throw new DerError('Not a small non-negative number', this.from);
    return value;
  }

  /** DER has exactly two BOOLEANs: 0x00 and 0xff (X.690 section 11.1). */
  readBoolean() {
    this.next(TAG.boolean);
    const value = this.bytes[this.from];
    if (this.to - this.from !== 1 || (value !== 0 && value !== 0xff))
      throw new DerError('Not a BOOLEAN', this.from);
    return value === 0xff;
  }

  /** Dotted text of an OBJECT IDENTIFIER. */
  readOid(tag = /** @type {number} */ (TAG.oid)) {
    this.next(tag);
    return cachedOid(this.bytes.toString('latin1', this.from, this.to));
  }

  /** Contents of a BIT STRING of whole octets, as keys and signatures are. */
  readBitString(tag = /** @type {number} */ (TAG.bitString)) {
    const value = this.read(tag);
    if (value.length === 0 || value[0] !== 0)
      throw new DerError('Not a BIT STRING of whole octets', this.from);
    return value.subarray(1);
  }

  /** Contents of any BIT STRING: the number of unused bits, and octets where those are zero (11.2.1). */
  readNamedBits(tag = /** @type {number} */ (TAG.bitString)) {
    const value = this.read(tag);
    const unused = value.length > 0 ? value[0] : 8;
    const isZero = value.length > 1 ? (value[value.length - 1] & ((1 << unused) - 1)) === 0 : unused === 0;
    if (unused > 7 || !isZero) throw new DerError('BIT STRING with unused bits that are set', this.from);
    return value;
  }

  /** Epoch milliseconds of a GeneralizedTime. */
  readGeneralizedTime() {
    this.next(TAG.generalizedTime);
    return parseTime(this.bytes, this.from, this.to, 4);
  }

  /** Epoch milliseconds of a `Time`: UTCTime or GeneralizedTime. */
  readTime() {
    if (this.tag !== TAG.utcTime) return this.readGeneralizedTime();
    this.next(TAG.utcTime);
    return parseTime(this.bytes, this.from, this.to, 2);
  }
}

/** `read` must read all bytes. @template T @param {Uint8Array} bytes @param {(reader: DerReader) => T} read */
export function readWhole(bytes, read) {
  const reader = new DerReader(bytes);
  const value = read(reader);
  reader.finish();
  return value;
}

/** X.690, 8.1.3.5 and 10.1. @param {Uint8Array} bytes @param {number} at @param {number} octets @param {number} end */
function longLength(bytes, at, octets, end) {
  if (octets === 0) throw new DerError('Indefinite length', at - 1);
  if (octets > 4) throw new DerError('Length of more than four octets', at - 1);
  if (at + octets > end) throw new DerError('Length is cut off', at - 1);
  let length = 0;
  for (let i = 0; i < octets; i += 1) length = length * 256 + bytes[at + i];
  if (length < 0x80 || bytes[at] === 0) throw new DerError('Length is not in its shortest form', at - 1);
  return length;
}

/** Every message contains the same dozen OIDs. */
const cachedOid = memoize(256, decodeOid);

/** @param {string} octets latin1 contents, X.690 section 8.19 */
function decodeOid(octets) {
  const value = Buffer.from(octets, 'latin1');
  if (value.length === 0 || value.length > 128 || value[value.length - 1] & 0x80)
    throw new DerError('Not an OBJECT IDENTIFIER');
  const arcs = [];
  let arc = 0n;
  for (const [i, octet] of value.entries()) {
    if (octet === 0x80 && (i === 0 || value[i - 1] < 0x80))
      throw new DerError('OBJECT IDENTIFIER arc is not in its shortest form');
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    if (octet >= 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first, ...rest] = arcs; // the first two arcs are one number
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

/**
 * The forms of `Time` (RFC 5280 section 4.1.2.5), in UTC (Z), with seconds, without fractions: UTCTime `YYMMDDHHMMSSZ`,
 * whose years 50 to 99 are 19xx, and GeneralizedTime `YYYYMMDDHHMMSSZ`. Epoch milliseconds.
 * @param {Uint8Array} bytes @param {number} from @param {number} to @param {2 | 4} yearDigits
 */
function parseTime(bytes, from, to, yearDigits) {
  const at = from + yearDigits;
  if (to - at !== 11 || bytes[to - 1] !== 0x5a) throw new DerError('Not a time of RFC 5280', from);
  const digits = parseDigits(bytes, from, yearDigits);
  const year = yearDigits === 4 ? digits : digits + (digits < 50 ? 2000 : 1900);
  const month = parseDigits(bytes, at, 2);
  const day = parseDigits(bytes, at + 2, 2);
  const hour = parseDigits(bytes, at + 4, 2);
  const minute = parseDigits(bytes, at + 6, 2);
  const second = parseDigits(bytes, at + 8, 2);
  const date = new Date(0); // Date.UTC would read the years 0 to 99 as 19xx
  date.setUTCFullYear(year, month - 1, day);
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59) throw new DerError('Not a valid time', from);
  return date.setUTCHours(hour, minute, second);
}

/** @param {Uint8Array} bytes @param {number} at @param {number} count */
function parseDigits(bytes, at, count) {
  let value = 0;
  for (let i = at; i < at + count; i += 1) {
    const digit = bytes[i] - 0x30;
    if (!(digit >= 0 && digit <= 9)) throw new DerError('Not a digit', i);
    value = value * 10 + digit;
  }
  return value;
}
