/** Issued and revoked certificates, in memory only, and their CRL. */
import { authorityKeyIdentifier, extension } from './certificate.js';
import { colonHex, explicit, integer, OID_DER, rawInteger, sequence, time } from './der.js';
import { signed } from './keys.js';
/** @import { Authority } from './certificate.js' */

/** Certificates kept before the oldest is forgotten, about 100 MB. A forgotten one can no longer be read or revoked. */
export const MAX_STORED = 100_000;

/**
 * @typedef {object} Entry
 * @property {Buffer} serial
 * @property {Buffer} der
 * @property {Date | null} revokedAt
 */

export class Store {
  /** @param {number} [most] */
  constructor(most = MAX_STORED) {
    this.most = most;
    /** @type {Map<string, Entry>} by serial, colon hex, oldest first */
    this.entries = new Map();
    /** @type {Map<string, Entry>} never forgotten: OCSP and the CRL must go on saying so */
    this.revoked = new Map();
    /** Counts revocations; a CRL built at another count is stale. */
    this.revision = 0;
  }

  /** @param {Buffer} serial @param {Buffer} der */
  add(serial, der) {
    const id = colonHex(serial);
    this.entries.set(id, { serial, der, revokedAt: null });
    if (this.entries.size > this.most) {
      const oldest = this.entries.keys().next().value;
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    return id;
  }

  /** @param {string} id serial as colon hex */
  get(id) {
    return this.revoked.get(id) ?? this.entries.get(id);
  }

  /** @param {string} id @returns {Entry | undefined} undefined when no such certificate is stored */
  revoke(id) {
    const entry = this.get(id);
    if (entry !== undefined && entry.revokedAt === null) {
      entry.revokedAt = new Date();
      this.revoked.set(id, entry);
      this.revision += 1;
    }
    return entry;
  }
}

const LIFETIME_SECONDS = 72 * 3600;
const REBUILD_SECONDS = 12 * 3600;

/**
 * Builds it at the first request after a revocation; Vault builds it at the revocation.
 *
 * @param {Authority} issuer
 * @param {Store} store
 * @returns {() => Promise<Buffer>} the current CRL, DER
 */
export function createCrlBuilder(issuer, store) {
  let builtAt = 0;
  let revision = -1;
  let number = 0;
  /** @type {Promise<Buffer>} */
  let current = Promise.resolve(Buffer.alloc(0));
  return () => {
    const now = Math.floor(Date.now() / 1000);
    if (revision !== store.revision || now - builtAt > REBUILD_SECONDS) {
      number += 1;
      builtAt = now;
      revision = store.revision;
      current = buildCrl(issuer, [...store.revoked.values()], number, now);
    }
    return current;
  };
}

/**
 * @param {Authority} issuer
 * @param {Entry[]} revoked
 * @param {number} number
 * @param {number} now epoch seconds
 */
function buildCrl(issuer, revoked, number, now) {
  const entries = revoked.map(({ serial, revokedAt }) =>
    sequence(rawInteger(serial), time(Math.floor(Number(revokedAt) / 1000))),
  );
  const extensions = sequence(
    authorityKeyIdentifier(issuer.keyId),
    extension(OID_DER.crlNumber, integer(number)),
  );
  const tbs = sequence(
    integer(1),
    issuer.signer.algorithm,
    issuer.name,
    time(now),
    time(now + LIFETIME_SECONDS),
    ...(entries.length > 0 ? [sequence(Buffer.concat(entries))] : []),
    explicit(0, extensions),
  );
  return signed(issuer.signer, tbs);
}
