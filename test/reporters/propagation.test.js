import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import { SCRIPT } from '../../src/reporters/html/script.js';
import { STYLE } from '../../src/reporters/html/style.js';
import { renderDocument } from '../../src/reporters/index.js';
import { clusterSample, revokedRow, sampleOf, troubledSample } from '../propagation/sample.js';
import { readJunit } from './junit-document.js';

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

const HOSTILE = '<b>\u001b[2J| `x` | [y](http://z) "q",';

/** @type {Record<string, import('../../src/results/propagation/propagation-schema.js').Propagation>} */
const SAMPLES = {
  'propagation-cluster': clusterSample(),
  'propagation-troubled': troubledSample(),
  'propagation-before': sampleOf({
    rows: Array.from({ length: 30 }, (_, i) => revokedRow(i + 1, [[0, 8 + i]], 60)),
    require: ['max<1s'],
  }),
  'propagation-nothing': sampleOf({
    rows: [],
    certificates: 5,
    interrupted: true,
    watched: [{ answers: {}, counts: { sent: 0, missed: 0, skipped: 0 } }],
    lags: [],
  }),
  'propagation-hostile': {
    ...sampleOf({
      nodes: [{ url: `http://a/${HOSTILE}`, version: HOSTILE, state: 'performance standby' }],
    }),
    command: HOSTILE,
    target: { url: `http://b/${HOSTILE}`, product: HOSTILE, version: HOSTILE },
    notes: [HOSTILE],
  },
};

/** @type {[string, string, string[]][]} reporter, extension, samples */
const TABLE = [
  ['text', '.txt', Object.keys(SAMPLES)],
  ['md', '.md', Object.keys(SAMPLES)],
  ['html', '.html', ['propagation-cluster', 'propagation-troubled', 'propagation-nothing']],
  ['junit', '.xml', ['propagation-cluster', 'propagation-troubled', 'propagation-hostile']],
  ['csv', '.csv', ['propagation-troubled', 'propagation-hostile']],
];

/** @param {string} html @returns {string} without what is the same in every page */
function withoutAssets(html) {
  return html
    .replace(SCRIPT, '/* script */')
    .replace(STYLE, '/* style */')
    .replaceAll(/'sha256-[^']+'/g, "'sha256-...'");
}

for (const [reporter, extension, names] of TABLE) {
  describe(reporter, () => {
    for (const name of names) {
      test(`of ${name} is what was agreed on`, async () => {
        const text = withoutAssets(await renderDocument(reporter, SAMPLES[name]));
        const file = new URL(`./golden/${name}${extension}`, import.meta.url);
        if (UPDATE) writeFileSync(file, text);
        assert.equal(text, readFileSync(file, 'utf8'));
      });
    }
  });
}

for (const [name, sample] of Object.entries(SAMPLES)) {
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
  const { suites } = readJunit(await renderDocument('junit', SAMPLES['propagation-troubled']));
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
  const text = await renderDocument('text', SAMPLES['propagation-cluster'], { color: true });
  assert.ok(text.includes('\u001b[32mmet\u001b[39m'));
});

test('formats that show the result of one run refuse it', async () => {
  for (const format of ['hlog', 'hgrm', 'prom']) {
    await assert.rejects(renderDocument(format, SAMPLES['propagation-cluster']), {
      code: 'cannot_report',
      message: /^A measurement of propagation cannot be written as \./,
    });
  }
});
