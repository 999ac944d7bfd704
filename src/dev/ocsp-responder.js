/**
 * The OCSP responder: the responses of Vault, signed by the intermediate itself, but with the nonce echoed, which Vault does not do.
 * A serial that was never issued is **good**, as with Vault; only an unknown issuer makes **unknown**.
 */
import { createHash } from 'node:crypto';
import { contextTag, DerError, DerReader, TAG } from '../pki/der.js';
import { extension } from './certificate.js';
import {
  CERT_ID_DIGEST,
  colonHex,
  enumerated,
  explicit,
  generalizedTime,
  implicit,
  OID,
  OID_DER,
  octetString,
  rawInteger,
  sequence,
} from './der.js';
import { signed } from './keys.js';

/** @import { Authority } from './certificate.js' */
/** @import { Store } from './store.js' */

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

const LIFETIME_SECONDS = 12 * 3600;
const EMPTY = Buffer.alloc(0);
const GOOD = implicit(0, EMPTY);
const UNKNOWN = implicit(2, EMPTY);

/** Vault refuses a request, or a GET's base64 text, of this many bytes. */
export const MAX_OCSP_REQUEST = 2048;

/** OCSPResponse with responseStatus malformedRequest and nothing else. */
export const MALFORMED_REQUEST = sequence(enumerated(1));

/**
 * @param {Authority} issuer
 * @param {Store} store
 * @returns {(request: Uint8Array) => Promise<Buffer | null>} an OCSPResponse, or null for a malformed request
 */
export function createResponder(issuer, store) {
  const hashes = issuerHashes(issuer);
  const repeated = repeatWithinSecond(store);
  return async (request) => {
    const question = tryRead(request);
    if (question === null) return null;
    const now = Math.floor(Date.now() / 1000);
    const makeResponse = () =>
      respond(issuer, singleResponse(question, hashes, store, now), question.nonce, now);
    return question.nonce === null ? repeated(question, now, makeResponse) : makeResponse();
  };
}

/** @param {Uint8Array} request */
function tryRead(request) {
  try {
    return readOcspRequest(request);
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}

/**
 * Without a nonce, a response repeats byte for byte while its second lasts and nothing is revoked, as it does with
 * Vault and an RSA CA.
 *
 * @param {Store} store
 */
function repeatWithinSecond(store) {
  /** @type {Map<string, Promise<Buffer>>} */
  const responses = new Map();
  let second = 0;
  let revision = 0;
  /** @param {OcspQuestion} question @param {number} now @param {() => Promise<Buffer>} makeResponse */
  return (question, now, makeResponse) => {
    if (second !== now || revision !== store.revision) {
      responses.clear();
      second = now;
      revision = store.revision;
    }
    const key = question.certId.toString('latin1');
    const known = responses.get(key);
    if (known !== undefined) return known;
    const made = makeResponse();
    responses.set(key, made);
    return made;
  };
}

/** @param {Authority} issuer */
function issuerHashes(issuer) {
  /** @type {Map<string, {nameHash: Buffer, keyHash: Buffer}>} */
  const known = new Map();
  /** @param {string} digest */
  return (digest) => {
    let hashes = known.get(digest);
    if (hashes === undefined) {
      const nameHash = createHash(digest).update(issuer.name).digest();
      const keyHash = createHash(digest).update(issuer.keyBits).digest();
      hashes = { nameHash, keyHash };
      known.set(digest, hashes);
    }
    return hashes;
  };
}

/**
 * @param {OcspQuestion} question
 * @param {ReturnType<typeof issuerHashes>} hashes
 * @param {Store} store
 * @param {number} now epoch seconds
 */
function singleResponse(question, hashes, store, now) {
  const { nameHash, keyHash } = hashes(question.digest);
  const ours = question.nameHash.equals(nameHash) && question.keyHash.equals(keyHash);
  // For an unknown issuer Vault names its own issuer in the response, so a client that compares CertIDs rejects it.
  const certId = ours
    ? question.certId
    : sequence(question.algorithm, octetString(nameHash), octetString(keyHash), rawInteger(question.serial));
  return sequence(
    certId,
    ours ? statusOf(question.serial, store) : UNKNOWN,
    generalizedTime(now),
    explicit(0, generalizedTime(now + LIFETIME_SECONDS)),
  );
}

/** @param {Buffer} serial @param {Store} store */
function statusOf(serial, store) {
  const entry = store.revoked.get(colonHex(serial));
  return entry === undefined
    ? GOOD
    : explicit(1, generalizedTime(Math.floor(Number(entry.revokedAt) / 1000)));
}

/**
 * @param {Authority} issuer
 * @param {Buffer} single
 * @param {Buffer | null} nonce
 * @param {number} now epoch seconds
 */
async function respond(issuer, single, nonce, now) {
  const tbs = sequence(
    explicit(1, issuer.name),
    generalizedTime(now),
    sequence(single),
    nonce === null ? EMPTY : explicit(1, sequence(extension(OID_DER.ocspNonce, nonce))),
  );
  const basic = await signed(issuer.signer, tbs);
  return sequence(enumerated(0), explicit(0, sequence(OID_DER.ocspBasic, octetString(basic))));
}
