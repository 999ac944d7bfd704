/** Certificate revocation lists (RFC 5280, section 5): what a relying party must find in order, and how large and old they are. */
import { contextTag, DerError, DerReader, TAG } from './der.js';
import { demandSameAlgorithm, readExtensions, readName, readSigned } from './fields.js';
import { verifySignature } from './signature.js';

/** @import { Signed } from './fields.js' */
/** @import { KeyObject } from 'node:crypto' */

const CRL_NUMBER = '2.5.29.20';

/**
 * @typedef {object} Crl
 * @property {Buffer} issuer DER of the name
 * @property {number} thisUpdateMs since 1970
 * @property {number | null} nextUpdateMs
 * @property {number} revoked entries
 * @property {Buffer | null} number contents of the INTEGER in cRLNumber (5.2.3), where there is one
 * @property {string | null} critical OID of a critical extension, of the list or of an entry: none is understood here, neither that of a
 *   delta CRL (5.2.4) nor that of a part of a list (5.2.5), so such a list must not be relied on (5.2, 5.3)
 * @property {Signed} signed
 */

/**
 * @param {Uint8Array} der CertificateList; the result has views into it
 * @param {(serial: Buffer, revokedMs: number) => void} [onEntry] contents of the INTEGER, and when
 * @returns {Crl}
 * @throws {DerError} where it is none
 */
export function parseCrl(der, onEntry = () => {}) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  return { ...readTbs(tbs, rawAlgorithm, onEntry), signed };
}

/**
 * @param {DerReader} tbs
 * @param {Buffer} rawAlgorithm that must be the same inside (5.1.1.2)
 * @param {(serial: Buffer, revokedMs: number) => void} onEntry
 * @returns {Omit<Crl, 'signed'>}
 */
function readTbs(tbs, rawAlgorithm, onEntry) {
  // Version 2 is explicit; version 1 is absent and has no extensions (5.1.2.1).
  const isV2 = tbs.tag === TAG.integer;
  if (isV2 && tbs.readSmallNumber(TAG.integer) !== 1) throw new DerError('Not a version of CRLs', tbs.pos);
  demandSameAlgorithm(tbs, rawAlgorithm);
  const issuer = readName(tbs);
  const thisUpdateMs = tbs.readTime();
  const nextUpdateMs = isTime(tbs.tag) ? tbs.readTime() : null;
  /** @type {Set<string>} */
  const critical = new Set();
  const revoked = readEntries(tbs.enterOptional(TAG.sequence), isV2, critical, onEntry);
  const explicit = tbs.enterOptional(contextTag(0));
  tbs.finish();
  const extensions = explicit === null ? null : readExtensionValues(explicit, isV2, critical);
  explicit?.finish();
  const number = extensions?.get(CRL_NUMBER) ?? null;
  const [first = null] = critical;
  return {
    issuer,
    thisUpdateMs,
    nextUpdateMs,
    revoked,
    number: number && readWholeInteger(number),
    critical: first,
  };
}

/** @param {number} tag */
function isTime(tag) {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

/**
 * revokedCertificates is left out where there are none (5.1.2.6); some send an empty list all the same.
 *
 * @param {DerReader | null} entries
 * @param {boolean} isV2
 * @param {Set<string>} critical filled
 * @param {(serial: Buffer, revokedMs: number) => void} onEntry
 * @returns {number} how many
 */
function readEntries(entries, isV2, critical, onEntry) {
  let count = 0;
  while (entries !== null && !entries.atEnd) {
    const entry = entries.enter(TAG.sequence);
    onEntry(entry.readInteger(), entry.readTime());
    if (!entry.atEnd) readExtensionValues(entry, isV2, critical);
    entry.finish();
    count++;
  }
  return count;
}

/** @param {DerReader} reader @param {boolean} isV2 @param {Set<string>} critical filled */
function readExtensionValues(reader, isV2, critical) {
  if (!isV2) throw new DerError('Extensions in a CRL of version 1', reader.pos);
  const list = reader.enter(TAG.sequence);
  list.demandSome();
  /** @type {Map<string, Buffer>} by OID */
  const values = new Map();
  readExtensions(list, (oid, value, isCritical) => {
    if (isCritical) critical.add(oid);
    values.set(oid, value);
  });
  return values;
}

/** @param {Buffer} value DER of an INTEGER and nothing else */
function readWholeInteger(value) {
  const reader = new DerReader(value);
  const integer = reader.readInteger();
  reader.finish();
  return integer;
}

/** @param {Crl} crl @param {KeyObject} key of the issuer @returns {'valid' | 'bad' | 'unsupported'} */
export function verifyCrl({ signed }, key) {
  return verifySignature(signed, key);
}
