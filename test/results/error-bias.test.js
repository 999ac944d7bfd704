/** A target that fails fast is not a fast one: what a comparison says where errors differ. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareGroups } from '../../src/results/comparison/compare.js';
import { TEN } from './runs.js';
import { sampleResult, spread } from './sample.js';
import { QUICK, two } from './support.js';

/** @typedef {import('../../src/results/runs/run-metrics.js').NamedRun} NamedRun */
/** @typedef {import('../../src/results/comparison/comparison-schema.js').DifferenceVerdict} DifferenceVerdict */
/** @typedef {import('../../src/results/comparison/comparison-schema.js').FailIfVerdict} FailIfVerdict */

const START = Date.UTC(2026, 0, 2, 3, 0, 0);

/**
 * @param {object} shape of each run, of 100 requests
 * @param {number[]} shape.failed of them, run by run
 * @param {number} [shape.slow] times as slow where they are answered
 * @param {number} [shape.failMs] how long a failure takes
 * @param {number} minute
 * @returns {NamedRun[]}
 */
function runsWith({ failed, slow = 1, failMs = 0.3 }, minute) {
  return failed.map((count, i) => {
    const factor = TEN[i] * slow;
    const groups = [
      { outcome: 'good', service: spread(100 - count, factor, 10 * factor) },
      { outcome: 'refused', success: false, service: spread(count, failMs, failMs * 1.1 * TEN[i]) },
    ];
    const startedAt = new Date(START + (minute + 2 * i) * 60_000).toISOString();
    return {
      name: `run-${i + 1}.json`,
      result: sampleResult(
        groups.filter(({ service }) => service.length > 0),
        { startedAt },
      ),
    };
  });
}

/** @param {number} count @param {number} [runs] */
const each = (count, runs = 10) => new Array(runs).fill(count);

/** @typedef {Parameters<typeof runsWith>[0]} Shape */
/** @type {[string, Shape, Shape, {p99: DifferenceVerdict, rate: DifferenceVerdict, errors: DifferenceVerdict}, FailIfVerdict, RegExp][]} */
const TABLE = [
  [
    'a target that refuses everything at once is not faster',
    { failed: each(0) },
    { failed: each(100) },
    { p99: 'not comparable', rate: 'lower', errors: 'higher' },
    'not proven',
    /^p99: not comparable, 0\.\d+ ms and 9\.\d+ ms; all requests of new failed, so that there is no time of an answer\.$/,
  ],
  [
    'nor is one that refuses half',
    { failed: each(0) },
    { failed: each(50), slow: 0.5 },
    { p99: 'not comparable', rate: 'lower', errors: 'higher' },
    'not proven',
    /; new has more errors than old \(50 % and 0 %\), and failing fast is not answering fast\.$/,
  ],
  [
    'where fast failures make up for slow answers, no difference is no answer',
    { failed: each(0) },
    { failed: each(50), slow: 1 },
    { p99: 'not comparable', rate: 'lower', errors: 'higher' },
    'not proven',
    /new has more errors than old/,
  ],
  [
    'slower with more errors is slower',
    { failed: each(0) },
    { failed: each(5), slow: 2 },
    { p99: 'slower', rate: 'lower', errors: 'higher' },
    'failed',
    /^p99 is [\d.]+ % slower: 19\.\d ms/,
  ],
  [
    'slower than a base that fails fast is no verdict',
    { failed: each(50), slow: 0.5 },
    { failed: each(0) },
    { p99: 'not comparable', rate: 'higher', errors: 'lower' },
    'not proven',
    /; old has more errors than new \(50 % and 0 %\), and failing fast/,
  ],
  [
    'faster than a base that fails more is faster',
    { failed: each(5), slow: 2 },
    { failed: each(0) },
    { p99: 'faster', rate: 'higher', errors: 'lower' },
    'passed',
    /^p99 is .* faster/,
  ],
  [
    'as many errors on both sides change nothing',
    { failed: each(5), slow: 2 },
    { failed: each(5) },
    { p99: 'faster', rate: 'no difference shown', errors: 'no difference shown' },
    'passed',
    /^p99 is .* faster/,
  ],
  [
    'a few runs of refusals alone are enough to doubt it, shown or not',
    { failed: each(0) },
    { failed: [...each(0, 8), 100, 100], slow: 0.5 },
    { p99: 'not comparable', rate: 'no difference shown', errors: 'no difference shown' },
    'not proven',
    /; all requests of 2 of 10 runs of new failed, and failing fast is not answering fast\.$/,
  ],
  [
    'single runs, one of them of refusals alone',
    { failed: each(0, 1) },
    { failed: each(100, 1) },
    { p99: 'not comparable', rate: 'not enough runs', errors: 'not enough runs' },
    'not proven',
    /all requests of new failed/,
  ],
  [
    'where all fail on both sides, there is nothing to compare',
    { failed: each(100) },
    { failed: each(100), failMs: 0.6 },
    { p99: 'not comparable', rate: 'no difference shown', errors: 'no difference shown' },
    'not proven',
    /all requests of new failed, so that there is no time/,
  ],
];

