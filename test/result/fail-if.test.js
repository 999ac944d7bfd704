import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeFailIf, parseFailIf } from '../../src/result/comparison/fail-if.js';
import { refusal } from './support.js';

/** @import { ComparedMetric, Difference } from '../../src/result/comparison/comparison-schema.js' */
/** @import { FailIfVerdict } from '../../src/result/comparison/comparison-schema.js' */
/** @import { JudgedGroup } from '../../src/result/comparison/fail-if.js' */

describe('parses a rule', () => {
  /** @type {[string, {metric: string, direction: 1 | -1, min: number | null}][]} */
  const TABLE = [
    ['p99 slower by 10%', { metric: 'p99', direction: 1, min: 10 }],
    ['p99 slower', { metric: 'p99', direction: 1, min: null }],
    ['rate lower by 5%', { metric: 'rate', direction: -1, min: 5 }],
    ['errors higher by 0.1%', { metric: 'errors', direction: 1, min: 0.1 }],
    ['errors higher by .1 %', { metric: 'errors', direction: 1, min: 0.1 }],
    ['  P99   Slower  BY  10 % ', { metric: 'p99', direction: 1, min: 10 }],
    ['mean faster', { metric: 'mean', direction: -1, min: null }],
    ['median slower by 250%', { metric: 'p50', direction: 1, min: 250 }],
    ['p50 slower', { metric: 'p50', direction: 1, min: null }],
    ['p90 slower', { metric: 'p90', direction: 1, min: null }],
    ['p95 higher', { metric: 'p95', direction: 1, min: null }],
    ['p99.9 slower', { metric: 'p999', direction: 1, min: null }],
    ['p999 slower', { metric: 'p999', direction: 1, min: null }],
    ['max worse', { metric: 'max', direction: 1, min: null }],
    ['min better', { metric: 'min', direction: -1, min: null }],
    ['p99 service slower by 2%', { metric: 'serviceP99', direction: 1, min: 2 }],
    ['p99(service) slower', { metric: 'serviceP99', direction: 1, min: null }],
    ['service p99 slower', { metric: 'serviceP99', direction: 1, min: null }],
    ['rate worse', { metric: 'rate', direction: -1, min: null }],
    ['rate better', { metric: 'rate', direction: 1, min: null }],
    ['errors worse by 100%', { metric: 'errors', direction: 1, min: 100 }],
    ['errors better', { metric: 'errors', direction: -1, min: null }],
    ['p99 faster by 100%', { metric: 'p99', direction: -1, min: 100 }],
  ];
  for (const [text, expected] of TABLE) {
    test(JSON.stringify(text), () => {
      const { text: source, ...rest } = parseFailIf(text);
      assert.deepEqual(rest, expected);
      assert.equal(source, text.trim().replace(/\s+/g, ' '));
    });
  }
});

describe('rejects an invalid rule', () => {
  /** @type {[string, RegExp][]} */
  const TABLE = [
    ['', /it is empty/],
    ['   ', /it is empty/],
    ['p99', /needs one of slower, faster, higher, lower, worse, better/],
    ['p99 10%', /needs one of slower/],
    ['p99slower', /needs one of slower/],
    ['slower by 10%', /does not begin with a metric \(mean, p50/],
    ['p98 slower', /"p98" is not a metric; use mean, p50/],
    ['latency slower', /"latency" is not a metric; use mean/],
    ['__proto__ slower', /"__proto__" is not a metric; use mean/],
    ['constructor worse', /"constructor" is not a metric; use mean/],
    ['rate slower', /only times can be slower; use "rate higher" or "rate lower"/],
    ['errors faster', /only times can be faster; use "errors higher" or "errors lower"/],
    ['p99 slower 10%', /"10%" is not a limit such as "by 10%"/],
    ['p99 slower than 10%', /"than 10%" is not a limit/],
    ['p99 slower by', /"by" is not a limit/],
    ['p99 slower by 10', /"by 10" is not a limit such as "by 10%"/],
    ['p99 slower by 10ms', /"by 10ms" is not a limit such as "by 10%" or "by 0\.5%"/],
    ['p99 slower by -10%', /"by -10%" is not a limit/],
    ['p99 slower by 1e1%', /"by 1e1%" is not a limit/],
    ['p99 slower by 10% please', /"by 10% please" is not a limit/],
    ['p99 slower by 0%', /0% is no difference; omit "by"/],
    ['p99 faster by 101%', /the limit cannot be more than 100%/],
    ['errors higher by 101%', /the limit cannot be more than 100%/],
  ];
  for (const [text, message] of TABLE) {
    test(JSON.stringify(text), () => {
      const because = refusal('bad_fail_if', /^--fail-if "/, message, /Examples: 'p99 slower by 10%'/);
      assert.throws(() => parseFailIf(text), because);
    });
  }
});

/** @param {Partial<ComparedMetric>} metric @param {Partial<Difference>[]} differences @returns {ComparedMetric} */
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
      doubt: null,
      text: 'It is so.',
      ...difference,
    })),
  };
}

