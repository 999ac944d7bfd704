/** A fake Vault client: the mounts, policies and PKI paths that setup uses, with failures on demand. */
import { randomUUID } from 'node:crypto';
import { targetError } from '../../../src/common/errors.js';
import { createDevServer } from '../../../src/dev/server.js';

/** @import { VaultClient } from '../../../src/vault/client.js' */

/** @typedef {{writes: Map<string, any>, type: string, description: string, uuid: string}} FakeMount */

/** Certificates of the two key types: only the type of their key is looked at. @type {Record<string, string>} */
const CERTIFICATES = { rsa: await certificateOf('rsa'), ec: await certificateOf('ec') };

/** @param {'rsa' | 'ec'} caKeyType */
async function certificateOf(caKeyType) {
  const server = await createDevServer({ caKeyType });
  await server.close();
  return server.caPem;
}

/**
 * @param {{can?: (path: string) => string[], namespace?: string | null}} [options] `can`: capabilities of the token on a path
 */
export function fakeVault({ can = () => ['root'], namespace = null } = {}) {
  /** @type {Record<'mounts' | 'auth', Map<string, FakeMount>>} */
  const mounted = {
    mounts: new Map(),
    auth: new Map([['token', mount('token', 'token based credentials')]]),
  };
  mounted.mounts.set('cubbyhole', mount('cubbyhole', 'per-token private secret storage'));
  /** @type {Map<string, string>} */
  const policies = new Map([['default', '# what everybody may']]);
  /** @type {{method: string, path: string}[]} */
  const calls = [];
  /** `at`: number of the call that fails, from 1, before or after it took effect; `every`: selects the calls that fail */
  const fault = {
    at: 0,
    when: /** @type {'before' | 'after'} */ ('before'),
    every: (/** @type {string} */ _path) => false,
  };

  /** What else it says of itself. @type {Record<string, unknown>} */
  const health = {};

  /** @param {string} path @returns {[FakeMount, string]} */
  const find = (path) => {
    for (const [kind, all] of Object.entries(mounted)) {
      for (const [name, one] of all) {
        const full = kind === 'auth' ? `auth/${name}` : name;
        if (path.startsWith(`${full}/`)) return [one, path.slice(full.length + 1)];
      }
    }
    throw targetError('vault_no_route', `no handler for route ${path}`);
  };

  /** @param {string} method @param {string} path @param {Record<string, any>} [data] @returns {any} */
  function answer(method, path, data = {}) {
    if (path === 'sys/health')
      return {
        initialized: true,
        sealed: false,
        enterprise: namespace !== null,
        version: '1.21.1',
        ...health,
      };
    if (path === 'sys/capabilities-self')
      return Object.fromEntries(data.paths.map((/** @type {string} */ one) => [one, can(one)]));
    const system = /^sys\/(mounts|auth)(?:\/(.+))?$/.exec(path);
    if (system !== null) {
      const all = mounted[/** @type {'mounts' | 'auth'} */ (system[1])];
      const name = system[2];
      if (name === undefined)
        return Object.fromEntries(
          [...all].map(([at, { type, description, uuid }]) => [`${at}/`, { type, description, uuid }]),
        );
      if (method === 'DELETE') return void all.delete(name);
      if (all.has(name)) throw targetError('vault_bad_request', `path is already in use at ${name}/`);
      return void all.set(name, mount(data.type, data.description));
    }
    const policy = /^sys\/policies\/acl\/(.+)$/.exec(path);
    if (policy !== null) {
      if (method === 'DELETE') return void policies.delete(policy[1]);
      if (method === 'POST') return void policies.set(policy[1], data.policy);
      if (!policies.has(policy[1])) throw targetError('vault_not_found', 'nothing there');
      return { policy: policies.get(policy[1]) };
    }
    return inMount(...find(path), method, data);
  }

  /** @param {FakeMount} one @param {string} below @param {string} method @param {Record<string, any>} data */
  function inMount({ writes }, below, method, data) {
    if (method === 'LIST') {
      return [...writes.keys()]
        .filter((key) => key.startsWith(`${below}/`))
        .map((key) => key.slice(below.length + 1));
    }
    if (method === 'GET' && below === 'config/issuers') return { default: writes.has('ca') ? 'issuer' : '' };
    if (method === 'GET' && below === 'cert/ca') return { certificate: CERTIFICATES[writes.get('ca')] };
    if (method === 'GET') return writes.get(below) ?? {};
    writes.set(below, data);
    if (below === 'root/generate/internal') writes.set('ca', data.key_type);
    if (below === 'intermediate/generate/internal') {
      writes.set('pending', data.key_type);
      return { csr: 'CSR' };
    }
    if (below === 'root/sign-intermediate') return { certificate: 'CERTIFICATE' };
    if (below === 'intermediate/set-signed') writes.set('ca', writes.get('pending'));
    return null;
  }

  /** @param {string} method @param {string} path @param {Record<string, any>} [data] */
  async function call(method, path, data) {
    calls.push({ method, path });
    const fails = calls.length === fault.at || fault.every(`${method} ${path}`);
    const refuse = () => {
      throw targetError('vault_internal_error', `failed at ${method} ${path}`, 'Mend it.');
    };
    if (fails && fault.when === 'before') refuse();
    try {
      return answer(method, path, data);
    } finally {
      if (fails) refuse();
    }
  }

  const envelope = async (/** @type {Promise<any>} */ data) => ({
    data: await data,
    auth: null,
    warnings: [],
  });
  const client = /** @type {VaultClient} */ (
    /** @type {unknown} */ ({
      origin: 'http://vault.test:8200',
      basePath: '',
      namespace,
      hasToken: true,
      read: (/** @type {string} */ path) => envelope(call('GET', path)),
      write: (/** @type {string} */ path, /** @type {any} */ data) => envelope(call('POST', path, data)),
      remove: (/** @type {string} */ path) => envelope(call('DELETE', path)),
      health: async () => ({ status: 200, json: await call('GET', 'sys/health') }),
      list: (/** @type {string} */ path) => call('LIST', path),
    })
  );
  return {
    client,
    calls,
    mounted,
    policies,
    fault,
    health,
    /** Its whole state, for comparison. */
    state: () => ({
      mounts: [...mounted.mounts].map(([path, { type, description, writes }]) => [
        path,
        type,
        description,
        [...writes],
      ]),
      auth: [...mounted.auth].map(([path, { type, description, writes }]) => [
        path,
        type,
        description,
        [...writes],
      ]),
      policies: [...policies],
    }),
    /** Somebody's own. @param {'mounts' | 'auth'} kind @param {string} path @param {string} type @param {string} [description] */
    own: (kind, path, type, description = '') => void mounted[kind].set(path, mount(type, description)),
  };
}

/** @param {string} type @param {string} description @returns {FakeMount} */
function mount(type, description) {
  return { type, description, writes: new Map(), uuid: randomUUID() };
}
