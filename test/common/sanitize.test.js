import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError, quote } from '../../src/common/errors.js';
import {
  findToken,
  jsonPieces,
  redactToken,
  sanitizeData,
  sanitizeText,
  withoutSecrets,
} from '../../src/common/sanitize.js';

/** @type {[string, string, string][]} what, in, out */
const TABLE = [
  ['plain text, accents, other scripts and emoji', 'Zürich 東京 عربي 👩‍🔧', 'Zürich 東京 عربي 👩‍🔧'],
  ['a terminal escape', '\u001b]0;X\u0007\u001b[31mred', '\\u{1b}]0;X\\u{7}\\u{1b}[31mred'],
  ['line breaks, tabs, DEL', 'a\r\n\tb\u007f', 'a\\u{d}\\u{a}\\u{9}b\\u{7f}'],
  ['C1 controls: CSI and string terminator', '\u009b31m\u009c', '\\u{9b}31m\\u{9c}'],
  ['bidirectional controls', 'a\u202eb\u2066c\u2069\u200f', 'a\\u{202e}b\\u{2066}c\\u{2069}\\u{200f}'],
  ['line and paragraph separators', 'a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
  ['commands of Azure Pipelines', 'a ##vso[task.setvariable]x', 'a \\u{23}#vso[task.setvariable]x'],
  ['commands of TeamCity', '##teamcity[buildStop]', '\\u{23}#teamcity[buildStop]'],
  ['commands of GitHub', '##[error]x ::error::x', '\\u{23}#[error]x \\u{3a}:error::x'],
  ['headings', '## a [b] ##', '## a [b] ##'],
];
for (const [what, given, expected] of TABLE) {
  test(`sanitizeText: ${what}`, () => assert.equal(sanitizeText(given), expected));
}

test('JSON output has no CI log commands, and parses to the same value', () => {
  const value = { 'a::b': '##vso[task.complete]', b: ' ::error::x', c: '##teamcity[x]' };
  const shown = [...jsonPieces(value)].join('');
  assert.deepEqual(JSON.parse(shown), value);
  assert.doesNotMatch(shown, /##|\s::/);
});

test('JSON comes in short pieces, with the text of JSON.stringify', () => {
  const text = fc.stringMatching(/^[a-z"\\ ]*$/);
  const values = [text, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)];
  fc.assert(
    fc.property(fc.object({ key: text, values, maxDepth: 4 }), (value) => {
      assert.equal([...jsonPieces(value)].join(''), `${JSON.stringify(value, null, 2)}\n`);
    }),
  );
  const rows = Array.from({ length: 5000 }, (_, second) => ({ second, failures: {}, none: undefined }));
  const pieces = [...jsonPieces({ rows, none: undefined })];
  assert.equal(pieces.join(''), `${JSON.stringify({ rows }, null, 2)}\n`);
  assert.ok(pieces.length > 5 && pieces.every(({ length }) => length < 40_000));
});

test('sanitizeData does not copy safe data', () => {
  const given = {
    rows: [{ n: 1, none: null }, { n: 2 }],
    names: { 'a\u0007': ['b\u001b', true] },
  };
  const shown = sanitizeData(given);
  assert.deepEqual(shown, {
    rows: [{ n: 1, none: null }, { n: 2 }],
    names: { 'a\\u{7}': ['b\\u{1b}', true] },
  });
  assert.equal(shown.rows, given.rows);
  assert.equal(given.names['a\u0007'][0], 'b\u001b');
});

describe('tokens in use', () => {
  for (const token of ['', 'tok-1234', 'tok-1234-longer', 'root', 'vault-pki', 'requests'])
    redactToken(token);

  /** @type {[string, string, string][]} what, in, out */
  const HIDDEN = [
    ['wherever they stand', 'atok-1234b tok-1234', 'a<redacted>b <redacted>'],
    ['longer ones first', 'tok-1234-longer', '<redacted>'],
    ['short ones are not secret', 'root', 'root'],
    ["nor is the tool's own name", 'vault-pki-load', 'vault-pki-load'],
  ];
  for (const [what, given, expected] of HIDDEN) {
    test(`are redacted: ${what}`, () => {
      assert.equal(sanitizeText(given), expected);
      assert.deepEqual(JSON.parse([...jsonPieces({ [given]: [given] })].join('')), {
        [expected]: [expected],
      });
      const error = new PkiLoadError('code', given, { remedy: given });
      assert.deepEqual([error.message, error.remedy, quote(given)], [expected, expected, `"${expected}"`]);
    });
  }

  test('keys stay, so that reports find them', () => {
    assert.deepEqual(sanitizeData({ requests: 'requests' }), { requests: '<redacted>' });
    assert.deepEqual([...jsonPieces({ requests: 'requests' })], ['{\n  "requests": "<redacted>"\n}\n']);
  });

  test('are found within longer text, short ones only as the whole text', () => {
    const texts = ['x tok-1234', 'root', 'the root', 'none', ''];
    assert.deepEqual(
      texts.map((text) => findToken(text, true)),
      [2, 0, -1, -1, -1],
    );
    assert.equal(findToken('root', false), -1);
  });
});

test('errors contain no token, even one that is not in use, and no key', () => {
  const token = 'hvs.CAESIJ1234567890abcdefghij';
  assert.equal(
    new PkiLoadError('code', `VAULT_SKIP_VERIFY is "${token}".`).message,
    'VAULT_SKIP_VERIFY is "<redacted>".',
  );
});

test('legacy tokens are redacted wherever they stand in a sentence, host names and file names are not', () => {
  const token = `s.${'Ab3d'.repeat(6)}`;
  for (const around of [
    `${token}.`,
    `on ${token}. Use another.`,
    `"${token}"`,
    `${token}...`,
    `--x=${token}`,
  ])
    assert.ok(!withoutSecrets(around).includes(token), around);
  for (const name of [
    'https://vault-b.production-eu-central.example:8200',
    'out/r.2026-11-28-nightly-run.json',
  ])
    assert.equal(withoutSecrets(name), name);
});
