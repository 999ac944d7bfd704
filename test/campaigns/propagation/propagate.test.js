import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeLeft } from '../../../src/campaigns/propagation/propagate.js';

const REVOKED = /** @type {const} */ ({ left: 'revoked' });
const VALID = /** @type {const} */ ({ left: 'valid' });
const UNKNOWN = /** @type {const} */ ({ left: 'unknown' });
const NONE = /** @type {const} */ ({ left: 'none' });

/** @type {[string, Parameters<typeof describeLeft>[0], string][]} */
const LEFT = [
  ['nothing was issued: no text', [NONE, NONE], ''],
  ['one', [REVOKED, NONE], '1 revoked, in storage and on the CRL'],
  ['several', [REVOKED, REVOKED, REVOKED], '3 revoked, in storage and on the CRL'],
  [
    'one that could not be revoked',
    [REVOKED, VALID],
    '1 revoked, in storage and on the CRL; 1 not revoked, as the call failed',
  ],
  ['only those', [VALID, VALID], '2 not revoked, as the call failed'],
  [
    'calls without a good response',
    [VALID, UNKNOWN, UNKNOWN],
    '1 not revoked, as the call failed; 2 possibly issued, as the call got no valid response',
  ],
];

for (const [what, rows, text] of LEFT) {
  const whole = text && `Certificates left on the server until expiry: ${text}.`;
  test(`describeLeft: ${what}`, () => assert.equal(describeLeft(rows), whole));
}
