/** What operations on Vault's JSON API share: the checks before a run, the headers, and how an answer is read. */
import { parseTargetUrl } from '../http/request.js';
import { expectedRequests, longestRunMs } from '../plan/expected.js';
import { checkHealth, checkToken } from '../vault/preflight.js';
import { apiHeaders } from './issuance.js';
import { REFUSAL_OUTCOMES, refusal } from './refusals.js';

/** @typedef {import('./index.js').Verdict} Verdict */
/** @typedef {import('./index.js').Fixture & {basePath: string, headers: Record<string, string>}} CallFixture `headers` may hold the token */

/** @type {Readonly<Record<string, string>>} */
export const CALL_OUTCOMES = Object.freeze({
  not_json: 'HTTP 2xx, but the body is not a JSON object',
  error_body: 'HTTP 2xx, but the body reports errors',
  ...REFUSAL_OUTCOMES,
});

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {{withToken?: boolean, usesBefore?: number, usesInRun?: boolean}} [options] without a token nothing secret is sent; how often
 *   it is used, where it can be used so often only: in preparing, and whether requests under load use it
 * @returns {Promise<CallFixture>}
 * @throws {import('../common/errors.js').PkiLoadError} where the target cannot be used
 */
export async function prepareCalls(
  { plan, client, token, keepAlive, warn },
  { withToken = true, usesBefore = 0, usesInRun = true } = {},
) {
  const { namespace, url } = plan.target;
  const { origin, basePath } = parseTargetUrl(url);
  const health = await checkHealth(client, { namespace });
  health.warnings.forEach(warn);
  if (withToken) {
    // In a mix the others use it too.
    const inRun = usesInRun ? expectedRequests(plan.load) : 0;
    const facts = await checkToken(client, {
      neededMs: longestRunMs(plan.load),
      neededRequests: inRun === null ? null : usesBefore + inRun,
    });
    if (facts.renewEveryMs !== null) keepAlive(facts.renewEveryMs);
    facts.warnings.forEach(warn);
  }
  return {
    origin,
    targetUrl: url,
    target: { product: health.product, version: health.version },
    basePath,
    headers: apiHeaders(withToken ? token : null, namespace),
  };
}

/**
 * @param {string} success outcome
 * @param {(json: Record<string, any>, index: number) => string | null} check the outcome that says what is wrong; null: nothing is
 * @returns {import('./index.js').Classify}
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

/**
 * @param {Uint8Array} body
 * @returns {Record<string, any> | null} null: it is no JSON object
 */
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
