/** A key-value store, version 1 or 2: the newest version of each secret, in memory. */
import { raw, secret, VaultError } from '../messages.js';

/** @import { CreateEngine } from '../mounts.js' */
/** @import { Route } from '../routes.js' */

/** Secrets kept before the oldest is forgotten. */
const MOST = 1_000_000;

/** @typedef {{data: Record<string, unknown>, version: number, createdAt: string, deletedAt: string}} Stored `deletedAt`: empty while it is there */

/** @type {CreateEngine} */
export function createKv({ version }) {
  /** @type {Map<string, Stored>} */
  const secrets = new Map();
  return { routes: String(version) === '2' ? versioned(secrets) : plain(secrets), openRoutes: [] };
}

/**
 * @param {Map<string, Stored>} secrets
 * @param {string} path
 * @param {Record<string, unknown>} data
 * @returns {Stored}
 */
function store(secrets, path, data) {
  const stored = {
    data,
    version: (secrets.get(path)?.version ?? 0) + 1,
    createdAt: new Date().toISOString(),
    deletedAt: '',
  };
  secrets.set(path, stored);
  if (secrets.size > MOST) secrets.delete(String(secrets.keys().next().value));
  return stored;
}

/** @param {Map<string, Stored>} secrets @returns {Route[]} */
function plain(secrets) {
  return [
    {
      method: 'POST',
      path: /^(.+)$/s,
      handle({ params, match }) {
        const data = { ...params() };
        if (Object.keys(data).length === 0) throw new VaultError(400, 'missing data fields');
        store(secrets, match[1], data);
        return raw('', '', 204);
      },
    },
    {
      method: 'GET',
      path: /^(.+)$/s,
      handle: ({ match }) => secret({ data: read(secrets, match[1]).data, mountType: 'kv' }),
    },
    {
      method: 'DELETE',
      path: /^(.+)$/s,
      handle({ match }) {
        secrets.delete(match[1]);
        return raw('', '', 204);
      },
    },
    { method: 'LIST', path: /^(.*)$/s, handle: ({ match }) => list(secrets, match[1]) },
  ];
}

/** @param {Map<string, Stored>} secrets @returns {Route[]} */
function versioned(secrets) {
  const metadata = (/** @type {Stored} */ { version, createdAt, deletedAt }) => ({
    created_time: createdAt,
    custom_metadata: null,
    deletion_time: deletedAt,
    destroyed: false,
    version,
  });
  return [
    {
      method: 'POST',
      path: /^data\/(.+)$/s,
      handle({ params, match }) {
        const { data } = params();
        if (data === null || data === undefined) throw new VaultError(400, 'no data provided');
        if (typeof data !== 'object' || Array.isArray(data)) throw notAMap(data);
        const stored = store(secrets, match[1], /** @type {Record<string, unknown>} */ (data));
        return secret({ data: metadata(stored), mountType: 'kv' });
      },
    },
    {
      method: 'GET',
      path: /^data\/(.+)$/s,
      handle({ match }) {
        const stored = read(secrets, match[1]);
        if (stored.deletedAt === '')
          return secret({ data: { data: stored.data, metadata: metadata(stored) }, mountType: 'kv' });
        return {
          ...secret({ data: { data: null, metadata: metadata(stored) }, mountType: 'kv' }),
          status: 404,
        };
      },
    },
    {
      method: 'DELETE',
      path: /^data\/(.+)$/s,
      handle({ match }) {
        const stored = secrets.get(match[1]);
        if (stored !== undefined) stored.deletedAt = new Date().toISOString();
        return raw('', '', 204);
      },
    },
    {
      method: 'DELETE',
      path: /^metadata\/(.+)$/s,
      handle({ match }) {
        secrets.delete(match[1]);
        return raw('', '', 204);
      },
    },
    { method: 'LIST', path: /^metadata\/?(.*)$/s, handle: ({ match }) => list(secrets, match[1]) },
    { method: 'GET', path: ELSEWHERE, handle: () => invalidPath('get') },
    { method: 'POST', path: ELSEWHERE, handle: () => invalidPath('put') },
  ];
}

/** Paths that version 1 would take. */
const ELSEWHERE = /^(?!(?:data|metadata)\/)./s;

/** @param {string} command of Vault's CLI */
function invalidPath(command) {
  const warning =
    'Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use. ' +
    `If using the Vault CLI, use 'vault kv ${command}' for this operation.`;
  return { ...secret({ data: null, warnings: [warning] }), status: 404 };
}

/** @param {unknown} value */
function notAMap(value) {
  const type = Array.isArray(value) ? 'slice' : typeof value;
  return new VaultError(
    400,
    `error converting input for field "data": '' expected a map, got '${type === 'boolean' ? 'bool' : type}'`,
  );
}

/** @param {Map<string, Stored>} secrets @param {string} folder */
function list(secrets, folder) {
  const start = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
  const keys = new Set();
  for (const path of secrets.keys()) {
    if (!path.startsWith(start)) continue;
    const rest = path.slice(start.length);
    const end = rest.indexOf('/');
    keys.add(end < 0 ? rest : rest.slice(0, end + 1));
  }
  if (keys.size === 0) throw new VaultError(404);
  return secret({ data: { keys: [...keys].sort() }, mountType: 'kv' });
}

/** @param {Map<string, Stored>} secrets @param {string} path */
function read(secrets, path) {
  const stored = secrets.get(path);
  if (stored === undefined) throw new VaultError(404);
  return stored;
}
