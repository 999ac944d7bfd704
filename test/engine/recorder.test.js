import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lowestAtRank, sumHistograms, valueAtRank } from '../../src/common/histogram.js';
import { FIRST_REPORT_MS, REPORT_EVERY_MS, recordAll } from '../../src/engine/recording/recorder.js';
import { classify, sample, setUp } from './recording.js';

/** @import { PackedHistogram } from '../../src/common/histogram.js' */
/** @import { PackedTally } from '../../src/engine/recording/recorder.js' */
/** @import { Wakes } from '../../src/engine/watch/wakes.js' */
/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { Classify } from '../../src/operations/index.js' */

/** @param {PackedHistogram | string} packed */
function shape(packed) {
  const histogram = sumHistograms([packed]);
  return [histogram.totalCount, 1000 * valueAtRank(histogram, 1), histogram.maxValue];
}

describe('a recorder', () => {
  test('records response, service and send lag separately, by outcome', () => {
    const { recorder } = setUp();
    recorder.record(sample(100, 103, 'good', { sent: 101, sendLateMs: 0.5 }));
    recorder.record(sample(100, 120, 'refused', { sent: 110 }));
    const { cells, lag } = recorder.finish();
    const { good, refused } = cells[0].outcomes;
    assert.deepEqual([good.success, good.count, refused.success, refused.count], [true, 1, false, 1]);
    assert.deepEqual(shape(good.latency.response), [1, 3001, 3001]);
    assert.equal(shape(good.latency.service)[1], 2000);
    assert.equal(shape(good.latency.sendLag)[1], 1000);
    assert.equal(Math.round(shape(refused.latency.response)[1] / 100), 200);
    assert.equal(shape(lag)[0], 2);
  });

  test('records the phases of complete responses that have them', () => {
    const { recorder } = setUp();
    const phases = { connect: 2, tls: 1, firstByte: 3, transfer: 4 };
    recorder.record(sample(100, 110, 'good', phases));
    recorder.record(sample(100, 103, 'good', { firstByte: 3 }));
    recorder.record(sample(100, 110, { failure: 'truncated' }, phases));
    const { good, truncated } = recorder.finish().cells[0].outcomes;
    const counts = (/** @type {typeof good} */ { latency: { connect, tls, firstByte, transfer } }) =>
      [connect, tls, firstByte, transfer].map((packed) => shape(packed)[0]);
    assert.deepEqual(
      [counts(good), counts(truncated)],
      [
        [1, 1, 2, 1],
        [0, 0, 0, 0],
      ],
    );
    assert.equal(shape(good.latency.transfer)[2], 4001);
  });

  test('a response is checked by the time it came', () => {
    const seen = /** @type {unknown[]} */ ([]);
    const { recorder } = setUp({
      judge: (status, body, index, receivedAt) => {
        seen.push([index, receivedAt]);
        return classify(status, body, index);
      },
    });
    recorder.record(sample(100, 103, 'good', { index: 7, receivedAt: 1234 }));
    assert.deepEqual(seen, [[7, 1234]]);
  });

  test('excludes the warm-up from every figure, but keeps its items', () => {
    const { recorder, rows, kept } = setUp({ warmupMs: 1000 });
    recorder.record(sample(999.9, 2500, 'good', { index: 4 }));
    recorder.record(sample(10, 20, 'bad'));
    recorder.record(sample(10, 20, { failure: 'timeout' }));
    recorder.record(sample(10, 20, { failure: 'never_sent' }));
    const { cells, lag } = recorder.finish();
    const { warmup, outcomes, verification, dropped, neverSentDue, perSecond } = cells[0];
    assert.equal(warmup, 3);
    assert.deepEqual([outcomes, dropped, neverSentDue, rows], [{}, 0, 0, []]);
    assert.deepEqual(perSecond, { sent: [], succeeded: [], failed: [] });
    assert.deepEqual(verification, { checked: 0, passed: 0, unchecked: 0, failures: {}, notes: [] });
    assert.equal(shape(lag)[0], 0);
    assert.deepEqual(kept, [[0, 4]]);
  });

  test('counts a request due exactly at the end of the warm-up', () => {
    const { recorder } = setUp({ warmupMs: 1000 });
    recorder.record(sample(1000, 1001, 'good'));
    assert.equal(recorder.finish().cells[0].outcomes.good.count, 1);
  });

  test('counts dropped arrivals, and what resting connections did not send, without a latency', () => {
    const { recorder, rows } = setUp();
    recorder.addUnsent(0, { dropped: 1, rested: 4 });
    recorder.addUnsent(0, { dropped: 2, rested: 1 });
    const [{ dropped, rested, outcomes }] = recorder.finish().cells;
    assert.deepEqual([dropped, rested, outcomes, rows], [3, 5, {}, []]);
  });

  test('counts unsent requests with their age, as neither sent nor completed', () => {
    const { recorder, rows } = setUp();
    recorder.record(sample(100, 5100, { failure: 'never_sent' }));
    const { cells, lag } = recorder.finish();
    const [{ neverSentDue, outcomes, perSecond }] = cells;
    const { response, service, sendLag } = outcomes.never_sent.latency;
    assert.deepEqual([neverSentDue, outcomes.never_sent.count, outcomes.never_sent.success], [1, 1, false]);
    assert.ok(Math.abs(shape(response)[2] - 5_000_000) < 5000);
    assert.deepEqual([shape(service)[0], shape(sendLag)[0], shape(lag)[0]], [0, 0, 0]);
    assert.deepEqual([perSecond, rows], [{ sent: [], succeeded: [], failed: [] }, []]);
  });

  for (const [what, { due, sent, ...late }, expected] of /** @type {const} */ ([
    ['on time', { due: 1500, sent: 1500, sendLateMs: 0 }, { second: 0, tenth: 0 }],
    ['by half a tenth of a second', { due: 1500, sent: 1550, sendLateMs: 50 }, { second: 0.05, tenth: 0.5 }],
    ['by half a second', { due: 1500, sent: 2000, sendLateMs: 500 }, { second: 0.5, tenth: 1 }],
    ['by two seconds', { due: 1500, sent: 3500, sendLateMs: 2000 }, { second: 1, tenth: 1 }],
    [
      'by the wait for a late request',
      { due: 1500, sent: 1550, carriedMs: 50 },
      { second: 0.05, tenth: 0.5 },
    ],
    ['not by the wait for the target', { due: 1500, sent: 4010, sendLateMs: 0 }, { second: 0, tenth: 0 }],
    [
      'not if the wait was longer anyway',
      { due: 1500, sent: 4010, sendLateMs: 9, carriedMs: 500 },
      { second: 0, tenth: 0 },
    ],
    ['not in the warm-up', { due: 999, sent: 1001, sendLateMs: 2 }, { second: 0, tenth: 0 }],
  ])) {
    test(`counts displaced requests: ${what}`, () => {
      const { recorder } = setUp({ warmupMs: 1000 });
      recorder.record(sample(due, sent + 5, 'good', { sent, ...late }));
      assert.deepEqual(recorder.finish().displaced, expected);
    });
  }

  test('successes without a body are unchecked, refusals are judged by status', () => {
    const { recorder } = setUp();
    recorder.record(sample(0, 1, 'x', { body: null, status: 200 }));
    recorder.record(sample(0, 1, 'x', { body: null, status: 299 }));
    recorder.record(sample(0, 1, 'x', { body: null, status: 503 }));
    recorder.record(sample(0, 1, 'x', { body: null, status: 307 }));
    const [{ outcomes, verification }] = recorder.finish().cells;
    assert.deepEqual(
      Object.entries(outcomes).map(([name, { count, success }]) => [name, count, success]),
      [
        ['unchecked', 2, true],
        ['', 2, false],
      ],
    );
    assert.deepEqual(verification, { checked: 0, passed: 0, unchecked: 2, failures: {}, notes: [] });
  });

  test('a response without a body is classified by its status if that is enough', () => {
    const other = { outcome: 'other', success: false, verification: /** @type {const} */ ('failed') };
    const good = { outcome: 'good', success: true, verification: /** @type {const} */ ('passed') };
    /** @type {Classify} */
    const judge = (...answer) => classify(...answer);
    judge.byStatus = (status) => (status === 200 ? other : status === 204 ? good : null);
    const { recorder } = setUp({ judge });
    for (const status of [200, 204, 299, 403]) recorder.record(sample(0, 1, 'x', { body: null, status }));
    recorder.record(sample(0, 1, 'bad', { status: 204 }));
    const [{ outcomes, verification }] = recorder.finish().cells;
    assert.deepEqual(
      Object.entries(outcomes).map(([name, { count, success }]) => [name, count, success]),
      [
        ['other', 1, false],
        ['good', 1, true],
        ['unchecked', 2, true],
        ['bad', 1, false],
      ],
    );
    const failures = { other: 1, bad: 1 };
    assert.deepEqual(verification, { checked: 3, passed: 1, unchecked: 2, failures, notes: [] });
  });

  test('counts checked and passed responses, and failures by rule', () => {
    const { recorder } = setUp();
    for (const what of ['good', 'good', 'bad', 'refused', 'bad']) recorder.record(sample(0, 1, what));
    recorder.record(sample(0, 1, { failure: 'timeout' }));
    assert.deepEqual(recorder.finish().cells[0].verification, {
      checked: 4,
      passed: 2,
      unchecked: 0,
      failures: { bad: 2 },
      notes: [],
    });
  });

  test('counts by second from the end of the warm-up: sent when sent, the rest when done', () => {
    const { recorder } = setUp({ warmupMs: 500 });
    recorder.record(sample(600, 1499, 'good'));
    recorder.record(sample(1400, 2600, 'good', { sent: 1600 }));
    recorder.record(sample(1400, 2700, 'bad', { sent: 1400 }));
    assert.deepEqual(recorder.finish().cells[0].perSecond, {
      sent: [2, 1],
      succeeded: [1, 0, 1],
      failed: [0, 0, 1],
    });
  });

  test('emits each second once, in order, without gaps, the last even if incomplete', () => {
    const { recorder, rows } = setUp({ warmupMs: 1000 });
    recorder.advance(900);
    recorder.record(sample(1000, 1200, 'good'));
    recorder.advance(1999);
    assert.equal(rows.length, 0);
    recorder.record(sample(1100, 4100, 'refused'));
    recorder.advance(2000);
    assert.equal(rows.length, 3);
    recorder.advance(5000);
    recorder.record(sample(1100, 5300, 'good'));
    recorder.finish();
    assert.deepEqual(
      rows.map(({ second, succeeded, failed, failures, max }) => [
        second,
        succeeded,
        failed,
        failures,
        max !== null,
      ]),
      [
        [0, 1, 0, {}, true],
        [1, 0, 0, {}, false],
        [2, 0, 0, {}, false],
        [3, 0, 1, { refused: 1 }, true],
        [4, 1, 0, {}, true],
      ],
    );
  });

  test('a second has percentiles, send lag and histogram of the requests completed in it', () => {
    const { recorder, rows } = setUp();
    for (let i = 1; i <= 100; i++) recorder.record(sample(0, i, i > 95 ? 'bad' : 'good', { sent: i / 100 }));
    recorder.record(sample(900, 1100, 'good', { sent: 950 }));
    recorder.advance(2000);
    const [first, second] = rows;
    assert.deepEqual(
      [first.p50, first.p90, first.p99, first.max].map((ms) => Math.round(Number(ms))),
      [50, 90, 99, 100],
    );
    assert.deepEqual([first.lag99, first.lagMax], [0.99, 1]);
    assert.deepEqual([first.failures, first.lag], [{ bad: 5 }, null]);
    assert.equal(shape(String(first.histogram))[0], 100);
    assert.deepEqual([second.lag99, shape(String(second.histogram))[0]], [50, 1]);
  });

  test('emits send lag histograms if there are other shards', () => {
    const { recorder, rows } = setUp({ shards: 2 });
    recorder.record(sample(0, 10, 'good', { sent: 2 }));
    recorder.advance(2000);
    assert.deepEqual(shape(String(rows[0].lag)), [1, 2000, 2000]);
    assert.deepEqual([rows[1].lag, rows[1].histogram, rows[1].lag99], [null, null, null]);
  });

  test('reports the tally so far any number of times', () => {
    const { recorder, rows } = setUp({ warmupMs: 1000 });
    recorder.record(sample(500, 600, 'good'));
    const {
      open: none,
      tally: { cells: empty },
    } = recorder.soFar();
    assert.deepEqual([none, empty[0].warmup, empty[0].outcomes], [null, 1, {}]);
    recorder.record(sample(1100, 1200, 'good'));
    recorder.record(sample(1100, 2300, 'bad'));
    for (let i = 0; i < 2; i++) {
      const { open, tally } = recorder.soFar();
      const { cells } = tally;
      assert.deepEqual([open?.second, open?.succeeded, open?.failed], [1, 0, 1]);
      assert.deepEqual([cells[0].outcomes.good.count, cells[0].outcomes.bad.count], [1, 1]);
      assert.equal(rows.length, 1);
    }
    assert.equal(recorder.finish().cells[0].outcomes.bad.count, 1);
    assert.equal(rows.length, 2);
  });

  test('records the last success, the response times by due time, and successes after the end', () => {
    const { recorder } = setUp({ warmupMs: 1000, measuredMs: 4000 });
    recorder.record(sample(1000, 1300, 'good'));
    recorder.record(sample(2999, 3099, 'good'));
    recorder.record(sample(1100, 2900, 'bad'));
    recorder.record(sample(1200, 3200, 'good'));
    recorder.record(sample(3000, 4500, 'good'));
    recorder.record(sample(4000, 4900, 'refused'));
    recorder.record(sample(4990, 5100, 'good'));
    const [{ lastSuccessMs, successTimes, successesAfter }] = recorder.finish().cells;
    assert.deepEqual([lastSuccessMs, successesAfter], [4100, 1]);
    const parts = (/** @type {number} */ length, /** @type {Record<number, number>} */ at) =>
      Array.from({ length }, (_, i) => at[i] ?? 0);
    assert.deepEqual(successTimes, {
      due: {
        count: parts(20, { 0: 1, 1: 1, 9: 1, 10: 1, 19: 1 }),
        sumMs: parts(20, { 1: 200, 9: 1999, 10: 2000, 19: 3990 }),
      },
      done: {
        count: parts(40, { 1: 1, 10: 1, 11: 1, 17: 1, 20: 1 }),
        sumMs: parts(40, { 1: 300, 10: 2099, 11: 2200, 17: 3500, 20: 4100 }),
      },
    });
  });
});

