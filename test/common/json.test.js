import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../src/common/json.js';

/** @param {number} levels */
const nested = (levels) => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);

test('a value nested more than 1,000 deep is rejected, whatever its length', () => {
  assert.deepEqual(Object.keys(parseJson(nested(999)) ?? {}), ['a']);
  for (const levels of [1000, 20_000, 4_000_000]) assert.equal(parseJson(nested(levels)), null);
  assert.equal(parseJson(Buffer.from('[')), null);
  assert.equal(parseJson(Buffer.from(`${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`)), null);
  const wide = Buffer.from(`{"a":[${'{},[],'.repeat(2000)}1]}`);
  assert.equal(parseJson(wide)?.a.length, 4001);
});

/** @type {[string, string, boolean][]} what, JSON, whether it is accepted */
const COUNTS = [
  ['9,998 numbers in a list', `{"a":[${'1,'.repeat(9996)}1]}`, true],
  ['10,001 numbers', `{"a":[${'1,'.repeat(10_000)}1]}`, false],
  ['10,001 keys', `{${Array.from({ length: 10_001 }, (_, i) => `"${i}":1`)}}`, false],
  ['5,001 objects', `{"a":[${'{},'.repeat(5000)}{}]}`, false],
  ['350,000 objects and a toString', `{"toString":0,"a":[${'{},'.repeat(350_000)}1]}`, false],
  ['commas and brackets in a string', JSON.stringify({ a: '[],{}'.repeat(50_000) }), true],
  ['a list after a string that ends in a backslash', `{"b":"\\\\","a":[${'1,'.repeat(10_000)}1]}`, false],
];
for (const [what, text, isAccepted] of COUNTS) {
  test(`at most 10,000 values: ${what} ${isAccepted ? 'are accepted' : 'are rejected'}`, () => {
    assert.equal(parseJson(Buffer.from(text)) !== null, isAccepted);
  });
}

test('a longer list is accepted where the caller expects one', () => {
  const body = Buffer.from(`{"keys":[${'"a",'.repeat(100_000)}"a"]}`);
  assert.equal(parseJson(body), null);
  assert.equal(parseJson(body, 400_000)?.keys.length, 100_001);
});

test('brackets in strings neither hide the depth of a value nor add to it', () => {
  const hidden = `${'["]\\"]",'.repeat(5000)}1${']'.repeat(5000)}`;
  assert.ok(JSON.parse(hidden));
  assert.equal(parseJson(Buffer.from(`{"a":${hidden}}`)), null);
  assert.equal(parseJson(Buffer.from(`{"a":"${']'.repeat(5000)}","b":${nested(5000)}}`)), null);
  const text = '["{\\'.repeat(2000);
  assert.deepEqual(parseJson(Buffer.from(JSON.stringify({ text }))), { text });
});
