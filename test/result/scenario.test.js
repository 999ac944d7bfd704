/** What a scenario came to: the arithmetic of its rows, differences and comparisons, and what its schema takes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sumHistograms, valueAtShare } from '../../src/common/histogram.js';
import { isScenarioResult, kindOf } from '../../src/result/document.js';
import { parseDocument } from '../../src/result/read-document.js';
import { validateScenarioResult } from '../../src/result/scenario/scenario-schema.js';
import { validatorOf } from '../json-schema.js';
import { closedLoad, openLoad, sampleResult } from './sample.js';
import {
  mixedRun,
  REQUIRED,
  STAGES,
  scenarioOf,
  stagedRun,
  startScenario,
  troubledRun,
} from './scenario-sample.js';
import { near as nearBy } from './support.js';

/** @import { ScenarioResult } from '../../src/result/scenario/scenario-schema.js' */
/** @import { Result } from '../../src/result/schema.js' */

const problemIn = await validatorOf('scenario-result');

/** @type {Result['measurement']} */
const INVALID = {
  verdict: 'invalid',
  reasons: [{ code: 'send_lag', text: 'Requests went out late.', remedy: 'Use less load.' }],
};

/** Two targets that took turns, four times. */
const four = (/** @type {number} */ by) =>
  [1, 1.02, 0.99, 1.01].map((factor, i) => mixedRun(factor * by, 2 * i + (by === 1 ? 0 : 1)));
const FOUR = scenarioOf({ inmem: four(1), raft: four(1.5) });

/**
 * @param {ScenarioResult} scenario
 * @param {{target?: string, operation?: string | null, stage?: string | null}} of
 */
function rowOf({ rows }, { target, operation = null, stage = null }) {
  const found = rows.filter(
    (row) =>
      (target === undefined || row.target === target) && row.operation === operation && row.stage === stage,
  );
  assert.equal(found.length, 1);
  return found[0];
}

/** @param {number | null | undefined} actual @param {number} expected */
const near = (actual, expected) => nearBy(actual ?? Number.NaN, expected, 0.002);

describe('rows', () => {
  test('of several runs cover all requests together', () => {
    const row = rowOf(FOUR, { target: 'inmem' });
    const results = four(1);
    assert.deepEqual(
      [row.runs, row.counts, row.count, row.succeeded, row.errors, row.successRatio, row.errorShare],
      [4, true, 1600, 1600, 0, 1, 0],
    );
    near(row.ratePerSecond, 20);
    near(row.perSecond, 20);
    const pooled = sumHistograms(results.map(({ latencyMs }) => String(latencyMs.response.histogram)));
    assert.equal(row.p99, valueAtShare(pooled, 0.99));
    near(row.mean, results.reduce((sum, { latencyMs }) => sum + Number(latencyMs.response.mean), 0) / 4);
    near(row.max, Math.max(...results.map(({ latencyMs }) => Number(latencyMs.response.max))));
    near(row.min, 0.99);
  });

  test('of operations add up to the whole', () => {
    for (const target of ['inmem', 'raft']) {
      const [whole, login, write] = [null, 'login', 'write'].map((operation) =>
        rowOf(FOUR, { target, operation }),
      );
      assert.equal(login.count + write.count, whole.count);
      near(login.perSecond + write.perSecond, whole.perSecond);
      near((Number(login.mean) + Number(write.mean)) / 2, Number(whole.mean));
    }
  });

  test('of a mix of one operation cover only the whole', () => {
    const { rows } = scenarioOf({ a: [stagedRun(1, 0)], b: [stagedRun(1, 1)] });
    assert.deepEqual([...new Set(rows.map(({ operation }) => operation))], [null]);
  });

  test('include failures in count, errors and times, not in the throughput', () => {
    const row = rowOf(scenarioOf({ a: [mixedRun(1, 0, { failed: 50 })], b: [mixedRun(1, 1)] }), {
      target: 'a',
    });
    assert.deepEqual([row.count, row.succeeded, row.errors], [400, 350, 50]);
    near(row.successRatio, 0.875);
    near(row.errorShare, 0.125);
    near(row.ratePerSecond, 20);
    near(row.perSecond, 17.5);
  });

  test('show a backlog in the throughput, not in the offered rate', () => {
    const slow = mixedRun(1, 0, { windowSeconds: 40, durationSeconds: 40 });
    slow.rates = { ...slow.rates, perSecond: 10 };
    const row = rowOf(scenarioOf({ a: [slow], b: [mixedRun(1, 1)] }), { target: 'a' });
    near(row.ratePerSecond, 20);
    near(row.perSecond, 10);
  });

  test('of a closed loop have equal offered rate and throughput', () => {
    const closed = (/** @type {number} */ minute) =>
      mixedRun(1, minute, { load: closedLoad({ durationMs: null, requests: 400 }), durationSeconds: 8 });
    near(rowOf(scenarioOf({ a: [closed(0)], b: [closed(1)] }), { target: 'a' }).ratePerSecond, 50);
  });

  test('of a fixed number of requests have the planned rate', () => {
    const asked = (/** @type {number} */ minute) =>
      mixedRun(1, minute, {
        load: openLoad({ ratePerSecond: 50, durationMs: null, requests: 400 }),
        durationSeconds: 10,
      });
    near(rowOf(scenarioOf({ a: [asked(0)], b: [asked(1)] }), { target: 'a' }).ratePerSecond, 50);
  });

  test('of a target where nothing was due have no ratio and no time', () => {
    const row = rowOf(scenarioOf({ a: [sampleResult([])], b: [mixedRun(1, 1)] }), { target: 'a' });
    assert.deepEqual(
      [row.count, row.ratePerSecond, row.perSecond, row.successRatio, row.errorShare, row.mean, row.p99],
      [0, 0, 0, null, null, null, null],
    );
  });

  test('of stages have their own rate, errors, times and verdict', () => {
    const scenario = scenarioOf({ a: [stagedRun(1, 0)], b: [stagedRun(1, 1)] }, { plan: { stages: STAGES } });
    const [ramp, hold] = ['ramp', 'hold'].map((stage) => rowOf(scenario, { target: 'a', stage }));
    assert.deepEqual([ramp.count, hold.count], [300, 500]);
    near(ramp.ratePerSecond, 30);
    near(hold.ratePerSecond, 50);
    near(hold.mean, 6.5);
    assert.deepEqual([ramp.requirement, hold.requirement], [null, 'met']);
    assert.deepEqual(scenario.steps[0].stages, [
      { name: 'ramp', seconds: 10, from: 10, to: 50 },
      { name: 'hold', seconds: 10, from: 50, to: 50 },
    ]);
  });
});

