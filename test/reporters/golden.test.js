import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeHistogram } from '../../src/histogram.js';
import { renderDocument, reporters } from '../../src/reporters/index.js';
import { SAMPLES } from './samples.js';

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

const SOME = ['requirement-not-met', 'only-errors', 'no-samples', 'backlog', 'hostile'];

/**
 * Which samples each reporter is shown with. HTML has golden files of its own. The files of JSON end in `.golden`, so
 * that no formatter takes them for source.
 *
 * @type {[string, string, string[]][]} reporter, extension of its golden files, samples
 */
const TABLE = [
  ['text', '.txt', Object.keys(SAMPLES)],
  ['json', '.json.golden', ['only-errors']],
  ['md', '.md', Object.keys(SAMPLES)],
  ['junit', '.xml', [...SOME, 'staged', 'unfinished', 'closed-loop-issue']],
  ['csv', '.csv', [...SOME, 'staged', 'closed-loop-issue']],
  ['hlog', '.hlog', [...SOME, 'closed-loop-issue']],
  ['hgrm', '.hgrm', [...SOME, 'ten-million', 'one-request']],
  ['prom', '.prom', [...SOME, 'staged', 'unfinished', 'ten-million']],
];

/**
 * How a histogram is compressed may differ from one version of Node to the next: what is in it is compared.
 *
 * @param {string} text
 */
function withoutPayloads(text) {
  return text.replace(/HISTF[A-Za-z0-9+/]+=*/g, (payload) => {
    const { totalCount, maxValue, mean } = decodeHistogram(payload);
    return `<${totalCount} values, mean ${mean.toFixed(3)} us, max ${maxValue} us>`;
  });
}

for (const [reporter, extension, samples] of TABLE) {
  for (const name of samples) {
    test(`${reporter} of ${name} is as agreed`, async () => {
      const file = new URL(`./golden/${name}${extension}`, import.meta.url);
      const text = withoutPayloads(await renderDocument(reporter, SAMPLES[name]));
      if (UPDATE) writeFileSync(file, text);
      assert.equal(text, readFileSync(file, 'utf8'));
    });
  }
}

test('every reporter is in the table, or has golden files elsewhere', () => {
  assert.deepEqual([...TABLE.map(([reporter]) => reporter), 'html'].sort(), Object.keys(reporters).sort());
});

test('no report of text lets a control character through', async () => {
  for (const [reporter] of TABLE.filter(([name]) => name !== 'json')) {
    const text = await renderDocument(reporter, SAMPLES.hostile);
    assert.doesNotMatch(text.replaceAll('\r\n', '\n').replaceAll('\n', ''), /\p{Cc}|\u202e/u, reporter);
  }
});
