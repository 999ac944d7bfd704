import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { compareSamples, differenceOf, isShownBetter } from '../../src/result/comparison/compare-samples.js';
import { validateComparison } from '../../src/result/comparison/comparison-schema.js';
import { kindOf } from '../../src/result/document.js';
import { METRICS } from '../../src/result/runs/run-set.js';
import { validatorOf } from '../json-schema.js';
import { BY_INTERVAL, BY_RANK, noisy, runsOf, slower, TEN } from './runs.js';
import { openLoad } from './sample.js';
import { metricOf, QUICK, two } from './support.js';

/** @import { Comparison } from '../../src/result/comparison/comparison-schema.js' */
/** @import { MetricHead } from '../../src/result/runs/run-set-schema.js' */

/** @type {MetricHead} */
const P99 = { key: 'p99', label: 'p99', unit: 'ms', lowerIsBetter: true };
/** @type {MetricHead} */
const RATE = { key: 'rate', label: 'rate', unit: '/s', lowerIsBetter: false };
/** @type {MetricHead} */
const ERRORS = { key: 'errors', label: 'errors', unit: 'fraction', lowerIsBetter: true };

test('in 100 simulated comparisons, A against A rarely differs, B 10 % slower nearly always', () => {
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
  const [few, more] = [
    [0, 0, 0.001, 0, 0],
    [0.02, 0.03, 0.02, 0.05, 0.02],
  ];
  const SAME = /^p99: no difference shown, 3\.00 ms and 3\.00 ms \(0 %, 95 % interval .*, p = 1\)\.$/;
  const TOO_FEW = /^p99: not enough runs, 3 and 3; 4 of each are enough to show a difference\.$/;
  /** @type {[string, MetricHead, number[], number[], string, RegExp][]} */
  const TABLE = [
    ['a higher time', P99, lower, higher, 'slower', /^p99 is 333 % slower: 13\.0 ms instead of 3\.00/],
    ['a lower time', P99, higher, lower, 'faster', /^p99 is 76\.9 % faster: 3\.00 ms instead of 13/],
    ['a higher rate', RATE, lower, higher, 'higher', /^Rate is 333 % higher: 13\/s instead of 3\/s/],
    ['a lower rate', RATE, higher, lower, 'lower', /^Rate is 76\.9 % lower/],
    ['more errors', ERRORS, few, more, 'higher', /^Errors are 2\.00 points higher: 2 % instead of 0 %/],
    ['equal values', P99, lower, lower, 'no difference shown', SAME],
    ['no errors', ERRORS, [0, 0, 0, 0], [0, 0, 0, 0], 'no difference shown', /0 % and 0 % \(0 points/],
    ['three and three', P99, [1, 2, 3], [7, 8, 9], 'not enough runs', TOO_FEW],
    ['one and one', P99, [1], [9], 'not enough runs', /not enough runs, 1 and 1; 4 of each/],
    ['none and five', P99, [], lower, 'not enough runs', /^p99: not enough runs, 0 and 5; 4 of each/],
  ];
  for (const [why, metric, base, other, verdict, text] of TABLE) {
    test(`${why}: ${verdict}`, () => {
      const found = compareSamples(metric, base, other, { seed: 1 });
      assert.equal(found.verdict, verdict);
      assert.match(found.text, text);
      assert.equal(found.interval === null, verdict === 'not enough runs');
    });
  }

  describe('where the part of the tool is greater in one group,', () => {
    const none = [0, 0, 0, 0, 0];
    const late = [9, 9, 9, 9, 9];
    const partsOf = (/** @type {number[]} */ tool, unknown = none) => ({ tool, unknown });
    const found = (
      /** @type {MetricHead} */ metric,
      /** @type {number[][]} */ [base, other],
      [a, b] = [lower, higher],
    ) => compareSamples(metric, a, b, { seed: 1, parts: { base: partsOf(base), other: partsOf(other) } });

    test('the excess is not a difference', () => {
      assert.equal(found(P99, [none, late]).verdict, 'no difference shown');
      assert.match(
        found(P99, [none, late]).text,
        /may have caused the difference: its lateness was greater in one group/,
      );
      assert.equal(found(P99, [late, late]).verdict, 'slower');
      assert.equal(found(P99, [late, none]).verdict, 'slower');
      assert.equal(found(RATE, [none, late], [higher, lower]).verdict, 'no difference shown');
      assert.equal(found(RATE, [late, none], [higher, lower]).verdict, 'lower');
      const [low] = found(P99, [none, late]).interval ?? [];
      assert.ok(Number(low) < 100 && Number(found(P99, [late, late]).interval?.[0]) > 100);
      assert.equal(isShownBetter(P99, lower, higher, { base: partsOf(late), other: partsOf(none) }), false);
      assert.equal(isShownBetter(P99, lower, higher, { base: partsOf(none), other: partsOf(none) }), true);
    });

    test('the excess may hide a difference', () => {
      const { verdict, text, possible } = found(P99, [late, none], [higher, higher]);
      assert.equal(verdict, 'no difference shown');
      assert.match(text, /may hide a difference: its lateness was greater in one group than in the other\.$/);
      assert.deepEqual(
        possible?.map((one) => one.verdict),
        ['no difference shown', 'slower'],
      );
      assert.equal(found(P99, [late, late], [higher, higher]).possible, undefined);
      assert.match(
        found(RATE, [late, none], [lower, lower]).text,
        /its lateness, its own errors or unchecked/,
      );
    });

    test('unchecked responses may be errors', () => {
      const [errors] = METRICS.filter(({ key }) => key === 'errors');
      const [few, many] = [0.01, 0.1].map((share) => TEN.map((factor) => share * factor));
      const nothing = few.map(() => 0);
      const { verdict, text } = compareSamples(errors, few, few, {
        seed: 1,
        parts: { base: partsOf(nothing, nothing), other: partsOf(nothing, many) },
      });
      assert.equal(verdict, 'no difference shown');
      assert.match(
        text,
        /may hide a difference: its own errors, or unchecked or unsent requests, were more in one/,
      );
    });
  });

  test('a base of 0 has no percentage, but a verdict', () => {
    const found = compareSamples(P99, [0, 0, 0, 0, 0], lower, { seed: 1 });
    assert.deepEqual([found.differencePercent, found.interval, found.verdict], [null, null, 'slower']);
    assert.match(found.text, /^p99 is slower: 3\.00 ms instead of 0 ms \(p = 0\.00794\)\.$/);
  });

  describe('notes that ranks and medians disagree:', () => {
    const base = TEN.map((factor) => 100 * factor);
    const slow = base.map((value) => value * 1.2);
    const [rising, capped] = [
      [5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10],
      [1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5],
    ];
    const BY_RANKS = / The ranks of the runs show a difference, but their medians do not\.$/;
    const BY_MEDIANS = / The medians of the runs show a difference, but their ranks do not\.$/;
    const SAME_MEDIANS = / The ranks of the runs show a difference, but their medians do not\.$/;
    /** @type {[string, number[], number[], string, RegExp | null][]} */
    const ODD = [
      ['difference by rank only', BY_RANK.base, BY_RANK.other, 'slower', BY_RANKS],
      ['difference by interval only', BY_INTERVAL.base, BY_INTERVAL.other, 'no difference shown', BY_MEDIANS],
      ['difference by rank with equal medians', capped, rising, 'no difference shown', SAME_MEDIANS],
      ['both show a difference: no note', base, slow, 'slower', null],
      ['neither shows a difference: no note', base, [...base].reverse(), 'no difference shown', null],
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

  test('differences are in percent of the base, for shares in percentage points', () => {
    assert.equal(differenceOf('ms', 100, 110), 10);
    assert.equal(differenceOf('/s', 20, 15), -25);
    assert.equal(differenceOf('ms', 0, 1), null);
    assert.equal(differenceOf('fraction', 0, 0.5), 50);
  });

  test('lower times and higher rates are better', () => {
    assert.equal(isShownBetter(P99, lower, higher), true);
    assert.equal(isShownBetter(P99, higher, lower), false);
    assert.equal(isShownBetter(RATE, higher, lower), true);
    assert.equal(isShownBetter(P99, lower, lower), false);
    assert.equal(isShownBetter(P99, [], lower), false);
  });
});

/** @param {Parameters<typeof compareGroups>[1]} [options] */
function compareTwo(options) {
  const groups = two(runsOf(TEN, 0), runsOf(slower(1.1), 1));
  return compareGroups(groups, options);
}

describe('two groups', () => {
  const FAIL_IF = ['p99 slower by 5%', 'p99 slower by 20%', 'rate lower'];
  const comparison = compareTwo({ failIf: FAIL_IF });

  test('form a document that matches its schema', async () => {
    assert.equal(kindOf(comparison), 'comparison');
    assert.equal(validateComparison(comparison), comparison);
    assert.equal((await validatorOf('comparison'))(comparison), null);
  });

  test('name the compared runs: operation, load, target, time and files', () => {
    const [{ subjects, runs }] = comparison.groups;
    const { seed, timeoutMs, overflow, warmupMs, pacing, ...load } = openLoad();
    assert.deepEqual(subjects, [{ operations: ['ocsp'], load, runs: 10 }]);
    const target = { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' };
    const said = { name: 'run-2.json', startedAt: '2026-01-02T03:02:00.000Z', target, verdict: 'valid' };
    assert.deepEqual(runs[1], { ...said, used: true, why: null });
  });

  test('have the time and command of the comparison, if known', () => {
    assert.deepEqual([comparison.createdAt, comparison.command], [null, null]);
    const made = { createdAt: '2026-02-03T04:05:06.000Z', command: 'vault-pki-load compare a --with b' };
    const { createdAt, command } = compareTwo({ ...made, ...QUICK });
    assert.deepEqual({ createdAt, command }, made);
  });

  test('of several loads have the number of runs for each', () => {
    const more = runsOf([1, 1.1], 300, { load: openLoad({ ratePerSecond: 50 }) });
    const { groups } = compareGroups(two(runsOf(TEN, 0), [...runsOf(TEN, 1), ...more]), QUICK);
    const told = groups[1].subjects.map(({ load, runs }) => `${runs} at ${load.ratePerSecond}/s`);
    assert.deepEqual(told, ['10 at 20/s', '2 at 50/s']);
  });

  test('give the same comparison again; another seed changes the interval', () => {
    assert.deepEqual(compareTwo({ failIf: FAIL_IF }), comparison);
    const again = compareTwo({ seed: 2 });
    assert.equal(again.method.seed, 2);
    const [first, second] = [comparison, again].map((one) => metricOf(one, 'p99').comparisons[0]);
    assert.notDeepEqual(second.interval, first.interval);
    assert.equal(second.pValue, first.pValue);
  });

  test('are compared by every metric', () => {
    const keys = (/** @type {readonly {key: string}[]} */ metrics) => metrics.map(({ key }) => key);
    assert.deepEqual(keys(comparison.metrics), keys(METRICS));
    for (const { key, differenceIn, comparisons } of comparison.metrics) {
      assert.equal(comparisons.length, 1);
      assert.equal(differenceIn, key === 'errors' ? 'percentage points' : 'percent', key);
      const expected = ['rate', 'errors'].includes(key) ? 'no difference shown' : 'slower';
      assert.equal(comparisons[0].verdict, expected, key);
    }
  });

  test('show an existing difference', () => {
    const { differencePercent, interval, pValue } = metricOf(comparison, 'p99').comparisons[0];
    assert.ok(Math.abs(Number(differencePercent) - 10) < 0.5, `${differencePercent}`);
    assert.ok(interval !== null && interval[0] > 5 && interval[1] < 15, `${interval}`);
    assert.ok(pValue !== null && pValue < 0.001);
  });

  test('keep the value of each run, with mean and variance over runs', () => {
    const { values, variance, mean } = comparison.groups[0].metrics.max;
    assert.equal(values.length, 10);
    assert.ok(Math.abs(Number(values[1]) - 10.2) < 1e-9);
    assert.ok(Math.abs(Number(mean) - 10.015) < 1e-9);
    assert.ok(variance !== null && variance > 0.03 && variance < 0.05, `${variance}`);
  });

  test('are judged by --fail-if', () => {
    const told = comparison.failIf.map(({ text, verdict }) => `${text}: ${verdict}`);
    assert.deepEqual(told, ['p99 slower by 5%: failed', 'p99 slower by 20%: passed', 'rate lower: passed']);
  });

  test('of equal runs that took turns cause no warning', () => {
    assert.deepEqual(comparison.warnings, []);
    assert.ok(!comparison.notes.some((note) => /after the other/.test(note)));
  });

  test('that ran one after the other are noted', () => {
    const { notes } = compareGroups(two(runsOf(TEN, 0), runsOf(TEN, 100)), QUICK);
    const said = /^The groups old and new ran one after the other/;
    assert.ok(notes.some((note) => said.test(note)));
  });

  test('with too few runs are warned about', () => {
    const few = two(runsOf([1, 1.01, 1.02], 0), runsOf([2, 2.01, 2.02], 1));
    const { warnings, metrics } = compareGroups(few, QUICK);
    assert.deepEqual(warnings, [
      'old and new have too few runs (3 and 3) to show any difference: 4 of each are enough.',
    ]);
    assert.ok(metrics.every(({ comparisons: [{ verdict }] }) => verdict === 'not enough runs'));
  });
});

/** @param {ReturnType<typeof runsOf>[]} groups @param {RegExp | null} warning that they give; null: none */
function assertWarned([base, other], warning) {
  const { warnings } = compareGroups(two(base, other), QUICK);
  assert.equal(warnings.length, warning === null ? 0 : 1, warnings.join('\n'));
  if (warning !== null) assert.match(warnings[0], warning);
}

describe('warns if settings of runs differ:', () => {
  const ocsp = (/** @type {object} */ more) => ({ plan: { operation: 'ocsp', ...more } });
  const elsewhere = { target: { url: 'http://b', product: 'OpenBao', version: '2' } };
  const manyCores = { node: '20.19.0', platform: 'linux x64', cpus: 64 };
  const twice = { load: openLoad({ concurrency: 99, ratePerSecond: 50 }) };
  /** @type {[string, Parameters<typeof runsOf>[2], RegExp | null][]} */
  const TABLE = [
    [
      'another rate',
      { load: openLoad({ ratePerSecond: 50 }) },
      /differ in load\.ratePerSecond \(20, 50\), which/,
    ],
    ['another duration', { load: openLoad({ durationMs: 5000 }) }, /load\.durationMs \(20000, 5000\)/],
    ['another operation', { plan: { operation: 'issue' } }, /operation \("ocsp", "issue"\)/],
    [
      'another option of the operation',
      ocsp({ options: { hash: 'sha256' } }),
      /options\.hash \(null, "sha256"\)/,
    ],
    ['another mount', ocsp({ target: { mount: 'b' } }), /target\.mount \(null, "b"\)/],
    ['another version of the tool', { tool: { version: '9.0.0' } }, /tool\.version \("0\.1\.0", "9\.0\.0"\)/],
    ['another number of cores', { environment: manyCores }, /environment\.cpus \(2, 64\)/],
    ['two settings', twice, /load\.ratePerSecond \(20, 50\), load\.concurrency \(10, 99\)/],
    ['another --keep file: no warning', ocsp({ options: { keep: 'new-1.jsonl' } }), null],
    ['another seed: no warning', { load: openLoad({ seed: 8 }) }, null],
    ['another target: no warning', { ...elsewhere, ...ocsp({ target: { url: 'b' } }) }, null],
    ['other requirements: no warning', ocsp({ requirements: ['p99<1s'] }), null],
  ];
  for (const [why, changes, warning] of TABLE) {
    test(why, () => assertWarned([runsOf(TEN, 0), runsOf(TEN, 1, changes)], warning));
  }
});

describe('warns about a group', () => {
  const openBao = { target: { url: 'http://127.0.0.1:8200', product: 'OpenBao', version: '2.6.2' } };
  const poisson = (/** @type {number} */ seed) => ({ load: openLoad({ arrivals: 'poisson', seed }) });
  const mixed = (/** @type {Parameters<typeof runsOf>[2]} */ changes) => [
    ...runsOf(TEN.slice(5), 1),
    ...runsOf(TEN.slice(5), 201, changes),
  ];
  const random = (/** @type {(i: number) => number} */ seedOf, /** @type {number} */ first) =>
    TEN.flatMap((factor, i) => runsOf([factor], first + 2 * i, poisson(seedOf(i))));
  const [eachItsOwn, oneSeed] = [random((i) => i, 0), random(() => 7, 1)];
  const unnamed = { target: { url: 'http://127.0.0.1:8200', product: null, version: null } };
  const TWO_PRODUCTS = /^The runs of new had different targets: Vault 1\.21\.1, OpenBao 2\.6\.2\.$/;
  const SAME_SEED =
    /^Some of the 10 runs of new with Poisson arrivals share a seed, .* a different seed for each run\.$/;
  /** @type {[string, Parameters<typeof assertWarned>[0], RegExp | null][]} */
  const TABLE = [
    ['with runs on two products', [runsOf(TEN, 0), mixed(openBao)], TWO_PRODUCTS],
    ['with some unknown targets', [runsOf(TEN, 0), mixed(unnamed)], /1\.21\.1, an unknown target\.$/],
    ['but not if each group has one product', [runsOf(TEN, 0), runsOf(TEN, 1, openBao)], null],
    ['with the same random arrivals in every run', [eachItsOwn, oneSeed], SAME_SEED],
    ['but not if only the groups share arrivals', [eachItsOwn, random((i) => i, 1)], null],
  ];
  for (const [why, groups, warning] of TABLE) test(why, () => assertWarned(groups, warning));
});

test('the note names the test: exact for twelve runs, approximate for sixty', () => {
  const many = (/** @type {number} */ first) =>
    Array.from({ length: 60 }, (_, i) => runsOf([1 + i / 1000], first + 2 * i)[0]);
  const noteOf = (/** @type {number} */ runs) =>
    compareGroups(two(many(0).slice(0, runs), many(1).slice(0, runs)), QUICK).notes[0];
  assert.match(noteOf(12), /\(two-sided, exact\)/);
  assert.match(noteOf(60), /exact, or the normal approximation for very many/);
});

describe('several groups', () => {
  const ofThree = (/** @type {(readonly number[])[]} */ ...factors) =>
    ['consul', 'raft', 'etcd'].map((name, i) => ({ name, runs: runsOf(factors[i], [0, 1, 100][i]) }));
  const options = { ...QUICK, failIf: ['p99 slower by 10%'] };
  const comparison = compareGroups(ofThree(slower(1.2), TEN, slower(1.5)), options);

  test('are each compared with the base', () => {
    const told = metricOf(comparison, 'p99').comparisons.map((one) =>
      [one.base, one.other, one.verdict].join(),
    );
    assert.deepEqual(told, ['0,1,faster', '0,2,slower']);
  });

  const near = TEN.map((factor, i) => factor * 1.002 + i * 1e-5);
  const unclear = compareGroups(ofThree(slower(1.5), TEN, near), QUICK);
  /** @type {[string, Comparison, string, (number | null)[]][]} */
  const BEST = [
    ['a best group if it is shown to be better than every other', comparison, 'p99', [1, 1]],
    ['no best group if all are equal', comparison, 'errors', [null, null]],
    ['only a best median if another group may be as good', unclear, 'p99', [null, 1]],
  ];
  for (const [what, one, key, expected] of BEST) {
    test(`have ${what}`, () => {
      const { best, bestMedian } = metricOf(one, key);
      assert.deepEqual([best, bestMedian], expected);
    });
  }

  test('name the failing group', () => {
    assert.equal(comparison.failIf[0].verdict, 'failed');
    assert.match(comparison.failIf[0].reason, /^etcd: p99 is 2\d\.\d % slower/);
  });
});

test('errors in half of the runs are higher, though the median is equal', () => {
  const other = [...Array(11).fill(0), ...Array(9).fill(0.5)];
  const found = compareSamples(ERRORS, Array(20).fill(0), other, { seed: 1 });
  assert.equal(found.verdict, 'higher');
  assert.match(
    found.text,
    /^Errors are 22\.5 points higher: 22\.5 % instead of 0 % on average \(95 % interval /,
  );
  assert.equal(found.differencePercent, 22.5);
  const [from, to] = found.interval ?? [];
  assert.ok(Number(from) > 5 && Number(from) < 22.5 && Number(to) > 22.5 && Number(to) < 40, `${from} ${to}`);
  assert.equal(found.doubt, null);
});
