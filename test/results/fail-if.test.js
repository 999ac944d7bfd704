import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/errors.js';
import { judgeFailIf, parseFailIf } from '../../src/results/fail-if.js';

/** @typedef {import('../../src/results/comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('../../src/results/comparison-schema.js').Difference} Difference */

describe('what must not be is read', () => {
  /** @type {[string, {metric: string, direction: 1 | -1, least: number | null}][]} */
  const TABLE = [
    ['p99 slower by 10%', { metric: 'p99', direction: 1, least: 10 }],
    ['p99 slower', { metric: 'p99', direction: 1, least: null }],
    ['rate lower by 5%', { metric: 'rate', direction: -1, least: 5 }],
    ['errors higher by 0.1%', { metric: 'errors', direction: 1, least: 0.1 }],
    ['errors higher by .1 %', { metric: 'errors', direction: 1, least: 0.1 }],
    ['  P99   Slower  BY  10 % ', { metric: 'p99', direction: 1, least: 10 }],
    ['mean faster', { metric: 'mean', direction: -1, least: null }],
    ['median slower by 250%', { metric: 'p50', direction: 1, least: 250 }],
    ['p50 slower', { metric: 'p50', direction: 1, least: null }],
    ['p95 higher', { metric: 'p95', direction: 1, least: null }],
    ['p99.9 slower', { metric: 'p999', direction: 1, least: null }],
    ['p999 slower', { metric: 'p999', direction: 1, least: null }],
    ['max worse', { metric: 'max', direction: 1, least: null }],
    ['min better', { metric: 'min', direction: -1, least: null }],
    ['p99 service slower by 2%', { metric: 'serviceP99', direction: 1, least: 2 }],
    ['p99(service) slower', { metric: 'serviceP99', direction: 1, least: null }],
    ['service p99 slower', { metric: 'serviceP99', direction: 1, least: null }],
    ['rate worse', { metric: 'rate', direction: -1, least: null }],
    ['rate better', { metric: 'rate', direction: 1, least: null }],
    ['errors worse by 100%', { metric: 'errors', direction: 1, least: 100 }],
    ['errors better', { metric: 'errors', direction: -1, least: null }],
    ['p99 faster by 100%', { metric: 'p99', direction: -1, least: 100 }],
  ];
  for (const [text, expected] of TABLE) {
    test(JSON.stringify(text), () => {
      const { text: source, ...rest } = parseFailIf(text);
      assert.deepEqual(rest, expected);
      assert.equal(source, text.trim().replace(/\s+/g, ' '));
    });
  }
});

describe('what cannot be judged is refused', () => {
  /** @type {[string, RegExp][]} */
  const TABLE = [
    ['', /it is empty/],
    ['   ', /it is empty/],
    ['p99', /does not say slower, faster, higher, lower, worse or better/],
    ['p99 10%', /does not say slower/],
    ['p99slower', /does not say slower/],
    ['slower by 10%', /does not begin with what to compare \(mean, p50/],
    ['p98 slower', /"p98" is not mean, p50/],
    ['latency slower', /"latency" is not mean/],
    ['__proto__ slower', /"__proto__" is not mean/],
    ['constructor worse', /"constructor" is not mean/],
    ['rate slower', /times are slower; say rate higher or rate lower/],
    ['errors faster', /times are faster; say errors higher or errors lower/],
    ['p99 slower 10%', /"10%" is not "by" and a percentage such as by 10%/],
    ['p99 slower than 10%', /"than 10%" is not "by"/],
    ['p99 slower by', /after "by" comes no percentage/],
    ['p99 slower by 10', /"10" has no unit; say 10%/],
    ['p99 slower by 10ms', /"10ms" is not a percentage such as 10% or 0\.5%/],
    ['p99 slower by -10%', /"-10%" is not a percentage/],
    ['p99 slower by 1e1%', /"1e1%" is not a percentage/],
    ['p99 slower by 10% please', /"10% please" is not a percentage/],
    ['p99 slower by 0%', /a difference of 0% is none; leave "by" out/],
    ['p99 faster by 101%', /nothing can differ so by more than 100%/],
    ['errors higher by 101%', /nothing can differ so by more than 100%/],
  ];
  for (const [text, message] of TABLE) {
    test(JSON.stringify(text), () => {
      assert.throws(
        () => parseFailIf(text),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, 'bad_fail_if');
          assert.match(error.message, /^--fail-if "/);
          assert.match(error.message, message);
          assert.match(error.full, /Examples: 'p99 slower by 10%'/);
          return true;
        },
      );
    });
  }
});

