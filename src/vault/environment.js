/** Where Vault and OpenBao are and who we are, as their own command lines find out. Reads, never writes. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../common/errors.js';
import { parseDuration } from '../common/units.js';

/** Go's strconv.ParseBool. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/**
 * @typedef {object} TargetPlan
 * @property {string} url Vault's address
 * @property {string} mount
 * @property {string | null} namespace
 * @property {{caCert: string|null, caPath: string|null, clientCert: string|null, clientKey: string|null, serverName: string|null, skipVerify: boolean}} tls
 *   paths, never contents
 */
/**
 * @typedef {object} VaultEnvironment
 * @property {string | null} address
 * @property {string | null} token a secret: never to be shown
 * @property {'VAULT_TOKEN' | 'BAO_TOKEN' | '~/.vault-token' | null} tokenSource
 * @property {string | null} namespace
 * @property {{caCert: string | null, caPath: string | null, clientCert: string | null, clientKey: string | null,
 *   serverName: string | null, skipVerify: boolean}} tls
 * @property {number | null} timeoutMs null: not set, or 0, which is Vault's "no limit"
 */

/**
 * `BAO_*` wins over `VAULT_*`; an empty variable counts as not set.
 *
 * @param {Record<string, string | undefined>} [env]
 * @param {{home?: string}} [options] the folder that `.vault-token` is in
 * @returns {VaultEnvironment}
 */
export function readEnvironment(env = process.env, { home = homedir() } = {}) {
  const get = (/** @type {string} */ name) => lookUp(env, name)?.value ?? null;
  return {
    address: get('ADDR'),
    ...findToken(env, home),
    namespace: checkNamespace(get('NAMESPACE')),
    tls: {
      caCert: get('CACERT'),
      caPath: get('CAPATH'),
      clientCert: get('CLIENT_CERT'),
      clientKey: get('CLIENT_KEY'),
      serverName: get('TLS_SERVER_NAME'),
      skipVerify: parseBoolean(lookUp(env, 'SKIP_VERIFY')),
    },
    timeoutMs: parseTimeout(lookUp(env, 'CLIENT_TIMEOUT')),
  };
}

/**
 * @param {string} token
 * @param {string} source where it came from, for the error
 * @returns {string} the token itself: fit for an HTTP header
 */
export function checkToken(token, source) {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(
    'bad_token',
    `The token in ${source} holds white space, a line break or another character that no token has.`,
    'Set it again without quotes or line breaks; it is not shown here on purpose.',
  );
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} name without its prefix
 * @returns {{name: string, value: string} | undefined}
 */
function lookUp(env, name) {
  for (const prefix of ['BAO_', 'VAULT_']) {
    const value = env[prefix + name];
    if (value) return { name: prefix + name, value };
  }
  return undefined;
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} home
 * @returns {Pick<VaultEnvironment, 'token' | 'tokenSource'>}
 */
function findToken(env, home) {
  const found = lookUp(env, 'TOKEN');
  if (found) {
    const tokenSource = /** @type {'VAULT_TOKEN' | 'BAO_TOKEN'} */ (found.name);
    return { token: checkToken(found.value, tokenSource), tokenSource };
  }
  const token = readTokenFile(join(home, '.vault-token'));
  if (token === '') return { token: null, tokenSource: null };
  return { token: checkToken(token, '~/.vault-token'), tokenSource: '~/.vault-token' };
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

/** @param {string | null} namespace */
function checkNamespace(namespace) {
  if (namespace === null || /^[\x21-\x7e]+$/.test(namespace)) return namespace;
  throw usageError('bad_namespace', 'The namespace holds white space or a character that no namespace has.');
}

/** @param {{name: string, value: string} | undefined} found */
function parseBoolean(found) {
  if (found === undefined || FALSE.has(found.value)) return false;
  if (TRUE.has(found.value)) return true;
  const shown = JSON.stringify(found.value.slice(0, 40));
  throw usageError(
    'bad_boolean',
    `${found.name} is ${shown}, which is neither true nor false.`,
    'Write true or false.',
  );
}

/** @param {{name: string, value: string} | undefined} found */
function parseTimeout(found) {
  return found === undefined ? null : parseDuration(found.value, found.name) || null;
}