describe('outcomes', () => {
  const timeout = { count: 5, success: false, runs: 2 };
  const meaning = 'Vault is sealed, overloaded or without a leader (503).';
  const scenario = scenarioOf({
    a: [
      troubledRun(0, { timedOut: 3, sealed: 4 }),
      troubledRun(2, { timedOut: 2, dropped: 7 }),
      troubledRun(4, { timedOut: 100 }, { measurement: INVALID }),
    ],
    b: [mixedRun(1, 1), mixedRun(1, 3), mixedRun(1, 5)],
  });
  const detailsOf = (/** @type {Parameters<typeof rowOf>[1]} */ of) => rowOf(scenario, of).outcomeDetails;

  test('are counted over counted runs, with the number of runs in which they occurred', () => {
    assert.deepEqual(detailsOf({ target: 'a' }), {
      good: { count: 395, success: true, runs: 2 },
      timeout,
      written: { count: 389, success: true, runs: 2 },
      unavailable: { count: 4, success: false, meaning, runs: 1 },
      dropped: { count: 7, success: false, runs: 1 },
    });
    assert.deepEqual(detailsOf({ target: 'b' }), { good: { count: 1200, success: true, runs: 3 } });
  });

  test('are separate for each operation', () => {
    assert.deepEqual(detailsOf({ target: 'a', operation: 'login' })?.timeout, timeout);
    const written = Object.keys(detailsOf({ target: 'a', operation: 'write' }) ?? {});
    assert.deepEqual(written, ['written', 'unavailable', 'dropped']);
  });

  test('are separate for each stage', () => {
    const { rows } = scenarioOf({ a: [stagedRun(1, 0)], b: [stagedRun(1, 1)] });
    const ramp = rows.find(({ stage }) => stage === 'ramp');
    assert.deepEqual(ramp?.outcomeDetails, { good: { count: 300, success: true, runs: 1 } });
  });

  test('add up to the errors and to the due requests', () => {
    for (const { count, errors, outcomeDetails = {} } of scenario.rows) {
      const all = Object.values(outcomeDetails);
      const sum = (/** @type {typeof all} */ some) => some.reduce((so, one) => so + one.count, 0);
      assert.deepEqual([sum(all.filter(({ success }) => !success)), sum(all)], [errors, count]);
    }
  });

  test('of an earlier summary do not change when runs are added', () => {
    const summary = startScenario({ targets: ['a'], repeat: 2 });
    summary.add(0, troubledRun(0, { timedOut: 3 }));
    const before = summary.result({ durationMs: 1 });
    summary.add(0, troubledRun(1, { timedOut: 2 }));
    assert.equal(before.rows[0].outcomeDetails?.timeout.count, 3);
    assert.equal(summary.result({ durationMs: 2 }).rows[0].outcomeDetails?.timeout.count, 5);
  });
});

