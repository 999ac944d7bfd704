/** What was issued and revoked, in memory only: gone when the server stops. */
import { colonHex } from './text.js';

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

  /**
   * @param {Buffer} serial
   * @param {Buffer} der
   */
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

  /**
   * @param {string} id
   * @returns {Entry | undefined} undefined when no such certificate is stored
   */
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