/** @param {string} name @param {number} [used] @param {number} [all] @returns {JudgedGroup} */
const group = (name, used = 10, all = used) => ({
  name,
  runs: Array.from({ length: all }, (_, i) => ({ used: i < used, why: null })),
  metrics: {},
});

const TWO = [group('old'), group('new')];
const NONE = /** @type {const} */ ({ verdict: 'no difference shown', differencePercent: 0 });
const SLOWER = /** @type {const} */ ({ verdict: 'slower', differencePercent: 12 });
const TOO_FEW = /** @type {const} */ ({ verdict: 'not enough runs' });
const FASTER = /** @type {const} */ ({ verdict: 'faster', differencePercent: -12 });
const FROM_ZERO = { differencePercent: null, interval: null };
const SO = /^It is so\.$/;

/** @param {string} text @param {ComparedMetric} metric @param {JudgedGroup[]} groups @param {string | null} whyMore */
const judge = (text, metric, groups = TWO, whyMore = null) =>
  judgeFailIf(parseFailIf(text), [metric], { groups, bias: { whyMore: () => whyMore } });

/** @param {string} text @param {Partial<Difference>[]} differences */
const judgeP99 = (text, differences, groups = TWO) => judge(text, compared({}, differences), groups);

describe('judges a rule', () => {
  /** @type {[string, string, Partial<Difference>, FailIfVerdict, RegExp?][]} */
  const TABLE = [
    ['a shown difference fails', 'p99 slower', {}, 'failed'],
    [
      'a large enough difference fails',
      'p99 slower by 10%',
      {},
      'failed',
      /That reaches the limit of 10 %\.$/,
    ],
    ['a barely large enough difference fails', 'p99 slower by 12%', {}, 'failed', /reaches/],
    [
      'a difference short of the limit by rounding fails',
      'p99 slower by 10%',
      { differencePercent: 9.999999999999998 },
      'failed',
      /reaches/,
    ],
    [
      'a difference below the limit passes',
      'p99 slower by 12.1%',
      {},
      'passed',
      /less than the limit of 12\.1 %\.$/,
    ],
    [
      'a difference that is not shown passes',
      'p99 slower by 10%',
      { ...NONE, differencePercent: 40, pValue: 0.2 },
      'passed',
    ],
    ['too few runs prove nothing', 'p99 slower', TOO_FEW, 'not proven'],
    [
      'too few runs prove nothing against a limit',
      'p99 slower by 50%',
      { ...TOO_FEW, differencePercent: 0 },
      'not proven',
    ],
    [
      'a difference that may be lateness of the tool is not proven',
      'p99 slower by 10%',
      { ...NONE, possible: [SLOWER, NONE] },
      'not proven',
    ],
    [
      'a difference that lateness of the tool may hide is not proven',
      'p99 slower by 50%',
      { ...NONE, possible: [NONE, { ...SLOWER, differencePercent: 290 }] },
      'not proven',
    ],
    [
      'one that it may hide passes if it does not reach the limit',
      'p99 slower by 50%',
      { ...NONE, possible: [NONE, SLOWER] },
      'passed',
    ],
    [
      'a difference that may partly be lateness of the tool is not proven',
      'p99 slower by 10%',
      { possible: [SLOWER, { ...SLOWER, differencePercent: 4 }] },
      'not proven',
      /The tool's possible part in it decides whether it reaches the limit of 10 %/,
    ],
    [
      'a difference below the limit that may be more is not proven',
      'p99 slower by 20%',
      { possible: [SLOWER, { ...SLOWER, differencePercent: 305 }] },
      'not proven',
      /decides whether it reaches the limit of 20 %/,
    ],
    [
      'a difference that reaches the limit in any case fails',
      'p99 slower by 10%',
      { possible: [SLOWER, { ...SLOWER, differencePercent: 11 }] },
      'failed',
      /reaches/,
    ],
    [
      'times of failures prove nothing',
      'p99 slower',
      { verdict: 'not comparable', differencePercent: -97 },
      'not proven',
    ],
    ['a difference in the other direction passes', 'p99 faster', {}, 'passed'],
    ['a difference in the direction of the rule fails', 'p99 faster by 10%', FASTER, 'failed', /reaches/],
    [
      'any difference from 0 is enough',
      'p99 slower by 50%',
      FROM_ZERO,
      'failed',
      / is 0, so any .* than 50 %/,
    ],
  ];
  for (const [why, text, difference, verdict, reason = SO] of TABLE) {
    test(why, () => {
      const judged = judgeP99(text, [difference]);
      assert.deepEqual([judged.text, judged.verdict], [text, verdict]);
      assert.match(judged.reason, reason);
    });
  }

  test('judges errors by percentage points', () => {
    const head = /** @type {const} */ ({
      key: 'errors',
      unit: 'fraction',
      differenceIn: 'percentage points',
    });
    const metric = compared(head, [{ differencePercent: 0.1, verdict: 'higher' }]);
    const judged = judge('errors higher by 0.1%', metric);
    assert.equal(judged.verdict, 'failed');
    assert.match(judged.reason, /limit of 0\.1 points/);
  });

  test('a lower rate is worse', () => {
    const head = /** @type {const} */ ({ key: 'rate', label: 'rate', unit: '/s', lowerIsBetter: false });
    const metric = compared(head, [{ differencePercent: -6, verdict: 'lower' }]);
    const verdicts = ['rate lower by 5%', 'rate worse', 'rate higher'].map(
      (text) => judge(text, metric).verdict,
    );
    assert.deepEqual(verdicts, ['failed', 'failed', 'passed']);
  });

  /** @type {[string, Partial<Difference>[], FailIfVerdict, string][]} */
  const SEVERAL = [
    ['one failing group is enough, and is named', [FASTER, {}], 'failed', 'newer: It is so.'],
    ['failed outranks not proven', [{}, TOO_FEW], 'failed', 'new: It is so.'],
    ['not proven outranks passed', [{ verdict: 'not comparable' }, FASTER], 'not proven', 'new: It is so.'],
    ['if all pass, all are listed', [FASTER, NONE], 'passed', 'new: It is so. newer: It is so.'],
  ];
  for (const [why, differences, verdict, reason] of SEVERAL) {
    test(`several groups: ${why}`, () => {
      const judged = judgeP99('p99 slower', differences, [...TWO, group('newer')]);
      assert.deepEqual(judged, { text: 'p99 slower', verdict, reason });
    });
  }
});

