import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeHistogram, encodeHistogram, sumHistograms } from '../../src/common/histogram.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { checkResult } from '../../src/result/check/check.js';
import { load as loadOf } from '../engine/load-plan.js';
import { sample } from '../engine/recording.js';
import { syntheticRun } from '../synthetic-run.js';

/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { LoadPlan, StagePlan } from '../../src/plan/load.js' */
/** @import { LatencyBlocks, Result } from '../../src/result/schema.js' */

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

/** @param {StagePlan[]} stages @param {Partial<LoadPlan>} [changes] */
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
      const all = parts.map(({ latencyMs }) => latencyMs);
      assert.equal(histogramOf(all, series), histogramOf([result.latencyMs], series), series);
    }
  }
}

describe('a run of several operations in stages adds up, bucket for bucket,', () => {
  const closed = /** @type {const} */ ({ model: 'closed', ratePerSecond: null, requests: 400 });
  /** @type {[string, Parameters<typeof syntheticRun>[0]][]} */
  const table = [
    ['on three threads', { load: staged(STAGES, { threads: 3 }) }],
    ['after a warm-up', { load: staged(STAGES, { warmupMs: 1500 }) }],
    ['with late requests dropped', { load: staged(STAGES, { overflow: 'drop' }) }],
    ['with the last requests never sent', { load: staged(STAGES), unsent: 150 }],
    ['interrupted in the middle of a stage', { load: staged(STAGES), stoppedMs: 5250 }],
    ['interrupted in the warm-up', { load: staged(STAGES, { warmupMs: 900 }), stoppedMs: 500 }],
    ['in a closed loop with a number of requests, interrupted', { load: closed, stoppedMs: 3000 }],
  ];
  for (const [what, given] of table) {
    test(what, () => {
      const result = syntheticRun({ ...given, weights: WEIGHTS });
      assertSums(result);
      assert.ok(result.totals.planned > 100);
      for (const { operations } of result.stages ?? []) {
        assert.deepEqual(Object.keys(operations), Object.keys(WEIGHTS));
      }
    });
  }

  test('and each stage has its planned arrivals', () => {
    const result = syntheticRun({ load: staged(STAGES), weights: WEIGHTS, stoppedMs: 5250 });
    const { count, dueMs } = createSchedule(loadOf(staged(STAGES)));
    const due = Array.from({ length: count }, (_, i) => dueMs(i));
    const inside = (/** @type {number} */ from, /** @type {number} */ to) =>
      due.filter((ms) => ms >= from - 1e-6 && ms < to - 1e-6).length;
    const [ramp, hold, burst] = result.stages ?? [];
    const counts = [ramp, hold, burst].map(({ totals }) => [totals.planned, totals.neverSent]);
    const [inHold, inBurst] = [inside(4000, 10_000), inside(10_000, 13_000)];
    assert.deepEqual(counts.flat(), [inside(0, 4000), 0, inHold, inside(5250, 10_000), inBurst, inBurst]);
    const told = [ramp, hold, burst].map((one) => [one.name, one.startSeconds, one.seconds, one.level]);
    assert.deepEqual(told[0], ['ramp', 0, 4, { least: 0, most: 60 }]);
    assert.deepEqual(told[1], ['hold', 4, 1.25, { least: 60, most: 60 }]);
    assert.deepEqual(told[2], ['burst', 10, 0, { least: 20, most: 120 }]);
  });
});

