/** Certificate revocation lists (RFC 5280, section 5): what a relying party must find in order, and how large and old they are. */
import { contextTag, DerError, DerReader, TAG } from './der.js';
import { readAlgorithm, readName } from './ocsp-fields.js';
import { verifySignature } from './signature.js';

/**
 * @typedef {object} Crl
 * @property {Buffer} issuer DER of the name
 * @property {number} thisUpdateMs since 1970
 * @property {number | null} nextUpdateMs
 * @property {number} revoked entries
 * @property {{oid: string, parameters: Uint8Array | null, data: Uint8Array, signature: Uint8Array}} signed
 */

/**
 * @param {Uint8Array} der CertificateList
 * @returns {Crl}
 * @throws {DerError} where it is none
 */
export function parseCrl(der) {
  const outer = new DerReader(der);
  const list = outer.enter(TAG.sequence);
  outer.finish();
  const data = list.readRaw(TAG.sequence);
  const rawAlgorithm = list.readRaw(TAG.sequence);
  const signature = list.readBitString();
  list.finish();
  const tbs = new DerReader(data).enter(TAG.sequence);
  // Version 2 says so, version 1 says nothing (5.1.2.1).
  if (tbs.tag === TAG.integer && tbs.readSmallNumber(TAG.integer) !== 1)
    throw new DerError('Not a version of CRLs');
  // 5.1.2.2: the algorithm stands inside and outside.
  if (!tbs.readRaw(TAG.sequence).equals(rawAlgorithm)) throw new DerError('Signature algorithms differ');
  const issuer = Buffer.from(readName(tbs));
  const thisUpdateMs = tbs.readTime();
  const hasNext = tbs.tag === TAG.utcTime || tbs.tag === TAG.generalizedTime;
  const nextUpdateMs = hasNext ? tbs.readTime() : null;
  const revoked = countEntries(tbs.enterOptional(TAG.sequence));
  if (tbs.tag === contextTag(0)) tbs.read(contextTag(0));
  tbs.finish();
  const { oid, parameters } = readAlgorithm(new DerReader(rawAlgorithm));
  return { issuer, thisUpdateMs, nextUpdateMs, revoked, signed: { oid, parameters, data, signature } };
}

/**
 * @param {Crl} crl
 * @param {import('node:crypto').KeyObject} key of the issuer
 */
export function isSignedBy({ signed }, key) {
  return verifySignature(signed, key) === 'valid';
}

/** @param {DerReader | null} entries revokedCertificates @returns {number} */
function countEntries(entries) {
  let count = 0;
  while (entries !== null && !entries.atEnd) {
    entries.next(TAG.sequence);
    count++;
  }
  return count;
}