const SAMPLE = /** @type {Sample} */ ({});
const TAIL = { endedMs: 1000, next: 0, waiting: 0, carriedMs: 0, dropped: [0], rested: [0] };

/**
 * @param {number} perMs samples that come in a millisecond
 * @param {{lastMs?: number, onReport?: (watermarkMs: number) => void, wakes?: Pick<Wakes, 'sleep'>}} [options]
 * @returns the sleeps, ms, and how many samples were taken after each
 */
function loopAt(perMs, { lastMs = 1000, onReport, wakes } = {}) {
  let now = 0;
  let left = 0;
  /** @type {number[]} */
  const sleeps = [];
  /** @type {number[]} */
  const lots = [];
  let recorded = 0;
  const reader = {
    watermarkMs: () => now,
    tail: () => (now >= lastMs ? TAIL : null),
    /** @param {(sample: typeof SAMPLE) => void} visit */
    take(visit) {
      const count = Math.floor(left);
      left -= count;
      for (let i = 0; i < count; i++) visit(SAMPLE);
      if (count > 0) lots.push(count);
      return count;
    },
    /** @param {number} ms */
    sleep(ms) {
      sleeps.push(ms);
      now += ms;
      left += perMs * ms;
      return /** @type {const} */ ('timed-out');
    },
  };
  const tail = recordAll({
    reader,
    recorder: /** @type {any} */ ({ record: () => recorded++, advance() {} }),
    onTaken() {},
    onReport,
    ...(wakes && { wakes }),
  });
  return { sleeps, lots, recorded, tail };
}

