import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeHistogram, encodeHistogram, sumHistograms } from '../../src/histogram.js';
import { createSchedule } from '../../src/load/pacing/schedule.js';
import { checkResult } from '../../src/results/check/check.js';
import { load as loadOf } from '../load/load-plan.js';
import { syntheticRun } from '../synthetic-run.js';

/** @typedef {import('../../src/plan-load.js').StagePlan} StagePlan */
/** @typedef {import('../../src/results/schema.js').Result} Result */
/** @typedef {import('../../src/results/schema.js').LatencyBlocks} LatencyBlocks */

/** @param {string} name @param {...[seconds: number, from: number, to: number]} lines @returns {StagePlan} */
const stage = (name, ...lines) => ({
  name,
  lines: lines.map(([seconds, from, to]) => ({ durationMs: seconds * 1000, from, to })),
});

const STAGES = [
  stage('ramp', [4, 0, 60]),
  stage('hold', [6, 60, 60]),
  stage('burst', [0.5, 120, 120], [1, 20, 20], [0.5, 120, 120], [1, 20, 20]),
];

/** @param {StagePlan[]} stages @param {Partial<import('../../src/plan.js').LoadPlan>} [changes] */
function staged(stages, changes = {}) {
  const lines = stages.flatMap((one) => one.lines);
  const durationMs = lines.reduce((sum, line) => sum + line.durationMs, 0);
  const most = Math.max(...lines.flatMap(({ from, to }) => [from, to]));
  return { ratePerSecond: most, durationMs, stages, ...changes };
}

const WEIGHTS = { read: 9, write: 1 };

/** @param {LatencyBlocks[]} parts @param {'response' | 'service' | 'sendLag'} series */
function histogramOf(parts, series) {
  const histograms = parts.flatMap((part) => part[series].histogram ?? []);
  return encodeHistogram(sumHistograms(histograms.map(decodeHistogram)));
}

/** @param {Result} result */
function assertSums(result) {
  assert.deepEqual(checkResult(result), []);
  const { stages, operations } = result;
  const inStages = stages?.flatMap((one) => Object.values(one.operations));
  const blocks = [Object.values(operations), stages, inStages].filter((parts) => parts !== undefined);
  for (const parts of blocks) {
    for (const [key, value] of Object.entries(result.totals)) {
      const sum = parts.reduce((all, { totals }) => all + Number(Object(totals)[key]), 0);
      assert.equal(sum, value, key);
    }
    for (const series of /** @type {const} */ (['response', 'service', 'sendLag'])) {
      if (result.latencyMs[series].count === 0) continue;
      assert.equal(
        histogramOf(
          parts.map(({ latencyMs }) => latencyMs),
          series,
        ),
        histogramOf([result.latencyMs], series),
        series,
      );
    }
  }
}

