import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sanitizeText } from '../../src/common/sanitize.js';
import { code, codeCell, escapeMarkdown, markdownTable } from '../../src/report/markdown.js';
import { cellsOf, PUNCTUATION } from './markdown-document.js';

/** @param {string} markdown @returns {string} as it is read, without the marks that keep links away */
function asRead(markdown) {
  return markdown.replace(PUNCTUATION, '$1').replaceAll('\u200b', '');
}

const anything = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('`', '|', '\\', '*', '_', '<', '&', '[', '~', '$', 'a', ' ') }),
);

describe('untrusted text', () => {
  test('stays readable', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const plain = sanitizeText(text).replaceAll('\u200b', '');
        assert.equal(asRead(escapeMarkdown(plain)), plain);
      }),
    );
  });

  test('has its markup escaped', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const bare = escapeMarkdown(text).replace(PUNCTUATION, '');
        assert.doesNotMatch(bare, /[`*_[\]<>|~&$#\\]/);
      }),
    );
  });

  /** @type {[string, string, string][]} */
  const TABLE = [
    ['HTML', '<img src=x onerror=1>', '\\<img src=x onerror=1\\>'],
    ['a mention', 'by @team', 'by @\u200bteam'],
    ['an issue', 'see #12', 'see \\#\u200b12'],
    ['an issue by its other name', 'GH-26', 'GH-\u200b26'],
    ['an address', 'http://a.example', 'http\\://a.example'],
    ['an address without a scheme', 'www.a.example', 'www\\.a.example'],
    ['a list', '- x', '\\- x'],
    ['a numbered list', '1. x', '1\\. x'],
    ['a number', '1.25 ms', '1.25 ms'],
    ['a formula', '$x$', '\\$x\\$'],
    ['an entity', '&lt;', '\\&lt;'],
    ['control characters', 'a\u001b[2J\nb', 'a\\\\u{1b}\\[2J\\\\u{a}b'],
  ];
  for (const [what, text, expected] of TABLE) {
    test(`${what} stays text`, () => assert.equal(escapeMarkdown(text), expected));
  }

  test('stays in its table cell', () => {
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        const cells = [escapeMarkdown(a), codeCell(b), 'end'];
        const [, , row] = markdownTable(['a', 'b', 'c'], [cells], [true, true, false]).split('\n');
        const found = cellsOf(row);
        assert.equal(found.length, 3, row);
        assert.equal(found[2], 'end');
      }),
    );
  });

  test('as code has a fence longer than any backticks in it', () => {
    assert.equal(code('a'), '`a`');
    assert.equal(code('a`b'), '``a`b``');
    assert.equal(code('`'), '`` ` ``');
    assert.equal(code(' '), '');
    assert.equal(codeCell('a|b'), '`a\\|b`');
    assert.equal(codeCell('a\\|b'), 'a\\\\\\|b');
  });
});
