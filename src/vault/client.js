/** Client of Vault's JSON API for calls before and after a run. A refusal becomes a PkiLoadError with a remedy. */
import { PkiLoadError, quote, targetError, usageError } from '../common/errors.js';
import { isRecord, MAX_VALUES, parseJson } from '../common/json.js';
import { withoutSecrets } from '../common/sanitize.js';
import { createRequester, parseTargetUrl } from '../http/request.js';
import { MAX_BODY_BYTES } from '../http/response-reader.js';
import { loadTls } from '../http/tls.js';
import { checkToken, readEnvironment } from './environment.js';
import { describeProxy, readNetwork } from './network.js';
import { redact } from './redact.js';

/** @import { Tls } from '../http/tls.js' */
/** @import { TargetPlan } from './environment.js' */

/** @typedef {Record<string, any>} Json */
/** @typedef {ReturnType<typeof createVaultClient>} VaultClient */

/** Limits of most responses, and of lists of roles or mounts, which can be long. */
const ORDINARY = { maxBodyBytes: MAX_BODY_BYTES, maxValues: MAX_VALUES };
const LISTING = { maxBodyBytes: 8 * MAX_BODY_BYTES, maxValues: 400_000 };
const LISTINGS = ['sys/mounts', 'sys/auth', 'sys/internal/ui/mounts'];

/**
 * @param {{url: string, token?: string | null, namespace?: string | null, tls?: Tls, timeoutMs?: number, healthMs?: number,
 *   removeMs?: number}} options `timeoutMs`: of each call, except `health` and `remove` if they have their own
 */
export function createVaultClient({ url, token = null, namespace = null, tls, ...limits }) {
  const { timeoutMs = 10_000, healthMs = timeoutMs, removeMs = timeoutMs } = limits;
  const { origin, basePath } = parseTargetUrl(url);
  if (token !== null) checkToken(token, 'use');
  const requester = createRequester({ origin, tls, timeoutMs, maxBodyBytes: LISTING.maxBodyBytes });
  const headers = {
    accept: 'application/json',
    'x-vault-request': 'true',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };

  /** From the first response with a date, so that repeated checks give the same warning. @type {number | null} */
  let aheadMs = null;

  /**
   * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path below /v1/
   * @param {{data?: Json, query?: string, timeoutMs?: number, onHead?: () => void}} [more] `onHead`: before the body
   * @returns {Promise<{data: Json | null, auth: Json | null, leaseMs?: number | null, warnings: string[]}>} all empty after 204; `leaseMs`: of a secret that also ends with the token
   */
  async function call(method, path, { data, query = '', ...more } = {}) {
    const body = JSON.stringify(data);
    const fullPath = `${basePath}/v1/${encodePath(path)}${query}`;
    const { maxBodyBytes, maxValues } = query !== '' || LISTINGS.includes(path) ? LISTING : ORDINARY;
    const request = { method, path: fullPath, headers, body, maxBodyBytes, ...more };
    const response = await requester.request(request);
    const { status } = response;
    if (status === 204) return { data: null, auth: null, leaseMs: null, warnings: [] };
    if (status >= 300 && status < 400) throw redirected(origin, response.headers.location);
    const json = parseJson(response.body, maxValues);
    if (status !== 200) throw apiError({ status, json, method, path, origin });
    const {
      data: content = null,
      auth = null,
      warnings = null,
      lease_id: lease,
      lease_duration: seconds,
    } = json ?? {};
    if (json === null || ![content, auth].every((value) => value === null || isRecord(value)))
      throw notVault(origin, `responds to ${method} /v1/${path} with something other than Vault's JSON`);
    const leaseMs = textOf(lease) === '' ? null : (numberOf(seconds) ?? 0) * 1000;
    return { data: content, auth, leaseMs, warnings: listOf(warnings) };
  }

  return {
    origin,
    basePath,
    namespace,
    hasToken: token !== null,
    /** @param {string} path @param {number} [within] milliseconds */
    read: (path, within) => call('GET', path, { timeoutMs: within }),
    /** @param {string} path @param {Json} [data] @param {() => void} [onHead] */
    write: (path, data = {}, onHead = undefined) => call('POST', path, { data, onHead }),
    /** @param {string} path */
    remove: (path, within = removeMs) => call('DELETE', path, { timeoutMs: within }),
    /** @param {string} path @returns {Promise<string[]>} empty if Vault returns 404 */
    async list(path) {
      const response = await unlessRefused(call('GET', path, { query: '?list=true' }), 'vault_not_found');
      const keys = response?.data?.keys;
      return Array.isArray(keys) ? listOf(keys) : [];
    },
    /** `sys/health`, whatever its status but a redirect. Sent without token and namespace: it needs neither. `aheadMs`: as `aheadOf` */
    async health() {
      const path = `${basePath}/v1/sys/health`;
      const { maxBodyBytes } = ORDINARY;
      const headers = { accept: 'application/json', 'x-vault-request': 'true' };
      const request = { path, headers, timeoutMs: healthMs, maxBodyBytes };
      const fromMs = Date.now();
      const { status, headers: fields, body } = await requester.request(request);
      if (status >= 300 && status < 400) throw redirected(origin, fields.location);
      aheadMs ??= aheadOf(fields.date, fromMs, Date.now());
      return { status, json: parseJson(body), aheadMs };
    },
    close: () => requester.close(),
  };
}

