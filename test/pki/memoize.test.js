import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoize } from '../../src/pki/memoize.js';

test('keeps the latest results, of so many keys, and of keys that are not too long in all', () => {
  for (const [length, kept] of [
    [10, 3],
    [700_000, 2],
    [2_000_000, 0],
  ]) {
    const made = /** @type {string[]} */ ([]);
    const get = memoize(
      3,
      (key) => {
        made.push(key[0]);
        return key[0];
      },
      1_500_000,
    );
    const ask = (/** @type {string} */ letters) => {
      for (const letter of letters) assert.equal(get(letter.repeat(length)), letter);
      return made.splice(0).join('');
    };
    assert.equal(ask('abcde'), 'abcde');
    assert.equal(ask('edc'), 'edc'.slice(kept));
  }
});
