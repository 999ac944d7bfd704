/** Address, token and TLS settings, from where Vault's and OpenBao's own command lines read them. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { badValue, usageError } from '../common/errors.js';
import { readOne } from '../common/options.js';

/** @import { OptionSpec } from '../common/options.js' */

/** As --timeout is bounded; 0 is Vault's "no limit". @type {OptionSpec} */
const TIMEOUT = { type: 'duration', group: '', describe: '', max: 3_600_000 };

/** Go's strconv.ParseBool. */
const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** @typedef {{caCert: string | null, caPath: string | null, clientCert: string | null, clientKey: string | null,
 *   serverName: string | null, skipVerify: boolean}} TlsPaths paths, never contents */
/** @typedef {{url: string, mount: string, namespace: string | null, tls: TlsPaths}} TargetPlan */
/** @typedef {ReturnType<typeof readEnvironment>} VaultEnvironment */

/**
 * `BAO_*` wins over `VAULT_*`; an empty variable counts as not set.
 * @param {Record<string, string | undefined>} [env]
 * @param {{home?: string}} [options] the folder that `.vault-token` is in
 */
export function readEnvironment(env = process.env, { home = homedir() } = {}) {
  const find = (/** @type {string} */ name) =>
    [`BAO_${name}`, `VAULT_${name}`]
      .map((key) => ({ name: key, value: env[key] ?? '' }))
      .find((one) => one.value);
  const get = (/** @type {string} */ name) => find(name)?.value ?? null;
  const timeout = find('CLIENT_TIMEOUT');
  const file = { name: '~/.vault-token', value: '' };
  const token = find('TOKEN') ?? { ...file, value: readTokenFile(join(home, '.vault-token')) };
  const namespace = get('NAMESPACE');
  if (namespace !== null && !isVisible(namespace)) {
    throw usageError('bad_namespace', 'The namespace contains white space or a character not allowed.');
  }
  return {
    address: get('ADDR'),
    /** A secret: never to be shown. */
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
    /** null: not set, or 0. */
    timeoutMs: timeout === undefined ? null : readOne(TIMEOUT, timeout.name, timeout.value) || null,
  };
}

/**
 * @param {string} token
 * @param {string} source variable, file or place, for the error
 * @returns {string} the same token: fit for an HTTP header
 */
export function checkToken(token, source) {
  if (isVisible(token)) return token;
  throw usageError(
    'bad_token',
    `The token in ${source} contains white space, a line break or another character that is not allowed.`,
    'Set it again without quotes or line breaks; it is not shown here on purpose.',
  );
}

export function noToken() {
  const message = 'There is no token: neither VAULT_TOKEN (BAO_TOKEN) nor ~/.vault-token has one.';
  return usageError('no_token', message, 'Run vault login, or export VAULT_TOKEN.');
}

/** @param {string} path @returns {string} without slashes at its ends */
export function withoutSlashes(path) {
  return path.replace(/^\/+/, '').replace(/(?<!\/)\/+$/, '');
}

/** @param {string} text */
function isVisible(text) {
  return /^[\x21-\x7e]+$/.test(text);
}

/** @param {string} path @returns {string} '' when there is none */
function readTokenFile(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    throw usageError(
      'token_file_unreadable',
      `The token file ~/.vault-token cannot be read (${code}).`,
      'Make it readable, or set VAULT_TOKEN.',
    );
  }
}

/** @param {{name: string, value: string} | undefined} found */
function parseBoolean(found) {
  if (found === undefined || FALSE.includes(found.value)) return false;
  if (TRUE.includes(found.value)) return true;
  const { name, value } = found;
  throw badValue(name, value, 'neither true nor false', 'Write true or false.', 'bad_boolean');
}
