/** What Vault's API refuses, as errors with a remedy. */
import { targetError } from '../common/errors.js';
import { redact } from './redact.js';

/** @typedef {{status: number, json: Record<string, any> | null, method: string, path: string, origin: string,
 *   token: string | null, namespace: string | null}} Refusal */

/**
 * Codes by status. Vault also says 404 with no words for "nothing there", and 429 and 503 for more than one thing.
 *
 * @type {Record<number, {code: string, text: string, remedy: string}>}
 */
const BY_STATUS = {
  400: { code: 'vault_bad_request', text: 'does not accept', remedy: 'Correct what was asked.' },
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

/**
 * @param {Refusal} refusal
 * @returns {import('../common/errors.js').PkiLoadError}
 */
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

/**
 * @param {number} status
 * @param {string} said
 */
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

/**
 * @param {Refusal} refusal
 * @returns {string} Vault's own words, one line, without its list marks
 */
function spoken({ json, token }) {
  const errors = Array.isArray(json?.errors) ? json.errors.filter((each) => typeof each === 'string') : [];
  const text = errors.join('; ').replace(/\d+ errors? occurred:\s*/g, '');
  return redact(text, [token]).replace(/^\* /, '').replaceAll(' * ', '; ').replace(/\.$/, '');
}
