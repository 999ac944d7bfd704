import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJsonClassifier, REFUSAL_OUTCOMES, refusal } from '../../src/operations/outcomes.js';

test('every status outside 2xx maps to a declared outcome that is neither a success nor verified', () => {
  for (const status of [...Array(200).keys(), ...Array.from({ length: 700 }, (_, i) => 300 + i)]) {
    const { outcome, success, verification } = refusal(status);
    assert.ok(Object.hasOwn(REFUSAL_OUTCOMES, outcome), `${status}: ${outcome}`);
    assert.deepEqual([success, verification], [false, null]);
  }
  for (const [outcome, ...statuses] of /** @type {[string, ...number[]][]} */ ([
    ['redirected', 301, 307],
    ['bad_request', 400],
    ['permission_denied', 403],
    ['not_found', 404],
    ['http_error', 418],
    ['proxy_auth_required', 407],
    ['rate_limited', 429],
    ['standby', 472, 473],
    ['server_error', 500],
    ['bad_gateway', 502, 504],
    ['unavailable', 503],
  ])) {
    for (const status of statuses) assert.equal(refusal(status).outcome, outcome, `${status}`);
  }
});

test('errors are absent, null or an empty array; any other value counts as an error', () => {
  const classify = createJsonClassifier('good', () => null);
  const outcomeOf = (/** @type {string} */ errors) => classify(200, Buffer.from(`{${errors}}`), 0).outcome;
  for (const none of ['', '"errors": null', '"errors": []']) assert.equal(outcomeOf(none), 'good', none);
  for (const some of ['["x"]', '[null]', '{"length": 0}', '{}', '""', '"x"', '0', 'false', 'true'])
    assert.equal(outcomeOf(`"errors": ${some}`), 'error_body', some);
});

test('a response cannot break the conversion of its values to a number or text', () => {
  const classify = createJsonClassifier('good', ({ data }) => (data.time > 0 ? null : `not ${data.time}`));
  for (const key of ['valueOf', 'toString', '\\u0074oString']) {
    const body = Buffer.from(`{"data": {"time": {"valueOf": 1, "${key}": 1, "toString": null}}}`);
    assert.equal(classify(200, body, 0).outcome, 'not [object Object]');
  }
  assert.equal(classify(200, Buffer.from('{"data": {"time": "\\u0035"}}'), 0).outcome, 'good');
});
