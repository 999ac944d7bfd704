/** `sys/` and `auth/token/`. */
import { randomUUID } from 'node:crypto';
import { mountingRoutes, mountShape } from './mounts.js';
import { listParam, readParams, secondsParam } from './params.js';
import { json, raw, secret, VaultError } from './replies.js';

/**
 * @typedef {import('./routes.js').Route} Route
 * @typedef {import('./routes.js').World} World
 */

const LEADER = Object.freeze({
  ha_enabled: false,
  is_self: false,
  active_time: '0001-01-01T00:00:00Z',
  leader_address: '',
  leader_cluster_address: '',
  performance_standby: false,
  performance_standby_last_remote_wal: 0,
});

/**
 * @param {World} world
 * @returns {Route[]} that need no token
 */
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

/**
 * @param {World} world
 * @returns {Route[]}
 */
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
      handle: ({ request }) => {
        const params = readParams(request.body, request.headers['content-type']);
        return secret({
          data: null,
          auth: tokens.renew(secondsParam(params, 'increment')),
          mountType: 'token',
        });
      },
    },
    // No entities are kept here; of one that is not there Vault says the same.
    { method: 'DELETE', path: /^identity\/entity\/id\/[^/]+$/, handle: () => raw('', '', 204) },
    { method: 'POST', path: /^sys\/capabilities-self$/, handle: ({ request }) => capabilities(request) },
    ...mountRoutes(world),
    ...mountingRoutes(world),
  ];
}

/** @param {import('./routes.js').Request} request */
function capabilities(request) {
  const params = readParams(request.body, request.headers['content-type']);
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

/**
 * @param {World} world
 * @returns {Route[]}
 */
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
