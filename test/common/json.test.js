import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../src/common/json.js';

/** @param {number} levels */
const nested = (levels) => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);

test('a value is nested at most 1,000 deep, whatever its length', () => {
  assert.deepEqual(Object.keys(parseJson(nested(999)) ?? {}), ['a']);
  for (const levels of [1000, 20_000, 4_000_000]) assert.equal(parseJson(nested(levels)), null);
  assert.equal(parseJson(Buffer.from('[')), null);
  const wide = Buffer.from(`{"a":[${'{},[],'.repeat(5000)}1]}`);
  assert.equal(parseJson(wide)?.a.length, 10_001);
});
