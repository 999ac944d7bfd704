/** Reading an OCSP request (RFC 6960 section 4.1.1), as much as a responder needs. */
import { contextTag, DerError, DerReader, TAG } from '../pki/der.js';
import { CERT_ID_DIGEST, OID } from './oids.js';

/** RFC 9654 section 2.1: a nonce has 1 to 128 octets, anything else is a malformed request. */
const MAX_NONCE = 128;

/**
 * @typedef {object} OcspQuestion
 * @property {Buffer} certId DER, as asked
 * @property {string} digest Node's name of the CertID hash
 * @property {Buffer} algorithm AlgorithmIdentifier of the hash, DER
 * @property {Buffer} nameHash
 * @property {Buffer} keyHash
 * @property {Buffer} serial INTEGER contents
 * @property {Buffer | null} nonce contents of the extension's value: an OCTET STRING, DER
 */

/**
 * Only the first question is read, as in Vault.
 *
 * @param {Uint8Array} bytes
 * @returns {OcspQuestion}
 * @throws {DerError} for every request a responder calls malformed
 */
export function readOcspRequest(bytes) {
  const outer = new DerReader(bytes);
  const request = outer.enter(TAG.sequence);
  outer.finish();
  const tbs = request.enter(TAG.sequence);
  tbs.enterOptional(contextTag(0));
  tbs.enterOptional(contextTag(1));
  const first = tbs.enter(TAG.sequence).enter(TAG.sequence);
  const extensions = tbs.enterOptional(contextTag(2));
  tbs.finish();
  return { ...readCertId(first.readRaw(TAG.sequence)), nonce: extensions && readNonce(extensions) };
}

/** @param {Buffer} certId */
function readCertId(certId) {
  const reader = new DerReader(certId).enter(TAG.sequence);
  const algorithm = reader.readRaw(TAG.sequence);
  const digest = CERT_ID_DIGEST[new DerReader(algorithm).enter(TAG.sequence).readOid()];
  if (digest === undefined) throw new DerError('Unknown CertID hash', 0);
  const nameHash = reader.read(TAG.octetString);
  const keyHash = reader.read(TAG.octetString);
  const serial = reader.readInteger();
  reader.finish();
  return { certId, digest, algorithm, nameHash, keyHash, serial };
}

/** @param {DerReader} wrapper */
function readNonce(wrapper) {
  const list = wrapper.enter(TAG.sequence);
  while (!list.atEnd) {
    const extension = list.enter(TAG.sequence);
    const oid = extension.readOid();
    if (extension.tag === TAG.boolean) extension.readBoolean();
    const value = extension.read(TAG.octetString);
    if (oid !== OID.ocspNonce) continue;
    const inner = new DerReader(value);
    const { length } = inner.read(TAG.octetString);
    inner.finish();
    if (length === 0 || length > MAX_NONCE) throw new DerError('Nonce of a forbidden length', 0);
    return value;
  }
  return null;
}
