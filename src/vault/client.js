/**
 * Vault's JSON API for the few calls before and after a run. Standby redirects are followed, within limits; a refusal becomes a
 * PkiLoadError with a remedy.
 */
import { PkiLoadError, targetError, usageError } from '../common/errors.js';
import { createRequester, parseTargetUrl } from '../http/request.js';
import { checkToken } from './environment.js';
import { redact } from './redact.js';

/** @import { Asked, Requester } from '../http/request.js' */
/** @import { Tls } from '../http/tls.js' */

/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} VaultResponse Vault's envelope; all null after 204
 * @property {Json | null} data
 * @property {Json | null} auth
 * @property {string[]} warnings
 */

const MAX_REDIRECTS = 3;

/**
 * @param {{url: string, token?: string | null, namespace?: string | null, tls?: Tls,
 *   timeoutMs?: number}} options
 */
export function createVaultClient({ url, token = null, namespace = null, tls, timeoutMs = 10_000 }) {
  const { origin, basePath } = parseTargetUrl(url);
  if (token !== null) checkToken(token, 'use');
  /** @type {Map<string, Requester>} */
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
    /** @param {string} path @returns {Promise<string[]>} empty when there is nothing (Vault answers 404) */
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
 * @param {{requester: (origin: string) => Requester, origin: string, asked: Asked}} options
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

/** @param {URL} url that a server sent @param {Asked} asked */
function shown({ origin, pathname }, asked) {
  return redact(origin + pathname, [asked.headers?.['x-vault-token']]);
}

/** @param {string} origin @param {string} what */
export function notVault(origin, what) {
  return targetError(
    'not_vault',
    `${origin} does not look like Vault or OpenBao: it ${what}.`,
    'Give the URL of a Vault with --url (VAULT_ADDR).',
  );
}

/** @param {Buffer} body @returns {Json | null} null: not a JSON object */
function parseJson(body) {
  try {
    const value = JSON.parse(body.toString('utf8'));
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {string} path may hold `?list=true` @returns {string} each segment percent-encoded once */
function encodePath(path) {
  const [route, query] = path.split('?');
  const segments = route.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw usageError('bad_vault_path', `${JSON.stringify(route.slice(0, 120))} is not a path in Vault.`);
  }
  return segments.map(encodeURIComponent).join('/') + (query === undefined ? '' : `?${query}`);
}

/** @typedef {{status: number, json: Record<string, any> | null, method: string, path: string, origin: string,
 *   token: string | null, namespace: string | null}} Refusal */

/**
 * Codes by status. Vault also answers 404 without a text for "not found", and 429 and 503 for more than one reason.
 *
 * @type {Record<number, {code: string, text: string, remedy: string}>}
 */
const BY_STATUS = {
  400: { code: 'vault_bad_request', text: 'does not accept', remedy: 'Correct the request.' },
  401: {
    code: 'vault_unauthorized',
    text: 'asks for other credentials for',
    remedy: 'Is a proxy in front of Vault?',
  },
  403: {
    code: 'vault_permission_denied',
    text: 'denies permission for',
    remedy: 'Use a token whose policy allows this path, and check --namespace.',
  },
  404: {
    code: 'vault_not_found',
    text: 'has nothing at',
    remedy: 'Check the path, --mount and --namespace.',
  },
  405: { code: 'vault_unsupported', text: 'does not support', remedy: 'Check --mount: is it a PKI mount?' },
  412: {
    code: 'vault_not_replicated',
    text: 'has not replicated far enough for',
    remedy: 'Try again in a moment.',
  },
  413: { code: 'vault_request_too_large', text: 'takes no request as large as', remedy: 'Ask for less.' },
  429: {
    code: 'vault_rate_limited',
    text: 'has a rate limit quota, which was reached at',
    remedy: 'Lift the quota for the test (vault list sys/quotas/rate-limit), or lower --rate.',
  },
  472: {
    code: 'vault_dr_secondary',
    text: 'is a disaster-recovery secondary, which does not serve',
    remedy: 'Give the URL of the primary cluster with --url (VAULT_ADDR).',
  },
  473: {
    code: 'vault_standby',
    text: 'is a standby, which does not serve',
    remedy: 'Give the URL of the active node with --url (VAULT_ADDR).',
  },
  501: {
    code: 'vault_uninitialised',
    text: 'is not initialised, so there is no',
    remedy: 'Run vault operator init, then unseal it.',
  },
  502: {
    code: 'vault_internal_error',
    text: 'could not be reached by the proxy in front of it, for',
    remedy: "Look at the proxy's and Vault's logs.",
  },
  503: {
    code: 'vault_unavailable',
    text: 'is overloaded or not available for',
    remedy: "Look at Vault's log and its load; wait, or lower the load.",
  },
};

/** @param {Refusal} refusal @returns {import('../common/errors.js').PkiLoadError} */
export function apiError(refusal) {
  const said = spoken(refusal);
  const { code, text, remedy } = classify(refusal.status, said);
  const details = said === '' ? '' : `: ${said}`;
  return targetError(
    code,
    `${refusal.origin} ${text} ${refusal.method} /v1/${refusal.path}${details}.`,
    remedy,
  );
}

/** @param {number} status @param {string} said */
function classify(status, said) {
  if (status === 503 && /sealed/i.test(said)) {
    return {
      code: 'vault_sealed',
      text: 'is sealed and does not serve',
      remedy: 'Unseal it (vault operator unseal).',
    };
  }
  if (status === 404 && /no handler for route/i.test(said)) {
    return {
      code: 'vault_no_route',
      text: 'has no secrets engine for',
      remedy: 'Check --mount and --namespace (vault secrets list).',
    };
  }
  if (status === 403 && /invalid token|bad token/i.test(said)) {
    return {
      code: 'token_invalid',
      text: 'does not accept the token for',
      remedy:
        'It is wrong, expired or revoked: set VAULT_TOKEN to a new one (vault login, vault token create).',
    };
  }
  return (
    BY_STATUS[status] ?? {
      code: 'vault_internal_error',
      text: `answered HTTP ${status} to`,
      remedy: "Look at Vault's log.",
    }
  );
}

/** @param {Refusal} refusal @returns {string} Vault's own words, one line, without its list marks */
function spoken({ json, token }) {
  const errors = Array.isArray(json?.errors) ? json.errors.filter((each) => typeof each === 'string') : [];
  const text = errors.join('; ').replace(/\d+ errors? occurred:\s*/g, '');
  return redact(text, [token]).replace(/^\* /, '').replaceAll(' * ', '; ').replace(/\.$/, '');
}
