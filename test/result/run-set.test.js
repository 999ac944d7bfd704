import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isResult, isRunSet, kindOf } from '../../src/result/document.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { validateRunSet } from '../../src/result/runs/run-set-schema.js';
import { validatorOf } from '../json-schema.js';
import { runOf, TEN } from './runs.js';
import { openLoad } from './sample.js';
import { metricOf, refusal } from './support.js';

/** @import { RunSet } from '../../src/result/runs/run-set-schema.js' */
/** @import { Result } from '../../src/result/schema.js' */

const problemIn = await validatorOf('run-set');

const runs = () => TEN.map((factor, i) => runOf(factor, i));

/** @param {Parameters<typeof runOf>[2]} changes @returns {Result[]} of which the third is changed */
const runsWith = (changes) => runs().map((run, i) => (i === 2 ? runOf(TEN[2], 2, changes) : run));

describe('a run set', () => {
  test('is valid by validator and by JSON Schema', () => {
    const runSet = createRunSet('base', runs());
    assert.equal(kindOf(runSet), 'run-set');
    assert.ok(isRunSet(runSet) && !isResult(runSet));
    assert.equal(validateRunSet(runSet), runSet);
    assert.equal(problemIn(runSet), null);
    assert.match(runSet.tool.version, /^\d+\.\d+\.\d+/);
  });

  test('of a later version may have more keys', () => {
    const runSet = { ...createRunSet('base', runs()), novelty: 1 };
    assert.equal(validateRunSet(runSet), runSet);
  });
});

describe('is rejected:', () => {
  const good = createRunSet('base', runs());
  const [first, ...others] = good.runs;
  /** @type {[string, unknown, RegExp][]} */
  const TABLE = [
    ['null', null, /top level: /],
    ['a list', [], /top level: /],
    ['another schema', { ...good, schema: 'vault-pki-load/run-set/2' }, /: schema: /],
    ['a result', first, /: schema: /],
    ['no name', { ...good, name: undefined }, /: name: /],
    ['no version', { ...good, tool: {} }, /: tool\.version: /],
    ['no summary, as an early version wrote it', { ...good, summary: undefined }, /: summary: /],
    ['no runs', { ...good, runs: undefined }, /: runs: /],
    ['an empty set', { ...good, runs: [] }, /: runs: must contain at least one run\./],
    ['runs by name', { ...good, runs: { first } }, /: runs: /],
    ['a run that is not an object', { ...good, runs: [first, 5] }, /: runs\[1\] \(run 2\): /],
    [
      'a run with half a request',
      { ...good, runs: [{ ...first, totals: { ...first.totals, sent: 0.5 } }, ...others] },
      /: runs\[0\] \(run 1\): totals\.sent: /,
    ],
  ];
  for (const [why, value, message] of TABLE) {
    test(why, () => {
      assert.throws(
        () => validateRunSet(value, 'set.json'),
        refusal('bad_run_set', /^set\.json is not a vault-pki-load\/run-set\/1: /, message),
      );
    });
  }
});

describe('a run set whose summary differs from its runs', () => {
  const good = createRunSet('base', runs());
  const p99 = good.summary.metrics.findIndex(({ key }) => key === 'p99');
  const withMetric = (/** @type {Record<string, unknown>} */ changes) => ({
    ...good,
    summary: {
      ...good.summary,
      metrics: good.summary.metrics.map((metric, i) => (i === p99 ? { ...metric, ...changes } : metric)),
    },
  });
  /** @type {[string, unknown, RegExp][]} */
  const TABLE = [
    ['in a median', withMetric({ median: 1 }), /its summary and its runs disagree on p99\./],
    ['in the value of a run', withMetric({ values: TEN }), /disagree on p99/],
    [
      'by a metric listed twice',
      {
        ...good,
        summary: { ...good.summary, metrics: [...good.summary.metrics, good.summary.metrics[p99]] },
      },
      /a metric is listed twice/,
    ],
    ['in the number of values', withMetric({ values: [] }), /disagree on p99/],
    [
      'in the runs that count',
      { ...good, summary: { ...good.summary, used: ['run 1'] } },
      /disagree on which runs count/,
    ],
  ];
  for (const [why, value, message] of TABLE) {
    test(`is rejected: ${why}`, () => {
      assert.throws(
        () => validateRunSet(value, 'set.json'),
        refusal('inconsistent_run_set', /^set\.json does not add up: /, message),
      );
    });
  }

  test('is accepted if another version has different metrics', () => {
    const [first, ...others] = good.summary.metrics;
    const metrics = [...others, { ...first, key: 'p75', label: 'p75' }];
    const runSet = { ...good, summary: { ...good.summary, metrics } };
    assert.equal(validateRunSet(runSet), runSet);
  });

  test('is accepted after a JSON round trip', () => {
    const read = JSON.parse(JSON.stringify(good));
    assert.equal(validateRunSet(read), read);
  });
});

