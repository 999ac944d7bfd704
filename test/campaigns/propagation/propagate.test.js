import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeLeft } from '../../../src/campaigns/propagation/propagate.js';

const REVOKED = /** @type {const} */ ({ left: 'revoked' });
const VALID = /** @type {const} */ ({ left: 'valid' });
const UNKNOWN = /** @type {const} */ ({ left: 'unknown' });
const NONE = /** @type {const} */ ({ left: 'none' });

/** @type {[string, Parameters<typeof describeLeft>[0], RegExp][]} */
const LEFT = [
  ['nothing was issued: nothing is said', [NONE, NONE], /^$/],
  ['one', [REVOKED, NONE], /^One revoked certificate stays in storage .* until it expires\.$/],
  ['several', [REVOKED, REVOKED, REVOKED], /^3 revoked certificates stay in storage .* until they expire\.$/],
  [
    'one that could not be revoked',
    [REVOKED, VALID],
    /until it expires\. One certificate could not be revoked, and may be valid until it expires\.$/,
  ],
  ['nothing but those', [VALID, VALID], /^2 certificates could not be revoked, and may be valid until they/],
  ['of which no answer told', [VALID, UNKNOWN], /expires\. One certificate may have been issued all the/],
  ['several of those', [UNKNOWN, NONE, UNKNOWN], /^2 certificates may have been issued all the same/],
];

for (const [what, rows, text] of LEFT) {
  test(`what stays behind: ${what}`, () => assert.match(describeLeft(rows), text));
}
