/**
 * Options of `setup`, and what it makes and `teardown` removes: a PKI for testing and other engines that operations need,
 * under one name. Mounts and policy carry a mark that tells them from those of others. And the policy: a token that has it can run
 * every operation on the set-up, and do nothing else.
 */
import { quote, usageError } from '../../common/errors.js';
import { camelCase, inGroup, option, readOptions } from '../../common/options.js';
import { PREFIX } from '../own-mount.js';

export const DEFAULT_NAME = 'vault-pki-load';

/** Engines that operations may need beside a PKI. */
export const ENGINES = Object.freeze(/** @type {const} */ (['kv', 'transit', 'approle']));

export const nameOption = inGroup('Setup', {
  name: { type: 'text', default: DEFAULT_NAME, describe: 'Prefix of all names: NAME-root, NAME-int, ...' },
});

export const setupOptions = {
  ...nameOption,
  ...inGroup('Setup', {
    'ca-key-type': option('choice', 'CA keys: RSA-2048 or P-256', { choices: ['rsa', 'ec'], default: 'rsa' }),
    'auto-rebuild': { type: 'flag', describe: 'Rebuild CRLs periodically, not with every revocation' },
    with: option('list', `Engines besides the PKI: ${ENGINES.join(', ')}, comma-separated`, {
      placeholder: 'ENGINES',
    }),
  }),
};

/**
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 * @returns {{name: string, caKeyType: 'rsa' | 'ec' | null, autoRebuild: boolean | null, with: string[]}} `caKeyType`,
 *   `autoRebuild`: null where not given: an existing CA may have any
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

/** In the AppRole method and the transit engine of a set-up. */
export const ROLE = 'load';
export const KEY = 'load';

/** The one object in each of them: where it is, and its name. @type {Readonly<Record<string, {kind: 'key' | 'role', list: string, name: string}>>} */
export const CONTENTS = Object.freeze({
  transit: { kind: 'key', list: 'keys', name: KEY },
  approle: { kind: 'role', list: 'role', name: ROLE },
});

/** @typedef {'mounts' | 'auth'} Kind */
/** @typedef {{kind: Kind, path: string, type: string, settings: Record<string, unknown>}} Mount */
/** @typedef {ReturnType<typeof planSetup>} SetupPlan */

const DOMAINS = { allowed_domains: 'example.com', allow_subdomains: true, allow_localhost: true };
const NAMES = { ...DOMAINS, max_ttl: '720h' };

/** The embedded server has the same; the keys decide how fast it issues. @type {Readonly<Record<string, Record<string, unknown>>>} */
const ROLES = Object.freeze({
  'example-dot-com': { ...NAMES },
  'example-dot-com-ec': { ...NAMES, key_type: 'ec', key_bits: 256 },
  'example-dot-com-ec-no-store': { ...NAMES, key_type: 'ec', key_bits: 256, no_store: true },
  'example-dot-com-ed25519': { ...NAMES, key_type: 'ed25519' },
});

/**
 * @param {{name?: string, caKeyType?: 'rsa' | 'ec' | null, autoRebuild?: boolean | null, with?: readonly string[],
 *   keepsSettings?: boolean}} [options] `with`: of ENGINES; `keepsSettings`: an existing CA with other settings is
 *   refused, not changed
 * @throws {PkiLoadError} for a name or an engine that is not fit
 */
export function planSetup(options = {}) {
  const { name = DEFAULT_NAME, caKeyType = null, autoRebuild = null, keepsSettings = false } = options;
  const { with: engines = [] } = options;
  checkName(name);
  const unknown = engines.find((one) => !ENGINES.some((engine) => engine === one));
  if (unknown !== undefined)
    throw usageError(
      'bad_option',
      `--with holds ${quote(unknown)}, which is not one of ${ENGINES.join(', ')}.`,
    );
  return {
    name,
    /** In the order in which they are created. */
    mounts: possibleMounts(name).filter(({ type }) => type === 'pki' || engines.includes(type)),
    root: `${name}-root`,
    intermediate: `${name}-int`,
    policy: name,
    /** Of the intermediate. */
    roles: ROLES,
    /** null: that of an existing CA, else rsa. */
    caKeyType,
    /** Of CRLs; null: unchanged, which is off where the CA is new. */
    autoRebuild,
    keepsSettings,
  };
}

/** @param {string} name @returns {Mount[]} all that a set-up of this name can have */
export function possibleMounts(name) {
  const mount = (/** @type {string} */ suffix, /** @type {string} */ type, settings = {}) => ({
    kind: /** @type {Kind} */ (type === 'approle' ? 'auth' : 'mounts'),
    path: `${name}-${suffix}`,
    type,
    settings: { description: markOf(name), ...settings },
  });
  const pki = { config: { max_lease_ttl: '87600h' } };
  return [
    mount('root', 'pki', pki),
    mount('int', 'pki', pki),
    mount('kv', 'kv', { options: { version: '2' } }),
    mount('transit', 'transit'),
    mount('approle', 'approle'),
  ];
}

