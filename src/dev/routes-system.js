/** Routes of `sys/` and `auth/token/`: mounts, and the only token, a root token. */
import { randomUUID } from 'node:crypto';
import { createAppRole } from './engines/approle.js';
import { createKv } from './engines/kv.js';
import { createTransit } from './engines/transit.js';
import { json, listParam, NO_CONTENT, openRoute, route, secret, textParam, VaultError } from './routes.js';

/** @import { Params, Route } from './routes.js' */

/**
 * @typedef {{version: string, token: string, mounts: ReturnType<typeof createMounts>}} ServerState
 * @typedef {{kind: string, path: string, fullPath: string, type: string, routes: Route[],
 *   shape: Record<string, unknown>}} Mounted `kind`: `mounts` or `auth`; `shape`: Vault's description
 */

/** By kind and type. @type {Record<string, Record<string, (options: Record<string, unknown>) => Route[]>>} */
const ENGINES = { mounts: { kv: createKv, transit: createTransit }, auth: { approle: createAppRole } };

const PATH = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
const MOUNTING = /^sys\/(mounts|auth)\/(.+?)\/?$/;
/** Paths that Vault reserves. */
const RESERVED = /^(?:sys|auth|identity|cubbyhole)(?:\/|$)/;

/** @param {string} path of a secrets engine */
export const isMountPath = (path) => PATH.test(path) && !RESERVED.test(path);

/** Secrets engines and auth methods by their path. @param {string} version */
export function createMounts(version) {
  /** @type {Map<string, Mounted>} by their full path, which is below `auth/` for auth methods */
  const mounts = new Map();
  const fullPathOf = (/** @type {string} */ kind, /** @type {string} */ path) =>
    kind === 'auth' ? `auth/${path}` : path;
  /** @param {string} kind @param {string} path @param {{type: string, routes: Route[], options?: object, description?: string}} mount */
  function add(kind, path, { type, routes, options = {}, description = '' }, ttls = { default: 0, max: 0 }) {
    const uuid = randomUUID();
    const isAuth = kind === 'auth';
    const config = { default_lease_ttl: ttls.default, force_no_cache: false, max_lease_ttl: ttls.max };
    const shape = {
      ...{ type, uuid, description, options, running_plugin_version: version },
      accessor: `${isAuth ? 'auth_' : ''}${type}_${uuid.slice(0, 8)}`,
      config: isAuth ? { ...config, token_type: 'default-service' } : config,
      ...{ deprecation_status: 'supported', external_entropy_access: false, local: false },
      ...{ plugin_version: '', running_sha256: '', seal_wrap: false },
    };
    const fullPath = fullPathOf(kind, path);
    mounts.set(fullPath, { kind, path, fullPath, type, routes, shape });
  }
  return {
    add,
    /** @param {string} kind @param {string} path @param {Params} params */
    mount(kind, path, params) {
      const type = textParam(params, 'type');
      const isFree = kind === 'auth' ? PATH.test(path) : isMountPath(path);
      if (!isFree) throw new VaultError(400, `cannot mount '${path}/'`);
      if (mounts.has(fullPathOf(kind, path))) throw new VaultError(400, `path is already in use at ${path}/`);
      if (!Object.hasOwn(ENGINES[kind], type))
        throw new VaultError(400, `plugin not found in the catalog: ${type}`);
      const options = Object(params.options);
      const description = textParam(params, 'description');
      add(kind, path, { type, routes: ENGINES[kind][type](options), options, description });
      return NO_CONTENT;
    },
    /** As in Vault, a missing mount is not an error. @param {string} kind @param {string} path */
    remove(kind, path) {
      const fullPath = fullPathOf(kind, path);
      if (mounts.get(fullPath)?.type === 'pki')
        throw new VaultError(400, 'the embedded server cannot remove its PKI mount');
      mounts.delete(fullPath);
      return NO_CONTENT;
    },
    /** @param {string} route below `/v1/` @returns {Mounted | undefined} */
    find: (route) => [...mounts.values()].find(({ fullPath }) => route.startsWith(`${fullPath}/`)),
    /** @param {string} kind @returns {Record<string, Mounted['shape']>} by path */
    describe(kind) {
      const ofKind = [...mounts.values()].filter((mount) => mount.kind === kind);
      return Object.fromEntries(ofKind.map(({ path, shape }) => [`${path}/`, shape]));
    },
  };
}

/** @param {ServerState} serverState @returns {Route[]} */
export function systemRoutes({ version, token, mounts }) {
  const cluster = { cluster_name: 'vault-pki-load-dev', cluster_id: randomUUID() };
  const state = { initialized: true, sealed: false, version, ...cluster };
  // Vault repeats the data at the top level.
  const spread = (/** @type {Record<string, unknown>} */ data) => secret(data, 'system', data);
  const now = new Date();
  const health = {
    ...{ ...state, standby: false, performance_standby: false, enterprise: false },
    ...{ replication_performance_mode: 'disabled', replication_dr_mode: 'disabled' },
    ...{ echo_duration_ms: 0, clock_skew_ms: 0, replication_primary_canary_age_ms: 0 },
  };
  const lookup = {
    ...{ id: token, accessor: randomUUID(), policies: ['root'], renewable: false, ttl: 0, creation_ttl: 0 },
    ...{ creation_time: Math.floor(Number(now) / 1000), issue_time: now.toISOString(), expire_time: null },
    ...{ display_name: 'token', entity_id: '', explicit_max_ttl: 0, meta: null, num_uses: 0, orphan: true },
    ...{ path: 'auth/token/create', type: 'service' },
  };
  const sealStatus = {
    ...{ ...state, type: 'shamir', t: 1, n: 1, progress: 0, nonce: '', build_date: '' },
    ...{ migration: false, recovery_seal: false, storage_type: 'inmem' },
  };
  return [
    openRoute('GET HEAD', /^sys\/health$/, () =>
      json(200, { ...health, server_time_utc: Math.floor(Date.now() / 1000) }),
    ),
    openRoute('GET', /^sys\/seal-status$/, () => json(200, sealStatus)),
    route('GET', /^auth\/token\/lookup-self$/, () => secret(lookup, 'token')),
    // This server has no entities. Vault, too, accepts the deletion of an unknown one.
    route('DELETE', /^identity\/entity\/id\/[^/]+$/, () => NO_CONTENT),
    route('POST', /^sys\/capabilities-self$/, ({ params }) => {
      const paths = [...listParam(params(), 'paths'), ...listParam(params(), 'path')];
      if (paths.length === 0) throw new VaultError(400, 'paths must be supplied');
      const single = paths.length === 1 ? { capabilities: ['root'] } : {};
      return spread({ ...single, ...Object.fromEntries(paths.map((path) => [path, ['root']])) });
    }),
    route('GET', /^sys\/internal\/ui\/mounts\/(.+)$/, ({ match }) => {
      const mount = mounts.find(`${match[1]}/`);
      if (mount !== undefined) return secret({ ...mount.shape, path: `${mount.path}/` });
      throw new VaultError(403, `preflight capability check returned 403 for path "${match[1]}/"`);
    }),
    route('GET', /^sys\/(mounts|auth)$/, ({ match }) => spread(mounts.describe(match[1]))),
    route('POST', MOUNTING, ({ match: [, kind, path], params }) => mounts.mount(kind, path, params())),
    route('DELETE', MOUNTING, ({ match: [, kind, path] }) => mounts.remove(kind, path)),
  ];
}
