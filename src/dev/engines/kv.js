/** A key-value store, version 1 or 2: the newest version of each secret, in memory. */
import { readParams } from '../params.js';
import { raw, secret, VaultError } from '../replies.js';

/** Secrets kept before the oldest is forgotten. */
const MOST = 1_000_000;

/** @typedef {{data: Record<string, unknown>, version: number, createdAt: string}} Stored */

/** @type {import('./index.js').CreateEngine} */
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
  };
  secrets.set(path, stored);
  if (secrets.size > MOST) secrets.delete(String(secrets.keys().next().value));
  return stored;
}

/**
 * @param {Map<string, Stored>} secrets
 * @returns {import('../routes.js').Route[]}
 */
function plain(secrets) {
  return [
    {
      method: 'POST',
      path: /^(.+)$/s,
      handle({ request, match }) {
        store(secrets, match[1], { ...readParams(request.body, request.headers['content-type']) });
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
  ];
}

/**
 * @param {Map<string, Stored>} secrets
 * @returns {import('../routes.js').Route[]}
 */
function versioned(secrets) {
  const metadata = (/** @type {Stored} */ { version, createdAt }) => ({
    created_time: createdAt,
    custom_metadata: null,
    deletion_time: '',
    destroyed: false,
    version,
  });
  return [
    {
      method: 'POST',
      path: /^data\/(.+)$/s,
      handle({ request, match }) {
        const { data } = readParams(request.body, request.headers['content-type']);
        if (data === null || typeof data !== 'object') throw new VaultError(400, 'no data provided');
        const stored = store(secrets, match[1], /** @type {Record<string, unknown>} */ (data));
        return secret({ data: metadata(stored), mountType: 'kv' });
      },
    },
    {
      method: 'GET',
      path: /^data\/(.+)$/s,
      handle({ match }) {
        const stored = read(secrets, match[1]);
        return secret({ data: { data: stored.data, metadata: metadata(stored) }, mountType: 'kv' });
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
  ];
}

/**
 * @param {Map<string, Stored>} secrets
 * @param {string} path
 */
function read(secrets, path) {
  const stored = secrets.get(path);
  if (stored === undefined) throw new VaultError(404);
  return stored;
}
