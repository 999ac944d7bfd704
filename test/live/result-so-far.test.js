import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkResult } from '../../src/results/check.js';
import { validateResult } from '../../src/results/schema.js';
import { reportAt, STARTED_AT, startRun } from './running.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/** As a reader of the file gets it: whole, valid, and in agreement with itself. @param {Result} result */
function assertRight(result) {
  const read = JSON.parse(JSON.stringify(result));
  assert.equal(validateResult(read), read);
  assert.deepEqual(checkResult(read), []);
  assert.equal(read.unfinished, true);
  assert.equal(read.interrupted, false);
}

describe('the result so far', () => {
  test('is there before anything was reported: empty, but whole', () => {
    for (const changes of [
      { durationMs: 20_000 },
      { durationMs: 20_000, threads: 3 },
      { durationMs: 20_000, shard: { index: 1, of: 4 } },
      /** @type {const} */ ({ model: 'closed', ratePerSecond: null, requests: 500 }),
    ]) {
      const { soFar } = startRun(changes, ['p99<200ms', 'rate>=1/s']);
      const result = soFar.result();
      assertRight(result);
      assert.deepEqual([result.totals.sent, result.timeline], [0, []]);
      assert.deepEqual(
        result.requirements.map(({ verdict }) => verdict),
        ['not proven', 'not proven'],
      );
      assert.equal(result.startedAt, STARTED_AT.toISOString());
    }
  });

  test('says what was planned, what became of it, and that the measurement is not judged', () => {
    const run = startRun({ durationMs: 20_000 });
    run.soFar.add(0, reportAt(run, 0, 0, 3010, { what: (index) => (index % 20 === 3 ? 'refused' : 'good') }));
    const result = run.soFar.result();
    assertRight(result);
    const { planned, sent, succeeded, failed, neverSent } = result.totals;
    assert.deepEqual([planned, sent, succeeded, failed, neverSent], [400, 61, 58, 3, 339]);
    assert.deepEqual(result.outcomes, { good: 58, refused: 3 });
    assert.equal(result.measurement.verdict, 'suspect');
    assert.deepEqual(
      result.measurement.reasons.map(({ code }) => code),
      ['unfinished'],
    );
    assert.deepEqual(
      result.timeline.map(({ due, succeeded: good, failed: bad }) => [due, good, bad]),
      [
        [20, 19, 1],
        [20, 19, 1],
        [20, 19, 1],
        [20, 1, 0],
      ],
    );
    // 58 successes in 3.01 s.
    assert.equal(result.rates.perSecond.toFixed(2), '19.27');
  });

  test('adds up whenever it is asked for, however the threads report', () => {
    fc.assert(
      fc.property(
        fc.record({
          ratePerSecond: fc.integer({ min: 1, max: 60 }),
          threads: fc.integer({ min: 1, max: 3 }),
          warmupMs: fc.constantFrom(0, 700),
          arrivals: fc.constantFrom('constant', 'poisson'),
          shard: fc.constantFrom(null, { index: 1, of: 2 }),
          durationMs: fc.constant(6000),
        }),
        fc.array(fc.record({ thread: fc.nat(2), ms: fc.integer({ min: 1, max: 2500 }) }), { maxLength: 12 }),
        (changes, steps) => {
          const run = startRun(/** @type {any} */ (changes), ['rate>=1/s', 'p90<1s']);
          const at = [0, 0, 0];
          const what = (/** @type {number} */ index) => ['good', 'good', 'bad', 'refused'][index % 4];
          for (const { thread, ms } of steps) {
            if (thread >= run.load.threads) continue;
            run.soFar.add(thread, reportAt(run, thread, at[thread], at[thread] + ms, { tookMs: 40, what }));
            at[thread] += ms;
            assertRight(run.soFar.result());
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of a part of a plan can be merged: it has what merging needs', () => {
    const run = startRun({ durationMs: 20_000, shard: { index: 1, of: 4 } }, ['p99<1s']);
    run.soFar.add(0, reportAt(run, 0, 0, 2500));
    const result = run.soFar.result();
    assertRight(result);
    assert.deepEqual(result.shard, { index: 1, of: 4 });
    assert.equal(result.totals.planned, 100);
    assert.equal(result.merge?.lags.length, 3);
    assert.equal(result.requirements[0].verdict, 'not proven');
  });
});

describe('a requirement on the rate, while the run goes on,', () => {
  /** @type {[string, Partial<import('../../src/plan.js').LoadPlan>, number, number, string][]} load, answered after, asked at, verdict */
  const TABLE = [
    ['is met where all that was due was answered', { ratePerSecond: 20 }, 5, 8000, 'met'],
    ['is met in between two arrivals, too', { ratePerSecond: 20 }, 5, 8033, 'met'],
    ['is met where some are on their way, as always', { ratePerSecond: 20 }, 400, 8020, 'met'],
    ['is not proven after a few seconds', { ratePerSecond: 20 }, 5, 3000, 'not proven'],
    ['is not met where less was asked for', { ratePerSecond: 19 }, 5, 8000, 'not met'],
  ];
  for (const [what, changes, tookMs, atMs, verdict] of TABLE) {
    test(what, () => {
      const run = startRun({ durationMs: 20_000, ...changes }, ['rate>=20/s']);
      run.soFar.add(0, reportAt(run, 0, 0, atMs, { tookMs }));
      const result = run.soFar.result();
      assertRight(result);
      assert.equal(result.requirements[0].verdict, verdict, result.requirements[0].reason);
    });
  }

  test('is not met where a backlog grows', () => {
    const run = startRun({ durationMs: 20_000 }, ['rate>=20/s']);
    // Only what was due in the first four seconds is answered after eight.
    const { snapshot, rows, open } = reportAt(run, 0, 0, 4000);
    run.soFar.add(0, { atMs: 8000, snapshot, rows, open });
    const [{ verdict, actual }] = run.soFar.result().requirements;
    assert.deepEqual([verdict, actual], ['not met', 10]);
  });
});
