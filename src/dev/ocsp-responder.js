/**
 * The OCSP responder: the responses of Vault, signed by the intermediate itself, but with the nonce echoed, which Vault does not do.
 * A serial that was never issued is **good**, as with Vault; only an unknown issuer makes **unknown**.
 */
import { createHash } from 'node:crypto';
import { OID, readExtensions } from '../pki/certificate-der.js';
import { contextTag, DerError, DerReader, TAG } from '../pki/der.js';
import {
  element,
  explicit,
  extension,
  generalizedTime,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
} from '../pki/der-writer.js';
import { MAX_NONCE_LENGTH } from '../pki/ocsp-request.js';
import { parseCertId } from '../pki/ocsp-response.js';
import { HASHES } from '../pki/signature.js';
import { colonHex } from '../pki/text.js';
import { epochSeconds, signed } from './certificate.js';

/** @import { CertId } from '../pki/ocsp-response.js' */
/** @import { Authority } from './certificate.js' */
/** @import { Store } from './store.js' */

/**
 * Only the first question is read, as in Vault.
 * @param {Uint8Array} bytes
 * @returns {{certId: CertId, nonce: Buffer | null}} `nonce`: contents of the extension's value, an OCTET STRING in DER
 * @throws {DerError} for every request a responder calls malformed
 */
function readRequest(bytes) {
  const outer = new DerReader(bytes);
  const request = outer.enter(TAG.sequence);
  outer.finish();
  const tbs = request.enter(TAG.sequence);
  for (const number of [0, 1]) if (tbs.tag === contextTag(number)) tbs.next(); // version, requestorName
  const certId = parseCertId(tbs.enter(TAG.sequence).enter(TAG.sequence).readRaw());
  if (HASHES[certId.hashOid] === undefined) throw new DerError('Unknown CertID hash');
  const extensions = tbs.insideOptional(contextTag(2), (list) => readExtensions(list, new Set()));
  tbs.finish();
  const nonce = extensions?.values.get(OID.ocspNonce) ?? null;
  if (nonce !== null) checkNonce(new DerReader(nonce));
  return { certId, nonce };
}

/** RFC 9654 section 2.1: an empty nonce, or a longer one, is a malformed request. @param {DerReader} reader */
function checkNonce(reader) {
  const { length } = reader.read(TAG.octetString);
  reader.finish();
  if (length === 0 || length > MAX_NONCE_LENGTH) throw new DerError('Nonce of a forbidden length');
}

const LIFETIME_SECONDS = 12 * 3600;
const GOOD = implicit(0, Buffer.alloc(0));
const UNKNOWN = implicit(2, Buffer.alloc(0));

/** OCSPResponse with responseStatus malformedRequest and nothing else. */
export const MALFORMED_REQUEST = sequence(element(0x0a, Buffer.from([1])));

/**
 * @param {Authority} issuer
 * @param {Store} store
 * @returns {(request: Uint8Array) => Promise<Buffer | null>} an OCSPResponse, or null for a malformed request
 */
export function createResponder(issuer, store) {
  const hashes = new Map(
    Object.entries(HASHES).map(([id, name]) => {
      const [nameHash, keyHash] = [issuer.name, issuer.keyBits].map((bytes) =>
        createHash(name).update(bytes).digest(),
      );
      return [id, { nameHash, keyHash }];
    }),
  );

  /** @param {CertId} certId @param {Buffer | null} nonce @param {number} now epoch seconds */
  async function respond({ raw, hashOid, issuerNameHash, issuerKeyHash, serial }, nonce, now) {
    const { nameHash, keyHash } = hashes.get(hashOid) ?? { nameHash: raw, keyHash: raw };
    const isOurs = nameHash.equals(issuerNameHash) && keyHash.equals(issuerKeyHash);
    // For an unknown issuer Vault names its own issuer in the response, so a client that compares CertIDs rejects it.
    const ownId = () =>
      sequence(sequence(oid(hashOid)), octetString(nameHash), octetString(keyHash), integer(serial));
    const revokedAt = store.revoked.get(colonHex(serial))?.revokedAt;
    const status = revokedAt ? explicit(1, generalizedTime(Math.floor(Number(revokedAt) / 1000))) : GOOD;
    const single = sequence(
      isOurs ? raw : ownId(),
      isOurs ? status : UNKNOWN,
      generalizedTime(now),
      explicit(0, generalizedTime(now + LIFETIME_SECONDS)),
    );
    const basic = await signed(
      issuer,
      explicit(1, issuer.name),
      generalizedTime(now),
      sequence(single),
      ...(nonce === null ? [] : [explicit(1, sequence(extension(OID.ocspNonce, nonce)))]),
    );
    return sequence(
      element(0x0a, Buffer.from([0])),
      explicit(0, sequence(oid(OID.ocspBasic), octetString(basic))),
    );
  }

  /** Without a nonce, a response repeats byte for byte while its second lasts and nothing is revoked, as with Vault and an RSA CA. */
  const repeated = { key: '', responses: /** @type {Map<string, Promise<Buffer>>} */ (new Map()) };

  return async (request) => {
    const question = tryRead(request);
    if (question === null) return null;
    const { certId, nonce } = question;
    const now = epochSeconds();
    if (nonce !== null) return respond(certId, nonce, now);
    const key = `${now} ${store.revoked.size}`;
    if (repeated.key !== key) {
      repeated.key = key;
      repeated.responses.clear();
    }
    const id = certId.raw.toString('latin1');
    const response = repeated.responses.get(id) ?? respond(certId, null, now);
    repeated.responses.set(id, response);
    return response;
  };
}

/** @param {Uint8Array} request */
function tryRead(request) {
  try {
    return readRequest(request);
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}
