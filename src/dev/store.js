/** Issued and revoked certificates, in memory only, and their CRL. */
import { OID } from '../pki/certificate-der.js';
import { explicit, extension, integer, sequence, time } from '../pki/der-writer.js';
import { colonHex, parseSerial } from '../pki/text.js';
import { authorityKeyIdentifier, epochSeconds, signed } from './certificate.js';

/** @import { Authority } from './certificate.js' */

/** Certificates kept before the oldest is forgotten, about 100 MB. A forgotten one can no longer be read or revoked. */
const MAX_STORED = 100_000;

/** @typedef {{serial: Buffer, der: Buffer, revokedAt: Date | null}} Entry */

export class Store {
  /** @param {number} [max] */
  constructor(max = MAX_STORED) {
    this.max = max;
    /** @type {Map<string, Entry>} by serial, colon hex, oldest first */
    this.entries = new Map();
    /** @type {Map<string, Entry>} never forgotten: OCSP and the CRL go on reporting them */
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

  /** @param {string} id @returns {Entry | undefined} undefined when no such certificate is stored */
  revoke(id) {
    const entry = this.get(id);
    if (entry !== undefined && entry.revokedAt === null) {
      entry.revokedAt = new Date();
      this.revoked.set(id, entry);
    }
    return entry;
  }
}

const LIFETIME_SECONDS = 72 * 3600;
const REBUILD_SECONDS = 12 * 3600;

/**
 * Builds the CRL at the first request after a revocation; Vault builds it at the revocation.
 * @param {Authority} issuer
 * @param {Store} store
 * @returns {() => Promise<Buffer>} the current CRL, DER
 */
export function createCrlBuilder(issuer, store) {
  /** @type {{builtAt: number, size: number, number: number, crl: Promise<Buffer>}} */
  let last = { builtAt: 0, size: -1, number: 0, crl: Promise.resolve(Buffer.alloc(0)) };
  return () => {
    const now = epochSeconds();
    const { size } = store.revoked;
    if (last.size !== size || now - last.builtAt > REBUILD_SECONDS) {
      const number = last.number + 1;
      last = { builtAt: now, size, number, crl: buildCrl(issuer, [...store.revoked.values()], number) };
    }
    return last.crl;
  };
}

/** @param {Authority} issuer @param {Entry[]} revoked @param {number} number */
function buildCrl(issuer, revoked, number) {
  const entries = revoked.map(({ serial, revokedAt }) =>
    sequence(integer(serial), time(Math.floor(Number(revokedAt) / 1000))),
  );
  const crlNumber = extension(OID.crlNumber, integer(parseSerial(number.toString(16))));
  return signed(
    issuer,
    integer(1), // version 2
    issuer.algorithm,
    issuer.name,
    time(epochSeconds()),
    time(epochSeconds() + LIFETIME_SECONDS),
    ...(entries.length > 0 ? [sequence(Buffer.concat(entries))] : []),
    explicit(0, sequence(authorityKeyIdentifier(issuer.keyId), crlNumber)),
  );
}
