/**
 * Options of `setup`, and what it makes and `teardown` removes: a PKI for testing and other engines that operations need, under one
 * name. Everything carries a mark, to distinguish it from other people's.
 */
import { usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { PREFIX } from '../own-mount.js';

/** @import { OptionSpec } from '../../common/options.js' */

const GROUP = 'Set-up';

export const DEFAULT_NAME = 'vault-pki-load';

/** What operations may need beside a PKI. */
export const ENGINES = Object.freeze(/** @type {const} */ (['kv', 'transit', 'approle']));

/** @type {{name: OptionSpec}} */
export const nameOption = {
  name: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: DEFAULT_NAME,
    describe: 'Prefix of all names: NAME-root, NAME-int, ...',
  },
};

/** @type {Record<string, OptionSpec>} */
export const setupOptions = {
  ...nameOption,
  'ca-key-type': {
    type: 'choice',
    group: GROUP,
    choices: ['rsa', 'ec'],
    default: 'rsa',
    describe: 'CA keys: RSA-2048 or P-256',
  },
  'auto-rebuild': {
    type: 'flag',
    group: GROUP,
    describe: 'Rebuild CRLs periodically, not with every revocation',
  },
  with: {
    type: 'list',
    group: GROUP,
    placeholder: 'ENGINES',
    describe: `Besides the PKI: ${ENGINES.join(', ')}, comma-separated`,
  },
};

/**
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 * @returns {{name: string, caKeyType: 'rsa' | 'ec' | null, autoRebuild: boolean | null, with: string[]}} `caKeyType`, `autoRebuild`:
 *   null where not given: an existing CA may have any
 */
export function readSetupOptions(given) {
  const { name, caKeyType, autoRebuild, with: engines } = readOptions(setupOptions, given);
  const isGiven = (/** @type {string} */ option) => (given[camelCase(option)] ?? given[option]) !== undefined;
  return {
    name,
    caKeyType: isGiven('ca-key-type') ? caKeyType : null,
    autoRebuild: isGiven('auto-rebuild') ? autoRebuild : null,
    with: engines,
  };
}

/** In the description of mounts, and as a comment in policies. */
export const MARK = 'made by vault-pki-load setup';

/** In the AppRole method and the transit engine of a set-up. */
export const ROLE = 'load';
export const KEY = 'load';

/** @typedef {'mounts' | 'auth'} Kind */
/** @typedef {{kind: Kind, path: string, type: string, settings: Record<string, unknown>}} Mount */
/**
 * @typedef {object} SetupPlan
 * @property {string} name
 * @property {Mount[]} mounts in the order in which they are made
 * @property {string} root path of the root PKI
 * @property {string} intermediate path of the PKI that issues
 * @property {string} policy
 * @property {Readonly<Record<string, Record<string, unknown>>>} roles of the intermediate
 * @property {'rsa' | 'ec' | null} caKeyType null: that of a CA which is there, else rsa
 * @property {boolean | null} autoRebuild of CRLs; null: as it is, which is off where the CA is new
 * @property {boolean} keepsSettings it is a scenario's: a CA that is there and set otherwise is refused, not changed
 */

const NAMES = Object.freeze({
  allowed_domains: 'example.com',
  allow_subdomains: true,
  allow_localhost: true,
  max_ttl: '720h',
});

/** By name, which are those of the embedded server; the keys decide how fast certificates are issued. */
const ROLES = Object.freeze({
  'example-dot-com': { ...NAMES },
  'example-dot-com-ec': { ...NAMES, key_type: 'ec', key_bits: 256 },
  'example-dot-com-ec-no-store': { ...NAMES, key_type: 'ec', key_bits: 256, no_store: true },
  'example-dot-com-ed25519': { ...NAMES, key_type: 'ed25519' },
});

/** What can stand beside the PKI, by what --with calls it. @type {Readonly<Record<string, Omit<Mount, 'path'>>>} */
const BESIDE = Object.freeze({
  kv: { kind: 'mounts', type: 'kv', settings: { options: { version: '2' } } },
  transit: { kind: 'mounts', type: 'transit', settings: {} },
  approle: { kind: 'auth', type: 'approle', settings: {} },
});

/**
 * @param {{name?: string, caKeyType?: 'rsa' | 'ec' | null, autoRebuild?: boolean | null, with?: readonly string[],
 *   keepsSettings?: boolean}} [options] `with`: engines beside the PKI, of options.js
 * @returns {SetupPlan}
 * @throws {PkiLoadError} for a name or an engine that will not do
 */
export function planSetup(options = {}) {
  const { name = DEFAULT_NAME, caKeyType = null, autoRebuild = null, keepsSettings = false } = options;
  const { with: others = [] } = options;
  checkName(name);
  const unknown = others.find((one) => !Object.hasOwn(BESIDE, one));
  if (unknown !== undefined) {
    throw usageError(
      'bad_option',
      `--with holds ${JSON.stringify(unknown.slice(0, 40))}, which is not one of ${ENGINES.join(', ')}.`,
    );
  }
  const all = possibleMounts(name);
  return {
    name,
    mounts: all.filter(({ path, type }) => type === 'pki' || others.some((one) => path === `${name}-${one}`)),
    root: `${name}-root`,
    intermediate: `${name}-int`,
    policy: name,
    roles: ROLES,
    caKeyType,
    autoRebuild,
    keepsSettings,
  };
}

/** @param {string} name @returns {Mount[]} all that a set-up of this name can have */
export function possibleMounts(name) {
  const description = describe(name);
  const pki = (/** @type {string} */ suffix) => ({
    kind: /** @type {const} */ ('mounts'),
    path: `${name}-${suffix}`,
    type: 'pki',
    settings: { description, config: { max_lease_ttl: '87600h' } },
  });
  const beside = Object.entries(BESIDE).map(([suffix, { kind, type, settings }]) => ({
    kind,
    path: `${name}-${suffix}`,
    type,
    settings: { description, ...settings },
  }));
  return [pki('root'), pki('int'), ...beside];
}

/** @param {string} name @returns {string} of every mount of this name */
export function describe(name) {
  return `${MARK} (${name})`;
}

/** @param {{kind: Kind, path: string}} mount @returns {string} its path below `/v1/` */
export function fullPath({ kind, path }) {
  return kind === 'auth' ? `auth/${path}` : path;
}

/**
 * @param {SetupPlan} plan
 * @returns {string} what to choose where the name is taken, as it is written where the plan comes from
 */
export function otherName({ keepsSettings }) {
  return keepsSettings ? 'another name, setup: {name: ...}' : 'another name with --name';
}

/** @param {string} name @throws {PkiLoadError} where it could be mistaken for something else */
export function checkName(name) {
  if (!/^[a-z][a-z0-9-]{2,40}$/.test(name) || ['default', 'root'].includes(name)) {
    throw usageError(
      'bad_setup_name',
      `The name ${JSON.stringify(name.slice(0, 80))} cannot be used for a set-up.`,
      `Use three to forty-one lower-case letters, digits and hyphens, such as ${DEFAULT_NAME}.`,
    );
  }
  const kept = ENGINES.map((type) => `${PREFIX}-${type}`).find(
    (one) => name === one || name.startsWith(`${one}-`),
  );
  if (kept === undefined) return;
  throw usageError(
    'bad_setup_name',
    `The name ${name} is like those of the mounts that runs make for themselves (${kept}-...).`,
    'Choose another.',
  );
}
