/** Outcomes that operations share: HTTP statuses that are refusals, and checks of JSON bodies. */
/** @import { Classify, Verdict } from './index.js' */

/** @type {Readonly<Record<string, string>>} */
export const REFUSAL_OUTCOMES = Object.freeze({
  redirected: 'HTTP 3xx: the server points elsewhere; not followed under load',
  bad_request: 'HTTP 400: the server did not accept the request',
  permission_denied: 'HTTP 403: the token may not do this, or is no longer valid',
  not_found: 'HTTP 404: no such mount, role or path',
  rate_limited: 'HTTP 429: a rate limit quota refused the request',
  standby: 'HTTP 472 or 473: a standby node refused',
  server_error: 'HTTP 500: an error inside the server',
  bad_gateway: 'HTTP 502 or 504: a proxy in between got no response',
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

/** @type {Record<string, Verdict>} */
const VERDICTS = Object.fromEntries(
  Object.keys(REFUSAL_OUTCOMES).map((outcome) => [
    outcome,
    Object.freeze({ outcome, success: false, verification: null }),
  ]),
);

/** @param {number} status not 2xx @returns {Verdict} */
export function refusal(status) {
  if (status >= 300 && status < 400) return VERDICTS.redirected;
  return VERDICTS[BY_STATUS[status] ?? 'http_error'];
}

/** @type {Readonly<Record<string, string>>} */
export const CALL_OUTCOMES = Object.freeze({
  not_json: 'HTTP 2xx, but the body is not a JSON object',
  error_body: 'HTTP 2xx, but the body reports errors',
  ...REFUSAL_OUTCOMES,
});

/**
 * @param {string} success outcome
 * @param {(json: Record<string, any>, index: number) => string | null} check the outcome of a fault; null: none
 * @returns {Classify}
 */
export function createJsonClassifier(success, check) {
  const good = passed(success);
  return (status, body, index) => {
    if (status < 200 || status > 299) return refusal(status);
    const json = readJson(body);
    if (json === null) return failed('not_json');
    if (Array.isArray(json.errors) && json.errors.length > 0) return failed('error_body');
    const failure = check(json, index);
    return failure === null ? good : failed(failure);
  };
}

/** @param {Uint8Array} body @returns {Record<string, any> | null} null: it is no JSON object */
export function readJson(body) {
  try {
    const value = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {string} outcome @returns {Verdict} */
export function passed(outcome) {
  return Object.freeze({ outcome, success: true, verification: 'passed' });
}

/** @type {Map<string, Verdict>} */
const failures = new Map();

/** @param {string} outcome @returns {Verdict} */
export function failed(outcome) {
  const known = failures.get(outcome);
  if (known !== undefined) return known;
  /** @type {Verdict} */
  const verdict = Object.freeze({ outcome, success: false, verification: 'failed' });
  failures.set(outcome, verdict);
  return verdict;
}
