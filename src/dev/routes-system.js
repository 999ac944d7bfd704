/** `sys/` and `auth/token/`, with the only token: a root token, or one that expires. */
import { randomBytes, randomUUID } from 'node:crypto';
import { json, listed, listParam, raw, secondsParam, secret, VaultError } from './messages.js';
import { mountingRoutes, mountShape } from './mounts.js';

/** @import { Params } from './messages.js' */
/** @import { World } from './routes.js' */

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

/** @param {string} token @param {string} accessor @param {number} leaseSeconds */
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

/** @typedef {import('./routes.js').Route} Route @typedef {World} World */

const LEADER = Object.freeze({
  ha_enabled: false,
  is_self: false,
  active_time: '0001-01-01T00:00:00Z',
  leader_address: '',
  leader_cluster_address: '',
  performance_standby: false,
  performance_standby_last_remote_wal: 0,
});

/** @param {World} world @returns {Route[]} that need no token */
export function openSystemRoutes({ version }) {
  const clusterId = randomUUID();
  const cluster = { cluster_name: 'vault-pki-load-dev', cluster_id: clusterId };
  const health = () =>
    json(200, {
      initialized: true,
      sealed: false,
      standby: false,
      performance_standby: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      server_time_utc: Math.floor(Date.now() / 1000),
      version,
      enterprise: false,
      ...cluster,
      echo_duration_ms: 0,
      clock_skew_ms: 0,
      replication_primary_canary_age_ms: 0,
    });
  const sealStatus = () =>
    json(200, {
      type: 'shamir',
      initialized: true,
      sealed: false,
      t: 1,
      n: 1,
      progress: 0,
      nonce: '',
      version,
      build_date: '',
      migration: false,
      ...cluster,
      recovery_seal: false,
      storage_type: 'inmem',
    });
  return [
    { method: 'GET HEAD', path: /^sys\/health$/, handle: health },
    { method: 'GET', path: /^sys\/seal-status$/, handle: sealStatus },
    { method: 'GET', path: /^sys\/leader$/, handle: () => json(200, LEADER) },
  ];
}

/** @param {World} world @returns {Route[]} */
export function systemRoutes(world) {
  const { tokens } = world;
  return [
    {
      method: 'GET',
      path: /^auth\/token\/lookup-self$/,
      handle: () => secret({ data: tokens.lookup(), mountType: 'token' }),
    },
    {
      method: 'POST',
      path: /^auth\/token\/renew-self$/,
      handle: ({ params }) => {
        return secret({
          data: null,
          auth: tokens.renew(secondsParam(params(), 'increment')),
          mountType: 'token',
        });
      },
    },
    // There are no entities here; Vault gives the same response for an unknown one.
    { method: 'DELETE', path: /^identity\/entity\/id\/[^/]+$/, handle: () => raw('', '', 204) },
    { method: 'POST', path: /^sys\/capabilities-self$/, handle: ({ params }) => capabilities(params()) },
    ...mountRoutes(world),
    ...mountingRoutes(world),
  ];
}

/** @param {Params} params */
function capabilities(params) {
  const paths = [...listParam(params, 'paths'), ...listParam(params, 'path')];
  if (paths.length === 0) throw new VaultError(400, 'paths must be supplied');
  const single = paths.length === 1 ? { capabilities: ['root'] } : {};
  const data = { ...single, ...Object.fromEntries(paths.map((path) => [path, ['root']])) };
  return secret({ data, mountType: 'system', spread: true });
}

/**
 * @param {string} version
 * @returns {(defaultTtl: number) => Record<string, unknown>} how Vault describes a mount
 */
function mountEntry(version) {
  const uuid = randomUUID();
  return (defaultTtl) => ({
    accessor: `pki_${uuid.slice(0, 8)}`,
    config: { default_lease_ttl: defaultTtl, force_no_cache: false, max_lease_ttl: 157_680_000 },
    deprecation_status: 'supported',
    description: 'embedded PKI server of vault-pki-load: for tests only',
    external_entropy_access: false,
    local: false,
    options: {},
    plugin_version: '',
    running_plugin_version: version,
    running_sha256: '',
    seal_wrap: false,
    type: 'pki',
    uuid,
  });
}

/** @param {World} world @returns {Route[]} */
function mountRoutes({ mount, mounts, version }) {
  const entry = mountEntry(version);
  const others = () =>
    Object.fromEntries(mounts.list('mounts').map((one) => [`${one.path}/`, mountShape(one, version)]));
  return [
    {
      method: 'GET',
      path: /^sys\/internal\/ui\/mounts\/(.+)$/,
      handle: ({ match }) => {
        if (`${match[1]}/`.startsWith(`${mount}/`))
          return secret({ data: { ...entry(2_764_800), path: `${mount}/` } });
        const other = mounts.find(`${match[1]}/`)?.mount;
        if (other !== undefined)
          return secret({ data: { ...mountShape(other, version), path: `${other.path}/` } });
        const path = JSON.stringify(`${match[1]}/`);
        throw new VaultError(
          403,
          `preflight capability check returned 403, please ensure client's policies grant access to path ${path}`,
        );
      },
    },
    {
      method: 'GET',
      path: /^sys\/mounts$/,
      handle: () =>
        secret({ data: { [`${mount}/`]: entry(0), ...others() }, mountType: 'system', spread: true }),
    },
    {
      method: 'GET',
      path: /^sys\/mounts\/(.+?)\/?$/,
      handle: ({ match }) => {
        if (match[1] === mount) return secret({ data: entry(0), mountType: 'system', spread: true });
        const other = mounts.list('mounts').find(({ path }) => path === match[1]);
        if (other !== undefined)
          return secret({ data: mountShape(other, version), mountType: 'system', spread: true });
        throw new VaultError(400, `No secret engine mount at ${match[1]}/`);
      },
    },
  ];
}
