import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChooser } from '../../src/operations/chooser.js';
import { loadOperation } from '../../src/operations/index.js';
import { ownIndexes, placeOf } from '../../src/operations/one-each.js';
import { CALL_OUTCOMES } from '../../src/operations/vault-call.js';
import { makePlan } from '../../src/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';

const revoke = await loadOperation('revoke');
/** @param {Record<string, unknown>} given */
const loadOf = (given) =>
  makePlan(revoke, { seed: 5, ...given }, readEnvironment({}, { home: '/nowhere' })).load;

const RIGHT = {
  revocation_time: 1795388892,
  revocation_time_rfc3339: '2026-11-22T23:08:12Z',
  state: 'revoked',
};
/** @type {[string, unknown, string][]} sentence, body, outcome of a certificate that is revoked for the first time */
const ROWS = [
  ['what Vault says', { data: RIGHT, warnings: null }, 'revoked'],
  ['what Vault said before it had states', { data: { revocation_time: 1 } }, 'revoked'],
  ['no data', {}, 'not_revoked'],
  [
    'an expired certificate, which Vault does not revoke',
    { data: null, warnings: ['expired'] },
    'not_revoked',
  ],
  ['a time of zero', { data: { ...RIGHT, revocation_time: 0 } }, 'not_revoked'],
  ['another state', { data: { ...RIGHT, state: 'pending' } }, 'not_revoked'],
  ['an error in 200', { errors: ['x'], data: RIGHT }, 'error_body'],
  ['HTML', '<html>', 'not_json'],
  ['nothing', '', 'not_json'],
];
const fixture = {
  path: '/v1/pki_int/revoke',
  headers: { 'x-vault-token': 't' },
  serials: ['1a', '2b', '3c'],
  indexes: Float64Array.of(4, 7, 5_000_000_000),
};
const bytes = (/** @type {unknown} */ body) =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const open = () => revoke.createClassifier(/** @type {any} */ ({}), fixture);

describe('answers to revoke', () => {
  for (const [sentence, body, outcome] of ROWS) {
    test(`${sentence}: ${outcome}`, () => {
      const success = outcome === 'revoked';
      const expected = { outcome, success, verification: success ? 'passed' : 'failed' };
      assert.deepEqual(open()(200, bytes(body), 7), expected);
      const again = open()(200, bytes(body), 8);
      assert.equal(again.outcome, success ? 'revoked_again' : outcome);
      assert.deepEqual([again.success, again.verification], [false, success ? null : 'failed']);
    });
  }

  test('each declared outcome can occur', () => {
    const seen = new Set([
      ...ROWS.map(([, , outcome]) => outcome),
      'revoked_again',
      ...Object.keys(CALL_OUTCOMES),
    ]);
    assert.deepEqual([...seen].sort(), Object.keys(revoke.outcomes).sort());
  });

  test('what is over is said once there was any', () => {
    const classify = open();
    classify(200, bytes({ data: RIGHT }), 4);
    assert.deepEqual(classify.notes?.(), []);
    classify(200, bytes({ data: RIGHT }), 5);
    assert.match(String(classify.notes?.()), /more requests than certificates/);
  });

  test('each request has its own certificate; those that have none ask about one of them again', () => {
    const request = revoke.createRequester(/** @type {any} */ ({}), fixture);
    const asked = [4, 7, 5_000_000_000, 5, 0].map(
      (index) => JSON.parse(String(request(index).body)).serial_number,
    );
    assert.deepEqual(asked, ['1a', '2b', '3c', '3c', '1a']);
    const { method, path, headers } = request(4);
    assert.deepEqual([method, path, headers], ['POST', fixture.path, fixture.headers]);
  });
});

describe('one certificate for each request', () => {
  test('parts of a plan share its indexes, each in an order of its own', () => {
    const whole = [...ownIndexes(loadOf({ requests: 30 }), { most: 100 })];
    assert.deepEqual(whole, [...Array(30).keys()]);
    const parts = [0, 1, 2, 3].map((k) => [
      ...ownIndexes(loadOf({ requests: 30, shard: `${k}/4` }), { most: 100 }),
    ]);
    assert.deepEqual(parts[1].slice(0, 3), [1, 5, 9]);
    assert.deepEqual(
      parts.flat().sort((a, b) => a - b),
      whole,
    );
  });

  test('in a mix only those of the operation count, and the first ones where there are too many', () => {
    const memberOf = createChooser([95, 5], 5);
    const owns = (/** @type {number} */ index) => memberOf(index) === 1;
    const found = [...ownIndexes(loadOf({ requests: 10_000 }), { owns, most: 1000 })];
    assert.deepEqual(found, [...Array(10_000).keys()].filter(owns));
    assert.ok(Math.abs(found.length - 500) < 3 * Math.sqrt(10_000 * 0.05 * 0.95));
    assert.deepEqual([...ownIndexes(loadOf({ duration: '1h' }), { owns, most: 20 })], found.slice(0, 20));
  });

  test('a share of a mix that is next to nothing is not looked for without end', () => {
    let looked = 0;
    const owns = () => ++looked > 1e9;
    assert.deepEqual([...ownIndexes(loadOf({ duration: '1h' }), { owns, most: 3 })], []);
    assert.equal(looked, 1e7);
  });

  test('the place of an index, or none', () => {
    const indexes = Float64Array.from([3, 4, 9, 5_000_000_000]);
    assert.deepEqual(
      [3, 4, 9, 5_000_000_000].map((index) => placeOf(indexes, index)),
      [0, 1, 2, 3],
    );
    assert.deepEqual(
      [0, 5, 10, 6_000_000_000].map((index) => placeOf(indexes, index)),
      [-1, -1, -1, -1],
    );
    assert.equal(placeOf(new Float64Array(0), 0), -1);
  });
});
