/** Outcomes that operations share: refusals by HTTP status, and checks of JSON bodies. */
import { parseJson } from '../common/json.js';

/** @import { Classify, Classification } from './index.js' */

/** @type {[outcome: string, statuses: number[], meaning: string][]} */
const REFUSALS = [
  ['redirected', [], 'HTTP 3xx: a redirect, which is not followed under load'],
  ['bad_request', [400], 'HTTP 400: the server rejected the request'],
  [
    'permission_denied',
    [403],
    'HTTP 403: the token lacks permission or is no longer valid, or a proxy refused',
  ],
  ['not_found', [404], 'HTTP 404: no such mount, role or path'],
  ['proxy_auth_required', [407], 'HTTP 407: the proxy requires a user name and password'],
  ['rate_limited', [429], 'HTTP 429: a rate limit quota refused the request'],
  ['standby', [472, 473], 'HTTP 472 or 473: a standby node refused'],
  ['server_error', [500], 'HTTP 500: an internal server error'],
  ['bad_gateway', [502, 504], 'HTTP 502 or 504: a proxy in between got no response'],
  ['unavailable', [503], 'HTTP 503: sealed, overloaded or without a leader'],
  ['http_error', [], 'any other HTTP status outside 2xx'],
];

/** @type {Readonly<Record<string, string>>} */
export const REFUSAL_OUTCOMES = Object.freeze(
  Object.fromEntries(REFUSALS.map(([outcome, , meaning]) => [outcome, meaning])),
);

/** @type {Readonly<Record<string, string>>} */
export const CALL_OUTCOMES = Object.freeze({
  not_json: 'HTTP 2xx, but the body is not a JSON object',
  error_body: 'HTTP 2xx, but the body reports errors',
  ...REFUSAL_OUTCOMES,
});

/** @type {Record<number, string>} */
const BY_STATUS = Object.fromEntries(
  REFUSALS.flatMap(([outcome, statuses]) => statuses.map((status) => [status, outcome])),
);

export const passed = createVerdicts(true, 'passed');
export const failed = createVerdicts(false, 'failed');
export const refused = createVerdicts(false, null);

/**
 * @param {boolean} success @param {Classification['verification']} verification
 * @returns {(outcome: string) => Classification} the same object for the same outcome, to avoid an allocation per response
 */
function createVerdicts(success, verification) {
  /** @type {Map<string, Classification>} */
  const verdicts = new Map();
  return (outcome) => {
    const verdict = verdicts.get(outcome) ?? Object.freeze({ outcome, success, verification });
    verdicts.set(outcome, verdict);
    return verdict;
  };
}

/** @param {number} status not 2xx */
export function refusal(status) {
  if (status >= 300 && status < 400) return refused('redirected');
  return refused(BY_STATUS[status] ?? 'http_error');
}

/** @param {number} status */
export const isSuccess = (status) => status >= 200 && status <= 299;

/**
 * @param {string} success outcome @returns {Classify}
 * @param {(json: Record<string, any>, index: number, receivedAt: number) => string | Classification | null} check null: passed
 */
export function createJsonClassifier(success, check) {
  const good = passed(success);
  return (status, body, index, receivedAt = Date.now()) => {
    if (!isSuccess(status)) return refusal(status);
    const json = parseJson(body);
    if (json === null) return failed('not_json');
    const errors = json.errors ?? [];
    if (!Array.isArray(errors) || errors.length > 0) return failed('error_body');
    const result = check(json, index, receivedAt);
    if (result === null) return good;
    return typeof result === 'string' ? failed(result) : result;
  };
}
