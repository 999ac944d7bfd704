/** Secrets engines and auth methods that can be mounted while the server runs (`sys/mounts`, `sys/auth`), beside its PKI mount. */
import { randomUUID } from 'node:crypto';
import { createAppRole } from './engines/approle.js';
import { createKv } from './engines/kv.js';
import { createTransit } from './engines/transit.js';
import { raw, secret, textParam, VaultError } from './messages.js';
/** @import { Params } from './messages.js' */
/** @import { Route, World } from './routes.js' */

/**
 * @typedef {object} Engine
 * @property {Route[]} routes below its mount, that need a token
 * @property {Route[]} openRoutes that need none
 */
/** @typedef {(options: Record<string, unknown>, world: World) => Engine} CreateEngine */

/** @type {Readonly<Record<'mounts' | 'auth', Readonly<Record<string, CreateEngine>>>>} by type */
export const ENGINES = Object.freeze({
  mounts: Object.freeze({ kv: createKv, transit: createTransit }),
  auth: Object.freeze({ approle: createAppRole }),
});

/** @param {'mounts' | 'auth'} kind @param {string} type @returns {CreateEngine} */
export function engineOf(kind, type) {
  if (Object.hasOwn(ENGINES[kind], type)) return ENGINES[kind][type];
  throw new VaultError(400, `plugin not found in the catalog: ${type}`);
}

/** @typedef {'mounts' | 'auth'} Kind */
/** @typedef {{kind: Kind, path: string, type: string, options: Record<string, unknown>, description: string, uuid: string, engine: Engine}} Mounted */
/** @typedef {ReturnType<typeof createMounts>} Mounts */

const PATH = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;

/** Paths that Vault keeps for itself. */
const KEPT = /^(?:sys|auth|identity|cubbyhole)(?:\/|$)/;

export function createMounts() {
  /** By their full path, below `auth/` where it is an auth method. @type {Map<string, Mounted>} */
  const mounted = new Map();
  const fullPath = (/** @type {Kind} */ kind, /** @type {string} */ path) =>
    kind === 'auth' ? `auth/${path}` : path;

  return {
    /**
     * @param {Kind} kind
     * @param {string} path
     * @param {Params} params
     * @param {World} world
     */
    add(kind, path, params, world) {
      const full = fullPath(kind, path);
      const type = textParam(params, 'type');
      if (!PATH.test(path) || (kind === 'mounts' && KEPT.test(path)))
        throw new VaultError(400, `cannot mount '${path}/'`);
      if (full === world.mount || mounted.has(full))
        throw new VaultError(400, `path is already in use at ${path}/`);
      const options = /** @type {Record<string, unknown>} */ (Object(params.options));
      const engine = engineOf(kind, type)(options, world);
      const description = textParam(params, 'description');
      mounted.set(full, { kind, path, type, options, description, uuid: randomUUID(), engine });
    },
    /** @param {Kind} kind @param {string} path a missing mount is no error, as in Vault */
    remove: (kind, path) => void mounted.delete(fullPath(kind, path)),
    /** @param {string} route below `/v1/` @returns {{mount: Mounted, below: string} | null} */
    find(route) {
      for (const [full, mount] of mounted) {
        if (route.startsWith(`${full}/`)) return { mount, below: route.slice(full.length + 1) };
      }
      return null;
    },
    /** @param {Kind} kind @returns {Mounted[]} */
    list: (kind) => [...mounted.values()].filter((one) => one.kind === kind),
  };
}

/** @param {Mounted} mount @param {string} version @returns {Record<string, unknown>} as Vault describes it */
export function mountShape({ kind, type, options, description, uuid }, version) {
  return {
    accessor: `${kind === 'auth' ? 'auth_' : ''}${type}_${uuid.slice(0, 8)}`,
    config: {
      default_lease_ttl: 0,
      force_no_cache: false,
      max_lease_ttl: 0,
      ...(kind === 'auth' ? { token_type: 'default-service' } : {}),
    },
    deprecation_status: 'supported',
    description,
    external_entropy_access: false,
    local: false,
    options,
    plugin_version: '',
    running_plugin_version: version,
    running_sha256: '',
    seal_wrap: false,
    type,
    uuid,
  };
}

/** @param {World} world @returns {Route[]} that need a token */
export function mountingRoutes(world) {
  const { mounts, version } = world;
  return /** @type {Kind[]} */ (['mounts', 'auth']).flatMap((kind) => {
    const path = new RegExp(`^sys/${kind}/(.+?)/?$`);
    return [
      {
        method: 'POST',
        path,
        handle({ params, match }) {
          mounts.add(kind, match[1], params(), world);
          return raw('', '', 204);
        },
      },
      {
        method: 'DELETE',
        path,
        handle({ match }) {
          if (match[1] === world.mount)
            throw new VaultError(400, 'the PKI mount of the embedded server stays');
          mounts.remove(kind, match[1]);
          return raw('', '', 204);
        },
      },
      ...(kind === 'mounts'
        ? []
        : [
            /** @type {Route} */ ({
              method: 'GET',
              path,
              handle: ({ match }) => {
                const one = mounts.list('auth').find((each) => each.path === match[1]);
                if (one === undefined) throw new VaultError(400, `No auth engine at ${match[1]}/`);
                return secret({ data: mountShape(one, version), mountType: 'system', spread: true });
              },
            }),
            /** @type {Route} */ ({
              method: 'GET',
              path: /^sys\/auth$/,
              handle: () => {
                const data = Object.fromEntries(
                  mounts.list('auth').map((one) => [`${one.path}/`, mountShape(one, version)]),
                );
                return secret({ data, mountType: 'system', spread: true });
              },
            }),
          ]),
    ];
  });
}