describe('the kind of', () => {
  /** @type {[string, unknown, RegExp][]} */
  const UNKNOWN = [
    ['null', null, /it has no schema/],
    ['a number', 5, /it has no schema/],
    ['a schema that is not a string', { schema: 5 }, /it has no schema/],
    ['another program', { schema: 'k6/summary' }, /its schema is "k6\/summary"/],
    ['a property name of every object', { schema: 'constructor' }, /its schema is "constructor"/],
  ];
  for (const [why, value, message] of UNKNOWN) {
    test(`${why} is unknown`, () => {
      assert.throws(
        () => kindOf(value, 'x.json'),
        refusal('bad_document', /^x\.json was not written by vault-pki-load: /, message),
      );
    });
  }

  test('a result is result', () => assert.equal(kindOf(runOf(1, 0)), 'result'));
});

describe('over runs', () => {
  /** @param {RunSet} runSet @param {string} key */
  const metric = ({ summary }, key) => metricOf(summary, key);

  test('median, mean, variance, min and max use one value per run', () => {
    const results = [1, 2, 6].map((factor, i) => runOf(factor, i));
    const max = metric(createRunSet('x', results), 'max');
    assert.deepEqual(max.values, [10, 20, 60]);
    assert.deepEqual([max.median, max.mean, max.min, max.max], [20, 30, 10, 60]);
    assert.equal(max.variance, (400 + 100 + 900) / 2);
    assert.equal(max.unit, 'ms');
  });

  test('one run has no variance', () => {
    const max = metric(createRunSet('x', [runOf(1, 0)]), 'max');
    assert.deepEqual([max.median, max.variance], [10, null]);
  });

  test('a run without a response has no latency, but a rate', () => {
    const silent = runOf(1, 5);
    silent.latencyMs.response = { ...silent.latencyMs.response, p99: null };
    const summary = createRunSet('x', [runOf(1, 0), silent, runOf(2, 1)]);
    // The 99th of 100 values that are evenly spread from 1 to 10, and from 2 to 20.
    assert.deepEqual(metric(summary, 'p99').values, [1 + (9 * 98) / 99, null, 2 + (18 * 98) / 99]);
    assert.equal(metric(summary, 'rate').values.length, 3);
  });

  test("errors are the result's error share", () => {
    const run = runOf(1, 0);
    run.errorShare = 0.1;
    assert.deepEqual(metric(createRunSet('x', [run]), 'errors').values, [0.1]);
  });

  describe('how much better or worse the target may be than', () => {
    const [good, run] = [runOf(1, 0), runOf(1, 1)];
    // 100 requests in 20 s: 5/s.
    run.totals = { ...run.totals, succeeded: 80, errors: 20, rested: 100 };
    run.errorShare = 0.2;
    run.errorShareBar = { low: 0.05, high: 0.3, tool: 0.1 };
    run.verification = { ...run.verification, unchecked: 40 };
    run.rates.bar = { low: 3, high: 5, sampled: 4.9, tool: 0.5 };
    const parts = (/** @type {string} */ key) => {
      const { tool, unknown } = metric(createRunSet('x', [good, run]), key);
      return { tool, unknown };
    };

    test('a share of errors: errors of the tool, unchecked and unsent requests', () => {
      assert.deepEqual(parts('errors'), { tool: [0, 0.1], unknown: [0, 160 / 200 - 0.2] });
    });
    test('a rate: lateness and errors of the tool, and unchecked responses', () => {
      assert.deepEqual(parts('rate'), { tool: [0, 0.5], unknown: [0, run.rates.perSecond / 2] });
      run.rates.bar = { low: 3, high: null, sampled: 5, tool: null };
      assert.deepEqual(parts('rate').tool, [0, 1000 * run.rates.perSecond]);
    });
    test('a time: lateness of the tool', () => {
      run.latencyMs.response.bars = { p99: { low: 1, high: 9, tool: 2 } };
      assert.deepEqual(parts('p99'), { tool: [0, 2], unknown: undefined });
    });
  });

  /** @type {[string, Parameters<typeof runOf>[2], RegExp][]} */
  const LEFT_OUT = [
    ['interrupted', { interrupted: true }, /^it was interrupted$/],
    ['unfinished', { unfinished: true }, /^it was cut off/],
    ['a part', { shard: { index: 1, of: 4 } }, /^it is only part 1 of 4 of a plan/],
    [
      'invalid',
      { measurement: { verdict: 'invalid', reasons: [{ code: 'send_lag', text: 'Sent late.' }] } },
      /^its measurement is invalid: Sent late$/,
    ],
    ['invalid without a reason', { measurement: { verdict: 'invalid', reasons: [] } }, /is invalid$/],
  ];
  for (const [why, changes, message] of LEFT_OUT) {
    test(`a run that is ${why} is left out and named`, () => {
      const runSet = createRunSet('x', runsWith(changes));
      const { summary } = runSet;
      assert.equal(runSet.runs.length, 10);
      assert.equal(summary.used.length, 9);
      const told = summary.leftOut.map(({ run }) => run);
      assert.deepEqual(told, ['run 3']);
      assert.match(summary.leftOut[0].why, message);
      assert.equal(metric(runSet, 'p99').values.length, 9);
    });
  }

  for (const [why, changes] of /** @type {[string, Parameters<typeof runOf>[2]][]} */ ([
    ['suspect', { measurement: { verdict: 'suspect', reasons: [] } }],
    ['the only part of a plan', { shard: { index: 0, of: 1 } }],
  ])) {
    test(`a run that is ${why} counts`, () => {
      assert.equal(createRunSet('x', runsWith(changes)).summary.used.length, 10);
    });
  }

  test('counts the verdicts on each requirement', () => {
    const required = (/** @type {'met' | 'not met'} */ verdict) => ({
      requirements: [
        {
          text: 'p99<20ms',
          verdict,
          actual: 10,
          limit: 20,
          unit: /** @type {const} */ ('ms'),
          reason: 'So.',
        },
      ],
    });
    const results = [
      runOf(1, 0, required('met')),
      runOf(3, 1, required('not met')),
      runOf(1, 2, required('met')),
    ];
    assert.deepEqual(createRunSet('x', results).summary.requirements, [
      { text: 'p99<20ms', verdicts: { met: 2, 'not met': 1 } },
    ]);
  });

  const otherLoad = openLoad({ ratePerSecond: 50 });
  /** All other warnings: compare.test.js. @type {[string, Result[], RegExp[]][]} */
  const WARNINGS = [
    ['with equal settings: none', runs(), []],
    [
      'of another rate: one',
      runsWith({ load: otherLoad }),
      [/^The runs differ in load\.ratePerSecond \(20, 50\), which may explain a difference\.$/],
    ],
    [
      'through a proxy, and not: one',
      runsWith({ load: openLoad({ proxy: 'proxy.test:3128' }) }),
      [/^The runs differ in load\.proxy \(null, "proxy\.test:3128"\), which may explain a difference\.$/],
    ],
    ['with different settings that do not count: none', runsWith({ interrupted: true, load: otherLoad }), []],
  ];
  for (const [why, results, expected] of WARNINGS) {
    test(`warnings for runs ${why}`, () => {
      const { warnings } = createRunSet('x', results).summary;
      assert.equal(warnings.length, expected.length, warnings.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(warnings[i], pattern);
    });
  }
});
