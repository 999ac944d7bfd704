import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitName } from '../../../src/report/describe/words.js';

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
