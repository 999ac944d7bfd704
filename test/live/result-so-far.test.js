import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createResultSoFar, withoutVerdicts } from '../../src/live/result-so-far.js';
import { checkResult } from '../../src/result/check/check.js';
import { parseDocument } from '../../src/result/read-document.js';
import { validateResult } from '../../src/result/schema.js';
import { sample, setUp } from '../engine/recording.js';
import { syntheticRun } from '../synthetic-run.js';
import { MIX, reportAt, STARTED_AT, startRun } from './running.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */

/** As a reader of the file gets it: whole, valid, and in agreement with itself. @param {Result} result */
function assertRight(result) {
  const read = JSON.parse(JSON.stringify(result));
  assert.equal(validateResult(read), read);
  assert.deepEqual(checkResult(read, { isFile: true }), []);
  assert.equal(read.unfinished, true);
  assert.equal(read.interrupted, false);
}

describe('the result so far', () => {
  test('adds up if a closed loop divides its requests among several operations', () => {
    const names = ['operation 0', 'operation 1', 'operation 2'];
    const { start, zero, load } = startRun({ model: 'closed', ratePerSecond: null, requests: 500 });
    const mix = /** @type {any} */ ({
      ...MIX,
      members: names.map((name, i) => ({ name, weight: i + 1 })),
      units: Object.fromEntries(names.map((name) => [name, 'answers'])),
    });
    const soFar = createResultSoFar({ mix, start, zero, command: 'vault-pki-load x' });
    const { recorder, rows } = setUp({ operations: 3 });
    assertRight(soFar.result());
    for (let index = 0; index < 41; index++) {
      recorder.record(sample(index * 10, index * 10 + 5, 'good', { index, operation: index % 3 }));
    }
    soFar.add(0, structuredClone({ atMs: 405, rows, ...recorder.soFar() }));
    const result = soFar.result();
    assertRight(result);
    assert.deepEqual([load.requests, result.totals.planned, result.totals.neverSent], [500, 500, 459]);
    assert.deepEqual(
      names.map((name) => result.operations[name].totals.planned),
      [14 + 77, 14 + 153, 13 + 229],
    );
  });

  test('exists before the first report: empty, but complete', () => {
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

  test('has the plan, the outcomes so far, and no verdict on the measurement', () => {
    const run = startRun({ durationMs: 20_000 });
    run.soFar.add(0, reportAt(run, 0, 0, 3010, { what: (index) => (index % 20 === 3 ? 'refused' : 'good') }));
    const result = run.soFar.result();
    assertRight(result);
    const { planned, sent, succeeded, failed, neverSent } = result.totals;
    assert.deepEqual([planned, sent, succeeded, failed, neverSent], [400, 61, 58, 3, 339]);
    assert.deepEqual(result.outcomes, { good: 58, refused: 3 });
    assert.equal(result.measurement.verdict, 'suspect');
    assert.deepEqual([result.measurement.reasons, result.unfinished], [[], true]);
    assert.deepEqual(
      result.timeline.map(({ due, succeeded: good, failed: bad }) => [due, good, bad]),
      [
        [20, 19, 1],
        [20, 19, 1],
        [20, 19, 1],
        [20, 1, 0],
      ],
    );
    // 58 of the 61 that were due before 3.05 s.
    assert.equal(result.rates.perSecond.toFixed(2), '19.02');
    assert.equal(result.durationSeconds, 3.01);
  });

  test('adds up at any time, however the threads report', () => {
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
      { numRuns: 12 },
    );
  });

  test('of a part of a plan has everything that merging needs', () => {
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

describe('the rate so far', () => {
  /** @type {[string, Partial<LoadPlan>, number, number, number][]} load, asked at, known until so much later, rate */
  const TABLE = [
    ['is the planned rate', { ratePerSecond: 20 }, 1000, 0, 20],
    ['is the same with requests completed during the report', { ratePerSecond: 20 }, 1000, 99, 20],
    ['is the same long before the next arrival', { ratePerSecond: 1000 / 3600 }, 1000, 99, 1000 / 3600],
    ['is the same at the very end', { ratePerSecond: 20 }, 5970, 20, 20],
    ['is the same after the planned end', { ratePerSecond: 20 }, 7000, 0, 20],
    ['is the rate of a part of a plan', { ratePerSecond: 20, shard: { index: 1, of: 4 } }, 3000, 99, 5],
    ['excludes a warm-up', { ratePerSecond: 20, warmupMs: 1500 }, 4000, 60, 20],
  ];
  for (const [what, changes, atMs, laterMs, rate] of TABLE) {
    test(what, () => {
      const run = startRun({ durationMs: 6000, ...changes });
      run.soFar.add(0, reportAt(run, 0, 0, atMs, { laterMs }));
      const result = run.soFar.result();
      assertRight(result);
      assert.equal(result.rates.perSecond.toFixed(6), rate.toFixed(6));
      const measuredMs = Math.max(0, atMs - (changes.warmupMs ?? 0));
      assert.ok(result.durationSeconds * 1000 <= measuredMs + laterMs, 'counts no future time');
    });
  }

  test('never exceeds the offered rate, at any time', () => {
    fc.assert(
      fc.property(
        fc.record({
          ratePerSecond: fc.double({ min: 0.2, max: 200, noNaN: true }),
          threads: fc.integer({ min: 1, max: 2 }),
          warmupMs: fc.constantFrom(0, 700),
          rampUpMs: fc.constantFrom(0, 1300),
          shard: fc.constantFrom(null, { index: 0, of: 3 }, { index: 2, of: 3 }),
          durationMs: fc.constant(4000),
        }),
        fc.array(
          fc.record({ ms: fc.integer({ min: 1, max: 1500 }), laterMs: fc.integer({ min: 0, max: 300 }) }),
          { minLength: 1, maxLength: 6 },
        ),
        fc.constantFrom(1, 40, 700),
        (changes, steps, tookMs) => {
          const run = startRun(changes);
          // Where the time is no multiple of the gap between two, a plan holds a little more.
          const planned = Number(run.start.planned) / (Number(run.zero.windowMs) / 1000);
          const offered = Math.max(planned, changes.ratePerSecond / (changes.shard?.of ?? 1));
          let at = 0;
          for (const { ms, laterMs } of steps) {
            for (let thread = 0; thread < changes.threads; thread++) {
              run.soFar.add(thread, reportAt(run, thread, 0, at + ms, { laterMs, tookMs }));
            }
            at += ms;
            const result = run.soFar.result();
            assertRight(result);
            const { perSecond } = result.rates;
            assert.ok(perSecond <= offered * (1 + 1e-9), `${perSecond} of ${offered} at ${at} ms`);
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('a requirement on the rate, during the run,', () => {
  /** @type {[string, Partial<LoadPlan>, number, number, string][]} load, answered after, asked at, verdict */
  const TABLE = [
    ['is met if every due request has a response', { ratePerSecond: 20 }, 5, 8000, 'met'],
    ['is also met between two arrivals', { ratePerSecond: 20 }, 5, 8033, 'met'],
    ['is met with the usual requests in flight', { ratePerSecond: 20 }, 400, 8020, 'met'],
    ['is also met after a few seconds', { ratePerSecond: 20 }, 5, 3000, 'met'],
    ['is not met if the planned rate is lower', { ratePerSecond: 19 }, 5, 8000, 'not met'],
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

  test('frees the histograms of the report before', () => {
    const run = startRun({ durationMs: 20_000 });
    const reports = [1000, 2000].map((atMs) => reportAt(run, 0, 0, atMs));
    // As from another part.
    reports[0].tally.readLate = reports[0].tally.readLate.slice();
    for (const report of reports) run.soFar.add(0, report);
    const sizes = reports.flatMap(({ tally: { lag, readLate } }) => [
      lag.buffer.byteLength,
      readLate.buffer.byteLength,
    ]);
    assert.deepEqual(
      sizes.map((size) => size > 0),
      [false, false, true, true],
    );
    assertRight(run.soFar.result());
  });

  test('is not met if a backlog grows', () => {
    const run = startRun({ durationMs: 20_000 }, ['rate>=20/s']);
    // Only what was due in the first four seconds is answered after sixteen.
    run.soFar.add(0, { ...reportAt(run, 0, 0, 4000), atMs: 16_000 });
    const [{ verdict, actual }] = run.soFar.result().requirements;
    assert.deepEqual([verdict, actual], ['not met', 5]);
  });
});

test('what may outlive a killed run has no verdicts: requests without a response are not in its figures', () => {
  const plan = {
    load: { ratePerSecond: 20, durationMs: 4000 },
    requirements: ['p50<10s', 'errors<90%', 'rate>=9999/s'],
  };
  const soFar = { ...syntheticRun(plan), unfinished: /** @type {const} */ (true) };
  const written = withoutVerdicts(soFar);
  const none = { actual: null, low: null, high: null, verdict: 'not proven' };
  const reason = 'The run had not ended when this was written.';
  assert.deepEqual(
    written.requirements,
    soFar.requirements.map(({ text, limit, unit }) => ({ text, limit, unit, ...none, reason })),
  );
  const read = (/** @type {object} */ one) => parseDocument(Buffer.from(JSON.stringify(one)), 'a.json');
  read(written);
  assert.throws(
    () => read(soFar),
    /the verdict on p50<10s is met, but in an unfinished result it is always not proven/,
  );
});