describe('the rate of a stage', () => {
  /** @param {StagePlan[]} stages @param {(index: number, due: number, operation: string) => number} doneAt ms @param {Partial<Parameters<typeof syntheticRun>[0]>} [more] */
  const stagesOf = (stages, doneAt, more) => {
    const load = staged(stages, { timeoutMs: 20_000 });
    /** @param {Sample} one @param {string} name @returns {Sample} */
    const change = ({ index, intended, operation }, name) =>
      sample(intended, doneAt(index, intended, name), 'good', { index, operation });
    return syntheticRun({ load, change, ...more }).stages ?? [];
  };
  const barsOf = (/** @type {Parameters<typeof stagesOf>} */ ...given) =>
    stagesOf(...given).map(({ rates }) => rates.bar);
  const STEPS = [stage('up', [12, 20, 20]), stage('peak', [12, 25, 25])];

  test('that begins with a backlog may be what the target serves, though most of its requests were never sent', () => {
    const [, peak] = barsOf(STEPS, (index) => (index + 1) * 100, { unsent: 240 });
    assert.ok(peak !== undefined && peak.low < 10 && Number(peak.high) >= 10, JSON.stringify(peak));
  });

  test('in which nothing was done may be 0, though all of it came soon after', () => {
    const stages = [stage('a', [6, 20, 20]), stage('b', [6, 20, 20]), stage('c', [3, 20, 20])];
    const [, outage, after] = barsOf(stages, (_, due) => Math.max(due + 5, 12_200));
    assert.equal(outage?.low, 0);
    assert.ok(Number(outage?.high) >= 20 && Number(after?.low) > 15, JSON.stringify([outage, after]));
  });

  test('of one operation does not count what another took over from the stage before', () => {
    const stages = [stage('one', [10, 40, 40]), stage('two', [10, 40, 40]), stage('three', [5, 40, 40])];
    const doneAt = (/** @type {number} */ _, /** @type {number} */ due, /** @type {string} */ name) => {
      if (name === 'read') return due < 10_000 ? due + 9000 : due + 5;
      return due >= 10_000 && due < 20_000 ? 20_100 : due + 5;
    };
    const [, two] = stagesOf(stages, doneAt, { weights: { read: 1, write: 1 } });
    assert.equal(two.operations.write.rates.bar?.low, 0);
    assert.ok(Number(two.operations.read.rates.bar?.low) > 10);
  });

  test('with few responses of those offered is narrow', () => {
    const [bar] = barsOf([stage('all', [10, 500, 500])], (index) => (index + 1) * 100, { unsent: 4850 });
    assert.ok(Number(bar?.low) > 9 && Number(bar?.high) < 11, JSON.stringify(bar));
  });
});