describe('over runs', () => {
  test('mean and unbiased variance use one value per run', () => {
    const { overRuns } = rowOf(FOUR, { target: 'inmem', operation: 'login' });
    const means = four(1).map(({ operations }) => Number(operations.login.latencyMs.response.mean));
    const mean = means.reduce((sum, one) => sum + one, 0) / 4;
    const variance = means.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 3;
    assert.deepEqual(overRuns?.mean.values, means);
    near(overRuns?.mean.mean ?? null, mean);
    near(overRuns?.mean.variance ?? null, variance);
    near(overRuns?.mean.sd ?? null, Math.sqrt(variance));
    assert.deepEqual([overRuns?.mean.min, overRuns?.mean.max], [Math.min(...means), Math.max(...means)]);
    assert.deepEqual(overRuns?.perSecond.values, [10, 10, 10, 10]);
  });

  test('a single run has no spread', () => {
    const scenario = scenarioOf({ a: [mixedRun(1, 0)], b: [mixedRun(1, 1)] });
    assert.equal(rowOf(scenario, { target: 'a' }).overRuns, null);
  });

  test('an invalid run is left out of the figures and listed', () => {
    const scenario = scenarioOf({
      a: [mixedRun(1, 0), mixedRun(100, 2, { measurement: INVALID })],
      b: [mixedRun(1, 1), mixedRun(1, 3)],
    });
    const row = rowOf(scenario, { target: 'a' });
    assert.deepEqual([row.runs, row.counts, row.count], [1, true, 400]);
    near(row.max, 20);
    const [a] = scenario.steps;
    assert.deepEqual(a.used, ['run 1']);
    const reasons = a.runs.map(({ why }) => why);
    assert.deepEqual(reasons, [null, 'its measurement is invalid: Requests went out late']);
    assert.deepEqual(a.measurement, {
      verdict: 'invalid',
      verdicts: { valid: 1, invalid: 1 },
      reasons: [{ ...INVALID.reasons[0], runs: 1 }],
    });
  });

  test('if no run counts, the figures cover all runs and are marked', () => {
    const scenario = scenarioOf({ a: [mixedRun(1, 0, { interrupted: true })], b: [] }, { interrupted: true });
    const row = rowOf(scenario, { target: 'a' });
    assert.deepEqual([row.runs, row.counts, row.count], [1, false, 400]);
    assert.deepEqual([scenario.interrupted, scenario.steps[1].aim, scenario.steps[1].runs], [true, null, []]);
    assert.equal(scenario.steps[1].measurement.verdict, null);
  });
});

describe('requirements', () => {
  test('show a run with the worst verdict, and the number of runs by verdict', () => {
    const not = /** @type {const} */ ({ ...REQUIRED, verdict: 'not met', reason: 'p99 is 300 ms.' });
    const scenario = scenarioOf({
      a: [stagedRun(1, 0), stagedRun(1, 2, { requirements: [not] }), stagedRun(1, 4)],
      b: [stagedRun(1, 1)],
    });
    assert.deepEqual(scenario.steps[0].requirements, [
      { ...not, operation: null, verdicts: { met: 2, 'not met': 1 } },
    ]);
    assert.equal(rowOf(scenario, { target: 'a', stage: 'hold' }).requirement, 'not met');
  });
});

