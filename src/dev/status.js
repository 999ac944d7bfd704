/**
 * The certificates in memory, their CRL, and an OCSP responder. As in Vault, the intermediate itself signs the responses,
 * a serial never issued is **good**, and only an unknown issuer is **unknown**. Unlike Vault's, they echo the nonce.
 */
import { createHash } from 'node:crypto';
import { NO_EXTENSIONS, OID, readExtensions } from '../pki/certificate-der.js';
import { contextTag, DerError, readWhole, TAG } from '../pki/der.js';
import * as write from '../pki/der-writer.js';
import { MAX_NONCE_LENGTH } from '../pki/ocsp-request.js';
import { parseCertId } from '../pki/ocsp-response.js';
import { HASHES } from '../pki/signature.js';
import { colonHex, parseSerial } from '../pki/text.js';
import { authorityKeyIdentifier, epochSeconds, signed } from './certificate.js';

/** @import { DerReader } from '../pki/der.js' */
/** @import { CertId } from '../pki/ocsp-response.js' */
/** @import { Authority } from './certificate.js' */

/** About 100 MB. Beyond it, the oldest certificate is dropped, and can no longer be read or revoked. */
const MAX_STORED = 100_000;

/** @typedef {{serial: Buffer, der: Buffer, revokedAt: Date | null}} Entry */

export class Store {
  /** @param {number} [max] */
  constructor(max = MAX_STORED) {
    this.max = max;
    /** @type {Map<string, Entry>} by serial, colon hex, oldest first */
    this.entries = new Map();
    /** @type {Map<string, Entry>} never dropped: OCSP and the CRL keep reporting them */
    this.revoked = new Map();
  }

  /** @param {Buffer} serial @param {Buffer} der */
  add(serial, der) {
    const id = colonHex(serial);
    this.entries.set(id, { serial, der, revokedAt: null });
    if (this.entries.size > this.max) this.entries.delete(String(this.entries.keys().next().value));
    return id;
  }

  /** @param {string} id serial as colon hex */
  get(id) {
    return this.revoked.get(id) ?? this.entries.get(id);
  }

  /** @param {string} id @returns {Entry | undefined} undefined if no such certificate is stored */
  revoke(id) {
    const entry = this.get(id);
    if (entry !== undefined && entry.revokedAt === null) {
      entry.revokedAt = new Date();
      this.revoked.set(id, entry);
    }
    return entry;
  }
}

const CRL_LIFETIME_SECONDS = 72 * 3600;
const CRL_REBUILD_SECONDS = 12 * 3600;

/** @param {Date | null} date */
const secondsOf = (date) => Math.floor(Number(date) / 1000);

/** Unlike Vault, builds the CRL only on the first request after a revocation. @param {Authority} issuer @param {Store} store */
export function createCrlBuilder(issuer, store) {
  let [builtAt, size, number] = [0, -1, 0];
  /** @type {Promise<Buffer>} */
  let crl;
  return () => {
    const now = epochSeconds();
    if (size !== store.revoked.size || now - builtAt > CRL_REBUILD_SECONDS) {
      [builtAt, size, number] = [now, store.revoked.size, number + 1];
      crl = buildCrl(issuer, [...store.revoked.values()], number, now);
    }
    return crl;
  };
}

/** @param {Authority} issuer @param {Entry[]} revoked @param {number} number @param {number} now epoch seconds */
function buildCrl(issuer, revoked, number, now) {
  const entries = revoked.map(({ serial, revokedAt }) =>
    write.sequence(write.integer(serial), write.time(secondsOf(revokedAt))),
  );
  const crlNumber = write.extension(OID.crlNumber, write.integer(parseSerial(number.toString(16))));
  return signed(
    issuer,
    write.integer(1), // version 2
    issuer.algorithm,
    issuer.name,
    write.time(now),
    write.time(now + CRL_LIFETIME_SECONDS),
    ...(entries.length > 0 ? [write.sequence(Buffer.concat(entries))] : []),
    write.explicit(0, write.sequence(authorityKeyIdentifier(issuer.keyId), crlNumber)),
  );
}