describe('reports inconsistencies between stages:', () => {
  const whole = syntheticRun({ load: staged(STAGES), weights: WEIGHTS });
  /** @type {[string, (stages: any[]) => void, RegExp][]} */
  const table = [
    ['an extra request', ([one]) => one.totals.planned++, /stage ramp: sent \+ dropped/],
    [
      'an operation that is not there',
      ([one]) => delete one.operations.write,
      /its operations differ from those of/,
    ],
    ['a missing stage', (stages) => stages.pop(), /the sum of totals\.planned over the stages is/],
    ['a wrong rate', ([, one]) => (one.rates.perSecond += 1), /stage hold: rates\./],
    ['no stages', (stages) => stages.splice(0), /there are no stages/],
    [
      'a request in another stage',
      ([one, other]) => Object.assign(one.operations, { read: other.operations.read }),
      /stage ramp: the sum of totals\.planned over the operations/,
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

const all = () => true;
const slow = (/** @type {any} */ sample) => ({ done: sample.intended + 300 });
const failed = () => ({ failure: 'timeout', status: 0, body: null });
const inHold = ({ intended = 0 }) => intended >= 4000 && intended < 10_000;
const NO_TROUBLE = good(() => false, {});

/** @param {string} text such as "write in hold: p50<100ms" @returns {[string, {operation?: string, stage?: string}]} */
function scoped(text) {
  const [, scope, requirement] = /^(.*): (.*)$/.exec(text) ?? [];
  const names = scope.split(' in ');
  const [operation] = names.filter((name) => name in WEIGHTS);
  const [stage] = names.filter((name) => !(name in WEIGHTS));
  return [requirement, { ...(operation && { operation }), ...(stage && { stage }) }];
}

/**
 * @param {Partial<Parameters<typeof syntheticRun>[0]>} given
 * @param {Record<string, string>} expected verdicts by requirement
 */
function assertJudged(given, expected) {
  const texts = Object.keys(expected).map((text) => (text.includes(':') ? scoped(text) : text));
  const result = syntheticRun({ load: staged(STAGES), change: NO_TROUBLE, ...given, requirements: texts });
  const { requirements } = result;
  const reasons = requirements.map(({ reason }) => reason).join('\n');
  assert.deepEqual(Object.fromEntries(requirements.map((one) => [one.text, one.verdict])), expected, reasons);
  for (const [i, { operation, stage }] of requirements.entries()) {
    const [, scope = {}] = typeof texts[i] === 'string' ? [] : texts[i];
    assert.deepEqual([operation, stage], [scope.operation, scope.stage]);
  }
  return { ...result, stages: result.stages ?? [], reasons };
}

describe('a requirement on an operation or a stage is judged on its scope alone:', () => {
  const isWrite = (/** @type {unknown} */ _, /** @type {string} */ name) => name === 'write';
  const isWriteInHold = (/** @type {any} */ sample, /** @type {string} */ name) =>
    name === 'write' && inHold(sample);
  const inBurst = ({ intended = 0 }) => intended >= 10_000;
  const nowAndThen = ({ index = 0 }) => index % 3 === 0;
  const OF_OPERATIONS = { 'read: rate>=20/s': 'met', 'write: rate>=20/s': 'not met' };

  /** @type {[string, ReturnType<typeof good>, Record<string, string>, RegExp?][]} */
  const table = [
    ['a slow stage', good(inHold, slow), { 'hold: p90<100ms': 'not met', 'ramp: p90<100ms': 'met' }],
    ['a slow operation', good(isWrite, slow), { 'write: p90<100ms': 'not met', 'read: p90<100ms': 'met' }],
    [
      'an operation that is slow in one stage',
      good(isWriteInHold, slow),
      { 'write in hold: p50<100ms': 'not met', 'write in burst: p50<100ms': 'met' },
    ],
    [
      'one slow stage, not the whole run',
      good(inBurst, slow),
      { 'p50<100ms': 'met', 'burst: p50<100ms': 'not met' },
    ],
    [
      'errors in one stage',
      good(inHold, failed),
      { 'hold: errors<10%': 'not met', 'ramp: errors<10%': 'met' },
      /360 of/,
    ],
    ['occasional errors', good(nowAndThen, failed), { 'hold: rate>=60/s': 'not met' }],
    ['the full level is offered', NO_TROUBLE, { 'hold: rate>=60/s': 'met' }, /60\/s\) succeeded/],
    [
      'more than the full level is not offered',
      NO_TROUBLE,
      { 'hold: rate>=61/s': 'not met' },
      /The rate is 60\/s/,
    ],
    ['a ramp', NO_TROUBLE, { 'ramp: rate>=20/s': 'met' }, /30\/s on average\) succeeded/],
    ['rates of operations', NO_TROUBLE, OF_OPERATIONS],
  ];
  for (const [what, change, expected, reason = /./] of table) {
    test(what, () => assert.match(assertJudged({ change, weights: WEIGHTS }, expected).reasons, reason));
  }

  test('a ramp without failures offered its mean rate', () => {
    const load = staged([stage('ramp', [8, 0, 60])]);
    const { reasons } = assertJudged({ load }, { 'rate>=29/s': 'met', 'ramp: rate>=31/s': 'not met' });
    assert.match(reasons, /^.*every request offered \(30\/s on average\) succeeded/);
  });

  /** @param {number} ramp seconds @param {number} hold seconds @param {number} level */
  const upTo = (ramp, hold, level) =>
    staged([stage('ramp', [ramp, 0, level]), stage('hold', [hold, level, level])]);

  test('a stage that begins and ends between arrivals offered its level, despite one arrival fewer', () => {
    // 7.75 arrivals, then 150.2: those from the 9th to the 158th are in the second stage, 898.8 an hour.
    const load = upTo(62, 600.8, 0.25);
    const expected = { 'hold: rate>=900/h': 'met', 'hold: rate>=901/h': 'not met' };
    const { stages, reasons } = assertJudged({ load }, expected);
    const [ramp, hold] = stages.map(({ totals: { planned, succeeded }, rates }) =>
      [planned, succeeded, Math.round(rates.perHour)].join(),
    );
    assert.deepEqual([ramp, hold], ['8,8,450', '150,150,900']);
    assert.match(reasons, /^.*every request offered \(900\/h\) succeeded/);
  });

  /** @type {[string, number, number, number, number, string][]} what, seconds of a ramp, seconds of a hold, its level, arrivals and verdict */
  const SHORT = [
    ['with 1 of 1.95 due arrivals: too few to prove it', 0.3, 6.5, 0.3, 1, 'not proven'],
    ['with 59 of 59.7', 0.5, 59.7, 1, 59, 'met'],
    ['with 60 of 60', 0.5, 60, 1, 60, 'met'],
    ['with 200 of 200.7', 0.5, 200.7, 1, 200, 'met'],
  ];
  for (const [what, ramp, hold, level, arrivals, verdict] of SHORT) {
    test(`a stage that keeps its level, ${what}`, () => {
      const expected = { [`hold: rate>=${level}/s`]: verdict };
      const { stages } = assertJudged({ load: upTo(ramp, hold, level) }, expected);
      assert.equal(stages[1].totals.planned, arrivals);
    });
  }

  test('an arrival that falls into another stage does not count against the target, a failure does', () => {
    const [first, second] = ['first', 'second'].map((name) => stage(name, [300, 1000 / 3600, 1000 / 3600]));
    const load = staged([first, second]);
    const expected = { 'second: rate>=1000/h': 'met', 'second: rate>=1001/h': 'not met' };
    assert.equal(assertJudged({ load }, expected).stages[1].totals.planned, 83);
    const change = good(({ intended }) => Math.floor(intended / 10_000) === 45, failed);
    assertJudged({ load, change }, { 'second: rate>=1000/h': 'not met' });
  });

  test('a run is judged on all its stages: a backlog of the first that the last does not work off', () => {
    const load = staged([stage('rush', [10, 10, 10]), stage('calm', [5, 4.5, 4.5])]);
    const change = good(all, (/** @type {any} */ { index }) => ({ done: (index + 1) * 200 }));
    assertJudged({ load, change }, { 'rate>=8/s': 'not met', 'rush: rate>=8/s': 'not met' });
  });

  test('dropped and never sent requests count in the stage in which they were due', () => {
    const drop = { load: staged(STAGES, { overflow: 'drop' }) };
    const dropped = assertJudged(drop, { 'hold: errors<1%': 'not met' });
    const perStage = dropped.stages.map(({ totals }) => totals.dropped);
    assert.equal(
      perStage.reduce((sum, count) => sum + count),
      dropped.totals.dropped,
    );
    assert.ok(perStage.every((count) => count > 0));
    const { stages } = assertJudged(
      { unsent: 40 },
      { 'hold: errors<1%': 'met', 'burst: errors<1%': 'not met' },
    );
    const neverSentDues = stages.map(({ totals }) => totals.neverSentDue);
    assert.deepEqual(neverSentDues, [0, 0, 40]);
  });
});

describe('steadiness is checked for each stage of constant level:', () => {
  const tookMs = (/** @type {(ms: number) => number} */ of) =>
    good(all, (/** @type {any} */ sample) => ({ done: sample.intended + of(sample.intended) }));

  /** @type {[string, StagePlan[], (ms: number) => number, RegExp][]} what, the stages, how long a request due then takes; what is said */
  const table = [
    [
      'a latency that rises with the rate is no drift',
      [stage('ramp', [20, 10, 100]), stage('steps', [10, 20, 20], [10, 80, 80])],
      (ms) => 5 + ms / 500,
      /^valid: $/,
    ],
    [
      'a latency that differs from stage to stage is no drift',
      [stage('low', [15, 20, 20]), stage('high', [15, 80, 80])],
      (ms) => (ms < 15_000 ? 5 : 25),
      /^valid: $/,
    ],
    [
      'a latency that rises at a constant rate is a drift',
      [stage('ramp', [5, 0, 50]), stage('soak', [25, 50, 50])],
      (ms) => (ms < 5000 ? 5 : 5 + ms / 500),
      /^valid: still_changing: .* in stage soak/,
    ],
  ];
  for (const [what, stages, ms, said] of table) {
    test(what, () => {
      const { measurement } = syntheticRun({ load: staged(stages), change: tookMs(ms) });
      const reasons = measurement.reasons.map(({ code, text }) => `${code}: ${text}`);
      assert.match(`${measurement.verdict}: ${reasons.join()}`, said);
    });
  }
});

describe('the rate of a stage uses its own window:', () => {
  const HELD = ['one', 'two', 'three'].map((name) => stage(name, [6, 50, 50]));
  const lateBy = (/** @type {number} */ ms) =>
    good(all, (/** @type {any} */ { intended }) => ({ done: intended + ms }));

  test('a stage that ended before the interruption is unaffected', () => {
    const given = { load: staged(HELD), stoppedMs: 13_000, change: lateBy(100) };
    const { stages } = assertJudged(given, { 'one: rate>=50/s': 'met' });
    const [one, two, three] = stages;
    for (const { windowSeconds, rates } of [one, two]) {
      assert.deepEqual([windowSeconds, rates.perSecond], [6, 50]);
    }
    assert.deepEqual([three.seconds, three.windowSeconds], [1, 1.08]);
  });

  test('what the interruption left waiting is not held against the stage in which it was due', () => {
    const left = { load: staged(HELD), unsent: 700, change: good(() => false, {}) };
    const interrupted = { 'one: errors<1%': 'not proven', 'two: errors<1%': 'not proven' };
    assertJudged({ ...left, stoppedMs: 13_000 }, interrupted);
    assertJudged(left, { 'one: errors<1%': 'not met', 'two: errors<1%': 'not met' });
  });

  test('in a closed loop, requests handed over and received cancel out', () => {
    // 50/s by a new request every 20 ms; each takes 0.5 s.
    const load = staged(HELD, { model: 'closed', ratePerSecond: null, concurrency: 25, requests: 900 });
    const { stages } = syntheticRun({ load, change: lateBy(500) });
    const told = stages?.map(({ windowSeconds = 0, rates }) =>
      [windowSeconds, rates.perSecond].map((x) => x.toFixed(1)),
    );
    const found = told?.map((one) => one.join());
    assert.deepEqual(found, ['6.5,46.3', '6.0,50.0', '6.0,50.0']);
  });

  test('in a closed loop, it includes the rate with all connections in use until its end', () => {
    // Ten requests in flight, of which one takes 3 s longer than the stage: nine connections are idle meanwhile.
    const load = staged([stage('only', [6, 10, 10])], {
      ...{ model: 'closed', ratePerSecond: null, concurrency: 10, requests: 300 },
    });
    const change = good(all, (/** @type {any} */ { intended, index }) => ({
      done: intended + (index === 299 ? 3000 : 200),
    }));
    const { stages } = syntheticRun({ load, change });
    assert.ok(Number(stages?.[0].rates.bar?.high) >= 50, JSON.stringify(stages?.[0].rates));
  });

  test('a requirement on an operation is judged on its rate in the result', () => {
    // The writes work off a backlog, so that the whole takes longer than the reads.
    const change = good(
      ({ intended }, name) => name === 'write' && intended > 9000,
      (/** @type {any} */ { intended }) => ({ done: intended + 4000 }),
    );
    const given = { load: staged(HELD), weights: WEIGHTS, change };
    const expected = { 'read: rate>=1/s': 'met', 'read in three: rate>=1/s': 'met' };
    const { operations, requirements, stages } = assertJudged(given, expected);
    const ofStage = stages[2].operations.read.rates.perSecond;
    const actuals = requirements.map(({ actual }) => actual);
    assert.deepEqual(actuals, [operations.read.rates.perSecond, ofStage]);
    assert.notEqual(stages?.[2].windowSeconds, 6, 'or any of the two times would do');
  });
});
