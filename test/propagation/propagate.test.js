import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftBehind } from '../../src/propagation/propagate.js';

const REVOKED = /** @type {const} */ ({ left: 'revoked' });
const VALID = /** @type {const} */ ({ left: 'valid' });
const NONE = /** @type {const} */ ({ left: 'none' });

/** @type {[string, Parameters<typeof leftBehind>[0], RegExp][]} */
const LEFT = [
  ['nothing was issued: nothing is said', [NONE, NONE], /^$/],
  ['one', [REVOKED, NONE], /^One revoked certificate stays in storage .* until it expires\.$/],
  ['several', [REVOKED, REVOKED, REVOKED], /^3 revoked certificates stay in storage .* until they expire\.$/],
  ['one that could not be revoked', [REVOKED, VALID], /until it expires\. 1 more could not be revoked/],
];

for (const [what, rows, text] of LEFT) {
  test(`what stays behind: ${what}`, () => assert.match(leftBehind(rows), text));
}