test('no rule passes on invalid or incomplete runs, even if allowed; rules can still fail', () => {
  const { name, runs, metrics } = group('new');
  const taken = {
    name,
    metrics,
    runs: runs.map((run, i) => (i < 2 ? { ...run, why: 'it was cut off' } : run)),
  };
  assert.equal(judgeP99('p99 slower', [{}], [group('old'), taken]).verdict, 'failed');
  const { verdict, reason } = judgeP99('p99 slower', [NONE], [group('old'), taken]);
  assert.equal(verdict, 'not proven');
  assert.equal(
    reason,
    'It is so. But 2 of 10 runs of new are invalid or incomplete, and no rule passes on such runs.',
  );
});

test('a time below the limit proves nothing if more requests failed than in the base; one that reaches it still fails', () => {
  const [slower, why] = [compared({}, [SLOWER]), 'new has more errors than old (5 % and 0 %)'];
  assert.equal(judge('p99 slower by 10%', slower, TWO, why).verdict, 'failed');
  assert.equal(judge('p99 faster', slower, TWO, why).verdict, 'passed');
  const { verdict, reason } = judge('p99 slower by 20%', slower, TWO, why);
  assert.equal(verdict, 'not proven');
  assert.match(reason, /20 %\. But new has more errors than old .*, and a failure may have ended before/);
  const rate = compared({ key: 'rate', unit: '/s', lowerIsBetter: false }, [NONE]);
  assert.equal(judge('rate lower by 5%', rate, TWO, why).verdict, 'passed');
});