/**
 * Timeouts of `setup` and `teardown`: Vault reports its health at once and creates a CA key within a minute.
 * Removing a mount includes deleting its content, which can take minutes.
 * @param {number | null} timeoutMs of the environment
 */
export function limitsOf(timeoutMs) {
  return {
    healthMs: timeoutMs ?? 10_000,
    timeoutMs: timeoutMs ?? 60_000,
    removeMs: Math.max(timeoutMs ?? 0, 600_000),
  };
}

/**
 * @param {Omit<TargetPlan, 'mount'>} target @param {string | null} token
 * @param {Record<'notice' | 'warn', (text: string) => void>} say gets the name of the proxy, if there is one
 */
export function connect(target, token, say, limits = limitsOf(readEnvironment().timeoutMs)) {
  const tls = { ...loadTls(target.tls), network: readNetwork(target) };
  const note = describeProxy(target.url, tls.network, token === null ? null : 'the token');
  if (note !== null) (note.isWarning ? say.warn : say.notice)(note.text);
  return createVaultClient({ ...target, token, tls, ...limits });
}

/** The form that RFC 9110, 5.6.7 requires. Date.parse takes many others. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * @param {unknown} date of a response: whole seconds, truncated @param {number} fromMs @param {number} toMs just before and after it
 * @returns {number | null} by how much the server's clock is ahead of this machine's, at least; negative: behind; 0: they may
 *   agree; null: unknown
 */
export function aheadOf(date, fromMs, toMs) {
  const ms = HTTP_DATE.test(textOf(date)) ? Date.parse(textOf(date)) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms - toMs) + Math.min(0, ms + 1000 - fromMs);
}

/** Not followed: the token goes only to the address the user set. @param {string} origin @param {unknown} location */
function redirected(origin, location) {
  const message = `${origin} redirects to ${redact(textOf(location)).replace(/[?#].*/s, '') || 'nowhere'}.`;
  return targetError('redirected', message, 'Set --url (VAULT_ADDR) to Vault itself.');
}

/** @param {string} origin @param {string} why @param {string} [basePath] of the address */
export function notVault(origin, why, basePath = '') {
  const message = `${origin} is not a Vault or OpenBao server: it ${why}.`;
  const left = basePath.endsWith('/v1') ? ', without /v1: the tool adds it' : '';
  return targetError('not_vault', message, `Set --url (VAULT_ADDR) to a Vault server${left}.`);
}

/** @param {string} path may have a `?`, as the name of a mount can @returns {string} each segment percent-encoded once */
function encodePath(path) {
  const segments = path.split('/');
  if (/\p{Cs}/u.test(path) || segments.some((segment) => ['', '.', '..'].includes(segment)))
    throw usageError('bad_vault_path', `${quote(path)} is not a path in Vault.`);
  return segments.map(encodeURIComponent).join('/');
}

const CHECK_PATH = 'Check the path, --mount and --namespace (vault secrets list).';
export const NEW_TOKEN = 'Set VAULT_TOKEN to a new token (vault login, vault token create).';
const OTHER_POLICY = 'Use a token whose policy allows this path, and check --namespace.';
const NO_QUOTA = 'Lift the quota for the test (vault list sys/quotas/rate-limit), or lower --rate.';
const PRIMARY = 'Set --url (VAULT_ADDR) to the primary cluster.';
export const ACTIVE = 'Set --url (VAULT_ADDR) to the active node.';
const INIT = 'Run vault operator init, then unseal it.';
const LOG = "See Vault's log.";

