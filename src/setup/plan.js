/**
 * What `setup` makes and `teardown` takes away: a PKI fit for testing and what else operations need, under one name. Everything carries
 * a mark, by which it is told from what people made themselves.
 */
import { usageError } from '../errors.js';

/** In the description of mounts, and as a comment in policies. */
export const MARK = 'made by vault-pki-load setup';

export const DEFAULT_NAME = 'vault-pki-load';

/** @typedef {{kind: 'mounts' | 'auth', path: string, type: string, settings: Record<string, unknown>}} Mount */
/**
 * @typedef {object} SetupPlan
 * @property {string} name
 * @property {Mount[]} mounts in the order in which they are made
 * @property {string} root path of the root PKI
 * @property {string} intermediate path of the PKI that issues
 * @property {string} policy
 * @property {Record<string, Record<string, unknown>>} roles of the intermediate
 * @property {'rsa' | 'ec'} caKeyType
 * @property {boolean} autoRebuild of CRLs
 */

const NAMES = Object.freeze({
  allowed_domains: 'example.com',
  allow_subdomains: true,
  allow_localhost: true,
  max_ttl: '720h',
});

/** By name; the keys decide how fast certificates are issued. */
const ROLES = Object.freeze({
  'example-dot-com': { ...NAMES },
  'ec-stored': { ...NAMES, key_type: 'ec', key_bits: 256 },
  'ec-no-store': { ...NAMES, key_type: 'ec', key_bits: 256, no_store: true },
  ed25519: { ...NAMES, key_type: 'ed25519' },
});

/**
 * @param {{name: string, caKeyType: 'rsa' | 'ec', autoRebuild: boolean, with: string[]}} options `with`: engines beside the PKI
 * @returns {SetupPlan}
 */
export function planSetup({ name, caKeyType, autoRebuild, with: others }) {
  checkName(name);
  const description = describe(name);
  const pki = (/** @type {string} */ suffix) => ({
    kind: /** @type {const} */ ('mounts'),
    path: `${name}-${suffix}`,
    type: 'pki',
    settings: { description, config: { max_lease_ttl: '87600h' } },
  });
  /** @type {Record<string, Mount>} */
  const possible = {
    kv: {
      kind: 'mounts',
      path: `${name}-kv`,
      type: 'kv',
      settings: { description, options: { version: '2' } },
    },
    transit: { kind: 'mounts', path: `${name}-transit`, type: 'transit', settings: { description } },
    approle: { kind: 'auth', path: `${name}-approle`, type: 'approle', settings: { description } },
  };
  return {
    name,
    mounts: [pki('root'), pki('int'), ...others.map((one) => possible[one])],
    root: `${name}-root`,
    intermediate: `${name}-int`,
    policy: name,
    roles: ROLES,
    caKeyType,
    autoRebuild,
  };
}

/** @param {string} name @returns {string} of every mount of this name */
export function describe(name) {
  return `${MARK} (${name})`;
}

/**
 * What a token needs to run every operation on what was set up.
 *
 * @param {SetupPlan} plan
 * @returns {string} HCL
 */
export function policyText({ name, intermediate }) {
  const rules = [
    [`${intermediate}/issue/*`, ['update']],
    [`${intermediate}/sign/*`, ['update']],
    [`${intermediate}/sign-verbatim`, ['update']],
    [`${intermediate}/revoke`, ['update']],
    [`${intermediate}/roles/*`, ['read', 'list']],
    [`${name}-*`, ['create', 'read', 'update', 'delete', 'list']],
    ['sys/mounts/vault-pki-load-*', ['create', 'read', 'update', 'delete', 'sudo']],
    ['sys/auth/vault-pki-load-*', ['create', 'read', 'update', 'delete', 'sudo']],
    ['auth/vault-pki-load-*', ['create', 'read', 'update', 'delete', 'list']],
    ['vault-pki-load-*', ['create', 'read', 'update', 'delete', 'list']],
  ];
  const text = rules.map(
    ([path, able]) => `path ${JSON.stringify(path)} {\n  capabilities = ${JSON.stringify(able)}\n}`,
  );
  return [`# ${describe(name)}`, ...text, ''].join('\n');
}

/**
 * @param {string} name
 * @throws {import('../errors.js').PkiLoadError} where it could be mistaken for something else
 */
export function checkName(name) {
  if (
    /^[a-z][a-z0-9-]{2,40}$/.test(name) &&
    !['sys', 'auth', 'identity', 'cubbyhole', 'default', 'root'].includes(name)
  )
    return;
  throw usageError(
    'bad_setup_name',
    `The name ${JSON.stringify(name.slice(0, 80))} cannot be used for a set-up.`,
    'Use three to forty-one lower-case letters, digits and hyphens, such as vault-pki-load.',
  );
}
