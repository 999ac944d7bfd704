/** A key-value store, version 1 or 2: the newest version of each secret, in memory. */
import { NO_CONTENT, route, secret, VaultError } from '../routes.js';

/** @import { Call, Route } from '../routes.js' */

/** Secrets kept before the oldest is forgotten. */
const MAX_SECRETS = 1_000_000;

/** @typedef {{data: object, version: number, createdAt: string, deletedAt: string}} Stored `deletedAt`: empty before */

/** @param {Record<string, unknown>} options @returns {Route[]} */
export function createKv({ version }) {
  /** @type {Map<string, Stored>} */
  const secrets = new Map();

  /** @param {string} path @param {object} data @returns {Stored} */
  function store(path, data) {
    const version = (secrets.get(path)?.version ?? 0) + 1;
    const stored = { data, version, createdAt: new Date().toISOString(), deletedAt: '' };
    secrets.set(path, stored);
    if (secrets.size > MAX_SECRETS) secrets.delete(String(secrets.keys().next().value));
    return stored;
  }

  /** @param {string} path */
  function read(path) {
    const stored = secrets.get(path);
    if (stored !== undefined) return stored;
    throw new VaultError(404);
  }

  /** @param {Call} call */
  function remove({ match }) {
    secrets.delete(match[1]);
    return NO_CONTENT;
  }

  /** @param {Call} call */
  function list({ match: [, folder] }) {
    const start = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    const keys = new Set();
    for (const path of secrets.keys()) {
      if (path.startsWith(start)) keys.add(/^[^/]*\/?/.exec(path.slice(start.length))?.[0]);
    }
    if (keys.size === 0) throw new VaultError(404);
    return reply({ keys: [...keys].sort() });
  }

  if (String(version) !== '2') {
    return [
      route('POST', /^(.+)$/s, ({ params, match }) => {
        const data = params();
        if (Object.keys(data).length === 0) throw new VaultError(400, 'missing data fields');
        store(match[1], data);
        return NO_CONTENT;
      }),
      route('GET', /^(.+)$/s, ({ match }) => reply({ ...read(match[1]).data })),
      route('DELETE', /^(.+)$/s, remove),
      route('LIST', /^(.*)$/s, list),
    ];
  }
  return [
    route('POST', /^data\/(.+)$/s, ({ params, match }) => {
      const data = params().data ?? null;
      if (data === null) throw new VaultError(400, 'no data provided');
      if (typeof data !== 'object' || Array.isArray(data)) throw notAMap(data);
      return reply(metadataOf(store(match[1], data)));
    }),
    route('GET', /^data\/(.+)$/s, ({ match }) => {
      const stored = read(match[1]);
      const metadata = metadataOf(stored);
      if (stored.deletedAt === '') return reply({ data: stored.data, metadata });
      return secret({ data: null, metadata }, { mountType: 'kv', status: 404 });
    }),
    route('DELETE', /^data\/(.+)$/s, ({ match }) => {
      const stored = secrets.get(match[1]);
      if (stored !== undefined) stored.deletedAt = new Date().toISOString();
      return NO_CONTENT;
    }),
    route('DELETE', /^metadata\/(.+)$/s, remove),
    route('LIST', /^metadata\/?(.*)$/s, list),
    route('GET', ELSEWHERE, () => invalidPath('get')),
    route('POST', ELSEWHERE, () => invalidPath('put')),
  ];
}

/** @param {Record<string, unknown>} data */
const reply = (data) => secret(data, { mountType: 'kv' });

/** @param {Stored} stored */
const metadataOf = ({ version, createdAt, deletedAt }) => ({
  created_time: createdAt,
  custom_metadata: null,
  deletion_time: deletedAt,
  destroyed: false,
  version,
});

/** Paths of a secret in a store of version 1. */
const ELSEWHERE = /^(?!(?:data|metadata)\/)./s;

/** @param {string} command of Vault's CLI */
function invalidPath(command) {
  const warning =
    'Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use. ' +
    `If using the Vault CLI, use 'vault kv ${command}' for this operation.`;
  return secret(null, { warnings: [warning], status: 404 });
}

/** @param {unknown} value */
function notAMap(value) {
  const type = Array.isArray(value) ? 'slice' : typeof value === 'boolean' ? 'bool' : typeof value;
  const message = `error converting input for field "data": '' expected a map, got '${type}'`;
  return new VaultError(400, message);
}
