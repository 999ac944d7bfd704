/** Searches in every form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as describeDocument } from '../../src/report/describe/index.js';
import { renderDocument } from '../../src/report/index.js';
import { parseDocument } from '../../src/result/read-document.js';
import { explain } from '../../src/result/search/explain.js';
import { generatorSearch, samplePeak, sampleSearch } from '../campaigns/search/sample.js';
import { SEARCHES } from './documents.js';

test('the JSON of a search round-trips', async () => {
  const search = await sampleSearch();
  const text = await renderDocument('json', search);
  assert.deepEqual(parseDocument(Buffer.from(text), 's.json'), JSON.parse(JSON.stringify(search)));
});

test('the levels are charts, and every step has a row', async () => {
  const search = await sampleSearch();
  const { title, sections } = await describeDocument(search);
  const parts = sections.flatMap((section) => section.parts);
  assert.match(title, new RegExp(`^The highest rate is ${Number(search.answer?.level)}/s \\(`));
  const count = new Set(search.steps.map((step) => step.level)).size;
  const charts = parts.flatMap((part) => (part.kind === 'chart' ? [/** @type {any} */ (part.data)] : []));
  assert.deepEqual(
    charts.map(({ unit, levels, series }) => [unit, levels.length, series.length]),
    [
      ['ms', count, 2],
      ['fraction', count, 1],
    ],
  );
  assert.deepEqual(charts[0].limits, [{ text: 'p99<100ms', value: 100 }]);
  assert.equal(charts[0].answer.level, search.answer?.level);
  const rows = parts.flatMap((part) => (part.kind === 'table' ? [part.rows.length] : []));
  assert.deepEqual(rows, [search.steps.length]);
});

test('an answer limited by the tool is a lower bound: in the first line, as a test case, and not in green', async () => {
  const search = await generatorSearch();
  assert.equal(search.why, 'generator');
  assert.match(
    search.explanation,
    /could not offer .* as planned: the target may handle more\. Sends were 9 ms late\./,
  );
  const lead = /unknown, but at least \d+(?:\.\d)?\/s \(.* an hour\): the tool\s+could\s+not\s+offer\s+more/;
  assert.match(await renderDocument('text', search), lead);
  assert.match(await renderDocument('md', search), lead);
  assert.match(await renderDocument('html', search), /<h1>The highest rate is unknown, but at least /);
  assert.match(await renderDocument('junit', search), /tests="2" failures="0" errors="2"/);
});

test('without an answer, the title names the highest met level below every failed one', async () => {
  const search = await sampleSearch();
  const [step] = search.steps;
  const steps = [
    [200, 'met'],
    [354, 'not met'],
    [400, 'not met'],
    [400, 'met'],
  ].map(([level, verdict]) => /** @type {typeof step} */ ({ ...step, level, verdict }));
  const { title } = await describeDocument({ ...search, answer: null, why: 'unconfirmed', steps });
  assert.equal(title, 'The highest rate is not confirmed; met up to 200/s');
});

test('a closed-loop search also shows the throughput of each level', async () => {
  const { title, sections } = await describeDocument(await samplePeak());
  assert.equal(title, 'The peak throughput is 600/s with 12 in flight');
  const charts = sections.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'chart' ? [part.title] : [])),
  );
  assert.deepEqual(charts, ['Response times', 'Throughput', 'Errors']);
});

/** @type {[string, 'not met' | 'not proven', RegExp][]} */
const BEYOND = [
  ['did not reach', 'not met', /failures="1" errors="0"/],
  ['did not prove', 'not proven', /failures="0" errors="1"/],
];

for (const [what, verdict, counts] of BEYOND) {
  test(`a rate that the run at the peak ${what} is ${verdict}, in the answer and as a test case`, async () => {
    const peak = await samplePeak();
    const required = { text: 'rate>=600/s', limit: 600, unit: /** @type {const} */ ('/s') };
    const judged = { ...required, actual: 598, verdict, reason: 'So.' };
    const search = {
      ...peak,
      requirements: [{ ...required, beyond: /** @type {const} */ (true) }],
      confirmation: { .../** @type {any} */ (peak.confirmation), requirements: [judged] },
    };
    const text = await renderDocument('text', search);
    assert.match(
      text,
      new RegExp(`^ {2}${verdict} {3}rate>=600/s {3}598/s, 0\\.333 % below the limit$`, 'm'),
    );
    const junit = await renderDocument('junit', search);
    assert.match(junit, counts);
    assert.match(junit, new RegExp(`type="${verdict}"`));
  });
}

for (const format of ['text', 'md', 'junit', 'html']) {
  test(`${format}: a requirement on one operation of a mix names it once`, async () => {
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

test('without steps, there is neither a chart nor a table', async () => {
  const { title, sections } = await describeDocument(await SEARCHES['search-none']());
  assert.equal(title, 'The highest rate is not confirmed');
  const kinds = new Set(sections.flatMap(({ parts }) => parts.map(({ kind }) => kind)));
  assert.deepEqual(kinds, new Set(['sentence', 'facts']));
});
