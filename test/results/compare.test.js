import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareGroups } from '../../src/results/comparison/compare.js';
import { compareSamples, differenceOf, isShownBetter } from '../../src/results/comparison/compare-samples.js';
import { validateComparison } from '../../src/results/comparison/comparison-schema.js';
import { kindOf } from '../../src/results/document.js';
import { METRICS } from '../../src/results/runs/run-metrics.js';
import { validatorOf } from '../json-schema.js';
import { BY_INTERVAL, BY_RANK, noisy, runsOf, slower, TEN } from './runs.js';
import { openLoad } from './sample.js';
import { QUICK, two } from './support.js';

/** @typedef {import('../../src/results/runs/run-metrics.js').MetricHead} MetricHead */
/** @typedef {import('../../src/results/comparison/comparison-schema.js').Comparison} Comparison */

/** @type {MetricHead} */
const P99 = { key: 'p99', label: 'p99', unit: 'ms', lowerIsBetter: true };
/** @type {MetricHead} */
const RATE = { key: 'rate', label: 'rate', unit: '/s', lowerIsBetter: false };
/** @type {MetricHead} */
const ERRORS = { key: 'errors', label: 'errors', unit: 'fraction', lowerIsBetter: true };

test('over 100 simulated comparisons A against A is seldom called different, B 10 % slower nearly always', () => {
  const called = [0, 0];
  for (let seed = 1; seed <= 100; seed += 1) {
    const a = noisy(10, { typical: 80, spreadShare: 0.04, seed, stream: 1 });
    for (const [i, factor] of [1, 1.1].entries()) {
      const b = noisy(10, { typical: 80 * factor, spreadShare: 0.04, seed, stream: 2 });
      if (compareSamples(P99, a, b, { seed, ...QUICK }).verdict !== 'no difference shown') called[i] += 1;
    }
  }
  assert.ok(called[0] < 12 && called[1] > 94, `${called}`);
});

