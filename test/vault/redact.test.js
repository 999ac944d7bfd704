import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactToken } from '../../src/common/sanitize.js';
import { redact } from '../../src/vault/redact.js';

/** @type {[string, string, string][]} what, in, out */
const table = [
  ['a service token', 'bad hvs.CAESIG23EveE8NwqEVdmQLb250HdA3wI here', 'bad <redacted> here'],
  ['a batch token', 'hvb.AAAAAQIwYTgm0cQE7_OI8HByvnCTEvJ6', '<redacted>'],
  ['a legacy token', 'token s.Wf2l4hO0z0sD5wP0a1b2c3d4', 'token <redacted>'],
  [
    'a private key',
    'x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y',
    'x <redacted> y',
  ],
  ['half a private key', 'x -----BEGIN PRIVATE KEY-----\nMIIE', 'x <redacted>'],
  ['an exact secret', 'it was swordfish, swordfish', 'it was <redacted>, <redacted>'],
  ['a token too short to be a secret', 'the root of root', 'the root of root'],
  ['terminal escapes and line breaks', 'a\u001b[31mb\r\n\tc\u0000', 'a\\u{1b}[31mb c\\u{0}'],
  ['right-to-left text', 'a\u202eb', 'a\\u{202e}b'],
  ['a host name with short labels', 'host s.example.com', 'host s.example.com'],
];
redactToken('swordfish');
redactToken('root');
for (const [what, given, expected] of table) {
  test(`redact: ${what}`, () => assert.equal(redact(given), expected));
}

test('redact: at most 300 characters', () => {
  for (const text of ['x', '\u0007', 'x ']) assert.equal(redact(text.repeat(9999)).length, 300);
});