for (const { perMs, ms, lot } of [
  { perMs: 0, ms: 20, lot: 0 },
  { perMs: 0.1, ms: 20, lot: 2 },
  { perMs: 1, ms: 20, lot: 20 },
  { perMs: 10, ms: 2, lot: 20 },
  { perMs: 100, ms: 1, lot: 100 },
]) {
  test(`at ${perMs * 1000}/s the recorder sleeps ${ms} ms and takes about ${lot} samples at a time`, () => {
    const { sleeps, lots, recorded, tail } = loopAt(perMs);
    assert.equal(tail, TAIL);
    const [later] = sleeps.slice(-1);
    assert.ok(Math.abs(later - ms) < 0.2 * ms, `${later} ms`);
    if (lot === 0) return assert.equal(recorded, 0);
    assert.ok(Math.abs(lots[lots.length - 2] - lot) <= 0.2 * lot, `${lots[lots.length - 2]} at once`);
    assert.equal(
      recorded,
      lots.reduce((a, b) => a + b, 0),
    );
    assert.ok(recorded >= 990 * perMs, `${recorded} recorded`);
  });
}

for (const perMs of [0, 1, 100]) {
  test(`at ${perMs * 1000}/s the first report is due after a second, then every two, in run time`, () => {
    /** @type {number[]} */
    const reports = [];
    loopAt(perMs, { lastMs: 9000, onReport: (watermarkMs) => reports.push(watermarkMs) });
    assert.equal(reports.length, 4, String(reports));
    for (const [i, watermarkMs] of reports.entries()) {
      const late = watermarkMs - (FIRST_REPORT_MS + i * REPORT_EVERY_MS);
      assert.ok(late >= 0 && late < 20 * (i + 1), `${watermarkMs} ms`);
    }
  });
}