describe('differences', () => {
  /** @param {string} key @param {string | null} [operation] */
  const differenceOf = (key, operation = null) =>
    FOUR.differences.find((one) => one.metric.key === key && one.operation === operation)?.targets[1];

  test('use the means over runs, in percent of the first target', () => {
    for (const key of ['mean', 'p50', 'p95', 'p99', 'max', 'min']) {
      near(differenceOf(key)?.difference ?? null, 50);
      near(differenceOf(key, 'write')?.difference ?? null, 50);
    }
    assert.equal(differenceOf('perSecond')?.difference, 0);
  });

  test('the first target has none, shares differ by points, and a base of 0 has no percentage', () => {
    const { differences } = scenarioOf({
      a: [mixedRun(1, 0)],
      b: [mixedRun(1, 1, { failed: 40 })],
      c: [sampleResult([])],
    });
    const errors = differences.find(({ metric, operation }) => metric.key === 'errorShare' && !operation);
    const told = errors?.targets.map(({ target, difference }) => `${target}: ${difference}`);
    assert.deepEqual(told, ['a: null', 'b: 10', 'c: null']);
    const none = scenarioOf({ a: [sampleResult([])], b: [mixedRun(1, 1)] }).differences;
    assert.equal(none.find(({ metric }) => metric.key === 'perSecond')?.targets[1].difference, null);
  });

  test('a single target has none', () => {
    const summary = startScenario({ runs: ['x', 'y'], targets: ['only'], repeat: 1 });
    summary.add(0, mixedRun(1, 0));
    summary.add(1, mixedRun(1, 1));
    const { differences, comparisons, notes } = summary.result({ durationMs: 1 });
    assert.deepEqual([differences, comparisons], [[], []]);
    assert.equal(notes.length, 1, 'nor is it said that they are missing');
  });
});

describe('comparisons', () => {
  test('of four runs each cover the whole and each operation', () => {
    const compared = FOUR.comparisons.map(({ run, operation }) => `${run}: ${operation}`);
    assert.deepEqual(compared, ['mixed: null', 'mixed: login', 'mixed: write']);
    for (const { comparison } of FOUR.comparisons) {
      const names = comparison.groups.map(({ name }) => name);
      assert.deepEqual(names, ['inmem', 'raft']);
      const p99 = comparison.metrics.find(({ key }) => key === 'p99');
      assert.equal(p99?.comparisons[0].verdict, 'slower');
      near(p99?.comparisons[0].differencePercent ?? null, 50);
    }
    const [, login] = FOUR.comparisons;
    assert.deepEqual(login.comparison.groups[0].subjects[0].operations, ['login']);
    assert.deepEqual(login.comparison.groups[0].metrics.max.values, [10, 10.2, 9.9, 10.1]);
  });

  test('of more pairs than a scenario may have are refused', () => {
    const [one] = FOUR.comparisons;
    const many = { ...FOUR, comparisons: Array(5001).fill(one) };
    const message = /its comparisons have 5001 pairs of groups; the limit is 5000/;
    assert.throws(() => validateScenarioResult(many), {
      code: 'inconsistent_scenario_result',
      message,
    });
  });

  test('need enough counted runs; a note has the number', () => {
    const scenario = scenarioOf({
      inmem: four(1).slice(1),
      raft: [...four(1.5).slice(1), mixedRun(1.5, 9, { measurement: INVALID })],
    });
    assert.deepEqual(scenario.comparisons, []);
    assert.match(
      scenario.notes[1],
      /^mixed: .* at least 4 runs that count \(repeat: 4\); inmem has 3, raft has 3\.$/,
    );
  });

  test('leave out a target with too few runs, unless it is the first', () => {
    const names = (/** @type {ScenarioResult} */ { comparisons }) =>
      comparisons[0]?.comparison.groups.map(({ name }) => name) ?? null;
    const few = [mixedRun(1, 9)];
    assert.deepEqual(names(scenarioOf({ a: four(1), b: few, c: four(1.5) })), ['a', 'c']);
    assert.equal(names(scenarioOf({ a: few, b: four(1), c: four(1.5) })), null);
  });

  test('are made only at the end', () => {
    const summary = startScenario({ targets: ['a', 'b'], repeat: 4 });
    for (const [i, by] of [1, 1.5].entries()) for (const result of four(by)) summary.add(i, result);
    const { comparisons, unfinished } = summary.result({ durationMs: 1, unfinished: true });
    assert.deepEqual([comparisons, unfinished], [[], true]);
  });
});

test('warns about runs with different settings', () => {
  const { warnings } = scenarioOf({
    a: [mixedRun(1, 0), mixedRun(1, 2, { target: { url: 'http://a', product: 'Vault', version: '2.0.0' } })],
    b: [mixedRun(1, 1, { load: openLoad({ concurrency: 99 }) }), mixedRun(1, 3)],
  });
  assert.match(warnings.join('\n'), /The runs of a had different targets/);
  assert.match(warnings.join('\n'), /load\.concurrency \(10, 99\)/);
});

