/** Failing fast is not responding fast: comparisons of groups with different errors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finding } from '../../src/report/describe/differences.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { TEN } from './runs.js';
import { START, sampleResult, spread } from './sample.js';
import { metricOf, QUICK, two } from './support.js';

/** @import { NamedRun } from '../../src/result/runs/run-set.js' */

/**
 * @param {object} shape of each run, of 100 requests
 * @param {number[]} shape.failed of them, run by run
 * @param {number} [shape.slow] times as slow where they are answered
 * @param {number} [shape.failMs] how long a failure takes
 * @param {number} [shape.unchecked] of those answered
 * @param {number} [shape.tool] share of errors that may be the tool's
 * @param {number} minute
 * @returns {NamedRun[]}
 */
function runsWith({ failed, slow = 1, failMs = 0.3, unchecked = 0, tool }, minute) {
  return failed.map((count, i) => {
    const factor = TEN[i % TEN.length] * slow;
    const groups = [
      { outcome: 'good', service: spread(100 - count, factor, 10 * factor) },
      {
        outcome: 'refused',
        success: false,
        service: spread(count, failMs, failMs * 1.1 * TEN[i % TEN.length]),
      },
    ];
    const startedAt = new Date(START + (minute + 2 * i) * 60_000).toISOString();
    const had = groups.filter(({ service }) => service.length > 0);
    const { verification, errorShareBar, ...result } = sampleResult(had, { startedAt });
    const bar = tool === undefined ? {} : { errorShareBar: { low: 0, high: 1, tool } };
    return {
      name: `run-${i + 1}.json`,
      result: { ...result, verification: { ...verification, unchecked }, ...bar },
    };
  });
}

/** @param {number} count @param {number} [runs] */
const each = (count, runs = 10) => new Array(runs).fill(count);

/** @typedef {Parameters<typeof runsWith>[0]} Shape */
const FINE = { failed: each(0) };
const REFUSES = { failed: each(100) };
const HALF_FAST = { failed: each(50), slow: 0.5 };
const SOME_SLOW = { failed: each(5), slow: 2 };
const SLOW = { failed: each(0), slow: 2 };
const OWN_ERRORS = { failed: each(20), slow: 0.5 };
const UNCHECKED = { ...FINE, slow: 0.5, unchecked: 40 };
const FEW_RUNS = { failed: [...each(0, 8), 100, 100], slow: 0.5 };

const ALL_FAILED =
  /^p99: not comparable, 0\.\d+ ms and 9\.\d+ ms; all requests of new failed, so there are no response times\.$/;
const MORE = /; new has more errors than old \(50 % and 0 %\), and a fast failure is not a fast response\.$/;
const OF_RUNS = /; all requests of 2 of 10 runs of new failed, and a fast failure is not a fast response\.$/;
const MAY_HAVE =
  /; new may have more errors than old \(40 % and 0 % of their requests are unchecked or were not sent\), and a fast/;
const NO_TIME = /all requests of new failed, so there are no response times/;

/** @type {[string, Shape, Shape, string, RegExp][]} what, the base, the other; verdicts of p99, rate, errors and of the limit; why */
const TABLE = [
  ['refusing everything immediately is not faster', FINE, REFUSES, '? lower higher: not proven', ALL_FAILED],
  ['refusing half is not faster', FINE, HALF_FAST, '? lower higher: not proven', MORE],
  ['fast failures and slow responses', FINE, { failed: each(50) }, '? lower higher: not proven', MORE],
  ['slower with more errors', FINE, SOME_SLOW, 'slower lower higher: failed', /^p99 is [\d.]+ % slower: 19/],
  ['slower than fast failures', HALF_FAST, FINE, '? higher lower: not proven', /; old has more errors than/],
  [
    'faster than a group with more errors',
    SOME_SLOW,
    FINE,
    'faster higher lower: passed',
    /^p99 is .* faster/,
  ],
  ['equal errors', SOME_SLOW, { failed: each(5) }, 'faster same same: passed', /^p99 is .* faster/],
  ['a few runs with only refusals', FINE, FEW_RUNS, '? same same: not proven', OF_RUNS],
  ['unchecked responses may be fast failures', FINE, UNCHECKED, '? same same: not proven', MAY_HAVE],
  ['and hide slow ones', FINE, { ...UNCHECKED, slow: 1 }, '? same same: not proven', MAY_HAVE],
  ['slower with unchecked ones', FINE, { ...UNCHECKED, slow: 2 }, 'slower same same: failed', /^p99 is/],
  [
    'as many in both',
    UNCHECKED,
    { ...UNCHECKED, slow: 0.2 },
    'faster same same: passed',
    /^p99 is .* faster/,
  ],
  ['a few', FINE, { ...UNCHECKED, unchecked: 9 }, 'faster same same: passed', /^p99 is .* faster/],
  [
    'at most as many as the other has for certain',
    { failed: each(45) },
    { ...UNCHECKED, unchecked: 40 },
    'faster higher lower: passed',
    /^p99 is .* faster/,
  ],
  ['single runs', { failed: each(0, 1) }, { failed: each(100, 1) }, '? few few: not proven', NO_TIME],
  [
    'all requests of both groups fail',
    REFUSES,
    { ...REFUSES, failMs: 0.6 },
    '? same same: not proven',
    NO_TIME,
  ],
];
const BRIEF = /** @type {Record<string, string>} */ ({
  'not comparable': '?',
  'no difference shown': 'same',
  'not enough runs': 'few',
});

