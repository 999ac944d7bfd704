import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacePhrase, unitName } from '../../../src/report/describe/words.js';

for (const [
  what,
  operations,
  expected,
] of /** @type {[string, Record<string, {unit?: string, things?: string}>, string][]} */ ([
  ['one operation: its unit', { issue: { unit: 'certificates' } }, 'certificates'],
  ['an older file with things', { issue: { things: 'certificates' } }, 'certificates'],
  ['a file without a unit', { issue: {} }, 'responses'],
  ['two operations with the same unit', { a: { unit: 'CRLs' }, b: { things: 'CRLs' } }, 'CRLs'],
  ['two operations with different units', { a: { unit: 'CRLs' }, b: { unit: 'logins' } }, 'responses'],
])) {
  test(`the unit of ${what}`, () => {
    assert.equal(unitName(/** @type {any} */ ({ operations })), expected);
  });
}

test('the pace of a part is that of its share; one above the offered rate names no offer', () => {
  const load = { model: 'open', ratePerSecond: 20, rampUpMs: 0 };
  const pace = (/** @type {number} */ perSecond, more = {}) =>
    pacePhrase(/** @type {any} */ ({ load, rates: { perSecond, perHour: 3600 * perSecond }, ...more }));
  const shard = { index: 0, of: 2 };
  assert.deepEqual(
    [pace(20), pace(10), pace(20.5), pace(10, { shard }), pace(5, { shard })],
    ['at 20/s', 'at 10/s of the 20/s offered', 'at 20.5/s', 'at 10/s', 'at 5/s of the 10/s offered'],
  );
});
