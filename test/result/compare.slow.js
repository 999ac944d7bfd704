/** How often comparisons are right, over many simulated ones. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOfRun } from '../../src/plan/load.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { compareSamples } from '../../src/result/comparison/compare-samples.js';
import { noisy, normal } from './runs.js';
import { openLoad } from './sample.js';
import { QUICK } from './support.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { MetricHead } from '../../src/result/runs/run-set-schema.js' */

/** @type {MetricHead} */
const P99 = { key: 'p99', label: 'p99', unit: 'ms', lowerIsBetter: true };

const SIMULATIONS = 1000;

/**
 * How often runs of about 4 % of spread, as runs of one machine have, are called different.
 *
 * @param {number} factor by which B is slower
 * @param {number} runs of each
 * @returns {Record<string, number>} shares of verdicts
 */
function simulate(factor, runs) {
  /** @type {Record<string, number>} */
  const shares = {};
  for (let seed = 1; seed <= SIMULATIONS; seed += 1) {
    const a = noisy(runs, { typical: 80, spreadShare: 0.04, seed, stream: 1 });
    const b = noisy(runs, { typical: 80 * factor, spreadShare: 0.04, seed, stream: 2 });
    const { verdict } = compareSamples(P99, a, b, { seed, ...QUICK });
    shares[verdict] = (shares[verdict] ?? 0) + 1 / SIMULATIONS;
  }
  return shares;
}

describe('over 1,000 simulated comparisons', () => {
  for (const runs of [4, 10, 14]) {
    test(`A against A, ${runs} runs each, differs in about 5 %, in either direction`, () => {
      const { slower: up = 0, faster: down = 0, 'no difference shown': none = 0 } = simulate(1, runs);
      const called = up + down;
      // Exact tests of few runs stay below 5 %: their p-values come in steps.
      assert.ok(called > 0.01 && called < 0.07, `${called}`);
      assert.ok(up > 0 && down > 0, `${up} ${down}`);
      assert.ok(Math.abs(called + none - 1) < 1e-9);
    });
  }

  test('B 10 % slower is found with 10 runs each', () => {
    const shares = simulate(1.1, 10);
    assert.ok(shares.slower > 0.97, JSON.stringify(shares));
    assert.equal(shares.faster, undefined);
  });

  test('with 3 runs each, no difference is shown, however slow B is', () => {
    const [only, ...others] = Object.keys(simulate(3, 3));
    assert.deepEqual([only, others], ['not enough runs', []]);
  });
});

/**
 * p99 of the runs of one plan of `--repeat`: Poisson arrivals of the tool's own schedule at 70 % load of a server that takes about
 * 14 ms, and which never takes quite as long (Lindley's recursion).
 *
 * @param {number} seed of the plan
 * @param {number} runs
 * @param {(load: LoadPlan, run: number) => LoadPlan} [ofRun]
 */
function p99sOfRuns(seed, runs, ofRun = loadOfRun) {
  const own = openLoad({ ratePerSecond: 50, durationMs: 20_000, arrivals: 'poisson' });
  const plan = {
    ...own,
    pacing: /** @type {const} */ ('auto'),
    coldStart: false,
    seed,
    shard: null,
    startAt: null,
    stages: null,
    streamsPerConnection: null,
    requestsPerConnection: null,
    resumesTls: false,
    localAddresses: [],
    resolveEveryMs: null,
  };
  return Array.from({ length: runs }, (_, run) => {
    const { count, dueMs } = createSchedule(ofRun(plan, run));
    const times = [];
    for (let i = 0, freeAt = 0; i < count; i += 1) {
      const due = dueMs(i);
      freeAt = Math.max(freeAt, due) + 14 * Math.exp(0.1 * normal(1000 * seed + run, i, 9));
      times.push(freeAt - due);
    }
    return times.sort((a, b) => a - b)[Math.ceil(0.99 * times.length) - 1];
  });
}

describe('runs of one plan with Poisson arrivals on equal targets', () => {
  const COMPARISONS = 60;
  /** @param {Parameters<typeof p99sOfRuns>[2]} [ofRun] */
  function calledDifferent(ofRun) {
    let called = 0;
    for (let i = 0; i < COMPARISONS; i += 1) {
      const [a, b] = [p99sOfRuns(2 * i + 1, 10, ofRun), p99sOfRuns(2 * i + 2, 10, ofRun)];
      if (compareSamples(P99, a, b, { seed: 1, ...QUICK }).verdict !== 'no difference shown') called += 1;
    }
    return called / COMPARISONS;
  }

  test('differ in about 5 %, since each run has its own seed', () => {
    const share = calledDifferent();
    assert.ok(share < 0.15, `${share}`);
  });

  test('would nearly always differ if all runs of a group shared a seed', () => {
    const share = calledDifferent((load) => load);
    assert.ok(share > 0.5, `${share}`);
  });
});