/** @param {Shape} base @param {Shape} other @param {Parameters<typeof compareGroups>[1]} [options] */
const compare = (base, other, options) =>
  compareGroups(two(runsWith(base, 0), runsWith(other, 1)), { ...QUICK, ...options });

describe('with errors', () => {
  for (const [why, base, other, verdicts, text] of TABLE) {
    test(`${why}: ${verdicts}`, () => {
      const comparison = compare(base, other, { failIf: ['p99 slower'] });
      const [p99, ...others] = ['p99', 'rate', 'errors'].map(
        (key) => metricOf(comparison, key).comparisons[0],
      );
      const told = [p99, ...others].map(({ verdict }) => BRIEF[verdict] ?? verdict);
      assert.equal(`${told.join(' ')}: ${comparison.failIf[0].verdict}`, verdicts);
      assert.match(p99.text, text);
    });
  }

  test('a higher rate with more errors is not better', () => {
    const shorter = runsWith({ failed: each(10) }, 1).map(({ name, result }) => ({
      name,
      result: { ...result, rates: { ...result.rates, perSecond: 9 } },
    }));
    const rate = metricOf(compareGroups(two(runsWith(FINE, 0), shorter), QUICK), 'rate');
    assert.match(
      rate.comparisons[0].text,
      /^Rate: not comparable, 9\/s and 5\/s; new has more errors than old \(10 % and 0 %\), and a rate with more errors is not better\.$/,
    );
    assert.equal(rate.best, null);
  });

  test('a rate has the unchecked responses in its own figures', () => {
    const half = runsWith(FINE, 1).map(({ name, result }) => ({
      name,
      result: { ...result, rates: { ...result.rates, perSecond: 2 } },
    }));
    const unchecked = runsWith({ ...FINE, unchecked: 40 }, 0);
    const comparison = compareGroups(two(unchecked, half), { ...QUICK, failIf: ['rate lower by 5%'] });
    assert.equal(comparison.failIf[0].verdict, 'failed');
    assert.deepEqual([metricOf(comparison, 'rate').best, metricOf(comparison, 'p99').best], [0, null]);
    assert.deepEqual(comparison.warnings, [
      'No time of old is called better: old may have more errors than new (40 % and 0 % of their requests are unchecked or were not sent).',
    ]);
  });

  test('unchecked responses that are more in some runs only by chance count as equal', () => {
    const some = (/** @type {number} */ count, /** @type {number} */ minute) =>
      runsWith(FINE, minute).map(({ name, result }, i) => ({
        name,
        result: { ...result, verification: { ...result.verification, unchecked: i < count ? 30 : 0 } },
      }));
    const [p99] = metricOf(compareGroups(two(some(6, 0), some(4, 1)), QUICK), 'p99').comparisons;
    assert.equal(p99.verdict, 'no difference shown');
  });

  test('errors in fewer than half of the runs are told as means, also by the finding', () => {
    const comparison = compare({ failed: each(0, 12) }, { failed: [...each(0, 7), ...each(30, 5)] });
    assert.deepEqual(comparison.warnings, [
      'No time or rate of new is called better: new has more errors than old (12.5 % and 0 % on average).',
    ]);
    assert.equal(
      finding(comparison, 1),
      'new has 12.5 points more errors than old (errors 12.5 % instead of 0 % on average), at 95 % confidence.',
    );
  });

  test('warns once for each group', () => {
    const { warnings, notes } = compare(FINE, { failed: each(50) });
    assert.deepEqual(warnings, [
      'No time or rate of new is called better: new has more errors than old (50 % and 0 %).',
    ]);
    assert.ok(notes.some((note) => /failing fast is not responding fast/.test(note)));
  });
});

describe('best is', () => {
  /** @type {[string, Shape[], number | null][]} of p99, by what is shown and by the median */
  const CONTESTS = [
    ['never a group that refuses everything', [FINE, REFUSES, SLOW], 0],
    ['never a group with more errors', [FINE, { failed: each(20), slow: 0.5 }], null],
    ['the group without errors if it is also faster', [FINE, SOME_SLOW], 0],
    [
      "no group if the errors of a faster one may be the tool's",
      [FINE, { ...OWN_ERRORS, tool: 0.2 }, SLOW],
      null,
    ],
    ['the other group if some of them are not', [FINE, { ...OWN_ERRORS, tool: 0.1 }, SLOW], 0],
    [
      "no group if the runs of a faster one that failed as a whole are the tool's",
      [FINE, { ...FEW_RUNS, tool: 1 }, SLOW],
      null,
    ],
    ['the other group if they are not', [FINE, FEW_RUNS, SLOW], 0],
    ['no group if a faster one has unchecked responses', [FINE, UNCHECKED, SLOW], null],
    ['no group if all fail', [REFUSES, REFUSES], null],
  ];
  for (const [why, shapes, expected] of CONTESTS) {
    test(why, () => {
      const groups = shapes.map((shape, i) => ({ name: `g${i}`, runs: runsWith(shape, i * 100) }));
      const { best, bestMedian } = metricOf(compareGroups(groups, QUICK), 'p99');
      assert.deepEqual([best, bestMedian], [expected, expected]);
    });
  }
});