test('notes that closed loops hide waiting', () => {
  const results = { a: [mixedRun(1, 0)], b: [mixedRun(1, 1)] };
  const hides = (/** @type {ScenarioResult} */ { notes }) => notes.some((note) => /closed loop/.test(note));
  assert.equal(hides(scenarioOf(results)), false);
  assert.equal(hides(scenarioOf(results, { plan: { model: 'closed', ratePerSecond: null } })), true);
});

describe('the schema', () => {
  const { comparisons: _, ...rest } = FOUR;
  /** @type {[string, ScenarioResult][]} */
  const GOOD = [
    ['four runs on two targets', FOUR],
    ['stages', scenarioOf({ a: [stagedRun(1, 0)], b: [stagedRun(2, 1)] }, { plan: { stages: STAGES } })],
    [
      'a target that failed',
      scenarioOf(
        { a: [mixedRun(1, 0, { interrupted: true })], b: [] },
        { failed: { b: 'Nothing listens.' } },
      ),
    ],
    ['a file without outcomes', { ...FOUR, rows: FOUR.rows.map(({ outcomeDetails: _, ...row }) => row) }],
    ['unknown keys', /** @type {any} */ ({ ...FOUR, novelty: 1 })],
  ];
  for (const [what, scenario] of GOOD) {
    test(`accepts ${what}, by validator, by JSON Schema and from a file`, () => {
      const json = JSON.stringify(scenario);
      assert.equal(validateScenarioResult(scenario), scenario);
      assert.equal(problemIn(JSON.parse(json)), null);
      assert.deepEqual(parseDocument(Buffer.from(json), 'r.json'), JSON.parse(json));
      assert.deepEqual([kindOf(scenario), isScenarioResult(scenario)], ['scenario-result', true]);
    });
  }

  /** @type {[string, unknown, RegExp][]} */
  const BAD = [
    ['another version', { ...FOUR, schema: 'vault-pki-load/scenario-result/2' }, /schema: /],
    ['no comparisons', rest, /comparisons: /],
    ['no steps', { ...FOUR, steps: [] }, /steps: must contain at least one step/],
    ['a ratio above 1', { ...FOUR, rows: [{ ...FOUR.rows[0], successRatio: 2 }] }, /rows\.0\.successRatio: /],
    [
      'a new verdict',
      { ...FOUR, rows: [{ ...FOUR.rows[0], requirement: 'fine' }] },
      /rows\.0\.requirement: /,
    ],
    [
      'an outcome without success',
      { ...FOUR, rows: [{ ...FOUR.rows[0], outcomeDetails: { timeout: { count: 1, runs: 1 } } }] },
      /rows\.0\.outcomeDetails\.timeout\.success: /,
    ],
    ['null', null, /top level: /],
  ];
  for (const [what, value, message] of BAD) {
    test(`rejects ${what}`, () => {
      assert.throws(() => validateScenarioResult(value, 'r.json'), {
        code: 'bad_scenario_result',
        message: new RegExp(`^r\\.json is not a vault-pki-load/scenario-result/1: ${message.source}`),
      });
      assert.notEqual(problemIn(value), null);
    });
  }

  test('rejects a file with an incomplete comparison', () => {
    const [first, ...others] = FOUR.comparisons;
    const { metrics, ...comparison } = first.comparison;
    const broken = {
      ...FOUR,
      comparisons: [
        { ...first, comparison: { ...comparison, metrics: [metrics[0], metrics[0]] } },
        ...others,
      ],
    };
    assert.throws(() => parseDocument(Buffer.from(JSON.stringify(broken)), 'r.json'), {
      code: 'inconsistent_scenario_result',
    });
  });

  test('a row that is listed twice is rejected', () => {
    const broken = { ...FOUR, rows: [...FOUR.rows, FOUR.rows[0]] };
    assert.throws(() => parseDocument(Buffer.from(JSON.stringify(broken)), 'r.json'), {
      code: 'inconsistent_scenario_result',
      message: /a row is listed twice/,
    });
  });

  test('names the newer version of a file', () => {
    const json = JSON.stringify({ ...FOUR, schema: 'vault-pki-load/scenario-result/3' });
    assert.throws(() => parseDocument(Buffer.from(json), 'r.json'), { code: 'newer_file' });
  });
});
