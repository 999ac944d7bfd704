/** Reads certificate revocation lists (RFC 5280, section 5). */
import {
  assertSameAlgorithm,
  NO_EXTENSIONS,
  OID,
  readName,
  readSigned,
  readSomeExtensions,
} from './certificate-der.js';
import { contextTag, DerError, readWhole, TAG } from './der.js';

/** @import { DerReader } from './der.js' */

/**
 * CRLs that list only some of their issuer's revoked certificates, or those of other issuers too, by the extension
 * that marks them (5.2.4, 5.2.5, 5.3.3). Its presence counts as critical, even if the CRL does not mark it so.
 * @type {ReadonlyMap<string, string>}
 */
export const CRL_KINDS = new Map([
  ['2.5.29.27', 'delta_crl'],
  ['2.5.29.28', 'partial_crl'],
  ['2.5.29.29', 'indirect_crl'],
]);

/** @typedef {ReturnType<typeof parseCrl>} Crl */

/**
 * @param {Uint8Array} der CertificateList; the result has views into it
 * @param {(serial: Buffer, revokedMs: number) => void} [onEntry] contents of the INTEGER, epoch ms
 * @throws {DerError}
 */
export function parseCrl(der, onEntry = () => {}) {
  const { signed, tbs, rawAlgorithm } = readSigned(der);
  // Version 2 is explicit; version 1 is absent and has no extensions (5.1.2.1).
  const isV2 = tbs.tag === TAG.integer;
  if (isV2 && tbs.readSmallNumber() !== 1) throw new DerError('Unknown CRL version', tbs.pos);
  const readSome = (/** @type {DerReader} */ reader) => {
    if (!isV2) throw new DerError('Extensions in a CRL of version 1', reader.pos);
    const { values, unknownCritical } = readSomeExtensions(reader, new Set()); // no critical extension is accepted
    const kind = [...CRL_KINDS.keys()].find((oid) => values.has(oid));
    return { values, unknownCritical: kind ?? unknownCritical };
  };
  assertSameAlgorithm(tbs, rawAlgorithm);
  const issuer = readName(tbs);
  const thisUpdateMs = tbs.readTime();
  const nextUpdateMs = tbs.tag === TAG.utcTime || tbs.tag === TAG.generalizedTime ? tbs.readTime() : null;
  /** @type {string | null} */
  let unknownCritical = null;
  let revoked = 0;
  // revokedCertificates is absent if there are none (5.1.2.6), but some CAs send an empty list.
  const entries = tbs.tag === TAG.sequence ? tbs.enter(TAG.sequence) : null;
  for (; entries !== null && !entries.atEnd; revoked += 1) {
    const entry = entries.enter(TAG.sequence);
    onEntry(entry.readInteger(), entry.readTime());
    const found = entry.atEnd ? null : readSome(entry).unknownCritical;
    unknownCritical ??= found;
    entry.finish();
  }
  const extensions = tbs.insideOptional(contextTag(0), readSome) ?? NO_EXTENSIONS;
  tbs.finish();
  const number = extensions.values.get(OID.crlNumber);
  return {
    issuer, // raw Name
    thisUpdateMs, // epoch ms
    nextUpdateMs,
    revoked, // entries
    unknownCritical: extensions.unknownCritical ?? unknownCritical, // OID of a critical extension of the list or an entry
    signed,
    extensions: extensions.values, // of the list
    number: number === undefined ? null : readWhole(number, (reader) => reader.readInteger()), // 5.2.3
  };
}
