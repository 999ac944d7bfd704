/** A key-value store, version 1 or 2, in memory. It keeps only the newest version of each secret. */
import { NO_CONTENT, orNotFound, route, secret, VaultError } from '../routes.js';

/** @import { Route } from '../routes.js' */

/** Beyond it, the oldest secret is dropped. */
const MAX_SECRETS = 1_000_000;

/** @typedef {{data: object, version: number, createdAt: string}} Stored */

/** @param {Record<string, unknown>} options @returns {Route[]} */
export function createKv({ version }) {
  /** @type {Map<string, Stored>} */
  const secrets = new Map();

  /** @param {string} path @param {object} data @returns {Stored} */
  function store(path, data) {
    const version = (secrets.get(path)?.version ?? 0) + 1;
    const stored = { data, version, createdAt: new Date().toISOString() };
    secrets.set(path, stored);
    if (secrets.size > MAX_SECRETS) secrets.delete(String(secrets.keys().next().value));
    return stored;
  }

  if (String(version) !== '2') {
    return [
      route('POST', /^(.+)$/s, ({ params, match }) => {
        const data = params();
        if (Object.keys(data).length === 0) throw new VaultError(400, 'missing data fields');
        store(match[1], data);
        return NO_CONTENT;
      }),
      route('GET', /^(.+)$/s, ({ match }) => reply({ ...orNotFound(secrets.get(match[1])).data })),
    ];
  }
  return [
    route('POST', /^data\/(.+)$/s, ({ params, match }) => {
      const data = params().data ?? null;
      if (data === null) throw new VaultError(400, 'no data provided');
      const type = Array.isArray(data) ? 'slice' : typeof data === 'boolean' ? 'bool' : typeof data;
      if (type === 'object') return reply(metadataOf(store(match[1], data)));
      throw new VaultError(400, `error converting input for field "data": '' expected a map, got '${type}'`);
    }),
    route('GET', /^data\/(.+)$/s, ({ match }) => {
      const stored = orNotFound(secrets.get(match[1]));
      return reply({ data: stored.data, metadata: metadataOf(stored) });
    }),
  ];
}

/** @param {Record<string, unknown>} data */
const reply = (data) => secret(data, 'kv');

/** @param {Stored} stored */
const metadataOf = ({ version, createdAt }) => ({
  ...{ created_time: createdAt, custom_metadata: null, deletion_time: '', destroyed: false, version },
});