describe('one metric', () => {
  const lower = [1, 2, 3, 4, 5];
  const higher = lower.map((value) => value + 10);

  /** @type {[string, MetricHead, number[], number[], string, RegExp][]} */
  const TABLE = [
    [
      'a time that rises',
      P99,
      lower,
      higher,
      'slower',
      /^p99 is 333 % slower: 13\.0 ms instead of 3\.00 ms \(95 /,
    ],
    [
      'a time that falls',
      P99,
      higher,
      lower,
      'faster',
      /^p99 is 76\.9 % faster: 3\.00 ms instead of 13\.0 ms/,
    ],
    ['a rate that rises', RATE, lower, higher, 'higher', /^Rate is 333 % higher: 13\/s instead of 3\/s/],
    ['a rate that falls', RATE, higher, lower, 'lower', /^Rate is 76\.9 % lower/],
    [
      'errors that rise, by percentage points',
      ERRORS,
      [0, 0, 0.001, 0, 0],
      [0.02, 0.03, 0.02, 0.05, 0.02],
      'higher',
      /^Errors are 2\.00 points higher: 2 % instead of 0 %/,
    ],
    [
      'the same',
      P99,
      lower,
      lower,
      'no difference shown',
      /^p99: no difference shown, 3\.00 ms and 3\.00 ms \(0 %, 95 % interval .*, p = 1\)\.$/,
    ],
    ['no errors at all', ERRORS, [0, 0, 0, 0], [0, 0, 0, 0], 'no difference shown', /0 % and 0 % \(0 points/],
    [
      'three and three',
      P99,
      [1, 2, 3],
      [7, 8, 9],
      'not enough runs',
      /^p99: not enough runs, 3 and 3: no p-value below 0\.1 can come out; a difference needs one below 0\.05; 4 of each are enough/,
    ],
    ['one and one', P99, [1], [9], 'not enough runs', /no p-value below 1 can come out/],
    ['none and five', P99, [], lower, 'not enough runs', /^p99: not enough runs, 0 and 5 have a value/],
  ];
  for (const [why, metric, base, other, verdict, text] of TABLE) {
    test(`${why}: ${verdict}`, () => {
      const found = compareSamples(metric, base, other, { seed: 1 });
      assert.equal(found.verdict, verdict);
      assert.match(found.text, text);
      assert.equal(found.interval === null, verdict === 'not enough runs');
    });
  }

  test('a base of 0 has no percentage, but a verdict', () => {
    const found = compareSamples(P99, [0, 0, 0, 0, 0], lower, { seed: 1 });
    assert.deepEqual([found.differencePercent, found.interval, found.verdict], [null, null, 'slower']);
    assert.match(found.text, /^p99 is slower: 3\.00 ms instead of 0 ms \(p = 0\.00794\)\.$/);
  });

  describe('whose ranks and medians do not say the same, says so:', () => {
    const base = TEN.map((factor) => 100 * factor);
    /** @type {[string, number[], number[], string, RegExp | null][]} */
    const ODD = [
      [
        'shown by rank, though the interval of the medians includes 0',
        BY_RANK.base,
        BY_RANK.other,
        'slower',
        / By the ranks of the runs the difference is shown; its size is uncertain, and the interval of the medians includes 0\.$/,
      ],
      [
        'not shown by rank, though the interval leaves 0 out',
        BY_INTERVAL.base,
        BY_INTERVAL.other,
        'no difference shown',
        / The interval of the medians leaves 0 out, but by their ranks 4 and 4 runs do not show a difference\.$/,
      ],
      [
        'shown by rank, but not by the medians, which are the same',
        [1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5],
        [5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10],
        'no difference shown',
        / By their ranks the runs differ, but the medians do not say the same\.$/,
      ],
      ['both show it: no word', base, base.map((value) => value * 1.2), 'slower', null],
      ['neither does: no word', base, [...base].reverse(), 'no difference shown', null],
    ];
    for (const [why, one, other, verdict, text] of ODD) {
      test(why, () => {
        const found = compareSamples(P99, one, other, { seed: 1 });
        assert.equal(found.verdict, verdict, found.text);
        if (text === null) return assert.equal(found.doubt, null);
        assert.match(found.text, text);
        assert.match(` ${found.doubt}`, text, 'for tables, that show no text');
      });
    }
  });

  test('the difference is in percent of the base, of shares in percentage points', () => {
    assert.equal(differenceOf('ms', 100, 110), 10);
    assert.equal(differenceOf('/s', 20, 15), -25);
    assert.equal(differenceOf('ms', 0, 1), null);
    assert.equal(differenceOf('fraction', 0, 0.5), 50);
  });

  test('better is less of a time and more of a rate', () => {
    assert.equal(isShownBetter(P99, lower, higher), true);
    assert.equal(isShownBetter(P99, higher, lower), false);
    assert.equal(isShownBetter(RATE, higher, lower), true);
    assert.equal(isShownBetter(P99, lower, lower), false);
    assert.equal(isShownBetter(P99, [], lower), false);
  });
});

/** @param {Comparison} comparison @param {string} key */
function metricOf({ metrics }, key) {
  const found = metrics.find((metric) => metric.key === key);
  assert.ok(found !== undefined, key);
  return found;
}

/** @param {Parameters<typeof compareGroups>[1]} [options] */
function compareTwo(options) {
  const groups = two(runsOf(TEN, 0), runsOf(slower(1.1), 1));
  return compareGroups(groups, options);
}

describe('two groups', () => {
  const comparison = compareTwo({ failIf: ['p99 slower by 5%', 'p99 slower by 20%', 'rate lower'] });

  test('are a document that its own schema takes', async () => {
    assert.equal(kindOf(comparison), 'comparison');
    assert.equal(validateComparison(comparison), comparison);
    assert.equal((await validatorOf('comparison'))(comparison), null);
  });

  test('say what was compared: operation and load, target, when, and from which files', () => {
    const [{ subjects, runs }] = comparison.groups;
    assert.deepEqual(subjects, [
      {
        operations: ['ocsp'],
        load: {
          model: 'open',
          ratePerSecond: 20,
          concurrency: 10,
          threads: 1,
          arrivals: 'constant',
          durationMs: 20_000,
          requests: null,
          rampUpMs: 0,
        },
        runs: 10,
      },
    ]);
    assert.deepEqual(runs[1], {
      name: 'run-2.json',
      startedAt: '2026-01-02T03:02:00.000Z',
      target: { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' },
      verdict: 'valid',
      used: true,
      why: null,
    });
  });

  test('say when and by what command they were compared, where that is said', () => {
    assert.deepEqual([comparison.createdAt, comparison.command], [null, null]);
    const made = { createdAt: '2026-02-03T04:05:06.000Z', command: 'vault-pki-load compare a --with b' };
    const { createdAt, command } = compareTwo({ ...made, ...QUICK });
    assert.deepEqual({ createdAt, command }, made);
  });

  test('of several loads say in how many runs it was which', () => {
    const more = runsOf([1, 1.1], 300, { load: openLoad({ ratePerSecond: 50 }) });
    const { groups } = compareGroups(two(runsOf(TEN, 0), [...runsOf(TEN, 1), ...more]), QUICK);
    assert.deepEqual(
      groups[1].subjects.map(({ load, runs }) => [load.ratePerSecond, runs]),
      [
        [20, 10],
        [50, 2],
      ],
    );
  });

  test('are the same when compared again, and another interval under another seed', () => {
    assert.deepEqual(
      compareTwo({ failIf: ['p99 slower by 5%', 'p99 slower by 20%', 'rate lower'] }),
      comparison,
    );
    const again = compareTwo({ seed: 2 });
    assert.equal(again.method.seed, 2);
    assert.notDeepEqual(
      metricOf(again, 'p99').comparisons[0].interval,
      metricOf(comparison, 'p99').comparisons[0].interval,
    );
    assert.equal(
      metricOf(again, 'p99').comparisons[0].pValue,
      metricOf(comparison, 'p99').comparisons[0].pValue,
    );
  });

  test('are compared in every metric', () => {
    assert.deepEqual(
      comparison.metrics.map(({ key }) => key),
      METRICS.map(({ key }) => key),
    );
    for (const { key, comparisons } of comparison.metrics) {
      assert.equal(comparisons.length, 1);
      const expected = ['rate', 'errors'].includes(key) ? 'no difference shown' : 'slower';
      assert.equal(comparisons[0].verdict, expected, key);
    }
  });

  test('show the difference that there is', () => {
    const { differencePercent, interval, pValue } = metricOf(comparison, 'p99').comparisons[0];
    assert.ok(Math.abs(Number(differencePercent) - 10) < 0.5, `${differencePercent}`);
    assert.ok(interval !== null && interval[0] > 5 && interval[1] < 15, `${interval}`);
    assert.ok(pValue !== null && pValue < 0.001);
  });

  test('keep the value of each run, with mean and variance over them', () => {
    const { values, variance, mean } = comparison.groups[0].metrics.max;
    assert.equal(values.length, 10);
    assert.ok(Math.abs(Number(values[1]) - 10.2) < 1e-9);
    assert.ok(Math.abs(Number(mean) - 10.015) < 1e-9);
    assert.ok(variance !== null && variance > 0.03 && variance < 0.05, `${variance}`);
  });

  test('are judged by what must not be', () => {
    assert.deepEqual(
      comparison.failIf.map(({ text, verdict }) => [text, verdict]),
      [
        ['p99 slower by 5%', 'failed'],
        ['p99 slower by 20%', 'passed'],
        ['rate lower', 'passed'],
      ],
    );
  });

  test('that were made alike, taking turns, give no warning', () => {
    assert.deepEqual(comparison.warnings, []);
    assert.ok(!comparison.notes.some((note) => /after the other/.test(note)));
  });

  test('that were made one after the other are told to be', () => {
    const { notes } = compareGroups(two(runsOf(TEN, 0), runsOf(TEN, 100)), QUICK);
    assert.ok(
      notes.some((note) => /^The runs of old and of new were made one group after the other/.test(note)),
      notes.join('\n'),
    );
  });

  test('with too few runs are told to have them', () => {
    const { warnings, metrics } = compareGroups(
      two(runsOf([1, 1.01, 1.02], 0), runsOf([2, 2.01, 2.02], 1)),
      QUICK,
    );
    assert.deepEqual(warnings, [
      'old and new have too few runs (3 and 3) for any difference to be shown: 4 of each are enough.',
    ]);
    assert.ok(metrics.every(({ comparisons: [{ verdict }] }) => verdict === 'not enough runs'));
  });
});

describe('warns where runs were not made alike:', () => {
  /** @type {[string, Parameters<typeof runsOf>[2], RegExp | null][]} */
  const TABLE = [
    [
      'another rate',
      { load: openLoad({ ratePerSecond: 50 }) },
      /differ in load\.ratePerSecond \(20, 50\)\. A/,
    ],
    ['another concurrency', { load: openLoad({ concurrency: 99 }) }, /load\.concurrency \(10, 99\)/],
    ['another duration', { load: openLoad({ durationMs: 5000 }) }, /load\.durationMs \(20000, 5000\)/],
    ['another operation', { plan: { operation: 'issue' } }, /operation \("ocsp", "issue"\)/],
    [
      'another option of it',
      { plan: { operation: 'ocsp', options: { hash: 'sha256' } } },
      /options\.hash \(null, "sha256"\)/,
    ],
    ['another mount', { plan: { operation: 'ocsp', target: { mount: 'b' } } }, /target\.mount \(null, "b"\)/],
    [
      'another version of this tool',
      { tool: { version: '9.0.0' } },
      /tool\.version \("0\.1\.0", "9\.0\.0"\)/,
    ],
    [
      'other cores',
      { environment: { node: '20.19.0', platform: 'linux x64', cpus: 64 } },
      /environment\.cpus \(2, 64\)/,
    ],
    [
      'two of them',
      { load: openLoad({ concurrency: 99, ratePerSecond: 50 }) },
      /load\.ratePerSecond \(20, 50\), load\.concurrency \(10, 99\)/,
    ],
    [
      'files of its own for what it issued: no warning',
      { plan: { operation: 'ocsp', options: { keep: 'new-1.jsonl' } } },
      null,
    ],
    ['another seed: no warning', { load: openLoad({ seed: 8 }) }, null],
    [
      'another target: no warning',
      {
        target: { url: 'http://b', product: 'OpenBao', version: '2' },
        plan: { operation: 'ocsp', target: { url: 'b' } },
      },
      null,
    ],
    ['other requirements: no warning', { plan: { operation: 'ocsp', requirements: ['p99<1s'] } }, null],
  ];
  for (const [why, changes, warning] of TABLE) {
    test(why, () => {
      const groups = two(runsOf(TEN, 0), runsOf(TEN, 1, changes));
      const { warnings } = compareGroups(groups, QUICK);
      if (warning === null) return assert.deepEqual(warnings, []);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], warning);
    });
  }
});

describe('warns of a group', () => {
  const openBao = { target: { url: 'http://127.0.0.1:8200', product: 'OpenBao', version: '2.6.2' } };
  const poisson = (/** @type {number} */ seed) => ({ load: openLoad({ arrivals: 'poisson', seed }) });
  const mixed = (/** @type {Parameters<typeof runsOf>[2]} */ changes) => [
    ...runsOf(TEN.slice(5), 1),
    ...runsOf(TEN.slice(5), 201, changes),
  ];
  const random = (/** @type {(i: number) => number} */ seedOf, /** @type {number} */ first) =>
    TEN.flatMap((factor, i) => runsOf([factor], first + 2 * i, poisson(seedOf(i))));
  /** @type {[string, import('../../src/results/runs/run-metrics.js').NamedRun[], import('../../src/results/runs/run-metrics.js').NamedRun[], RegExp | null][]} */
  const TABLE = [
    [
      'whose runs are of two products',
      runsOf(TEN, 0),
      mixed(openBao),
      /^The runs of new were not all made against the same target: Vault 1\.21\.1, OpenBao 2\.6\.2\.$/,
    ],
    [
      'of which some did not learn the product',
      runsOf(TEN, 0),
      mixed({ target: { url: 'http://127.0.0.1:8200', product: null, version: null } }),
      /against the same target: Vault 1\.21\.1, a target that did not say\.$/,
    ],
    ['but not where each is of one product', runsOf(TEN, 0), runsOf(TEN, 1, openBao), null],
    [
      'whose random arrivals are the same in every run',
      random((i) => i, 0),
      random(() => 7, 1),
      /^Of the 10 runs of new with Poisson arrivals, some share a seed and so the same arrivals: .* a seed of its own\.$/,
    ],
    ['but not where only the groups share them, run by run', random((i) => i, 0), random((i) => i, 1), null],
  ];
  for (const [why, base, other, warning] of TABLE) {
    test(why, () => {
      const groups = two(base, other);
      const { warnings } = compareGroups(groups, QUICK);
      if (warning === null) return assert.deepEqual(warnings, []);
      assert.equal(warnings.length, 1, warnings.join('\n'));
      assert.match(warnings[0], warning);
    });
  }
});

test('the note says which test it was: exact of twelve runs, approximated of sixty', () => {
  const many = (/** @type {number} */ first) =>
    Array.from({ length: 60 }, (_, i) => runsOf([1 + i / 1000], first + 2 * i)[0]);
  const noteOf = (
    /** @type {ReturnType<typeof many>} */ base,
    /** @type {ReturnType<typeof many>} */ other,
  ) => compareGroups(two(base, other), QUICK).notes[0];
  assert.match(noteOf(many(0).slice(0, 12), many(1).slice(0, 12)), /\(two-sided, exact\)/);
  assert.match(noteOf(many(0), many(1)), /exact but for very many runs, of which it is the normal approxim/);
});

describe('several groups', () => {
  const comparison = compareGroups(
    [
      { name: 'consul', runs: runsOf(slower(1.2), 0) },
      { name: 'raft', runs: runsOf(TEN, 1) },
      { name: 'etcd', runs: runsOf(slower(1.5), 100) },
    ],
    { ...QUICK, failIf: ['p99 slower by 10%'] },
  );

  test('are each compared with the base', () => {
    assert.deepEqual(
      metricOf(comparison, 'p99').comparisons.map(({ base, other, verdict }) => [base, other, verdict]),
      [
        [0, 1, 'faster'],
        [0, 2, 'slower'],
      ],
    );
  });

  test('have a best one where it is shown to be better than every other', () => {
    const { best, bestMedian } = metricOf(comparison, 'p99');
    assert.deepEqual([best, bestMedian], [1, 1]);
  });

  test('have none where all are the same', () => {
    const { best, bestMedian } = metricOf(comparison, 'errors');
    assert.deepEqual([best, bestMedian], [null, null]);
  });

  test('have a best median only, where that is not shown to be better than one of the others', () => {
    const near = TEN.map((factor, i) => factor * 1.002 + i * 1e-5);
    const { best, bestMedian } = metricOf(
      compareGroups(
        [
          { name: 'a', runs: runsOf(slower(1.5), 0) },
          { name: 'b', runs: runsOf(TEN, 1) },
          { name: 'c', runs: runsOf(near, 2) },
        ],
        QUICK,
      ),
      'p99',
    );
    assert.deepEqual([best, bestMedian], [null, 1]);
  });

  test('fail by name', () => {
    assert.equal(comparison.failIf[0].verdict, 'failed');
    assert.match(comparison.failIf[0].reason, /^etcd: p99 is 2\d\.\d % slower/);
  });
});
