import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../src/common/json.js';

/** @param {number} levels */
const nested = (levels) => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);

test('a value nested more than 1,000 deep is rejected, whatever its length', () => {
  assert.deepEqual(Object.keys(parseJson(nested(999)) ?? {}), ['a']);
  for (const levels of [1000, 20_000, 4_000_000]) assert.equal(parseJson(nested(levels)), null);
  assert.equal(parseJson(Buffer.from('[')), null);
  const wide = Buffer.from(`{"a":[${'{},[],'.repeat(5000)}1]}`);
  assert.equal(parseJson(wide)?.a.length, 10_001);
});

test('brackets in strings neither hide the depth of a value nor add to it', () => {
  const hidden = `${'["]\\"]",'.repeat(5000)}1${']'.repeat(5000)}`;
  assert.ok(JSON.parse(hidden));
  assert.equal(parseJson(Buffer.from(`{"a":${hidden}}`)), null);
  assert.equal(parseJson(Buffer.from(`{"a":"${']'.repeat(5000)}","b":${nested(5000)}}`)), null);
  const text = '["{\\'.repeat(2000);
  assert.deepEqual(parseJson(Buffer.from(JSON.stringify({ text }))), { text });
});
