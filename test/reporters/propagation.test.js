import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { renderDocument } from '../../src/reporters/index.js';
import { PROPAGATIONS } from './documents.js';
import { readJunit } from './junit-document.js';

for (const [name, sample] of Object.entries(PROPAGATIONS)) {
  test(`${name}: 80 columns of text; nothing drives a terminal, or is markup in a page`, async () => {
    const text = await renderDocument('text', sample);
    for (const line of text.split('\n')) assert.ok(stringWidth(line) <= 80, line);
    const html = await renderDocument('html', sample);
    const csv = await renderDocument('csv', sample);
    for (const one of [text, csv, await renderDocument('md', sample)]) assert.ok(!one.includes('\u001b'));
    assert.doesNotMatch(html, /<b>/);
    const levels = [...html.matchAll(/<h([1-6])>/g)].map(([, level]) => Number(level));
    assert.ok(
      levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1),
      `${levels}`,
    );
  });
}

test('JUnit: requirements, the measurement, and that it was interrupted', async () => {
  const { suites } = readJunit(await renderDocument('junit', PROPAGATIONS['propagation-troubled']));
  assert.deepEqual(
    suites[0].cases.map(({ name, problems }) => [
      name,
      ...problems.map(({ kind, type }) => `${kind}: ${type}`),
    ]),
    [
      ['p99<2s', 'failure: not met'],
      ['errors<50%', 'failure: not met'],
      ['min<1s', 'error: not proven'],
      ['the measurement can be believed', 'failure: invalid'],
      ['it is whole', 'error: interrupted'],
    ],
  );
});

test('colour is that of verdicts', async () => {
  const text = await renderDocument('text', PROPAGATIONS['propagation-cluster'], { color: true });
  assert.ok(text.includes('\u001b[32mmet\u001b[39m'));
});

test('formats that show the result of one run refuse it', async () => {
  for (const format of ['hlog', 'hgrm', 'prom']) {
    await assert.rejects(renderDocument(format, PROPAGATIONS['propagation-cluster']), {
      code: 'cannot_report',
      message: /^A measurement of propagation cannot be written as \./,
    });
  }
});
