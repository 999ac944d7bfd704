/** Shared by the tests of operations on Vault's JSON API. */
import assert from 'node:assert/strict';
import { makePlan } from '../../src/plan/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';
/** @import { Classify, Operation } from '../../src/operations/index.js' */

/** @typedef {[sentence: string, status: number, body: unknown, outcome: string]} Row of answers; a body that is no text is sent as JSON */

/** @param {Operation} operation @param {Record<string, unknown>} [given] */
export const planOf = (operation, given = {}) =>
  makePlan(operation, { seed: 1, ...given }, readEnvironment({}, { home: '/nowhere' }));

export const CALL = Object.freeze({
  origin: 'http://127.0.0.1:8200',
  targetUrl: 'http://127.0.0.1:8200/base',
  basePath: '/base',
  headers: Object.freeze({ 'x-vault-token': 'a-token' }),
});

/** What every operation that reads JSON says of these. @type {Row[]} */
export const REFUSALS = [
  ['HTML is not JSON', 200, '<!doctype html>', 'not_json'],
  ['half an object is not JSON', 200, '{"data":{', 'not_json'],
  ['a list is no object', 200, [1], 'not_json'],
  ['errors in a 200 are errors', 200, { errors: ['permission denied'] }, 'error_body'],
  ['a redirect is not followed', 307, '', 'redirected'],
  ['HTTP 400', 400, { errors: ['no'] }, 'bad_request'],
  ['HTTP 403', 403, { errors: ['permission denied'] }, 'permission_denied'],
  ['HTTP 404', 404, { errors: [] }, 'not_found'],
  ['HTTP 407', 407, {}, 'proxy_auth_required'],
  ['HTTP 429', 429, { errors: ['rate limit'] }, 'rate_limited'],
  ['HTTP 473', 473, { errors: [] }, 'standby'],
  ['HTTP 500', 500, { errors: ['internal error'] }, 'server_error'],
  ['HTTP 502', 502, '', 'bad_gateway'],
  ['HTTP 503', 503, { errors: ['Vault is sealed'] }, 'unavailable'],
  ['HTTP 418', 418, '', 'http_error'],
];

/** @param {unknown} body */
const bytesOf = (body) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/**
 * @param {Classify} classify
 * @param {Row} row
 * @param {{good: string[], index?: number}} options `good`: the outcomes that are successes
 * @returns {string} the outcome
 */
export function assertRow(classify, [sentence, status, body, outcome], { good, index = 0 }) {
  const verdict = classify(status, bytesOf(body), index);
  assert.equal(verdict.outcome, outcome, sentence);
  assert.equal(verdict.success, good.includes(outcome), sentence);
  assert.equal(verdict.verification === 'passed', good.includes(outcome), sentence);
  return outcome;
}

/**
 * No outcome is declared that cannot occur, and none occurs that is not declared.
 *
 * @param {Operation} operation
 * @param {Iterable<string>} seen
 */
export function assertAllSeen({ outcomes }, seen) {
  assert.deepEqual([...new Set(seen)].sort(), Object.keys(outcomes).sort());
}

/** @param {() => unknown} work @param {RegExp} message */
export function assertUsage(work, message) {
  assert.throws(work, (/** @type {any} */ error) => {
    assert.match(error.full, message);
    return error.name === 'PkiLoadError' && error.exitCode === 1;
  });
}