describe('a run of several operations in stages adds up, bucket for bucket,', () => {
  /** @type {[string, Parameters<typeof syntheticRun>[0]][]} */
  const table = [
    ['on three threads', { load: staged(STAGES, { threads: 3 }), weights: WEIGHTS }],
    ['after a warm-up', { load: staged(STAGES, { warmupMs: 1500 }), weights: WEIGHTS }],
    ['where what is late is dropped', { load: staged(STAGES, { overflow: 'drop' }), weights: WEIGHTS }],
    ['where the last were never sent', { load: staged(STAGES), weights: WEIGHTS, unsent: 150 }],
    ['interrupted in the middle of a stage', { load: staged(STAGES), weights: WEIGHTS, stoppedMs: 5250 }],
    [
      'interrupted in the warm-up',
      { load: staged(STAGES, { warmupMs: 900 }), weights: WEIGHTS, stoppedMs: 500 },
    ],
    [
      'in a closed loop of so many requests, interrupted',
      { load: { model: 'closed', ratePerSecond: null, requests: 400 }, weights: WEIGHTS, stoppedMs: 3000 },
    ],
  ];
  for (const [what, given] of table) {
    test(what, () => {
      const result = syntheticRun(given);
      assertSums(result);
      assert.ok(result.totals.planned > 100);
      const names = Object.keys(given.weights ?? { synthetic: 1 });
      for (const { operations } of result.stages ?? []) assert.deepEqual(Object.keys(operations), names);
    });
  }

  test('and what one of them has found out at the end is said once, and of that one alone', () => {
    for (const changes of [{}, { threads: 2 }]) {
      const result = syntheticRun({
        load: staged(STAGES, changes),
        weights: WEIGHTS,
        notes: [[], ['It was small.']],
      });
      const notes = (/** @type {any} */ { verification }) => verification.notes;
      for (const block of [result, ...(result.stages ?? [])]) {
        const { read, write } = block.operations;
        assert.deepEqual([block, read, write].map(notes), [['It was small.'], [], ['It was small.']]);
      }
    }
  });

  test('and each stage has the arrivals that the plan has in it', () => {
    const result = syntheticRun({ load: staged(STAGES), weights: WEIGHTS, stoppedMs: 5250 });
    const { count, dueMs } = createSchedule(loadOf(staged(STAGES)));
    const due = Array.from({ length: count }, (_, i) => dueMs(i));
    const inside = (/** @type {number} */ from, /** @type {number} */ to) =>
      due.filter((ms) => ms >= from - 1e-6 && ms < to - 1e-6).length;
    assert.deepEqual(
      result.stages?.map(({ totals }) => [totals.planned, totals.neverSent]),
      [
        [inside(0, 4000), 0],
        [inside(4000, 10_000), inside(5250, 10_000)],
        [inside(10_000, 13_000), inside(10_000, 13_000)],
      ],
    );
    assert.deepEqual(
      result.stages?.map(({ name, startSeconds, seconds, level }) => [name, startSeconds, seconds, level]),
      [
        ['ramp', 0, 4, { least: 0, most: 60 }],
        ['hold', 4, 1.25, { least: 60, most: 60 }],
        ['burst', 10, 0, { least: 20, most: 120 }],
      ],
    );
  });
});