describe('more errors in some runs, too few to be shown,', () => {
  const [SAME, FAST, LONG] = [
    [100, 101, 102, 103],
    [10, 11, 12, 150],
    [10, 11, 12, 99],
  ];
  const SOME = [0.02, 0.02, 0.02, 0];
  /** @type {[string, number[], number[], number[], (number | null)[], FailIfVerdict][]} errors and p99 of the base, and of the other */
  const TABLE = [
    ['decide if they may hide a slower time', [0, 0, 0, 0], SAME, SOME, FAST, 'not proven'],
    ['do not if the others are not slower', [0, 0, 0, 0], SAME, SOME, LONG, 'passed'],
    ['do not if they are in one run', [0, 0, 0, 0], SAME, [0.02, 0, 0, 0], [10, 102, 103, 104], 'passed'],
    ['do not if there are none', [0, 0, 0, 0], SAME, [0, 0, 0, 0], FAST, 'passed'],
    ['do not if the base has as many', [0.02, 0.02, 0.02, 0.02], SAME, SOME, FAST, 'passed'],
    ['do not if they are few', [0, 0, 0, 0], SAME, [0.0009, 0.0009, 0.0009, 0], FAST, 'passed'],
    ['count also in the base', [0, 0, 0.02, 0.02], SAME, SOME, FAST, 'passed'],
    [
      'decide also if a run has no times',
      [0, 0, 0, 0],
      SAME,
      [1, 0.02, 0.02, 0],
      [null, 11, 12, 150],
      'not proven',
    ],
  ];
  for (const [what, baseErrors, baseP99, errors, p99, verdict] of TABLE) {
    test(what, () => {
      /** @param {(number | null)[]} values */
      const summary = (values) => ({ values, median: 0.5, mean: 0.5 });
      const groups = [
        { ...group('old'), metrics: { errors: summary(baseErrors), p99: summary(baseP99) } },
        { ...group('new'), metrics: { errors: summary(errors), p99: summary(p99) } },
      ];
      const judged = judgeP99('p99 slower by 10%', [NONE], groups);
      assert.equal(judged.verdict, verdict);
      if (verdict === 'passed') return;
      assert.match(
        judged.reason,
        /But 3 of 4 runs of new have more errors than old \(0 %\), and a failure may/,
      );
      assert.equal(judgeP99('p99 faster by 10%', [NONE], groups).verdict, 'passed');
    });
  }
});

