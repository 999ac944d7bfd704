import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { render as markdownOfComparison } from '../../src/reporters/comparison-markdown.js';
import { worthOf } from '../../src/reporters/comparison-phrases.js';
import { render as textOfComparison } from '../../src/reporters/comparison-text.js';
import { render as pageOfComparison } from '../../src/reporters/html/comparison.js';
import { render as pageOfRunSet } from '../../src/reporters/html/run-set.js';
import { targetsPhrase } from '../../src/reporters/run-phrases.js';
import { COMPARISONS, RUN_SETS } from './documents.js';

test('what is best, and what only has the best median, is marked', () => {
  const text = textOfComparison(COMPARISONS['compare-many-groups']);
  assert.match(text, /^\* best: better than every other, which is shown$/m);
  assert.match(text, /^p99 .*\*/m);
  assert.match(markdownOfComparison(COMPARISONS['compare-many-groups']), /\*\* \(best\)/);
});

describe('pages', () => {
  for (const [name, comparison] of Object.entries(COMPARISONS)) {
    test(`${name} has a chart and its data for every metric`, () => {
      const html = pageOfComparison(comparison);
      for (const i of comparison.metrics.keys()) assert.ok(html.includes(`id="metric-${i}"`), `metric-${i}`);
    });
  }

  test('say what was compared: operation and load, and of each run its file, target, time and verdict', () => {
    const html = pageOfComparison(COMPARISONS['compare-left-out']);
    assert.ok(html.includes('<p>Of ocsp, open loop at 20/s, 20 s.</p>'));
    const row = /<tr><th scope="row">run-5\.json<\/th><td>new<\/td><td>2026-01-02 06:29<\/td>.*<\/tr>/.exec(
      html,
    );
    assert.match(String(row), /http:\/\/127\.0\.0\.1:8200 \(Vault 1\.21\.1\)/);
    assert.match(
      String(row),
      /invalid<\/strong>.*left out: its measurement is invalid: Requests went out late/,
    );
  });

  test('of groups that were not alike say of each what it was', () => {
    const html = pageOfComparison(COMPARISONS['compare-warnings']);
    assert.match(html, /ocsp, open loop at 20\/s, 20 s; on http/);
    assert.match(html, /ocsp, open loop at 50\/s, 20 s; on http/);
  });

  test('say when they were made and by what command, escaped', () => {
    const html = pageOfComparison(COMPARISONS['compare-slower']);
    assert.match(html, /2026-02-03 04:05 UTC, vault-pki-load compare old-1\.json --with new-1\.json/);
  });

  test('of errors call nothing better that is not', () => {
    const html = pageOfComparison(COMPARISONS['compare-errors']);
    assert.match(html, /class="badge unsure">.*not comparable<\/strong> mean, p50/);
    assert.match(html, /class="badge unsure">.*not proven<\/strong> p99 slower by 10%/);
    assert.doesNotMatch(html, /faster<\/strong>/);
  });

  for (const [name, runSet] of Object.entries(RUN_SETS)) {
    test(`${name} says of every run what it measured`, () => {
      const html = pageOfRunSet(runSet);
      for (const i of runSet.runs.keys()) assert.ok(html.includes(`run ${i + 1}`), `run ${i + 1}`);
    });
  }
});

describe('targets are told as', () => {
  const at = (/** @type {number} */ port, /** @type {string | null} */ product = 'Vault') => ({
    target: { url: `http://a:${port}`, product, version: product === null ? null : '1.21.1' },
  });
  /** @type {[string, Parameters<typeof targetsPhrase>[0], string][]} */
  const TABLE = [
    ['one that all have, once', [at(1), at(1)], 'http://a:1 (Vault 1.21.1)'],
    ['two, both', [at(1), at(2), at(1)], 'http://a:1 (Vault 1.21.1), http://a:2 (Vault 1.21.1)'],
    ['more, by how many they are', [at(1), at(2), at(3)], 'Vault 1.21.1 at 3 addresses'],
    ['more that did not say what they are', [at(1, null), at(2, null), at(3, null)], '3 addresses'],
    [
      'two products at one address',
      [at(1), at(1, 'OpenBao')],
      'http://a:1 (Vault 1.21.1), http://a:1 (OpenBao 1.21.1)',
    ],
  ];
  for (const [why, runs, expected] of TABLE) {
    test(why, () => assert.equal(targetsPhrase(runs), expected));
  }
});

describe('worth of a verdict', () => {
  /** @type {[Parameters<typeof worthOf>[1], boolean, ReturnType<typeof worthOf>][]} verdict, lower is better, worth */
  const TABLE = [
    ['slower', true, 'bad'],
    ['faster', true, 'good'],
    ['higher', true, 'bad'],
    ['lower', true, 'good'],
    ['higher', false, 'good'],
    ['lower', false, 'bad'],
    ['no difference shown', true, 'none'],
    ['not enough runs', false, 'unsure'],
    ['not comparable', true, 'unsure'],
  ];
  for (const [verdict, lowerIsBetter, worth] of TABLE) {
    test(`${verdict}, where ${lowerIsBetter ? 'lower' : 'higher'} is better: ${worth}`, () => {
      assert.equal(worthOf({ lowerIsBetter }, verdict), worth);
    });
  }
});