/**
 * @param {Partial<ComparedMetric>} metric
 * @param {Partial<Difference>[]} differences
 * @returns {ComparedMetric}
 */
function compared(metric, differences) {
  return {
    key: 'p99',
    label: 'p99',
    unit: 'ms',
    lowerIsBetter: true,
    differenceIn: 'percent',
    best: null,
    bestMedian: null,
    ...metric,
    comparisons: differences.map((difference, i) => ({
      base: 0,
      other: i + 1,
      differencePercent: 12,
      interval: [9, 15],
      pValue: 0.0001,
      verdict: 'slower',
      text: 'It is so.',
      ...difference,
    })),
  };
}

describe('what must not be is judged', () => {
  /** @type {[string, string, Partial<Difference>, boolean, RegExp][]} */
  const TABLE = [
    ['shown fails', 'p99 slower', {}, true, /^It is so\.$/],
    ['shown and large enough fails', 'p99 slower by 10%', {}, true, /That reaches the limit of 10 %\.$/],
    ['just large enough fails', 'p99 slower by 12%', {}, true, /reaches/],
    [
      'large enough but for rounding fails',
      'p99 slower by 10%',
      { differencePercent: 9.999999999999998 },
      true,
      /reaches/,
    ],
    ['shown, but too small, passes', 'p99 slower by 12.1%', {}, false, /less than the limit of 12\.1 %\.$/],
    [
      'large, but not shown, passes',
      'p99 slower by 10%',
      { differencePercent: 40, pValue: 0.2, verdict: 'no difference shown' },
      false,
      /^It is so\.$/,
    ],
    ['too few runs pass', 'p99 slower', { verdict: 'not enough runs' }, false, /^It is so\.$/],
    ['the other way round passes', 'p99 faster', {}, false, /^It is so\.$/],
    [
      'the other way round fails where that is asked',
      'p99 faster by 10%',
      { verdict: 'faster', differencePercent: -12 },
      true,
      /reaches/,
    ],
    [
      'from a base of 0 anything is enough',
      'p99 slower by 50%',
      { differencePercent: null, interval: null },
      true,
      /The base is 0, of which anything is more than 50 %/,
    ],
  ];
  for (const [why, text, difference, failed, reason] of TABLE) {
    test(why, () => {
      const judged = judgeFailIf(parseFailIf(text), [compared({}, [difference])], ['old', 'new']);
      assert.equal(judged.text, text);
      assert.equal(judged.failed, failed);
      assert.match(judged.reason, reason);
    });
  }

  test('errors by percentage points', () => {
    const metric = compared({ key: 'errors', unit: 'fraction', differenceIn: 'percentage points' }, [
      { differencePercent: 0.1, verdict: 'higher' },
    ]);
    const judged = judgeFailIf(parseFailIf('errors higher by 0.1%'), [metric], ['old', 'new']);
    assert.equal(judged.failed, true);
    assert.match(judged.reason, /limit of 0\.1 points/);
  });

  test('a rate that falls is worse', () => {
    const metric = compared({ key: 'rate', label: 'rate', unit: '/s', lowerIsBetter: false }, [
      { differencePercent: -6, verdict: 'lower' },
    ]);
    const judge = (/** @type {string} */ text) =>
      judgeFailIf(parseFailIf(text), [metric], ['old', 'new']).failed;
    assert.deepEqual(['rate lower by 5%', 'rate worse', 'rate higher'].map(judge), [true, true, false]);
  });

  test('of several groups one is enough, and is named', () => {
    const metric = compared({}, [{ verdict: 'faster', differencePercent: -9 }, {}]);
    const judged = judgeFailIf(parseFailIf('p99 slower'), [metric], ['old', 'new', 'newer']);
    assert.deepEqual(judged, { text: 'p99 slower', failed: true, reason: 'newer: It is so.' });
  });
});
