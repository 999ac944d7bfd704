/** Every document in the formats that people read: what it says, and that it is text. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { renderDocument, reporters } from '../../src/report/index.js';
import { kindOf } from '../../src/result/document.js';
import { allDocuments } from './documents.js';
import { HARD_RESULTS } from './hard-results.js';
import { assertMarkdown } from './markdown-document.js';
import { PHRASES } from './phrases.js';

/** One of each kind, for a person to read. `UPDATE_GOLDEN=1` writes them anew: look at the difference before committing it. */
const GOLDEN = [
  'requirement-not-met',
  'compare-slower',
  'run-set',
  'propagation-cluster',
  'scenario-runs',
  'search',
];

/** @param {string} text @returns {string} its words, without what a format adds to them */
function words(text) {
  return text.replace(/[\\*`|]/g, '').replace(/\s+/g, ' ');
}

const DOCUMENTS = await allDocuments();

for (const [name, document] of Object.entries({ ...DOCUMENTS, ...HARD_RESULTS })) {
  describe(name, () => {
    for (const [format, extension] of [
      ['text', 'txt'],
      ['md', 'md'],
    ]) {
      test(`as ${format}`, async () => {
        const text = await renderDocument(format, document);
        assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}|\u202e|NaN|undefined|Infinity|\[object/u);
        assert.match(text, /[^\n]\n$/);
        if (format === 'text') for (const line of text.split('\n')) assert.ok(stringWidth(line) <= 80, line);
        else assertMarkdown(text);
        for (const phrase of (PHRASES[name] ?? '').trim().split(/\n\s*/)) {
          assert.ok(words(text).includes(words(phrase)), `${phrase}\n is not in\n${text}`);
        }
        if (!GOLDEN.includes(name)) return;
        const file = new URL(`golden/${name}.${extension}`, import.meta.url);
        if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
        assert.equal(text, readFileSync(file, 'utf8'));
      });
    }

    test('as a page: unique ids, one h1, no skipped heading level, no missing figure', async () => {
      const html = await renderDocument('html', document);
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length);
      assert.match(html, /^<!DOCTYPE html>\n<html lang="en">[\s\S]*<\/html>\n$/);
      const main = html.slice(html.indexOf('<body>'), html.indexOf('</main>'));
      assert.doesNotMatch(main, /NaN|undefined|Infinity|\[object|(?!\n)\p{Cc}|\u202e/u);
      assert.doesNotMatch(html, /<b(?:>|&gt;)/);
      const levels = [...html.matchAll(/<h([1-6])>/g)].map(([, level]) => Number(level));
      for (const [i, level] of levels.entries()) {
        assert.ok(i === 0 ? level === 1 : level > 1 && level <= levels[i - 1] + 1, `${levels}`);
      }
    });

    test('as JSON is unchanged', async () => {
      const json = JSON.parse(await renderDocument('json', document));
      assert.equal(JSON.stringify(json), JSON.stringify(document));
    });
  });
}

test('the Markdown report of a result begins with the answer', async () => {
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    if (kindOf(document) !== 'result') continue;
    const text = await renderDocument('md', document);
    assert.match(text, /^## (?:Invalid measurement|Met|Not met|Not proven|[\d.,e-]+\/s = )/, name);
  }
});

for (const name of Object.keys(DOCUMENTS).filter((one) => one.endsWith('hostile'))) {
  test(`no format of ${name} contains a control character or a script`, async () => {
    for (const [format, { kinds }] of Object.entries(reporters)) {
      if (format === 'json' || !kinds.includes(kindOf(DOCUMENTS[name]))) continue;
      const text = await renderDocument(format, DOCUMENTS[name]);
      assert.doesNotMatch(text.replaceAll('\r\n', '\n').replaceAll('\n', ''), /\p{Cc}|\u202e/u, format);
      if (format !== 'html') continue;
      assert.doesNotMatch(text, /<script/);
      assert.match(text, /&lt;b&gt;/, 'the name is there, as text');
    }
  });
}

const GREEN = '\u001b[32m';

/** @type {[string, string[], string?][]} document, what is painted, and one of them with its colour */
const PAINTED = [
  ['requirement-not-met', ['not met', 'not proven']],
  ['compare-slower', ['failed', 'passed', 'passed', ...Array(9).fill('slower')], `${GREEN}passed`],
  ['run-set', ['not met', ...Array(10).fill('valid')]],
  ['propagation-cluster', ['met', 'not met', 'met', 'met'], `${GREEN}met`],
  ['scenario-stages', ['met', 'not met', 'met', 'not met']],
];

for (const [name, expected, one = ''] of PAINTED) {
  test(`colour only adds escape sequences to verdicts: ${name}`, async () => {
    const coloured = await renderDocument('text', DOCUMENTS[name], { color: true });
    assert.equal(stripVTControlCharacters(coloured), await renderDocument('text', DOCUMENTS[name]));
    const painted = [...coloured.matchAll(/\p{Cc}\[\d+m([^\p{Cc}]+)\p{Cc}\[39m/gu)].map(([, text]) => text);
    assert.deepEqual(painted, expected);
    assert.ok(coloured.includes(one));
  });
}
