/** Address, token and TLS settings, from the variables and the file that Vault's and OpenBao's command lines use. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { badValue, usageError } from '../common/errors.js';
import { readOne, withoutSlashAtEnd } from '../common/options.js';
import { readBytes } from '../common/read-file.js';
import { redactToken } from '../common/sanitize.js';

/** @import { OptionSpec } from '../common/options.js' */

/** Same maximum as --timeout; 0 is Vault's "no limit". @type {OptionSpec} */
const TIMEOUT = { type: 'duration', group: '', describe: '', max: 3_600_000 };

/** @typedef {ReturnType<typeof readEnvironment>} VaultEnvironment `tls`: paths, never contents */
/** @typedef {Pick<VaultEnvironment, 'namespace'> & {url: string, mount: string, connectTo?: readonly string[], proxySource?: string | null,
 *   tls: VaultEnvironment['tls'] & {clientCerts?: string | null}}} TargetPlan */

/**
 * `BAO_*` takes precedence over `VAULT_*`; an empty variable counts as not set.
 * @param {Record<string, string | undefined>} [env] @param {{home?: string}} [options] directory of `.vault-token`
 */
export function readEnvironment(env = process.env, { home = findHome() } = {}) {
  const all = (/** @type {string} */ name) =>
    [`BAO_${name}`, `VAULT_${name}`]
      .map((key) => ({ name: key, value: env[key] ?? '' }))
      .filter(({ value }) => value);
  const find = (/** @type {string} */ name) => all(name).at(0);
  const get = (/** @type {string} */ name) => find(name)?.value ?? null;
  const address = find('AGENT_ADDR') ?? find('ADDR');
  const timeout = find('CLIENT_TIMEOUT');
  const file = { name: '~/.vault-token', value: '' };
  // A HOME that is empty or relative would mean the current directory, which may be someone else's.
  const fromFile = () => (isAbsolute(home) ? readTokenFile(join(home, '.vault-token')) : '');
  const token = find('TOKEN') ?? { ...file, value: fromFile() };
  const namespace = get('NAMESPACE');
  if (namespace !== null) checkNamespace(namespace, 'VAULT_NAMESPACE (BAO_NAMESPACE)');
  return {
    address: address?.value ?? null,
    /** Of all variables, those without effect too. */
    addresses: ['AGENT_ADDR', 'ADDR'].flatMap((name) => all(name).map(({ value }) => value)),
    /** Variable. */
    addressSource: address?.name ?? null,
    /** Secret: never print it. */
    token: token.value === '' ? null : checkToken(token.value, token.name),
    /** Variable or file. */
    tokenSource: token.value === '' ? null : token.name,
    namespace,
    tls: {
      caCert: get('CACERT'),
      caPath: get('CAPATH'),
      clientCert: get('CLIENT_CERT'),
      clientKey: get('CLIENT_KEY'),
      serverName: get('TLS_SERVER_NAME'),
      skipVerify: parseBoolean(find('SKIP_VERIFY')),
    },
    /** Variable, whose value may contain a password; formerly VAULT_HTTP_PROXY. */
    proxySource: (find('PROXY_ADDR') ?? find('HTTP_PROXY'))?.name ?? null,
    /** null: not set, or 0. */
    timeoutMs: timeout === undefined ? null : readOne(TIMEOUT, timeout.name, timeout.value) || null,
  };
}

/**
 * Every token in use passes through here: from then on, all output redacts it.
 * @param {string} token @param {string} source variable or file, for the error
 * @returns {string} the same token: valid in an HTTP header
 */
export function checkToken(token, source) {
  redactToken(token);
  if (isVisible(token)) return token;
  const message = `The token in ${source} contains white space or a character that is not allowed.`;
  throw usageError('bad_token', message, 'Set it again without quotes or line breaks.');
}

/** It is sent in a header. @param {string} namespace @param {string} source variable or flag, for the error */
export function checkNamespace(namespace, source) {
  const problem = `${source} contains white space or a character that is not allowed.`;
  if (!isVisible(namespace)) throw usageError('bad_namespace', problem);
}

export function noToken() {
  const message = 'There is no token: neither VAULT_TOKEN (BAO_TOKEN) nor ~/.vault-token has one.';
  return usageError('no_token', message, 'Run vault login, or export VAULT_TOKEN.');
}

/** @param {string} path @returns {string} without slashes at its ends */
export const withoutSlashes = (path) => withoutSlashAtEnd(path.replace(/^\/+/, ''));

/** @param {string} text */
const isVisible = (text) => /^[\x21-\x7e]+$/.test(text);

/** @param {string} path @returns {string} '' if there is no file */
function readTokenFile(path) {
  try {
    return String(readBytes(path, 'The token file ~/.vault-token', { maxMiB: 1, mayBePipe: false })).trim();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(/** @type {any} */ (error).cause?.code)) return '';
    throw error;
  }
}

/** A user without HOME may have no entry in the system's list of users either. @returns {string} '': none */
function findHome() {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/** Accepts what Go's strconv.ParseBool accepts. @param {{name: string, value: string} | undefined} variable */
function parseBoolean(variable) {
  if (variable === undefined || /^(0|f|F|FALSE|false|False)$/.test(variable.value)) return false;
  if (/^(1|t|T|TRUE|true|True)$/.test(variable.value)) return true;
  const { name, value } = variable;
  throw badValue(name, value, 'neither true nor false', 'Write true or false.', 'bad_boolean');
}