/** @param {string} name @returns {string} the description of its mounts, and the first comment in its policy */
export function markOf(name) {
  return `made by vault-pki-load setup (${name})`;
}

/** @param {{kind: Kind, path: string}} mount @returns {string} its path below `/v1/` */
export function fullPath({ kind, path }) {
  return kind === 'auth' ? `auth/${path}` : path;
}

/** @param {SetupPlan} plan @returns {string} the remedy where the name is taken, as it is written where the plan comes from */
export function otherName({ keepsSettings }) {
  return keepsSettings ? 'another name, setup: {name: ...}' : 'another name with --name';
}

/** @param {string} name @throws {PkiLoadError} where it could be mistaken for another object's */
export function checkName(name) {
  if (!/^[a-z][a-z0-9-]{2,40}$/.test(name) || ['default', 'root'].includes(name)) {
    throw usageError(
      'bad_setup_name',
      `The name ${JSON.stringify(name.slice(0, 80))} cannot be used for a setup.`,
      `Use three to forty-one lower-case letters, digits and hyphens, such as ${DEFAULT_NAME}.`,
    );
  }
  const own = ENGINES.map((type) => `${PREFIX}-${type}`).find((one) => `${name}-`.startsWith(`${one}-`));
  if (own === undefined) return;
  throw usageError(
    'bad_setup_name',
    `The name ${name} is like those of the mounts that runs make for themselves (${own}-...).`,
    'Choose another.',
  );
}

/**
 * `able`: all of them are needed; `parameters`: in a policy, no others are allowed, without values any value
 * @typedef {{path: string, able: string[], parameters?: Record<string, unknown[]>}} Right
 */

/** @param {string} path @param {...string} able @returns {Right} */
export const right = (path, ...able) => ({ path, able });

/** @param {SetupPlan} plan @returns {string} HCL */
export function policyText({ name, intermediate, mounts }) {
  const engines = mounts.filter(({ type }) => type !== 'pki');
  const rules = [
    right(`${intermediate}/issue/+`, 'update'),
    right(`${intermediate}/sign/+`, 'update'),
    right(`${intermediate}/sign-verbatim`, 'update'),
    right(`${intermediate}/sign-verbatim/+`, 'update'),
    right(`${intermediate}/revoke`, 'update'),
    right(`${intermediate}/roles`, 'list'),
    right(`${intermediate}/roles/+`, 'read'),
    right(`${intermediate}/config/crl`, 'read'),
    ...engines.flatMap(rulesOfMount),
    ...engines.flatMap(rulesOfOwnMounts),
  ];
  return [`# ${markOf(name)}`, ...rules.map(formatRule), ''].join('\n');
}

/** @param {Mount} mount of the set-up */
function rulesOfMount(mount) {
  const path = fullPath(mount);
  if (mount.type === 'approle') return [];
  if (mount.type === 'kv') return [right(`${path}/*`, 'create', 'read', 'update', 'delete', 'list')];
  const uses = ['encrypt', 'decrypt', 'sign', 'verify'].map((action) =>
    right(`${path}/${action}/+`, 'update'),
  );
  return [...uses, right(`${path}/keys/+`, 'read')];
}

/** Parameters that makeOwnMount and `approle-login` write. A value that is a list must be that list. */
const MOUNT_PARAMETERS = Object.freeze({ description: [], options: [] });
const APPROLE_PARAMETERS = Object.freeze({
  ...{ token_type: [], token_ttl: [], token_max_ttl: [], token_num_uses: [], token_policies: [['default']] },
  ...{ secret_id_num_uses: [], secret_id_ttl: [] },
});

/** @param {Mount} mount operations make such mounts themselves: see own-mount.js @returns {Right[]} */
function rulesOfOwnMounts({ kind, type }) {
  const path = `${PREFIX}-${type}-*`;
  const all = ['create', 'read', 'update', 'delete'];
  return [
    {
      path: `sys/${kind}/${path}`,
      able: kind === 'auth' ? [...all, 'sudo'] : all,
      parameters: { type: [type], ...MOUNT_PARAMETERS },
    },
    type === 'approle'
      ? { path: `auth/${path}`, able: ['create', 'read', 'update'], parameters: APPROLE_PARAMETERS }
      : { path, able: all },
  ];
}

/** @param {Right} rule */
function formatRule({ path, able, parameters = {} }) {
  const allowed = Object.entries(parameters).map(([key, values]) => `    ${key} = ${JSON.stringify(values)}`);
  return [
    `path ${JSON.stringify(path)} {`,
    `  capabilities = ${JSON.stringify(able)}`,
    ...(allowed.length === 0 ? [] : ['  allowed_parameters = {', ...allowed, '  }']),
    '}',
  ].join('\n');
}