/** The first row whose status and pattern match Vault's response applies. */
const REFUSALS = /** @type {const} */ ([
  [400, /^/, 'vault_bad_request', 'does not accept', 'Correct the request.'],
  [401, /^/, 'vault_unauthorized', 'requires other credentials for', 'Check for a proxy in front of Vault.'],
  [403, /invalid token|bad token/i, 'token_invalid', 'does not accept the token for', NEW_TOKEN],
  [403, /^/, 'vault_permission_denied', 'denies permission for', OTHER_POLICY],
  [404, /no handler for route/i, 'vault_no_route', 'has no secrets engine for', CHECK_PATH],
  [404, /^/, 'vault_not_found', 'has nothing at', CHECK_PATH],
  [405, /^/, 'vault_unsupported', 'does not support', 'Check --mount: is it a PKI mount?'],
  [412, /^/, 'vault_not_replicated', 'has not replicated far enough for', 'Try again in a moment.'],
  [413, /^/, 'vault_request_too_large', 'limits the size of', 'Make the request smaller.'],
  [429, /^/, 'vault_rate_limited', 'has a rate limit quota, which refused', NO_QUOTA],
  [472, /^/, 'vault_dr_secondary', 'is a disaster-recovery secondary, which does not serve', PRIMARY],
  [473, /^/, 'vault_standby', 'is a standby, which does not serve', ACTIVE],
  [
    500,
    /active cluster node not found/i,
    'vault_unavailable',
    'is electing a leader and does not serve',
    LOG,
  ],
  [501, /^/, 'vault_uninitialised', 'is not initialised and does not serve', INIT],
  [502, /^/, 'vault_internal_error', 'could not be reached by the proxy in front of it, for', LOG],
  [503, /sealed/i, 'vault_sealed', 'is sealed and does not serve', 'Unseal it (vault operator unseal).'],
  [503, /^/, 'vault_unavailable', 'is overloaded or not available for', `${LOG} Wait, or lower the load.`],
]);

/** @param {{status: number, json: Json | null, method: string, path: string, origin: string}} refusal */
export function apiError({ status, json, method, path, origin }) {
  const reason = reasonIn(json);
  const request = `${method} /v1/${path}${reason && `: ${reason}`}`;
  const known = REFUSALS.find(([of, pattern]) => of === status && pattern.test(reason));
  if (known) return refusalOf(known, origin, request);
  return targetError('vault_internal_error', `${origin} responded with HTTP ${status} to ${request}.`, LOG);
}

/** @param {(typeof REFUSALS)[number][2]} code @param {string} origin @param {string} request */
export function refusal(code, origin, request) {
  return refusalOf(REFUSALS.filter((row) => row[2] === code)[0], origin, request);
}

/** @param {(typeof REFUSALS)[number]} row @param {string} origin @param {string} request */
function refusalOf([, , code, text, remedy], origin, request) {
  return targetError(code, `${origin} ${text} ${request}.`, remedy);
}

/** @param {Json | null} json @returns {string} Vault's own text on one line, without list markers */
function reasonIn(json) {
  const errors = Array.isArray(json?.errors) ? listOf(json?.errors) : [];
  // Cut before the patterns run, for speed, and after removing secrets, so that no part of one remains.
  const text = withoutSecrets(errors.join('; ')).slice(0, 2000);
  return redact(text.replace(/\d{1,9} errors? occurred:\s*/g, ''))
    .replace(/^\* /, '')
    .replaceAll(' * ', '; ')
    .replace(/\.$/, '');
}

/**
 * @template T @param {Promise<T>} call @param {...string} codes none: every code
 * @returns {Promise<T | null>} null: Vault refused it with one of these codes; any other failure is thrown
 */
export async function unlessRefused(call, ...codes) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof PkiLoadError && (codes.length === 0 || codes.includes(error.code))) return null;
    throw error;
  }
}

/** Of the token, by path; null: not readable (no default policy). @param {VaultClient} client @param {string[]} paths */
export async function readCapabilities(client, paths) {
  const call = client.write('sys/capabilities-self', { paths });
  const response = await unlessRefused(call, 'vault_permission_denied', 'vault_not_found', 'vault_no_route');
  if (response === null) return null;
  const data = recordOf(response.data);
  return Object.fromEntries(paths.map((path) => [path, listOf(data[path])]));
}

/** Codes of calls that no server accepted. */
const UNSENT =
  /^(interrupted|redirected|connection_refused|host_|(client_)?certificate_|tls_(?!error)|wrong_scheme|bad_vault_path)/;

/** The server may have executed the call: the response is missing, not from Vault, or reports a failure. @param {unknown} error */
export function mayHaveTakenEffect(error) {
  if (!(error instanceof PkiLoadError)) return true;
  if (error.code === 'vault_internal_error' || error.code === 'vault_unavailable') return true;
  return !/^(vault|token)_/.test(error.code) && !UNSENT.test(error.code);
}

/** @param {unknown} value from a server, as below @returns {Record<string, any>} empty if not an object */
export const recordOf = (value) => (isRecord(value) ? value : {});

/** @param {unknown} value @param {string} [otherwise] */
export const textOf = (value, otherwise = '') => (typeof value === 'string' ? value : otherwise);

/** @param {unknown} value a number, or digits @returns {number | null} null: not a finite number of at least 0 */
export function numberOf(value) {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}

/** @param {unknown} value a list, or comma-separated text as old versions of Vault send it @returns {string[]} */
export function listOf(value) {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  const text = textOf(value);
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}
