/**
 * A strict reader of DER (X.690 section 10): definite lengths in their shortest form, every bound checked, one pass, no
 * recursion. Values are views into the bytes that were given, never copies. Whatever the bytes, only `DerError` is thrown.
 */

import {
  asBuffer,
  checkInteger,
  DerError,
  oidText,
  parseGeneralizedTime,
  parseUtcTime,
} from './der-values.js';

export { asBuffer, DerError, oidText, parseGeneralizedTime, parseUtcTime } from './der-values.js';

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
  /**
   * @param {Uint8Array} bytes
   * @param {number} [start]
   * @param {number} [end]
   */
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

  /**
   * Moves past one element, leaving its contents in `from`..`to`.
   *
   * @param {number} [tag] any when left out
   */
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

  /**
   * @param {number} [tag]
   * @returns {Buffer} contents
   */
  read(tag) {
    this.next(tag);
    return this.bytes.subarray(this.from, this.to);
  }

  /**
   * @param {number} [tag]
   * @returns {Buffer} the whole element: identifier, length and contents
   */
  readRaw(tag) {
    const start = this.pos;
    this.next(tag);
    return this.bytes.subarray(start, this.to);
  }

  /**
   * @param {number} tag of a constructed element
   * @returns {DerReader} over its contents
   */
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
