/** CRL version 2 (RFC 5280 section 5). */
import { explicit, integer, rawInteger, sequence, time } from './der.js';
import { authorityKeyIdentifier, extension } from './extensions.js';
import { OID_DER } from './oids.js';
import { signed } from './signer.js';

const LIFETIME_SECONDS = 72 * 3600;
const REBUILD_SECONDS = 12 * 3600;

/**
 * Built when first asked for after a revocation; Vault builds it at the revocation itself.
 *
 * @param {import('./authority.js').Authority} issuer
 * @param {import('./store.js').Store} store
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
 * @param {import('./authority.js').Authority} issuer
 * @param {import('./store.js').Entry[]} revoked
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
