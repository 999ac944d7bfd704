import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { CALL_OUTCOMES } from '../../src/operations/outcomes.js';
import { createChooser } from '../../src/operations/request-parts.js';
import { ownIndexes } from '../../src/operations/revoke.js';
import { planOf } from './calls-support.js';

const revoke = await loadOperation('revoke');
/** @param {Record<string, unknown>} given */
const loadOf = (given) => planOf(revoke, { seed: 5, ...given }).load;

const RIGHT = {
  revocation_time: 1795388892,
  revocation_time_rfc3339: '2026-11-22T23:08:12Z',
  state: 'revoked',
};
/** @type {[string, unknown, string][]} what, body, outcome of a certificate that is revoked for the first time */
const ROWS = [
  ['the response of Vault', { data: RIGHT, warnings: null }, 'revoked'],
  ['the response of older versions of Vault, without a state', { data: { revocation_time: 1 } }, 'revoked'],
  ['no data', {}, 'not_revoked'],
  [
    'an expired certificate',
    { data: null, warnings: ['certificate with serial 1a already expired; refusing to add to CRL'] },
    'already_expired',
  ],
  ['another warning', { data: null, warnings: ['no'] }, 'not_revoked'],
  ['warnings that are no list', { data: null, warnings: 7 }, 'not_revoked'],
  ['warnings that are no text', { data: null, warnings: [{ toString: 1 }, null] }, 'not_revoked'],
  ...[1e300, 1e11, 1.5, '1795388892', true].map(
    (time) =>
      /** @type {(typeof ROWS)[number]} */
      ([`the time ${time}`, { data: { ...RIGHT, revocation_time: time } }, 'not_revoked']),
  ),
  ['a time of zero', { data: { ...RIGHT, revocation_time: 0 } }, 'not_revoked'],
  ['another state', { data: { ...RIGHT, state: 'pending' } }, 'not_revoked'],
  ['an error in 200', { errors: ['x'], data: RIGHT }, 'error_body'],
  ['HTML', '<html>', 'not_json'],
  ['nothing', '', 'not_json'],
  ['an infinite time', '{"data":{"revocation_time":1e999}}', 'not_revoked'],
];
const fixture = {
  path: '/v1/pki_int/revoke',
  headers: { 'x-vault-token': 't' },
  serials: ['1a', '2b', '3c'],
  certificateOf: new Map([4, 7, 5_000_000_000].map((index, place) => [index, place])),
};
const bytes = (/** @type {unknown} */ body) =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const open = () => revoke.createClassifier(/** @type {any} */ ({}), fixture);

for (const [what, body, outcome] of ROWS) {
  test(`revoke: ${what}: ${outcome}`, () => {
    const success = outcome === 'revoked';
    const failed = outcome === 'already_expired' ? null : 'failed';
    const expected = { outcome, success, verification: success ? 'passed' : failed };
    assert.deepEqual(open()(200, bytes(body), 7), expected);
    const again = open()(200, bytes(body), 8);
    assert.equal(again.outcome, success ? 'revoked_again' : outcome);
    assert.deepEqual([again.success, again.verification], [false, success ? null : failed]);
  });
}

test('revoke: each declared outcome can occur; a note if there are more requests than certificates', () => {
  const outcomes = [...ROWS.map(([, , outcome]) => outcome), 'revoked_again', ...Object.keys(CALL_OUTCOMES)];
  assert.deepEqual([...new Set(outcomes)].sort(), Object.keys(revoke.outcomes).sort());
  const classify = open();
  classify(200, bytes({ data: RIGHT }), 4);
  assert.deepEqual(classify.notes?.(), []);
  classify(200, bytes({ data: RIGHT }), 5);
  assert.match(String(classify.notes?.()), /more requests than certificates/);
});

test('revoke: each request has its own certificate; the rest repeat one', () => {
  const request = revoke.createRequester(/** @type {any} */ ({}), fixture);
  const serialOf = (/** @type {number} */ index) => JSON.parse(String(request(index).body)).serial_number;
  assert.deepEqual([4, 7, 5_000_000_000, 5, 0].map(serialOf), ['1a', '2b', '3c', '3c', '1a']);
  const { method, path, headers } = request(4);
  assert.deepEqual([method, path, headers], ['POST', fixture.path, fixture.headers]);
});

test('the indexes of a plan: split over its parts, in a mix only its own, with a bounded search', () => {
  const all = [...Array(10_000).keys()];
  const indexes = (/** @type {Record<string, unknown>} */ given, owns = () => true, most = 1000) => [
    ...ownIndexes(loadOf(given), { owns: /** @type {any} */ (owns), max: most }),
  ];
  assert.deepEqual(indexes({ requests: 30 }), all.slice(0, 30));
  const parts = [0, 1, 2, 3].map((k) => indexes({ requests: 30, shard: `${k}/4` }));
  assert.deepEqual(parts[1].slice(0, 3), [1, 5, 9]);
  assert.deepEqual(
    parts.flat().sort((a, b) => a - b),
    all.slice(0, 30),
  );
  const memberOf = createChooser([95, 5], 5);
  const owns = /** @type {any} */ ((/** @type {number} */ index) => memberOf(index) === 1);
  const found = indexes({ requests: 10_000 }, owns);
  assert.deepEqual(found, all.filter(owns));
  assert.ok(Math.abs(found.length - 500) < 3 * Math.sqrt(10_000 * 0.05 * 0.95));
  assert.deepEqual(indexes({ duration: '1h' }, owns, 20), found.slice(0, 20));
  let looked = 0;
  assert.deepEqual(
    indexes({ duration: '1h' }, () => ++looked > 1e9, 3),
    [],
  );
  assert.equal(looked, 1e7);
});