describe('what does not add up over stages is found:', () => {
  const whole = syntheticRun({ load: staged(STAGES), weights: WEIGHTS });
  /** @type {[string, (stages: any[]) => void, RegExp][]} */
  const table = [
    ['a request too many', ([one]) => one.totals.planned++, /stage ramp: sent \+ dropped/],
    [
      'an operation that is not there',
      ([one]) => delete one.operations.write,
      /its operations are not those of the run/,
    ],
    ['a stage that is not there', (stages) => stages.pop(), /the stages' totals\.planned is/],
    ['a rate', ([, one]) => (one.rates.perSecond += 1), /stage hold: rates\./],
    ['no stage', (stages) => stages.splice(0), /there are no stages/],
    [
      'a request in another stage',
      ([one, other]) => Object.assign(one.operations, { read: other.operations.read }),
      /stage ramp: the operations' totals\.planned/,
    ],
    [
      'the times of another stage',
      (stages) => {
        stages[0].latencyMs.response.histogram = stages[1].latencyMs.response.histogram;
      },
      /stage ramp: latencyMs\.response/,
    ],
  ];
  for (const [what, change, problem] of table) {
    test(what, () => {
      const changed = structuredClone(whole);
      change(changed.stages ?? []);
      assert.match(checkResult(changed).join('\n'), problem);
    });
  }
});

/** Everything is answered well in 5 ms, but what `bad` says. */
const good = (/** @type {(sample: any, operation: string) => boolean} */ isBad, /** @type {object} */ bad) =>
  /** @type {Parameters<typeof syntheticRun>[0]['change']} */ (
    (sample, operation) => ({
      ...sample,
      sent: sample.intended,
      done: sample.intended + 5,
      failure: null,
      status: 200,
      body: Buffer.from('good'),
      ...(isBad(sample, operation) ? Object(bad)(sample) : {}),
    })
  );

const slow = (/** @type {any} */ sample) => ({ done: sample.intended + 300 });
const failed = () => ({ failure: 'timeout', status: 0, body: null });
const inHold = ({ intended = 0 }) => intended >= 4000 && intended < 10_000;

describe('a requirement of an operation or a stage is judged on that alone:', () => {
  const [hold, ramp, burst] = ['hold', 'ramp', 'burst'].map((stage) => ({ stage }));
  const [read, write] = ['read', 'write'].map((operation) => ({ operation }));
  const isWrite = (/** @type {unknown} */ _, /** @type {string} */ name) => name === 'write';
  const isWriteInHold = (/** @type {any} */ sample, /** @type {string} */ name) =>
    name === 'write' && inHold(sample);

  /** @type {[string, ReturnType<typeof good>, [string, {operation?: string, stage?: string}, string, RegExp?][]][]} */
  const table = [
    [
      'a slow stage',
      good(inHold, slow),
      [
        ['p90<100ms', hold, 'not met'],
        ['p90<100ms', ramp, 'met'],
      ],
    ],
    [
      'a slow operation, of which there is little',
      good(isWrite, slow),
      [
        ['p90<100ms', write, 'not met'],
        ['p90<100ms', read, 'met'],
      ],
    ],
    [
      'an operation that is slow in one stage',
      good(isWriteInHold, slow),
      [
        ['p50<100ms', { ...write, ...hold }, 'not met'],
        ['p50<100ms', { ...write, ...burst }, 'met'],
      ],
    ],
    [
      'errors of a stage',
      good(inHold, failed),
      [
        ['errors<10%', hold, 'not met', /360 of 360/],
        ['errors<10%', ramp, 'met'],
      ],
    ],
    ['errors now and then', good(({ index }) => index % 3 === 0, failed), [['rate>=60/s', hold, 'not met']]],
    [
      'no trouble',
      good(() => false, {}),
      [
        ['rate>=60/s', hold, 'met', /60\/s, succeeded/],
        ['rate>=61/s', hold, 'not met', /The rate is 60\/s/],
        ['rate>=20/s', ramp, 'not proven', /4 full seconds/],
        ['rate>=20/s', read, 'met'],
        ['rate>=20/s', write, 'not met'],
      ],
    ],
  ];
  for (const [what, change, judged] of table) {
    test(what, () => {
      const { requirements } = syntheticRun({
        load: staged(STAGES),
        weights: WEIGHTS,
        requirements: judged.map(([text, scope]) => [text, scope]),
        change,
      });
      for (const [i, [text, scope, verdict, reason = /./]] of judged.entries()) {
        const one = requirements[i];
        assert.equal(one.verdict, verdict, one.reason);
        assert.match(one.reason, reason);
        assert.deepEqual([one.operation, one.stage], [scope.operation, scope.stage]);
        assert.equal(one.text, `${Object.values(scope).join(' in ')}: ${text}`);
      }
    });
  }

  test('a stage fails its own though the whole passes', () => {
    const { requirements } = syntheticRun({
      load: staged(STAGES),
      weights: WEIGHTS,
      requirements: ['p50<100ms', ['p50<100ms', { stage: 'burst' }]],
      change: good(({ intended }) => intended >= 10_000, slow),
    });
    assert.deepEqual(
      requirements.map(({ verdict }) => verdict),
      ['met', 'not met'],
    );
  });

  test('a ramp of which all succeeded has offered its mean rate', () => {
    const stages = [stage('ramp', [8, 0, 60])];
    const { requirements } = syntheticRun({
      load: staged(stages),
      requirements: ['rate>=29/s', ['rate>=31/s', { stage: 'ramp' }]],
      change: good(() => false, {}),
    });
    assert.match(requirements[0].reason, /all that was offered, 30\/s on average, succeeded/);
    assert.deepEqual(
      requirements.map(({ verdict }) => verdict),
      ['met', 'not met'],
    );
  });

  test('a stage that begins and ends between arrivals has offered its level, though fewer are in its time', () => {
    const level = 0.25;
    // 7.75 arrivals, then 150.2: those from the 9th to the 158th are in the second stage, 898.8 an hour.
    const { requirements, stages } = syntheticRun({
      load: staged([stage('ramp', [62, 0, level]), stage('hold', [600.8, level, level])]),
      requirements: [
        ['rate>=900/h', { stage: 'hold' }],
        ['rate>=901/h', { stage: 'hold' }],
      ],
      change: good(() => false, {}),
    });
    assert.deepEqual(
      stages?.map(({ totals, rates }) => [totals.planned, totals.succeeded, Math.round(rates.perHour)]),
      [
        [8, 8, 465],
        [150, 150, 899],
      ],
    );
    assert.deepEqual(
      requirements.map(({ verdict }) => verdict),
      ['met', 'not met'],
    );
    assert.match(requirements[0].reason, /all that was offered, its level of 900\/h, succeeded/);
  });

  /** @type {[string, number, number, number, [number, string]][]} what, seconds of a ramp, seconds of a hold, its level, arrivals and verdict */
  const SHORT = [
    ['1 arrival where 1.95 are due: half of its level', 0.3, 6.5, 0.3, [1, 'not proven']],
    ['59 where 59.7 are due: below it by more than a hundredth', 0.5, 59.7, 1, [59, 'not proven']],
    ['60 where 60 are due', 0.5, 60, 1, [60, 'met']],
    ['200 where 200.7 are due', 0.5, 200.7, 1, [200, 'met']],
  ];
  for (const [what, ramp, hold, level, expected] of SHORT) {
    test(`a stage that keeps its level, ${what}`, () => {
      const { requirements, stages } = syntheticRun({
        load: staged([stage('ramp', [ramp, 0, level]), stage('hold', [hold, level, level])]),
        requirements: [[`rate>=${level}/s`, { stage: 'hold' }]],
        change: good(() => false, {}),
      });
      assert.deepEqual(
        [stages?.[1].totals.planned, requirements[0].verdict],
        expected,
        requirements[0].reason,
      );
    });
  }

  test('a stage of fewer than 100 arrivals that lacks one is not held against who answered them all', () => {
    const judgedWith = (/** @type {boolean} */ fails) =>
      syntheticRun({
        load: staged([
          stage('first', [300, 1000 / 3600, 1000 / 3600]),
          stage('second', [300, 1000 / 3600, 1000 / 3600]),
        ]),
        requirements: [
          ['rate>=1000/h', { stage: 'second' }],
          ['rate>=1001/h', { stage: 'second' }],
        ],
        change: good(({ intended }) => fails && Math.floor(intended / 10_000) === 45, failed),
      }).requirements;
    const [level, more] = judgedWith(false);
    assert.deepEqual([level.verdict, more.verdict], ['not proven', 'not met']);
    assert.match(
      level.reason,
      /83 arrivals are too few to tell whether its level of 1,000\/h was kept, 100 are enough\./,
    );
    assert.equal(judgedWith(true)[0].verdict, 'not met');
  });

  test('what was dropped or never sent counts where it was due', () => {
    const dropped = syntheticRun({
      load: staged(STAGES, { overflow: 'drop' }),
      requirements: [['errors<1%', { stage: 'hold' }]],
      change: good(() => false, {}),
    });
    assert.equal(dropped.requirements[0].verdict, 'not met');
    assert.equal(
      dropped.stages?.reduce((sum, { totals }) => sum + totals.dropped, 0),
      dropped.totals.dropped,
    );
    assert.ok(dropped.stages?.every(({ totals }) => totals.dropped > 0));
    const unsent = syntheticRun({
      load: staged(STAGES),
      unsent: 40,
      requirements: [
        ['errors<1%', { stage: 'hold' }],
        ['errors<1%', { stage: 'burst' }],
      ],
      change: good(() => false, {}),
    });
    assert.deepEqual(
      unsent.requirements.map(({ verdict }) => verdict),
      ['met', 'not met'],
    );
    assert.deepEqual(
      unsent.stages?.map(({ totals }) => totals.neverSentDue),
      [0, 0, 40],
    );
  });
});

describe('whether the target had settled is asked of each stage that is the same all the time:', () => {
  const codes = (/** @type {Result} */ { measurement }) =>
    measurement.reasons.map(({ code, text }) => `${code}: ${text}`);
  const tookMs = (/** @type {(ms: number) => number} */ of) =>
    good(
      () => true,
      (/** @type {any} */ sample) => ({ done: sample.intended + of(sample.intended) }),
    );

  test('a latency that rises with the rate is no drift', () => {
    const stages = [stage('ramp', [20, 10, 100]), stage('steps', [10, 20, 20], [10, 80, 80])];
    const result = syntheticRun({ load: staged(stages), change: tookMs((ms) => 5 + ms / 500) });
    assert.deepEqual(codes(result), []);
  });

  test('nor is one that differs from stage to stage', () => {
    const stages = [stage('low', [15, 20, 20]), stage('high', [15, 80, 80])];
    const result = syntheticRun({ load: staged(stages), change: tookMs((ms) => (ms < 15_000 ? 5 : 25)) });
    assert.deepEqual(codes(result), []);
  });

  test('one that rises while the rate is held is', () => {
    const stages = [stage('ramp', [5, 0, 50]), stage('soak', [25, 50, 50])];
    const result = syntheticRun({
      load: staged(stages),
      change: tookMs((ms) => (ms < 5000 ? 5 : 5 + ms / 500)),
    });
    assert.match(codes(result).join(), /still_changing: .* in the stage soak/);
    assert.equal(result.measurement.verdict, 'suspect');
  });
});

describe('the rate of a stage is over its own time:', () => {
  const HELD = ['one', 'two', 'three'].map((name) => stage(name, [6, 50, 50]));
  const late = good(
    () => true,
    (/** @type {any} */ { intended }) => ({ done: intended + 100 }),
  );

  test('one that was over when the run was interrupted is as if it had not been', () => {
    const { stages, requirements } = syntheticRun({
      load: staged(HELD),
      stoppedMs: 13_000,
      change: late,
      requirements: [['rate>=50/s', { stage: 'one' }]],
    });
    const [one, two, three] = stages ?? [];
    for (const { windowSeconds, rates } of [one, two]) {
      assert.deepEqual([windowSeconds, rates.perSecond], [6, 50]);
    }
    assert.deepEqual([three.seconds, three.windowSeconds], [1, 1.08]);
    assert.equal(requirements[0].verdict, 'met', requirements[0].reason);
  });

  test('in a closed loop, what was handed on is made up for by what was taken over', () => {
    // 50/s by a new request every 20 ms; each takes 0.5 s.
    const { stages } = syntheticRun({
      load: staged(HELD, { model: 'closed', ratePerSecond: null, concurrency: 25, requests: 900 }),
      change: good(
        () => true,
        (/** @type {any} */ { intended }) => ({ done: intended + 500 }),
      ),
    });
    assert.deepEqual(
      stages?.map(({ windowSeconds, rates }) => [windowSeconds.toFixed(1), rates.perSecond.toFixed(1)]),
      [
        ['6.5', '46.3'],
        ['6.0', '50.0'],
        ['6.0', '50.0'],
      ],
    );
  });

  test('what is required of an operation is judged on the rate that the result has of it', () => {
    const { operations, requirements, stages } = syntheticRun({
      load: staged(HELD),
      weights: WEIGHTS,
      // The writes work off a backlog, so that the whole takes longer than the reads.
      change: good(
        ({ intended }, name) => name === 'write' && intended > 9000,
        (/** @type {any} */ { intended }) => ({ done: intended + 4000 }),
      ),
      requirements: [
        ['rate>=1/s', { operation: 'read' }],
        ['rate>=1/s', { operation: 'read', stage: 'three' }],
      ],
    });
    assert.deepEqual(
      requirements.map(({ actual }) => actual),
      [operations.read.rates.perSecond, stages?.[2].operations.read.rates.perSecond],
    );
    assert.notEqual(stages?.[2].windowSeconds, 6, 'or any of the two times would do');
  });
});