describe('with errors', () => {
  for (const [why, base, other, verdicts, failIf, text] of TABLE) {
    test(why, () => {
      const comparison = compareGroups(two(runsWith(base, 0), runsWith(other, 1)), {
        ...QUICK,
        failIf: ['p99 slower'],
      });
      const of = (/** @type {string} */ key) =>
        comparison.metrics.flatMap((metric) => (metric.key === key ? metric.comparisons : []))[0];
      const found = { p99: of('p99').verdict, rate: of('rate').verdict, errors: of('errors').verdict };
      assert.deepEqual(found, verdicts);
      assert.match(of('p99').text, text);
      assert.equal(comparison.failIf[0].verdict, failIf, comparison.failIf[0].reason);
    });
  }

  test('a higher rate that comes with more errors is no better one', () => {
    const shorter = runsWith({ failed: each(10) }, 1).map(({ name, result }) => ({
      name,
      result: { ...result, rates: { ...result.rates, perSecond: 9 } },
    }));
    const { metrics } = compareGroups(two(runsWith({ failed: each(0) }, 0), shorter), QUICK);
    const [rate] = metrics.filter(({ key }) => key === 'rate');
    assert.match(
      rate.comparisons[0].text,
      /^Rate: not comparable, 9\/s and 5\/s; new has more errors than old \(10 % and 0 %\), and a rate that comes with more errors is no better one\.$/,
    );
    assert.equal(rate.best, null);
  });

  test('it is warned of, once for each group', () => {
    const { warnings, notes } = compareGroups(
      two(runsWith({ failed: each(0) }, 0), runsWith({ failed: each(50) }, 1)),
      QUICK,
    );
    assert.deepEqual(warnings, [
      'No time and no rate of new is called better: new has more errors than old (50 % and 0 %).',
    ]);
    assert.ok(notes.some((note) => /a target that fails fast is not a fast one/.test(note)));
  });
});

describe('best is', () => {
  /** @type {[string, Shape[], {best: number | null, bestMedian: number | null}][]} of p99 */
  const CONTESTS = [
    [
      'never a target that refuses everything: the best of the others is',
      [{ failed: each(0) }, { failed: each(100) }, { failed: each(0), slow: 2 }],
      { best: 0, bestMedian: 0 },
    ],
    [
      'never one that fails more, not by its median either',
      [{ failed: each(0) }, { failed: each(20), slow: 0.5 }],
      { best: null, bestMedian: null },
    ],
    [
      'the one without errors, where it is faster, too',
      [{ failed: each(0) }, { failed: each(5), slow: 2 }],
      { best: 0, bestMedian: 0 },
    ],
    [
      'nobody where all fail',
      [{ failed: each(100) }, { failed: each(100) }],
      { best: null, bestMedian: null },
    ],
  ];
  for (const [why, shapes, expected] of CONTESTS) {
    test(why, () => {
      const groups = shapes.map((shape, i) => ({ name: `g${i}`, runs: runsWith(shape, i * 100) }));
      const { metrics } = compareGroups(groups, QUICK);
      const [{ best, bestMedian }] = metrics.filter(({ key }) => key === 'p99');
      assert.deepEqual({ best, bestMedian }, expected);
    });
  }
});
