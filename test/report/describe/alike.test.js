/** Two values that read alike are never held against one another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatLatency } from '../../../src/common/units.js';
import { spanText } from '../../../src/report/describe/bars.js';
import { finding } from '../../../src/report/describe/differences.js';
import { describePropagation } from '../../../src/report/describe/propagation.js';
import { between, levelPhrase, pacePhrase } from '../../../src/report/describe/words.js';
import { revokedRow, sampleOf } from '../../campaigns/propagation/sample.js';
import { openLoad, sampleResult } from '../../result/sample.js';
import { COMPARISONS } from '../documents.js';

/** @import { Difference } from '../../../src/result/comparison/comparison-schema.js' */

/** @param {string} text */
function assertNoTwins(text) {
  assert.doesNotMatch(
    text,
    /(?<![\d.,])([-+]?\d[\d.,]*) ?([^\d ]*) (?:instead of|to|and|of the) \1(?: ?\2)?(?![\d.])/,
  );
  assert.doesNotMatch(text, /within (\S+ \S+) \(p99\), half within \1/);
  assert.doesNotMatch(text, /(?<![\d.])0 (?:%|points) (?:slower|faster|higher|lower|more|fewer)/);
}

const anyMs = fc.double({ min: -3, max: 6, noNaN: true }).map((power) => 10 ** power);

/** A value, and one that is near it or equal. */
const anyPair = fc
  .tuple(
    anyMs,
    fc.oneof(
      fc.constant(0),
      fc.double({ min: -12, max: 0, noNaN: true }).map((power) => 10 ** power),
    ),
  )
  .map(([low, share]) => [low, low * (1 + share)]);

const BASE = COMPARISONS['compare-slower'];

/** @param {number[]} medians @param {Partial<Difference>} change @param {'p99' | 'rate' | 'errors'} key */
function foundWith([before, after], change, key) {
  const groups = BASE.groups.map((group, i) => {
    const median = i === 0 ? before : after;
    const values = group.runs.map(() => median);
    return { ...group, metrics: { ...group.metrics, [key]: { ...group.metrics[key], values, median } } };
  });
  const metrics = BASE.metrics
    .filter((metric) => metric.key === key)
    .map((metric) => ({ ...metric, comparisons: [{ ...metric.comparisons[0], ...change }] }));
  return finding({ ...BASE, groups, metrics }, 1);
}

test('detects duplicates', () => {
  for (const text of [
    'p99 14.8 ms instead of 14.8 ms',
    '+1.2 to +1.2 %',
    'between 3 ms and 3 ms',
    'is 0 % slower',
  ])
    assert.throws(() => assertNoTwins(text), text);
});

test('a finding has no duplicates', () => {
  fc.assert(
    fc.property(
      anyPair,
      anyPair,
      fc.constantFrom('p99', 'rate', 'errors'),
      fc.boolean(),
      (pair, interval, key, isShown) => {
        const differencePercent = 100 * (pair[1] / pair[0] - 1);
        const shown = key === 'p99' ? 'slower' : 'higher';
        const verdict = isShown ? shown : 'no difference shown';
        const ends = /** @type {[number, number]} */ ([interval[0] - 1, interval[1] - 1]);
        assertNoTwins(
          foundWith(pair, { verdict, differencePercent, interval: ends }, /** @type {any} */ (key)),
        );
      },
    ),
  );
  assert.match(
    foundWith([14.81, 14.82], { differencePercent: 0.07 }, 'p99'),
    /is 0\.07 % slower than old \(p99 14\.8 ms in both\)/,
  );
});

test('ranges, stage levels, rates and revocation times have no duplicates', () => {
  fc.assert(
    fc.property(anyPair, ([low, high]) => {
      assertNoTwins(spanText(low, high, formatLatency));
      assertNoTwins(between([low, high], formatLatency));
      for (const model of /** @type {const} */ (['open', 'closed']))
        assertNoTwins(levelPhrase({ model }, low, high));
      const { rates } = sampleResult([]);
      const load = openLoad({ ratePerSecond: high });
      assertNoTwins(pacePhrase({ ...sampleResult([]), load, rates: { ...rates, perSecond: low } }));
      const bounds = [low, high].map((ms) => Math.min(1000, Math.ceil(ms)));
      const rows = bounds.map((upper, i) => revokedRow(i + 1, [[0, upper]], 0));
      assertNoTwins(describePropagation(sampleOf({ rows })).title);
    }),
    { numRuns: 50 },
  );
});
