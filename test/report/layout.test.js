import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { sanitizeText } from '../../src/common/sanitize.js';
import { labelled, table, WIDTH, wrap } from '../../src/report/layout.js';

const FAMILY = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

/** @type {[string, string, number, string[]][]} */
const WRAPPED = [
  ['at spaces', 'one two three', 8, ['one two', 'three']],
  ['a word longer than the line', 'a bbbbbb cc', 4, ['a', 'bbbb', 'bb', 'cc']],
  ['a word that just fits', 'aaaa bbbb', 4, ['aaaa', 'bbbb']],
  ['an empty text', '', 8, ['']],
  ['without changing spaces', 'a  b', 8, ['a  b']],
  ['characters two columns wide', '\u4e16\u754c\u4e16\u754c', 5, ['\u4e16\u754c', '\u4e16\u754c']],
  ['without splitting an emoji', 'aaa\u{1f600}b', 4, ['aaa', '\u{1f600}b']],
  ['without splitting a joined emoji', `aaa${FAMILY}`, 4, ['aaa', FAMILY]],
  ['without splitting a letter from its accents', 'aaae\u0301b', 4, ['aaae\u0301', 'b']],
  ['a lone surrogate as an escape', 'a\ud83d b', 8, ['a\\u{d83d', '} b']],
];

for (const [what, text, width, lines] of WRAPPED) {
  test(`wraps ${what}`, () => assert.deepEqual(wrap(text, width), lines));
}

test('a line break does not make a log command of the rest of a word', () => {
  // Marks without a width: the command may be long, and still fit.
  const command = `::set-output name=a,b=${'\u034f'.repeat(200)}::c`;
  const lines = wrap(`${'a'.repeat(78)}${command}`, 78);
  assert.ok(lines.length > 1);
  for (const line of lines) assert.doesNotMatch(line, /^\s*::[a-z]/);
});

const mixedText = fc.string({
  unit: fc.constantFrom('\u{1f600}', FAMILY, '\u4e16', 'e\u0301', ' ', 'a', '\ud83d', '\u001b'),
  maxLength: 200,
});

const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), mixedText);

test('lines of arbitrary text fit, keep characters whole and lose only spaces', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 2, max: 100 }), (text, width) => {
      const lines = wrap(text, width);
      for (const line of lines) {
        assert.ok(stringWidth(line) <= width, JSON.stringify(line));
        assert.doesNotMatch(line, /\p{Cs}/u);
      }
      assert.equal(lines.join('').replaceAll(' ', ''), sanitizeText(text).replaceAll(' ', ''));
    }),
  );
});

test('figures are right-aligned, whatever the first column contains', () => {
  fc.assert(
    fc.property(fc.array(mixedText, { minLength: 1, maxLength: 5 }), (names) => {
      const [heading, ...lines] = table([
        ['Outcomes', 'count', 'p99'],
        ...names.map((name) => [name, '12', '3.4 ms']),
      ]).flat();
      const ends = lines.filter((line) => line.endsWith('12  3.4 ms'));
      assert.equal(ends.length, names.length);
      for (const line of ends) assert.equal(stringWidth(line), stringWidth(heading));
    }),
  );
});

test('texts after labels are left-aligned', () => {
  for (const label of ['Rate', '\u901f\u5ea6', '\u{1f600}', 'e\u0301']) {
    const [line] = labelled(label, 'x');
    assert.equal(stringWidth(line), 15, label);
  }
  assert.deepEqual(labelled('\u901f'.repeat(7), 'x'), ['\u901f'.repeat(7), `${' '.repeat(14)}x`]);
});

test('lines fit the page width', () => {
  const name = '\u4e16'.repeat(60);
  for (const line of [
    ...labelled('Target', name),
    ...table([
      ['a', 'b'],
      [name, '1'],
    ]).flat(),
  ]) {
    assert.ok(stringWidth(line) <= WIDTH, line);
  }
});
