/** Every document in the formats that people read: what it says, and that it is text. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import { renderDocument, reporters } from '../../src/reporters/index.js';
import { allDocuments } from './documents.js';
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

for (const [name, document] of Object.entries(await allDocuments())) {
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
        for (const phrase of (PHRASES[name] ?? '').trim().split(/\n\s*/)) {
          assert.ok(words(text).includes(words(phrase)), `${phrase}\n is not in\n${text}`);
        }
        if (!GOLDEN.includes(name)) return;
        const file = new URL(`golden/${name}.${extension}`, import.meta.url);
        if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
        assert.equal(text, readFileSync(file, 'utf8'));
      });
    }

    test('as a page: well-formed ids and headings, and no figure that is none', async () => {
      const html = await renderDocument('html', document);
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length);
      const main = html.slice(html.indexOf('<body>'), html.indexOf('</main>'));
      assert.doesNotMatch(main, /NaN|undefined|Infinity|\[object|(?!\n)\p{Cc}|\u202e/u);
      const levels = [...html.matchAll(/<h([1-6])>/g)].map(([, level]) => Number(level));
      for (const [i, level] of levels.entries())
        assert.ok(i === 0 || level <= levels[i - 1] + 1, `${levels}`);
    });

    test('as JSON is what it is', async () => {
      assert.deepEqual(
        JSON.parse(await renderDocument('json', document)),
        JSON.parse(JSON.stringify(document)),
      );
    });
  });
}

test('no format lets a control character through', async () => {
  const hostile = (await allDocuments()).hostile;
  for (const format of Object.keys(reporters).filter((name) => name !== 'json')) {
    const text = await renderDocument(format, hostile);
    assert.doesNotMatch(text.replaceAll('\r\n', '\n').replaceAll('\n', ''), /\p{Cc}|\u202e/u, format);
  }
});
