/**
 * Vault's JSON API for the few calls before and after a run. Standby redirects are followed, within limits; what Vault
 * refuses becomes a PkiLoadError with a remedy.
 */
import { PkiLoadError, targetError, usageError } from '../common/errors.js';
import { createRequester, parseTargetUrl } from '../http/request.js';
import { checkToken } from './environment.js';
import { redact } from './redact.js';
import { apiError } from './refusals.js';

/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} VaultResponse Vault's envelope; all null after 204
 * @property {Json | null} data
 * @property {Json | null} auth
 * @property {string[]} warnings
 */

const MAX_REDIRECTS = 3;

/**
 * @param {{url: string, token?: string | null, namespace?: string | null, tls?: import('../http/tls.js').Tls,
 *   timeoutMs?: number}} options
 */
export function createVaultClient({ url, token = null, namespace = null, tls, timeoutMs = 10_000 }) {
  const { origin, basePath } = parseTargetUrl(url);
  if (token !== null) checkToken(token, 'use');
  /** @type {Map<string, import('../http/request.js').Requester>} */
  const requesters = new Map();
  const requester = (/** @type {string} */ at) => {
    const known = requesters.get(at) ?? createRequester({ origin: at, tls, timeoutMs });
    requesters.set(at, known);
    return known;
  };
  const headers = () => ({
    accept: 'application/json',
    'x-vault-request': 'true',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  });

  /**
   * @param {string} method
   * @param {string} path below /v1/
   * @param {Json} [data]
   * @param {number} [within] ms, where it may take longer than other calls
   * @param {() => void} [onHead] called as soon as the head of the answer is read; where it is redirected, of each
   * @returns {Promise<VaultResponse>}
   */
  async function call(method, path, data, within = timeoutMs, onHead = undefined) {
    const body = data === undefined ? undefined : JSON.stringify(data);
    const asked = {
      method,
      path: `${basePath}/v1/${encodePath(path)}`,
      headers: headers(),
      body,
      timeoutMs: within,
      onHead,
    };
    const answer = await follow({ requester, origin, asked });
    if (answer.status === 204) return { data: null, auth: null, warnings: [] };
    const json = parseJson(answer.body);
    if (answer.status !== 200)
      throw apiError({ status: answer.status, json, method, path, origin, token, namespace });
    if (json === null)
      throw notVault(origin, `answered ${method} /v1/${path} with something that is not JSON`);
    return { data: json.data ?? null, auth: json.auth ?? null, warnings: json.warnings ?? [] };
  }

  return {
    origin,
    basePath,
    namespace,
    hasToken: token !== null,
    read: (/** @type {string} */ path, /** @type {number | undefined} */ within = undefined) =>
      call('GET', path, undefined, within),
    write: (
      /** @type {string} */ path,
      /** @type {Json} */ data = {},
      /** @type {(() => void) | undefined} */ onHead = undefined,
    ) => call('POST', path, data, timeoutMs, onHead),
    remove: (/** @type {string} */ path, /** @type {number | undefined} */ within = undefined) =>
      call('DELETE', path, undefined, within),
    /**
     * @param {string} path
     * @returns {Promise<string[]>} empty when there is nothing (Vault answers 404)
     */
    async list(path) {
      try {
        return (await call('GET', `${path}?list=true`)).data?.keys ?? [];
      } catch (error) {
        if (error instanceof PkiLoadError && error.code === 'vault_not_found') return [];
        throw error;
      }
    },
    /** `sys/health` as it is: every status is an answer. Asked without token and namespace: it needs neither. */
    async health() {
      const path = `${basePath}/v1/sys/health`;
      const { status, body } = await requester(origin).request({
        path,
        headers: { accept: 'application/json' },
      });
      return { status, json: parseJson(body) };
    },
    async close() {
      await Promise.all([...requesters.values()].map((each) => each.close()));
    },
  };
}

/** @typedef {ReturnType<typeof createVaultClient>} VaultClient */

/**
 * As Vault's own client does: the path stays the same, https never becomes http. So a token is sent only where a Vault
 * node would have sent it.
 *
 * @param {{requester: (origin: string) => import('../http/request.js').Requester, origin: string,
 *   asked: import('../http/request.js').Asked}} options
 */
async function follow({ requester, origin, asked }) {
  let at = new URL(asked.path, origin);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await requester(at.origin).request({ ...asked, path: at.pathname + at.search });
    if (![301, 302, 307, 308].includes(answer.status)) return answer;
    const location = String(answer.headers.location ?? '');
    const next = URL.canParse(location, at.href) ? new URL(location, at) : null;
    const allowed = next?.pathname === at.pathname && ['https:', at.protocol].includes(next.protocol);
    if (next === null || !allowed) {
      throw targetError(
        'redirected',
        `${at.origin} redirects to ${next ? shown(next, asked) : 'nowhere'} in place of answering.`,
        'Give the URL of the server that answers with --url (VAULT_ADDR).',
      );
    }
    at = next;
  }
  throw targetError(
    'redirect_loop',
    `${origin} redirects more than ${MAX_REDIRECTS} times.`,
    'Give the URL of the active node with --url (VAULT_ADDR).',
  );
}

/**
 * @param {URL} url that a server sent
 * @param {import('../http/request.js').Asked} asked
 */
function shown({ origin, pathname }, asked) {
  return redact(origin + pathname, [asked.headers?.['x-vault-token']]);
}

/**
 * @param {string} origin
 * @param {string} what
 */
export function notVault(origin, what) {
  return targetError(
    'not_vault',
    `${origin} does not look like Vault or OpenBao: it ${what}.`,
    'Give the URL of a Vault with --url (VAULT_ADDR).',
  );
}

/**
 * @param {Buffer} body
 * @returns {Json | null} null: not a JSON object
 */
function parseJson(body) {
  try {
    const value = JSON.parse(body.toString('utf8'));
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} path may hold `?list=true`
 * @returns {string} each segment percent-encoded once
 */
function encodePath(path) {
  const [route, query] = path.split('?');
  const segments = route.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw usageError('bad_vault_path', `${JSON.stringify(route.slice(0, 120))} is not a path in Vault.`);
  }
  return segments.map(encodeURIComponent).join('/') + (query === undefined ? '' : `?${query}`);
}