test('few more failures than requests above a percentile leave it where it is', () => {
  const why = 'new has more errors than old';
  /** @param {string} key @param {number} mean @param {number[]} [unknown] */
  const verdictOf = (key, mean, unknown = []) => {
    const metric = compared({ key }, [SLOWER]);
    const errors = (/** @type {number} */ share) => ({ errors: { median: share, mean: share, unknown } });
    const groups = TWO.map((one, i) => ({ ...one, metrics: errors(i * mean) }));
    return judge(`${key} slower by 20%`, metric, groups, why).verdict;
  };
  const seen = [
    [verdictOf('p50', 0.049), verdictOf('p50', 0.051), verdictOf('p50', 0.01, [0.06, 0.04])],
    [verdictOf('p99', 0.0009), verdictOf('p99', 0.0011)],
    [verdictOf('max', 1e-6), verdictOf('mean', 1e-6), verdictOf('serviceP99', 1e-6)],
  ];
  assert.deepEqual(seen, [
    ['passed', 'not proven', 'not proven'],
    ['passed', 'not proven'],
    ['not proven', 'not proven', 'not proven'],
  ]);
});

describe('a rule that could not have failed does not pass', () => {
  const RATE = /** @type {const} */ ({ key: 'rate', unit: '/s', lowerIsBetter: false });
  const ERRORS = /** @type {const} */ ({ key: 'errors', unit: 'fraction' });
  /** @type {[string, Partial<ComparedMetric>, number | null, FailIfVerdict, number?][]} rule, metric, median of the base; its mean, if another */
  const TABLE = [
    ['errors higher', ERRORS, 1, 'not proven'],
    ['errors higher', ERRORS, 0.99, 'passed'],
    ['errors higher by 1%', ERRORS, 0.99, 'passed'],
    ['errors higher by 2%', ERRORS, 0.99, 'not proven'],
    ['errors higher', ERRORS, 0, 'passed'],
    ['errors lower', ERRORS, 0, 'not proven'],
    ['errors lower by 2%', ERRORS, 0.01, 'not proven'],
    ['errors lower by 5%', ERRORS, 0, 'passed', 0.1],
    ['rate lower', RATE, 0, 'not proven'],
    ['rate lower by 100%', RATE, 5, 'passed'],
    ['rate higher', RATE, 0, 'passed'],
    ['p99 slower by 500%', {}, 5, 'passed'],
    ['p99 slower', {}, null, 'passed'],
  ];
  for (const [text, head, median, verdict, mean = median] of TABLE) {
    test(`${text}, from ${mean}: ${verdict}`, () => {
      const metric = compared(head, [NONE]);
      const judged = judge(text, metric, [
        { ...group('old'), metrics: { [metric.key]: { median, mean } } },
        TWO[1],
      ]);
      assert.equal(judged.verdict, verdict);
      assert.equal(/could not have failed\.$/.test(judged.reason), verdict === 'not proven');
    });
  }
});

describe('with runs left out', () => {
  const HALF = /^It is so\. But 5 of 10 runs of new are left out, so the median of all is unknown\.$/;
  /** @type {[string, JudgedGroup[], Partial<Difference>, FailIfVerdict, RegExp][]} */
  const TABLE = [
    [
      'few: they cannot move the median of all outside the rest',
      [group('old'), group('new', 6, 10)],
      NONE,
      'passed',
      SO,
    ],
    ['a few that did not take place', [group('old'), { ...group('new'), missing: 9 }], NONE, 'passed', SO],
    [
      'most did not take place: not proven',
      [group('old'), { ...group('new', 4, 5), missing: 15 }],
      NONE,
      'not proven',
      /But 16 of 20 runs of new are left out or did not take place, so the median of all is unknown\.$/,
    ],
    ['half of a group: not proven', [group('old'), group('new', 5, 10)], NONE, 'not proven', HALF],
    [
      'most of the base: not proven',
      [group('old', 4, 10), group('new')],
      NONE,
      'not proven',
      / 6 of .* of old/,
    ],
    ['half, but the difference is shown: failed', [group('old'), group('new', 4, 10)], {}, 'failed', SO],
  ];
  for (const [why, groups, difference, verdict, reason] of TABLE) {
    test(why, () => {
      const judged = judgeP99('p99 slower', [difference], groups);
      assert.equal(judged.verdict, verdict);
      assert.match(judged.reason, reason);
    });
  }
});
