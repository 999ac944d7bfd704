/** Searches in every form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderDocument } from '../../src/report/index.js';
import { parseDocument } from '../../src/results/read-document.js';
import { explain } from '../../src/results/search/explain.js';
import { generatorSearch, samplePeak, sampleSearch } from '../search/sample.js';
import { SEARCHES } from './documents.js';

/** @param {string} html */
const mainOf = (html) => String(/<main>[\s\S]*<\/main>/.exec(html));

test('JSON of a search is read back', async () => {
  const search = await sampleSearch();
  const text = await renderDocument('json', search);
  assert.deepEqual(parseDocument(Buffer.from(text), 's.json'), JSON.parse(JSON.stringify(search)));
});

test('a page: the answer in its heading, the knee with the limit and the answer, a data table, every step', async () => {
  const search = await sampleSearch();
  const html = await renderDocument('html', search);
  const level = Number(search.answer?.level);
  assert.match(html, new RegExp(`<h1>Highest rate: ${level}/s = `));
  const [, times] = /<figure id="knee">([\s\S]*?)<\/figure>/.exec(html) ?? [];
  const levels = new Set(search.steps.map((step) => step.level)).size;
  const [, wide] = /<svg class="chart wide"([\s\S]*?)<\/svg>/.exec(times) ?? [];
  assert.equal(wide.match(/<circle class="dot s1"/g)?.length, levels);
  assert.equal(wide.match(/<circle class="dot s2"/g)?.length, levels);
  assert.match(wide, /class="line s6 limit"/);
  assert.match(wide, /class="line s3 limit"/);
  assert.equal(times.match(/<th scope="row"/g)?.length, levels);
  assert.match(html, /<figure id="knee-errors">/);
  assert.equal(
    html.match(/(?:coarse|bisection|confirmation)(?:, again)?<\/th>/g)?.length,
    search.steps.length,
  );
  assert.doesNotMatch(mainOf(html), /NaN|Infinity|undefined/);
});

test('an answer that the tool put an end to is told as a lower bound in the first line, passes no case, and is no green one', async () => {
  const search = await generatorSearch();
  assert.equal(search.why, 'generator');
  assert.match(
    search.explanation,
    /could not honestly offer .*: the target may take more\. Sends were 9 ms late\./,
  );
  const lead = /unknown, but at least \d+(?:\.\d)?\/s = .* an hour: the tool could not\s+offer\s+more/;
  assert.match(await renderDocument('text', search), lead);
  assert.match(await renderDocument('md', search), lead);
  assert.match(await renderDocument('html', search), /<h1>Highest rate: unknown, but at least /);
  assert.match(await renderDocument('junit', search), /tests="2" failures="0" errors="2"/);
});

test('a page of a closed loop draws what more in flight brings', async () => {
  const html = await renderDocument('html', await samplePeak());
  assert.match(html, /<h1>Peak throughput: 600\/s with 12 in flight<\/h1>/);
  assert.match(html, /600\/s at most; 12 in flight came within 5 % of it\./);
  assert.match(html, /<figure id="knee-throughput">/);
  assert.doesNotMatch(mainOf(html), /NaN|Infinity|undefined/);
});

/** @type {[string, 'not met' | 'not proven', RegExp][]} */
const BEYOND = [
  ['was not reached', 'not met', /failures="1" errors="0"/],
  ['was not proven', 'not proven', /failures="0" errors="1"/],
];

for (const [what, verdict, counts] of BEYOND) {
  test(`a rate that the run at the peak ${what} is called ${verdict}, in a page and as a test case`, async () => {
    const peak = await samplePeak();
    const required = { text: 'rate>=600/s', limit: 600, unit: /** @type {const} */ ('/s') };
    const judged = { ...required, actual: 598, verdict, reason: 'So.' };
    const search = {
      ...peak,
      requirements: [{ ...required, beyond: /** @type {const} */ (true) }],
      confirmation: { .../** @type {any} */ (peak.confirmation), requirements: [judged] },
    };
    const [, list] =
      /Required, at the answer<\/h2>([\s\S]*?)<\/ul>/.exec(mainOf(await renderDocument('html', search))) ??
      [];
    assert.match(list, new RegExp(`${verdict}</strong> rate&gt;=600/s`));
    const junit = await renderDocument('junit', search);
    assert.match(junit, counts);
    assert.match(junit, new RegExp(`type="${verdict}"`));
  });
}

for (const format of ['text', 'md', 'junit', 'html']) {
  test(`${format}: a requirement of one operation of a mix names it once`, async () => {
    const peak = await samplePeak();
    const required = {
      ...{ text: 'reads: rate>=600/s', operation: 'reads', limit: 600 },
      ...{ unit: /** @type {const} */ ('/s'), beyond: /** @type {const} */ (true) },
    };
    const mixed = { ...peak, requirements: [required] };
    const told = await renderDocument(format, { ...mixed, explanation: explain(mixed) });
    const texts = told.match(/reads: rate(?:>|&gt;|\\>)=600\/s/g) ?? [];
    assert.ok(texts.length >= 2, told);
    assert.doesNotMatch(told, /of reads|reads: reads/);
  });
}

test('a page without an error, and one without a step', async () => {
  assert.match(await renderDocument('html', await sampleSearch({ highest: 80 })), /No request failed/);
  const none = await renderDocument('html', await SEARCHES['search-none']());
  assert.match(none, /<h1>Highest rate: none was confirmed<\/h1>/);
  assert.doesNotMatch(mainOf(none), /<figure|NaN|Infinity|undefined/);
});