test('watches how late its sleeps end, from time zero', () => {
  /** @type {number[]} */
  const watched = [];
  const wakes = {
    /** @type {Wakes['sleep']} */
    sleep(ms, sleep) {
      watched.push(ms);
      sleep(ms);
    },
  };
  const { sleeps } = loopAt(1, { wakes });
  assert.deepEqual(watched, sleeps.slice(1));
});

test('the times without what the tool may have added have no late wake-ups', () => {
  const delays = (/** @type {number} */ n) => [
    { ms: 30, count: 0 },
    { ms: 1, count: n / 2 },
  ];
  const { recorder } = setUp({ delays });
  for (const ms of [10, 11, 20, 60]) recorder.record(sample(0, ms, 'good'));
  const figuresOf = (/** @type {PackedTally} */ { cells: [{ outcomes }] }) =>
    Object.fromEntries(
      ['response', 'ownResponse', 'service', 'ownService', 'sendLag'].map((series) => {
        const sum = sumHistograms([outcomes.good.latency[/** @type {'response'} */ (series)]]);
        return [series, [1, 2, 3, 4].map((rank) => Math.round(lowestAtRank(sum, rank)))];
      }),
    );
  const without = [0, 0, 9, 30];
  const figures = {
    response: [10, 11, 20, 60],
    ownResponse: without,
    service: [10, 11, 20, 60],
    ownService: without,
    sendLag: [0, 0, 0, 0],
  };
  assert.deepEqual(figuresOf(recorder.soFar().tally), figures);
  assert.deepEqual(figuresOf(recorder.finish()), figures);
});
