import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSAL_OUTCOMES, refusal } from '../../src/operations/outcomes.js';

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
    ['rate_limited', 429],
    ['standby', 472, 473],
    ['server_error', 500],
    ['bad_gateway', 502, 504],
    ['unavailable', 503],
  ])) {
    for (const status of statuses) assert.equal(refusal(status).outcome, outcome, `${status}`);
  }
});
