import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finding, toneOf } from '../../../src/report/describe/differences.js';
import { targetsPhrase } from '../../../src/report/describe/runs.js';
import { renderDocument } from '../../../src/report/index.js';
import { COMPARISONS } from '../documents.js';

/** @import { Difference } from '../../../src/result/comparison/comparison-schema.js' */

/** @type {[string, string, RegExp][]} */
const FINDINGS = [
  [
    'a difference, with its size and confidence',
    'compare-slower',
    /^new is 10\.0 % slower than old \(p99 10\.9 ms instead of 9\.93 ms\), at 95 % confidence\.$/,
  ],
  [
    'no difference, with its possible size',
    'compare-nothing',
    /^No difference is shown between new and old: p99 may differ by -1\.\d+ to \+1\.\d+ %\.$/,
  ],
  ['too few runs', 'compare-few-runs', /^Too few runs to show a difference between new and old\.$/],
  ['errors, if times are not comparable', 'compare-errors', /^down has 100 points more errors than old \(/],
];

for (const [what, name, pattern] of FINDINGS) {
  test(`the finding comes first: ${what}`, async () => {
    assert.match(finding(COMPARISONS[name], 1), pattern);
    const text = await renderDocument('text', COMPARISONS[name]);
    assert.ok(text.replace(/\s+/g, ' ').startsWith(` ${finding(COMPARISONS[name], 1)}`), text);
  });
}

test('a large difference is a factor', () => {
  const [metric] = COMPARISONS['compare-slower'].metrics.filter(({ key }) => key === 'p99');
  const [difference] = metric.comparisons;
  const slower = { ...metric, comparisons: [{ ...difference, differencePercent: 450 }] };
  const found = finding({ ...COMPARISONS['compare-slower'], metrics: [slower] }, 1);
  assert.match(found, /^new is 5\.5 times slower than old /);
});

/** @type {[string, Partial<Record<string, Difference['verdict']>>, number, boolean][]} verdicts by metric, p-value */
const CHANCES = [
  ['one metric of ten at p 0.03', { p99: 'slower' }, 0.03, true],
  ['two of ten', { p99: 'slower', mean: 'slower' }, 0.03, true],
  [
    'two of ten, and one in the opposite direction',
    { p99: 'slower', mean: 'slower', max: 'faster' },
    0.03,
    true,
  ],
  [
    'three of ten at 0.03, the lowest p of 4 and 4 runs',
    { p50: 'slower', mean: 'slower', rate: 'lower' },
    0.03,
    false,
  ],
  ['one whose p-value times ten is still below 0.05', { p99: 'slower' }, 0.004, false],
  ['errors', { errors: 'higher' }, 0.03, false],
];

for (const [what, verdicts, pValue, isDoubtful] of CHANCES) {
  test(`a difference ${isDoubtful ? 'may be' : 'is not called'} chance: ${what}`, () => {
    const base = COMPARISONS['compare-slower'];
    const metrics = base.metrics.map((metric) => {
      const [difference] = metric.comparisons;
      const verdict = verdicts[metric.key];
      const found = {
        verdict: verdict ?? 'no difference shown',
        pValue: verdict === undefined ? 0.5 : pValue,
      };
      return { ...metric, comparisons: [{ ...difference, ...found }] };
    });
    const found = finding({ ...base, metrics }, 1);
    assert.match(
      found,
      isDoubtful
        ? /, but of 10 metrics only p99.* differs?: this may be chance; more runs are needed\.$/
        : /, at 95 % confidence\.$/,
    );
  });
}

test('no size is given for times that are not comparable', () => {
  const base = COMPARISONS['compare-nothing'];
  const change = (/** @type {(key: string) => boolean} */ isChanged) => {
    const metrics = base.metrics.map((metric) => {
      const [difference] = metric.comparisons;
      /** @type {Difference['verdict']} */
      const verdict = isChanged(metric.key) ? 'not comparable' : difference.verdict;
      return { ...metric, comparisons: [{ ...difference, verdict }] };
    });
    return finding({ ...base, metrics }, 1);
  };
  assert.equal(
    change(() => true),
    'No difference is shown between new and old.',
  );
  const found = change((key) => key === 'p99');
  assert.match(found, /^No difference is shown between new and old: p50 may differ by /);
});

test('marks only the group shown to be best', async () => {
  const text = await renderDocument('text', COMPARISONS['compare-many-groups']);
  assert.match(text, /^\* best: shown to be better than every other group$/m);
  assert.match(text, /^p99 .*\*/m);
  assert.match(await renderDocument('md', COMPARISONS['compare-many-groups']), /\*\*[\d.]+ ms \\\*\*\*/);
});

test('groups with different loads are distinguished by their load', async () => {
  const text = (await renderDocument('text', COMPARISONS['compare-warnings'])).replace(/\s+/g, ' ');
  assert.match(text, /ocsp, open loop at 20\/s, 20 s; on http/);
  assert.match(text, /ocsp, open loop at 50\/s, 20 s; on http/);
});

describe('targets are described as', () => {
  const at = (/** @type {number} */ port, /** @type {string | null} */ product = 'Vault') => ({
    target: { url: `http://a:${port}`, product, version: product === null ? null : '1.21.1' },
  });
  /** @type {[string, Parameters<typeof targetsPhrase>[0], string][]} */
  const TABLE = [
    ['one shared target, once', [at(1), at(1)], 'http://a:1 (Vault 1.21.1)'],
    ['both of two targets', [at(1), at(2), at(1)], 'http://a:1 (Vault 1.21.1), http://a:2 (Vault 1.21.1)'],
    ['the number of more targets', [at(1), at(2), at(3)], 'Vault 1.21.1 at 3 addresses'],
    ['the number of more unknown targets', [at(1, null), at(2, null), at(3, null)], '3 addresses'],
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

describe('tone of a verdict', () => {
  /** @type {[Parameters<typeof toneOf>[1], boolean, ReturnType<typeof toneOf>][]} verdict, lower is better, worth */
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
      assert.equal(toneOf({ lowerIsBetter }, verdict), worth);
    });
  }
});
