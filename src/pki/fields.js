/** Parts of many messages: AlgorithmIdentifier, Name, and ANY, with what DER demands of its contents. */
import {
  checkInteger,
  DerError,
  DerReader,
  oidText,
  parseGeneralizedTime,
  parseUtcTime,
  TAG,
} from './der.js';

/** @param {DerReader} reader */
export function readAlgorithm(reader) {
  const algorithm = reader.enter(TAG.sequence);
  const oid = algorithm.readOid();
  const parameters = algorithm.atEnd ? null : readAny(algorithm);
  algorithm.finish();
  return { oid, parameters };
}

/**
 * Name (RFC 5280 section 4.1.2.4): an RDNSequence whose values may be of any kind.
 *
 * @param {DerReader} reader
 * @returns {Buffer} raw
 */
export function readName(reader) {
  const start = reader.pos;
  const names = reader.enter(TAG.sequence);
  const raw = reader.bytes.subarray(start, reader.to);
  while (!names.atEnd) {
    const set = names.enter(TAG.set);
    set.demandSome();
    while (!set.atEnd) {
      const attribute = set.enter(TAG.sequence);
      attribute.readOid();
      readAny(attribute);
      attribute.finish();
    }
  }
  return raw;
}

/** @typedef {{oid: string, parameters: Buffer | null, data: Buffer, signature: Buffer}} Signed `data`: the raw bytes that are signed */

/**
 * What certificates and CRLs have in common: signed fields, which repeat the algorithm of the signature (RFC 5280 4.1.1.2, 5.1.1.2).
 *
 * @param {Uint8Array} der nothing behind it
 * @returns {{signed: Signed, tbs: DerReader, rawAlgorithm: Buffer}}
 * @throws {DerError}
 */
export function readSigned(der) {
  const outer = new DerReader(der);
  const fields = outer.enter(TAG.sequence);
  outer.finish();
  const data = fields.readRaw(TAG.sequence);
  const rawAlgorithm = fields.readRaw(TAG.sequence);
  const signature = fields.readBitString();
  fields.finish();
  const signed = { ...readAlgorithm(new DerReader(rawAlgorithm)), data, signature };
  return { signed, tbs: new DerReader(data).enter(TAG.sequence), rawAlgorithm };
}

/** @param {DerReader} tbs @param {Buffer} rawAlgorithm of the signature around it: both must be the same */
export function demandSameAlgorithm(tbs, rawAlgorithm) {
  if (!tbs.readRaw(TAG.sequence).equals(rawAlgorithm)) throw new DerError('Signature algorithms differ');
}

/**
 * Extensions (RFC 5280 section 4.2): each at most once.
 *
 * @param {DerReader} list
 * @param {(oid: string, value: Buffer, isCritical: boolean) => void} onExtension `value`: contents of extnValue
 */
export function readExtensions(list, onExtension) {
  const seen = new Set();
  while (!list.atEnd) {
    const extension = list.enter(TAG.sequence);
    const oid = extension.readOid();
    const isCritical = extension.tag === TAG.boolean && extension.readBoolean();
    const value = extension.read(TAG.octetString);
    extension.finish();
    if (seen.has(oid)) throw new DerError('Extension occurs twice', list.pos);
    seen.add(oid);
    onExtension(oid, value, isCritical);
  }
}

const CONSTRUCTED = 0x20;
/** Tags below it are of the class universal. */
const UNIVERSAL = 0x40;

/**
 * Numbers of the universal types that are constructed: EXTERNAL, EMBEDDED PDV, SEQUENCE, SET, CHARACTER STRING (X.690
 * sections 8.9, 8.11, 8.17, 8.18, 8.24); strings are not (section 10.2).
 */
const STRUCTURES = Object.freeze([0x08, 0x0b, 0x10, 0x11, 0x1d]);

/** @param {DerReader} reader @returns {Buffer} the whole element */
export function readAny(reader) {
  const start = reader.pos;
  const { tag } = reader;
  reader.next();
  checkType(tag, reader);
  if ((tag & CONSTRUCTED) !== 0) checkNested(new DerReader(reader.bytes, reader.from, reader.to));
  return reader.bytes.subarray(start, reader.to);
}

/** @param {DerReader} reader */
function checkNested(reader) {
  /** Where the elements around this one end. @type {number[]} */
  const ends = [];
  for (;;) {
    if (reader.atEnd) {
      const end = ends.pop();
      if (end === undefined) return;
      reader.end = end;
      continue;
    }
    const { tag } = reader;
    reader.next();
    checkType(tag, reader);
    if ((tag & CONSTRUCTED) === 0) continue;
    ends.push(reader.end);
    reader.pos = reader.from;
    reader.end = reader.to;
  }
}

/** @param {number} tag @param {DerReader} reader which has just read it */
function checkType(tag, { bytes, from, to }) {
  if (tag >= UNIVERSAL) return;
  if (((tag & CONSTRUCTED) !== 0) !== STRUCTURES.includes(tag & 0x1f)) {
    throw new DerError('Constructed where DER wants a primitive, or the other way round', from);
  }
  CHECKS[tag]?.(bytes, from, to);
}

/** @type {Readonly<Record<number, (bytes: Buffer, from: number, to: number) => unknown>>} */
const CHECKS = Object.freeze({
  // X.680 section 8.4 gives these numbers to no type.
  0: (_bytes, from) => demand(false, 'Tag of no type', from),
  15: (_bytes, from) => demand(false, 'Tag of no type', from),
  [TAG.boolean]: (bytes, from, to) =>
    demand(to - from === 1 && (bytes[from] === 0 || bytes[from] === 0xff), 'Not a BOOLEAN', from),
  [TAG.integer]: (bytes, from, to) => checkInteger(bytes.subarray(from, to), from),
  [TAG.enumerated]: (bytes, from, to) => checkInteger(bytes.subarray(from, to), from),
  [TAG.bitString]: checkBits,
  [TAG.null]: (_bytes, from, to) => demand(from === to, 'NULL has contents', from),
  [TAG.oid]: (bytes, from, to) => oidText(bytes, from, to),
  [TAG.utcTime]: (bytes, from, to) => parseUtcTime(bytes, from, to),
  [TAG.generalizedTime]: (bytes, from, to) => parseGeneralizedTime(bytes, from, to),
  [TAG.bmpString]: (_bytes, from, to) => demand((to - from) % 2 === 0, 'Not a BMPString', from),
  [TAG.universalString]: (_bytes, from, to) => demand((to - from) % 4 === 0, 'Not a UniversalString', from),
});

/**
 * X.690 sections 8.6.2 and 11.2.1: at most seven unused bits, all of them zero.
 *
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} to
 */
function checkBits(bytes, from, to) {
  const unused = bytes[from];
  const last = to - from > 1 ? bytes[to - 1] : 0;
  demand(to > from && unused <= 7 && (to - from > 1 || unused === 0), 'Not a BIT STRING', from);
  demand((last & ((1 << unused) - 1)) === 0, 'Unused bits of a BIT STRING are not zero', from);
}

/** @param {boolean} holds @param {string} problem @param {number} at */
function demand(holds, problem, at) {
  if (!holds) throw new DerError(problem, at);
}
