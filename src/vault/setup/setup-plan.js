/**
 * Options of `setup`, and the objects that it creates and `teardown` removes: a PKI for testing and other engines, under
 * one name. Mounts and policy carry a mark. A token with the policy can run all operations on the setup, nothing else.
 */
import { badValue, quote, usageError } from '../../common/errors.js';
import { inGroup, option, readOptions } from '../../common/options.js';
import { PREFIX } from '../own-mount.js';

export const DEFAULT_NAME = 'vault-pki-load';

/** Engines that a setup can have besides its PKI. */
export const ENGINES = Object.freeze(/** @type {const} */ (['kv', 'transit', 'approle']));

export const nameOption = inGroup('Setup', {
  name: { type: 'text', default: DEFAULT_NAME, describe: 'Prefix of all names: NAME-root, NAME-int, ...' },
});

export const setupOptions = {
  ...nameOption,
  ...inGroup('Setup', {
    'ca-key-type': option('choice', 'CA keys: RSA-2048 or P-256', {
      ...{ choices: ['rsa', 'ec'], defaultText: 'rsa' },
    }),
    'auto-rebuild': { type: 'flag', describe: 'Rebuild CRLs periodically, not on every revocation' },
    with: option('list', `Engines besides the PKI: ${ENGINES.join(', ')}, comma-separated`, {
      placeholder: 'ENGINES',
    }),
  }),
};

/**
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 * @returns {{name: string, caKeyType: 'rsa' | 'ec' | null, autoRebuild: boolean | null, with: string[]}} `caKeyType`,
 *   `autoRebuild`: null if not given: an existing CA may have any
 */
export function readSetupOptions(given) {
  const read = /** @type {any} */ (readOptions(setupOptions, given));
  const isGiven = (given.autoRebuild ?? given['auto-rebuild']) !== undefined;
  return { ...read, autoRebuild: isGiven ? read.autoRebuild : null };
}

/** The one object in these engines, and the path that lists it. @type {Readonly<Record<string, {kind: 'key' | 'role', list: string}>>} */
export const CONTENTS = Object.freeze({
  transit: { kind: 'key', list: 'keys' },
  approle: { kind: 'role', list: 'role' },
});

/** Name of that object. */
export const CONTENT_NAME = 'load';

/** `path`: below `/v1/` @typedef {{kind: 'mount' | 'auth', path: string, type: string}} MountItem */
/** @typedef {MountItem & {settings: Record<string, unknown>}} Mount */
/** @typedef {ReturnType<typeof planSetup>} SetupPlan */

const DOMAINS = { allowed_domains: 'example.com', allow_subdomains: true, allow_localhost: true };
const NAMES = { ...DOMAINS, max_ttl: '720h' };

/** The embedded server has the same roles. @type {Readonly<Record<string, Record<string, unknown>>>} */
const ROLES = Object.freeze({
  'example-dot-com': { ...NAMES },
  'example-dot-com-ec': { ...NAMES, key_type: 'ec', key_bits: 256 },
  'example-dot-com-ec-no-store': { ...NAMES, key_type: 'ec', key_bits: 256, no_store: true },
  'example-dot-com-ed25519': { ...NAMES, key_type: 'ed25519' },
});

/**
 * @param {{name?: string, caKeyType?: 'rsa' | 'ec' | null, autoRebuild?: boolean | null, with?: readonly string[],
 *   keepsSettings?: boolean}} [options] `with`: of ENGINES; `keepsSettings`: refuses an existing
 *   CA with other settings instead of changing it
 * @throws {PkiLoadError} for an invalid name or an unknown engine
 */
export function planSetup(options = {}) {
  const { name = DEFAULT_NAME, caKeyType = null, autoRebuild = null, keepsSettings = false } = options;
  const { with: engines = [] } = options;
  checkName(name);
  const unknown = engines.find((name) => !ENGINES.some((engine) => engine === name));
  if (unknown !== undefined) throw badValue('--with', unknown, `not one of ${ENGINES.join(', ')}`);
  return {
    name,
    /** In order of creation. */
    mounts: possibleMounts(name).filter(({ type }) => type === 'pki' || engines.includes(type)),
    root: `${name}-root`,
    intermediate: `${name}-int`,
    policy: name,
    /** Of the intermediate. */
    roles: ROLES,
    /** null: that of an existing CA, or rsa. */
    caKeyType,
    /** Of CRLs; null: unchanged, or off for a new CA. */
    autoRebuild,
    keepsSettings,
  };
}