/**
 * Only the first Request of the list is read, as in Vault.
 * @param {DerReader} reader of an OCSPRequest (RFC 6960 section 4.1.1)
 * @returns {{certId: CertId, nonce: Buffer | null}} `nonce`: contents of the extension's value, an OCTET STRING in DER
 * @throws {DerError} for a malformed request
 */
function readRequest(reader) {
  const tbs = reader.enter(TAG.sequence).enter(TAG.sequence);
  for (const number of [0, 1]) if (tbs.tag === contextTag(number)) tbs.next(); // version, requestorName
  const certId = parseCertId(tbs.enter(TAG.sequence).enter(TAG.sequence).readRaw());
  if (HASHES[certId.hashOid] === undefined) throw new DerError('Unknown CertID hash');
  const extensions = tbs.insideOptional(contextTag(2), (list) => readExtensions(list, new Set()));
  tbs.finish();
  const nonce = (extensions ?? NO_EXTENSIONS).values.get(OID.ocspNonce) ?? null;
  // RFC 9654 section 2.1: an empty nonce, or a longer one, is a malformed request.
  const length = nonce === null ? 1 : readWhole(nonce, (value) => value.read(TAG.octetString)).length;
  if (length === 0 || length > MAX_NONCE_LENGTH) throw new DerError('Nonce of a forbidden length');
  return { certId, nonce };
}

const OCSP_LIFETIME_SECONDS = 12 * 3600;
const [GOOD, UNKNOWN] = [0, 2].map((number) => write.implicit(number, Buffer.alloc(0)));

/** OCSPResponse with responseStatus malformedRequest and nothing else. */
export const MALFORMED_REQUEST = write.sequence(write.element(TAG.enumerated, Buffer.from([1])));

/** @param {Authority} issuer @param {Store} store @returns for a request, an OCSPResponse; null if it is malformed */
export function createResponder(issuer, store) {
  const hashesOf = (/** @type {string} */ hash) =>
    [issuer.name, issuer.keyBits].map((bytes) => createHash(hash).update(bytes).digest());
  const hashes = new Map(Object.entries(HASHES).map(([id, hash]) => [id, hashesOf(hash)]));

  /** @param {CertId} certId @param {Buffer | null} nonce @param {number} now epoch seconds */
  async function respond({ raw, hashOid, issuerNameHash, issuerKeyHash, serial }, nonce, now) {
    const [nameHash, keyHash] = /** @type {Buffer[]} */ (hashes.get(hashOid));
    const isOurs = nameHash.equals(issuerNameHash) && keyHash.equals(issuerKeyHash);
    // For an unknown issuer, Vault's response names Vault's own issuer, so a client that compares CertIDs rejects it.
    const ownId = [write.octetString(nameHash), write.octetString(keyHash), write.integer(serial)];
    const revokedAt = store.revoked.get(colonHex(serial))?.revokedAt;
    const status = revokedAt ? write.explicit(1, write.generalizedTime(secondsOf(revokedAt))) : GOOD;
    const single = write.sequence(
      isOurs ? raw : write.sequence(write.sequence(write.oid(hashOid)), ...ownId),
      isOurs ? status : UNKNOWN,
      write.generalizedTime(now),
      write.explicit(0, write.generalizedTime(now + OCSP_LIFETIME_SECONDS)),
    );
    const basic = await signed(
      issuer,
      write.explicit(1, issuer.name),
      write.generalizedTime(now),
      write.sequence(single),
      ...(nonce === null ? [] : [write.explicit(1, write.sequence(write.extension(OID.ocspNonce, nonce)))]),
    );
    const bytes = write.sequence(write.oid(OID.ocspBasic), write.octetString(basic));
    return write.sequence(write.element(TAG.enumerated, Buffer.from([0])), write.explicit(0, bytes));
  }

  /** Without a nonce, responses within one second are identical until a revocation, as with Vault and an RSA CA. */
  const repeated = { key: '', responses: /** @type {Map<string, Promise<Buffer>>} */ (new Map()) };

  return async (/** @type {Uint8Array} */ request) => {
    let parsed;
    try {
      parsed = readWhole(request, readRequest);
    } catch {
      return null;
    }
    const { certId, nonce } = parsed;
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
