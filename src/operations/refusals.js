/** What an HTTP status other than success means on a Vault or OpenBao API path, as outcomes. */

/** @type {Readonly<Record<string, string>>} */
export const REFUSAL_OUTCOMES = Object.freeze({
  redirected: 'HTTP 3xx: the server points elsewhere; not followed under load',
  bad_request: 'HTTP 400: the server did not accept what was asked',
  permission_denied: 'HTTP 403: the token may not do this, or is no longer valid',
  not_found: 'HTTP 404: no such mount, role or path',
  rate_limited: 'HTTP 429: a rate limit quota refused the request',
  standby: 'HTTP 472 or 473: a standby node refused',
  server_error: 'HTTP 500: an error inside the server',
  bad_gateway: 'HTTP 502 or 504: a proxy in between got no answer',
  unavailable: 'HTTP 503: sealed, overloaded or without a leader',
  http_error: 'another HTTP status that is no success',
});

/** @type {Record<number, string>} */
const BY_STATUS = {
  400: 'bad_request',
  403: 'permission_denied',
  404: 'not_found',
  429: 'rate_limited',
  472: 'standby',
  473: 'standby',
  500: 'server_error',
  502: 'bad_gateway',
  503: 'unavailable',
  504: 'bad_gateway',
};

/** @type {Record<string, import('./index.js').Verdict>} */
const VERDICTS = Object.fromEntries(
  Object.keys(REFUSAL_OUTCOMES).map((outcome) => [
    outcome,
    Object.freeze({ outcome, success: false, verification: null }),
  ]),
);

/**
 * @param {number} status not 2xx
 * @returns {import('./index.js').Verdict}
 */
export function refusal(status) {
  if (status >= 300 && status < 400) return VERDICTS.redirected;
  return VERDICTS[BY_STATUS[status] ?? 'http_error'];
}