/** @param {string} name @returns {Mount[]} every mount that a setup of this name can have */
export function possibleMounts(name) {
  const mount = (/** @type {string} */ suffix, /** @type {string} */ type, more = {}) => {
    const [path, settings] = [`${name}-${suffix}`, { description: markOf(name), ...more }];
    if (type !== 'approle') return { kind: /** @type {const} */ ('mount'), path, type, settings };
    return { kind: /** @type {const} */ ('auth'), path: `auth/${path}`, type, settings };
  };
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
export const markOf = (name) => `made by vault-pki-load setup (${name})`;

/** @param {Pick<MountItem, 'kind' | 'path'>} mount @returns {string} path of the API that creates and removes it */
export const mountApi = ({ kind, path }) => (kind === 'auth' ? `sys/${path}` : `sys/mounts/${path}`);

/** @param {SetupPlan} plan @returns {string} a remedy for a name in use, in the notation of a scenario or of the command line */
export function otherName({ keepsSettings }) {
  return keepsSettings ? 'another name, setup: {name: ...}' : 'another name with --name';
}

/** @param {string} name @throws {PkiLoadError} if it is malformed or could be that of another object */
export function checkName(name) {
  const fail = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
    usageError('bad_setup_name', `The name ${quote(name)} ${problem}.`, remedy);
  if (!/^[a-z][a-z0-9-]{2,40}$/.test(name) || ['default', 'root'].includes(name))
    throw fail('cannot be used for a setup', 'Use 3 to 41 lower-case letters, digits and hyphens.');
  const reserved = ENGINES.find((type) => `${name}-`.startsWith(`${PREFIX}-${type}-`));
  if (reserved !== undefined) throw fail('is reserved for mounts that runs create', 'Choose another.');
}

/**
 * `capabilities`: all are needed; `parameters`: in a policy, the only ones allowed; an empty list allows any value
 * @typedef {{path: string, capabilities: string[], parameters?: Record<string, unknown[]>}} Grant
 */

/** @param {string} path @param {...string} capabilities @returns {Grant} */
export const grant = (path, ...capabilities) => ({ path, capabilities });

/** @param {SetupPlan} plan @returns {string} HCL */
export function policyText({ name, intermediate, mounts }) {
  const engines = mounts.filter(({ type }) => type !== 'pki');
  const rules = [
    grant(`${intermediate}/issue/+`, 'update'),
    grant(`${intermediate}/sign/+`, 'update'),
    grant(`${intermediate}/sign-verbatim`, 'update'),
    grant(`${intermediate}/sign-verbatim/+`, 'update'),
    grant(`${intermediate}/revoke`, 'update'),
    grant(`${intermediate}/roles`, 'list'),
    grant(`${intermediate}/roles/+`, 'read'),
    grant(`${intermediate}/config/crl`, 'read'),
    ...engines.flatMap(rulesOfMount),
    ...engines.flatMap(rulesOfOwnMounts),
  ];
  return [`# ${markOf(name)}`, ...rules.map(formatRule), ''].join('\n');
}

/** @param {Mount} mount of the setup */
function rulesOfMount({ path, type }) {
  if (type === 'approle') return [];
  if (type === 'kv') return [grant(`${path}/*`, 'create', 'read', 'update', 'delete', 'list')];
  const uses = ['encrypt', 'decrypt', 'sign', 'verify'];
  return [...uses.map((use) => grant(`${path}/${use}/+`, 'update')), grant(`${path}/keys/+`, 'read')];
}

/** Parameters that createOwnMount and `approle-login` write. A list value must match exactly. */
const MOUNT_PARAMETERS = Object.freeze({ description: [], options: [] });
const APPROLE_PARAMETERS = Object.freeze({
  ...{ token_type: [], token_ttl: [], token_max_ttl: [], token_num_uses: [], token_policies: [['default']] },
  ...{ secret_id_num_uses: [], secret_id_ttl: [] },
});

/** For the mounts that runs create: see own-mount.js. @param {Mount} mount @returns {Grant[]} */
function rulesOfOwnMounts({ kind, type }) {
  const path = `${PREFIX}-${type}-*`;
  const all = ['create', 'read', 'update', 'delete'];
  const parameters = { type: [type], ...MOUNT_PARAMETERS };
  if (kind === 'mount') return [{ ...grant(`sys/mounts/${path}`, ...all), parameters }, grant(path, ...all)];
  return [
    { path: `sys/auth/${path}`, capabilities: [...all, 'sudo'], parameters },
    { path: `auth/${path}`, capabilities: all.slice(0, 3), parameters: APPROLE_PARAMETERS },
  ];
}

/** @param {Grant} rule */
function formatRule({ path, capabilities, parameters = {} }) {
  const allowed = Object.entries(parameters).map(([key, values]) => `    ${key} = ${JSON.stringify(values)}`);
  return [
    `path ${JSON.stringify(path)} {`,
    `  capabilities = ${JSON.stringify(capabilities)}`,
    ...(allowed.length === 0 ? [] : ['  allowed_parameters = {', ...allowed, '  }']),
    '}',
  ].join('\n');
}
