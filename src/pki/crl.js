/** Certificate revocation lists (RFC 5280, section 5): what a relying party must find in order, and how large and old they are. */
import {
  demandSameAlgorithm,
  demandSome,
  OID,
  readExtensions,
  readName,
  readSigned,
} from './certificate-der.js';
import { contextTag, DerError, DerReader, TAG } from './der.js';
import { verifySignature } from './signature.js';

/** @import { Extensions, Signed } from './certificate-der.js' */
/** @import { KeyObject } from 'node:crypto' */

/**
 * @typedef {object} Crl
 * @property {Buffer} issuer DER of the name
 * @property {number} thisUpdateMs since 1970
 * @property {number | null} nextUpdateMs
 * @property {number} revoked entries
 * @property {Buffer | null} number contents of the INTEGER in cRLNumber (5.2.3), where there is one
 * @property {string | null} critical OID of a critical extension, of the list or of an entry
 * @property {Signed} signed
 */

/**
 * No critical extension is understood: neither that of a delta CRL (5.2.4), nor that of a part of a list (5.2.5), nor that of an
 * indirect one (5.3.3). Such a list must not be relied on (5.2, 5.3).
 * @type {ReadonlySet<string>}
 */
const NONE = new Set();

/**
 * @param {Uint8Array} der CertificateList; the result has views into it
 * @param {(serial: Buffer, revokedMs: number) => void} [onEntry] contents of the INTEGER, and when
 * @returns {Crl}
 * @throws {DerError} where it is none
 */
export function parseCrl(der, onEntry = () => {}) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  // Version 2 is explicit; version 1 is absent and has no extensions (5.1.2.1).
  const isV2 = tbs.tag === TAG.integer;
  if (isV2 && tbs.readSmallNumber(TAG.integer) !== 1) throw new DerError('Not a version of CRLs', tbs.pos);
  demandSameAlgorithm(tbs, rawAlgorithm);
  const issuer = readName(tbs);
  const thisUpdateMs = tbs.readTime();
  const nextUpdateMs = tbs.tag === TAG.utcTime || tbs.tag === TAG.generalizedTime ? tbs.readTime() : null;
  /** @type {string | null} */
  let critical = null;
  let revoked = 0;
  // revokedCertificates is left out where there are none (5.1.2.6); some CAs send an empty list all the same.
  const entries = tbs.enterOptional(TAG.sequence);
  for (; entries !== null && !entries.atEnd; revoked += 1) {
    const entry = entries.enter(TAG.sequence);
    onEntry(entry.readInteger(), entry.readTime());
    if (!entry.atEnd) critical ??= readSomeExtensions(entry, isV2).critical;
    entry.finish();
  }
  const explicit = tbs.enterOptional(contextTag(0));
  tbs.finish();
  const extensions = explicit === null ? null : readSomeExtensions(explicit, isV2);
  explicit?.finish();
  critical ??= extensions?.critical ?? null;
  const number = extensions?.values.get(OID.crlNumber);
  return {
    ...{ issuer, thisUpdateMs, nextUpdateMs, revoked, critical, signed },
    number: number === undefined ? null : readWholeInteger(number),
  };
}

/** @param {DerReader} reader @param {boolean} isV2 @returns {Extensions} */
function readSomeExtensions(reader, isV2) {
  if (!isV2) throw new DerError('Extensions in a CRL of version 1', reader.pos);
  const extensions = readExtensions(reader, NONE);
  demandSome(extensions);
  return extensions;
}

/** @param {Buffer} value DER of an INTEGER and nothing else */
function readWholeInteger(value) {
  const reader = new DerReader(value);
  const integer = reader.readInteger();
  reader.finish();
  return integer;
}

/** @param {Crl} crl @param {KeyObject} key of the issuer @returns {'valid' | 'bad' | 'unsupported'} */
export const verifyCrl = ({ signed }, key) => verifySignature(signed, key);
