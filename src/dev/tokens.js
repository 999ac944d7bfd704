/** The server's one token: a root token, or one that expires. */
import { randomBytes } from 'node:crypto';
import { listed, VaultError } from './replies.js';

const PREFIX = 'dev-only-token-';

/**
 * @typedef {object} Tokens
 * @property {string} token
 * @property {(given: string | undefined) => void} check throws 403 for a missing, wrong or expired token
 * @property {() => Record<string, unknown>} lookup
 * @property {(incrementSeconds: number) => Record<string, unknown>} renew throws 400 where it cannot be renewed
 */

/**
 * @param {{token?: string, ttlSeconds?: number}} options 0 seconds: never expires and is not renewable
 * @returns {Tokens}
 */
export function createTokens({ token = PREFIX + randomBytes(12).toString('hex'), ttlSeconds = 0 }) {
  const accessor = randomBytes(12).toString('hex');
  const issuedAt = Date.now();
  const renewable = ttlSeconds > 0;
  let expiresAt = renewable ? issuedAt + ttlSeconds * 1000 : Number.POSITIVE_INFINITY;
  return {
    token,
    check(given) {
      if (given === undefined || given === '') throw new VaultError(403, 'permission denied');
      if (given !== token || Date.now() >= expiresAt) {
        throw new VaultError(403, listed('permission denied', 'invalid token'));
      }
    },
    lookup: () => lookupShape({ token, accessor, issuedAt, expiresAt, ttlSeconds }),
    renew(incrementSeconds) {
      if (!renewable) throw new VaultError(400, 'lease is not renewable');
      expiresAt = Date.now() + (incrementSeconds || ttlSeconds) * 1000;
      return authShape(token, accessor, incrementSeconds || ttlSeconds);
    },
  };
}

/** @param {{token: string, accessor: string, issuedAt: number, expiresAt: number, ttlSeconds: number}} state times in ms */
function lookupShape({ token, accessor, issuedAt, expiresAt, ttlSeconds }) {
  const renewable = ttlSeconds > 0;
  return {
    accessor,
    creation_time: Math.floor(issuedAt / 1000),
    creation_ttl: Math.floor(ttlSeconds),
    display_name: 'token',
    entity_id: '',
    expire_time: renewable ? new Date(expiresAt).toISOString() : null,
    explicit_max_ttl: 0,
    id: token,
    issue_time: new Date(issuedAt).toISOString(),
    meta: null,
    num_uses: 0,
    orphan: true,
    path: 'auth/token/create',
    policies: ['root'],
    renewable,
    ttl: renewable ? Math.max(0, Math.floor((expiresAt - Date.now()) / 1000)) : 0,
    type: 'service',
  };
}

/**
 * @param {string} token
 * @param {string} accessor
 * @param {number} leaseSeconds
 */
function authShape(token, accessor, leaseSeconds) {
  return {
    client_token: token,
    accessor,
    policies: ['root'],
    token_policies: ['root'],
    metadata: null,
    lease_duration: Math.floor(leaseSeconds),
    renewable: true,
    entity_id: '',
    token_type: 'service',
    orphan: true,
    mfa_requirement: null,
    num_uses: 0,
  };
}
