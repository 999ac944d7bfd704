/** What must add up in a result: what is checked where a run ends, and, of seconds and parts, where a file is read. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createHistogram, encodeHistogram, recordMs, sumHistograms } from '../../src/common/histogram.js';
import { createSeconds } from '../../src/engine/recording/seconds.js';
import * as checks from '../../src/result/check/check.js';
import * as latencyChecks from '../../src/result/check/check-latency.js';
import { buildLatency } from '../../src/result/latency.js';
import { sample as recorded, setUp } from '../engine/recording.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { block, latency, sampleResult, spread, timelineOf } from './sample.js';
import { assertComplains } from './support.js';

/** @import { MergeBlock } from '../../src/result/schema.js' */
/** @import { LatencyBlock, Result } from '../../src/result/schema.js' */

const { checkResult } = checks;
const checkSeconds = (/** @type {Parameters<typeof checks.checkSeconds>[0]} */ result) => [
  ...checks.checkSeconds(result),
];
const checkMergeBlock = (/** @type {Result} */ result) => [...checks.checkMergeBlock(result)];

/** @template Subject @typedef {[(subject: Subject) => unknown, RegExp | string][]} Broken how it is spoiled, and the complaint */

const GROUPS = [
  { outcome: 'good', service: spread(90, 1, 50), lag: 0.2 },
  { outcome: 'timeout', success: false, service: spread(6, 1000, 1001), lag: 0.2 },
];

/** Ages of requests that were due and never sent. */
const WAITING = [400, 500];

/** 96 sent, 4 dropped, 3 never sent of which 2 were due; one operation. @returns {Result} */
function sample() {
  const one = block(GROUPS, { dropped: 4, neverSent: 3 });
  Object.assign(one.totals, { neverSentDue: 2, errors: 12 });
  one.errorShare = 12 / 102;
  const answered = GROUPS.flatMap(({ service, lag }) => service.map((ms) => ms + lag));
  one.latencyMs.response = latency([...answered, ...WAITING]);
  Object.assign(one.outcomes, { dropped: 4, never_sent: 2 });
  const none = { response: latency([]), service: latency([]), sendLag: latency([]) };
  const waiting = { ...none, response: latency(WAITING) };
  one.outcomeDetails.dropped = { count: 4, success: false, latencyMs: none };
  one.outcomeDetails.never_sent = { count: 2, success: false, latencyMs: waiting };
  return { ...sampleResult(GROUPS), ...structuredClone(one), operations: { ocsp: one } };
}

/** @template Subject @param {() => Subject} make @param {Broken<Subject>} table @param {(subject: Subject) => string[]} check */
function assertEachComplains(make, table, check) {
  assert.deepEqual(check(make()), []);
  for (const [spoil, complaint] of table) {
    const one = make();
    spoil(one);
    assertComplains(check(one), complaint);
  }
}

test('accepts consistent results', () => {
  assert.deepEqual(checkResult(sampleResult(GROUPS)), []);
  assert.deepEqual(checkResult(sampleResult([], { counts: { neverSent: 7 } })), []);
});

/** @type {Broken<Result>} */
const COUNTS = [
  [(r) => r.totals.planned++, /^sent \+ dropped \+ neverSent is 103, but planned is 104$/],
  [(r) => r.totals.failed--, /^succeeded \+ failed is 95, but sent is 96$/],
  [(r) => (r.totals.neverSentDue = 4), 'neverSentDue (4) is more than neverSent (3)'],
  [(r) => (r.totals.errors -= 2), /^failed \+ dropped \+ neverSentDue is 12, but errors is 10$/],
  [
    (r) => (r.errorShare = 6 / 96),
    /^errors \/ \(succeeded \+ errors\) is 0\.1176\d*, but errorShare is 0\.06/,
  ],
  [(r) => (r.rates.bar = { low: 8, high: 9e3, sampled: 9e3 }), /rates\.bar \(.*\) does not contain/],
  [(r) => (r.rates.bar = { low: 0, high: 0.1, sampled: 0.1 }), /rates\.bar \(.*\) does not contain/],
  [(r) => (r.errorShareBar = { low: 0.9, high: 0.95 }), /errorShareBar \(0\.9 to 0\.95\) does not contain/],
  [(r) => (r.rates.perHour *= 1.001), /rates\.perHour .* is not 3600 times/],
  [(r) => r.outcomes.good--, 'the number of outcomes of sent requests is 95, but sent is 96'],
  [(r) => r.outcomes.timeout++, 'outcomes.timeout is 7, but outcomeDetails.timeout.count is 6'],
  [(r) => delete r.outcomeDetails.timeout, /outcomes\.timeout is 6, but .* is missing/],
  [
    (r) => (r.outcomeDetails.timeout.success = true),
    'the number of successful outcomes is 96, but succeeded is 90',
  ],
  [(r) => r.outcomes.dropped++, 'outcome dropped is 5, but dropped is 4'],
  [(r) => r.outcomes.never_sent--, 'outcome never_sent is 1, but neverSentDue is 2'],
  [
    (r) => (r.rates.peakOneSecond = 91),
    'peakOneSecond is 91, which is impossible with 90 successes in 2 seconds',
  ],
  [
    (r) => (r.rates.peakOneSecond = 44),
    'peakOneSecond is 44, which is impossible with 90 successes in 2 seconds',
  ],
  [
    (r) => r.operations.ocsp.totals.planned++,
    'the sum of totals.planned over the operations is 104, but totals.planned is 103',
  ],
  [(r) => r.operations.ocsp.totals.sent--, /^operation ocsp: succeeded \+ failed is 96, but sent is 95$/],
  [
    (r) => (r.operations.again = r.operations.ocsp),
    'the sum of outcomes.good over the operations is 180, but outcomes.good is 90',
  ],
  [(r) => (r.operations = {}), 'there are no operations'],
];

/** @type {Broken<Result>} */
const LATENCIES = [
  [(r) => (r.latencyMs.response = latency(spread(97, 1, 2))), /^latencyMs\.response\.count is 97, not 98$/],
  [(r) => (r.latencyMs.response = latency(spread(96, 1, 2))), /^latencyMs\.response\.count is 96, not 98$/],
  [(r) => (r.latencyMs.service = latency(spread(97, 1, 2))), /^latencyMs\.service\.count is 97, not 96$/],
  [(r) => (r.latencyMs.sendLag = latency([])), /^latencyMs\.sendLag\.count is 0, not 96$/],
  [
    (r) => (r.outcomeDetails.good.latencyMs.response = latency([1])),
    'good.latencyMs.response.count is 1, not 90',
  ],
  [(r) => (r.outcomeDetails.dropped.latencyMs.service = latency([1])), 'latencyMs.service.count is 1, not 0'],
  [
    (r) => (r.latencyMs.service.histogram = latency([1, 2]).histogram),
    'service.histogram has 2 values, not 96',
  ],
  [(r) => (r.latencyMs.service.histogram = 'AAAA'), 'service.histogram cannot be read'],
  [(r) => (r.latencyMs.service.histogram = null), 'histogram has 0 values, not 96'],
  [(r) => (r.latencyMs.service.p90 = 0.5), 'service: min, percentiles and max are not in ascending order'],
  [
    (r) => (r.outcomeDetails.dropped.latencyMs.service.p50 = 3),
    'has 0 values, but some of its figures are numbers',
  ],
  [(r) => (r.latencyMs.service.mean = null), 'has 96 values, but some of its figures are null'],
  [
    (r) => (r.latencyMs.service.histogram = latency(spread(96, 3, 4)).histogram),
    /latencyMs\.service\.p50 is .*, but its histogram has 3\.495/,
  ],
  [(r) => (r.latencyMs.service.mean = 1.01 * Number(r.latencyMs.service.mean)), /mean is .*, but its hist/],
  [(r) => (r.latencyMs.service.max = 1100), 'latencyMs.service.max is 1100, but its histogram has 1001'],
  [
    (r) => (r.latencyMs.service = latency([...spread(90, 1, 49), ...spread(6, 1000, 1001)])),
    /^latencyMs\.service\.histogram is not the sum of those in outcomeDetails$/,
  ],
];

/** @type {Broken<Result>} */
const VERIFICATION = [
  [(r) => (r.verification.passed = 91), 'passed and its failures is 91, but checked is 90'],
  [(r) => (r.verification.passed = 89), 'its failures is 89, but checked is 90'],
  [(r) => (r.verification.failures = { expired: 1 }), 'its failures is 91, but checked is 90'],
  [(r) => (r.verification.unchecked = 6), 'sampled is false, but verification.unchecked is 6'],
  [
    (r) => Object.assign(r.verification, { checked: 91, failures: { expired: 1 } }),
    'verification.failures.expired is 1, but outcomes.expired is missing',
  ],
  [(r) => (r.verification.sampled = true), 'sampled is true, but verification.unchecked is 0'],
  [(r) => (r.outcomes.unchecked = 2), 'outcome unchecked is 2, but verification.unchecked is 0'],
  [(r) => (r.verification.unchecked = 1), 'has 90 passed and 1 unchecked, but only 90 succeeded'],
  [
    (r) => (r.operations.ocsp.verification.checked = 95),
    'the sum of verification.checked over the operations is 95, but verification.checked is 90',
  ],
];

/** @type {Broken<Result>} */
const SECONDS = [
  [(r) => r.timeline.reverse(), 'timeline.0.second is 1, but its position is 0'],
  [(r) => (r.timeline[1].p50 = 1), 'second 1 of the timeline has 0 responses with p50 1,'],
  [(r) => (r.timeline[0].p99 = 0.1), 'second 0 of the timeline has 96 responses with'],
  [(r) => (r.timeline[0].max = 2000), "the timeline's maximum is 2000, but latencyMs.response.max is 1001.2"],
  [(r) => r.timeline.shift(), "the timeline's sent is 0, but totals.sent is 96"],
  [(r) => r.timeline[0].failed--, "the timeline's failed is 5, but totals.failed is 6"],
];

for (const [what, table] of Object.entries({ COUNTS, LATENCIES, VERIFICATION, SECONDS })) {
  test(`reports ${what.toLowerCase()} that do not add up`, () =>
    assertEachComplains(sample, table, checkResult));
}

describe('latencies', () => {
  test('agree with their histogram, before and after encoding', () => {
    const ms = fc.oneof(
      fc.double({ min: -1, max: 5, noNaN: true }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.integer({ min: 0, max: 3_000_000 }).map((us) => us / 1000),
    );
    fc.assert(
      fc.property(fc.array(ms, { maxLength: 40 }), fc.boolean(), (values, again) => {
        const histogram = histogramOf(values);
        const all = blocksOf(buildLatency(again ? sumHistograms([encodeHistogram(histogram)]) : histogram));
        const { length } = values;
        assert.deepEqual([...latencyChecks.checkLatencies(all, length, length, '')], []);
      }),
      { numRuns: 40 },
    );
  });

  test('that cannot be read have no sum, also if nothing adds up to it', () => {
    const broken = { ...blocksOf(latency([1])), response: { ...latency([1]), histogram: 'HISTFAAAA' } };
    assert.deepEqual([...latencyChecks.checkSums(/** @type {any} */ (broken), [])].length, 2);
  });

  test('have the same sum in any partition and order', () => {
    const ms = fc.integer({ min: 0, max: 3_000_000_000 }).map((us) => us / 1000);
    fc.assert(
      fc.property(fc.array(fc.array(ms, { maxLength: 20 }), { minLength: 1, maxLength: 4 }), (shares) => {
        const histograms = shares.map(histogramOf);
        const parts = histograms.map((histogram) => blocksOf(buildLatency(histogram)));
        const whole = blocksOf(buildLatency(sumHistograms(histograms.toReversed())));
        assert.deepEqual([...latencyChecks.checkSums(whole, parts)], []);
        assert.equal([...latencyChecks.checkSums(whole, [...parts, blocksOf(latency([1]))])].length, 3);
      }),
      { numRuns: 20 },
    );
  });
});

/** @param {number[]} values ms */
function histogramOf(values) {
  const histogram = createHistogram();
  for (const value of values) recordMs(histogram, value);
  return histogram;
}

/** @param {LatencyBlock} block */
const blocksOf = (block) => ({ response: block, service: block, sendLag: block });

describe('a timeline', () => {
  /** Three seconds with something in them, and an empty one. @returns {Result} */
  const timed = () => sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) });

  /** @type {Broken<Result>} */
  const BROKEN = [
    [(r) => (r.timeline[0].due = 900), 'arrivals due, but only 96 were planned'],
    [(r) => (r.timeline[0].failures = {}), 'the sum of the failures in second 0 is 0, but its failed count'],
    [(r) => (r.timeline[3].failures = { timeout: 1 }), 'in second 3 is 1, but its failed count is 0'],
    [(r) => (r.timeline[0].p90 = 0.1), 'second 0 of the timeline has 32 responses with'],
    [(r) => (r.timeline[0].p90 = 5000), 'second 0 of the timeline has 32 responses with'],
    [(r) => (r.timeline[3].p90 = 1), 'second 3 of the timeline has 0 responses with'],
    [(r) => (r.timeline[3].histogram = 'HISTFA'), /second 3 .*fit its histogram or/],
    [(r) => (r.timeline[1].histogram = null), /second 1 .*fit its histogram or/],
    [(r) => (r.timeline[3].lag99 = 1), /second 3 .*or its send lag/],
  ];
  test('is checked for contradictions', () => assertEachComplains(timed, BROKEN, checkResult));

  test('may lack a send lag', () => {
    const result = timed();
    result.timeline[0].lag99 = null;
    assert.deepEqual(checkResult(result), []);
  });

  /** 90 successes in 20 s; as read, so that the whole and its operation share nothing. @returns {Result} */
  const rated = () => JSON.parse(JSON.stringify({ ...timed(), windowSeconds: 20 }));
  const scale = (/** @type {Result['rates']} */ rates, /** @type {number} */ factor) => {
    rates.perSecond *= factor;
    rates.perHour *= factor;
  };

  test('and a window agree with the rates', () => {
    assertEachComplains(
      rated,
      [
        [(r) => scale(r.rates, 2), /^rates\.perSecond is 9, but 90 successes in 20 s are 4\.5\/s$/],
        [
          (r) => scale(r.operations.ocsp.rates, 2),
          /^operation ocsp: rates\.perSecond is 9, but 90 successes/,
        ],
        [(r) => (r.windowSeconds = 0), 'rates.perSecond is 4.5, but 90 successes in 0 s'],
        [
          (r) => {
            r.windowSeconds = 1;
            for (const { rates } of [r, r.operations.ocsp]) scale(rates, 20);
            for (const row of r.timeline.slice(0, 3)) row.max = 200;
            r.latencyMs.response.max = 200;
          },
          /^windowSeconds is 1, but second 2 had a success, and no response took longer than 200 ms$/,
        ],
      ],
      checkResult,
    );
    const rounded = { ...rated().rates, perSecond: 4.500001 };
    assert.deepEqual(checkResult({ ...rated(), rates: rounded }), []);
    const doubled = { perSecond: 9, perHour: 32_400, peakOneSecond: 90 };
    assert.deepEqual(checkResult({ ...timed(), rates: doubled }), [], 'an older version has no window');
    const late = rated();
    for (const { rates } of [late, late.operations.ocsp]) scale(rates, 20);
    assert.deepEqual(checkResult({ ...late, windowSeconds: 1 }), [], 'as late as the longest took');
  });
});

describe('histograms per second', () => {
  const encoded = (/** @type {number[]} */ ms) => latency(ms).histogram;
  const busy = (/** @type {number} */ second) => {
    const figures = { p50: 1 + second, p90: 10 + second, p99: 10 + second, max: 10 + second, lag99: 0.1 };
    return { second, sent: 2, succeeded: 1, failed: 1, failures: { timeout: 1 }, ...figures };
  };
  const empty = (/** @type {number} */ second) => {
    const figures = { p50: null, p90: null, p99: null, max: null, lag99: null };
    return { second, sent: 0, succeeded: 0, failed: 0, failures: {}, ...figures };
  };

  /**
   * Seconds with two answers each, but the third, with a histogram at the end of each span.
   *
   * @param {number[]} spans lengths in seconds
   * @returns {Result['timeline']}
   */
  function timeline(spans) {
    const ends = spans.map((_, i) => spans.slice(0, i + 1).reduce((a, b) => a + b) - 1);
    return Array.from({ length: ends[ends.length - 1] + 1 }, (_, second) => {
      const row = second === 2 ? empty(second) : busy(second);
      const span = ends.indexOf(second);
      if (span === -1) return { ...row, histogram: null };
      const own = Array.from({ length: spans[span] }, (_, i) => second - i).filter((one) => one !== 2);
      const all = own.flatMap((one) => [1 + one, 10 + one]);
      const histogram = all.length === 0 ? null : encoded(all);
      return { ...row, histogram, ...(spans[span] > 1 ? { histogramSeconds: spans[span] } : {}) };
    });
  }

  test('are accepted for each second, shared, or absent', () => {
    for (const spans of [[1, 1, 1, 1], [1, 1, 4, 3], [7]]) {
      assert.deepEqual(checkSeconds({ timeline: timeline(spans) }), []);
    }
    assert.deepEqual(checkSeconds({ timeline: [] }), []);
    const older = timeline([1, 1]).map(({ histogram, ...row }) => row);
    assert.deepEqual(checkSeconds({ timeline: older }), []);
  });

  test('are accepted as runs write them: whole runs, parts, after ten minutes', () => {
    const load = { ratePerSecond: 50, durationMs: 3000, seed: 3 };
    const results = [
      syntheticRun({ load: { ...load, threads: 3 }, unsent: 3 }),
      syntheticRun({ load: { ...load, overflow: 'drop', warmupMs: 700 } }),
      sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) }),
    ];
    for (const result of results) assert.deepEqual(checkResult(result, { isFile: true }), []);
    for (const threads of [1, 2]) {
      const seconds = createSeconds(/** @type {any} */ ({ threads, shard: null }));
      for (let thread = 0; thread < threads; thread++) {
        const { recorder, rows } = setUp({ shards: threads });
        for (const ms of [599_500, 600_500, 605_500, 611_500, 620_100])
          recorder.record(recorded(ms - 5 - thread, ms + thread, 'good'));
        recorder.finish();
        for (const row of rows) seconds.add(row);
      }
      seconds.closeAll();
      const rows = seconds.rows.map((row) => ({ ...row, sent: row.succeeded }));
      assert.deepEqual(checkSeconds({ timeline: rows }), []);
      assert.ok(rows.some(({ histogramSeconds }) => histogramSeconds === 10));
    }
  });

  const none = encodeHistogram(createHistogram());
  const [plain, coarse] = [
    [1, 1],
    [1, 1, 4],
  ];
  /** @param {number} second @param {number[]} ms @returns {(rows: Result['timeline']) => unknown} */
  const put = (second, ms) => (rows) => (rows[second].histogram = encoded(ms));
  /** @param {number} second @param {object} changes @returns {(rows: Result['timeline']) => unknown} */
  const change = (second, changes) => (rows) => Object.assign(rows[second], changes);
  /** @type {[number[], (rows: Result['timeline']) => unknown, RegExp | string][]} lengths of spans, how, and the complaint */
  const BROKEN = [
    [plain, change(1, { histogram: 'HISTFAAAAgarbage' }), /^timeline\.1\.histogram cannot be read$/],
    [plain, change(0, { histogram: '' }), 'timeline.0.histogram cannot be read'],
    [plain, put(1, [2, 5, 11]), /^timeline\.1\.histogram has 3 values, not 2$/],
    [plain, change(1, { histogram: none }), 'timeline.1.histogram has 0 values, not 2'],
    [[1, 1, 1], put(2, [3]), 'timeline.2.histogram has 1 values, not 0'],
    [plain, put(1, [2, 12]), /^timeline\.1\.max is 11, but its histogram has 12\S*$/],
    [plain, put(1, [3, 11]), /^timeline\.1\.p50 is 2, but its histogram has 3\S*$/],
    [
      plain,
      (rows) => {
        delete rows[0].p90;
        rows[1].p90 = 5;
      },
      /^timeline\.1\.p90 is 5, but its histogram has 11\S*$/,
    ],
    [coarse, put(5, [4, 13, 5, 14]), 'timeline.5.histogram has 4 values, not 6'],
    [coarse, put(5, [4, 13, 5, 14, 6, 99]), /^timeline\.5\.max is 15, but its histogram has 99\S*$/],
    [coarse, change(5, { histogramSeconds: 2 }), 'the responses of second 3 are in no histogram'],
    [coarse, change(5, { histogramSeconds: 5 }), /^timeline\.5\.histogram cannot cover 5 seconds$/],
    [[4], change(3, { histogramSeconds: 5 }), 'timeline.3.histogram cannot cover 5 seconds'],
    [plain, change(1, { histogramSeconds: 0 }), 'cannot cover 0 seconds'],
    [coarse, change(5, { histogram: null }), /^the responses of second 3 are in no histogram$/],
  ];
  for (const [spans, spoil, complaint] of BROKEN) {
    test(`reports: ${complaint}`, () => {
      const rows = timeline(spans);
      spoil(rows);
      assertComplains(checkSeconds({ timeline: rows }), complaint);
    });
  }

  test('are checked only in files', () => {
    const result = sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) });
    result.timeline[0].histogram = encodeHistogram(histogramOf(Array(32).fill(5)));
    assert.deepEqual(checkResult(result), []);
    assert.match(
      checkResult(result, { isFile: true })[0],
      /^timeline\.0\.p50 is .*, but its histogram has 5\./,
    );
  });
});

describe('the load, in files', () => {
  const load = { ratePerSecond: 50, durationMs: 4000, seed: 3, warmupMs: 500 };
  const runs = [load, { ...load, arrivals: 'poisson' }, { ...load, requests: 20 }].map((one) =>
    syntheticRun({ load: /** @type {any} */ (one) }),
  );
  const check = (/** @type {Result} */ result) => checkResult(result, { isFile: true });

  test('is accepted as runs write it', () => {
    for (const result of [...runs, ...syntheticParts({ load }, [1, 1, 1])])
      assert.deepEqual(check(result), []);
  });

  for (const [i, key, value, complaint] of /** @type {const} */ ([
    [0, 'ratePerSecond', 500, /^the load has 2000 requests, but totals\.planned is 200$/],
    [0, 'ratePerSecond', 5, /^the load has 20 requests/],
    [1, 'ratePerSecond', 500, /^the load has 2000 requests/],
    [0, 'durationMs', 3_600_000, /^the load has 180000 requests/],
    [2, 'requests', 5, /^the load has 5 requests, but totals\.planned is 20$/],
  ]))
    test(`contradicts the counts: ${key} ${value}, of run ${i}`, () => {
      const edited = structuredClone(runs[i]);
      const planned = /** @type {any} */ (edited.plan).load[key];
      Object.assign(edited.load, { [key]: value });
      assert.deepEqual(check(edited)[0], `load.${key} is ${value}, but plan.load.${key} is ${planned}`);
      Object.assign(/** @type {any} */ (edited.plan).load, { [key]: value });
      assert.match(check(edited)[0], complaint);
    });
});

test('an open load without a rate is refused, in files', () => {
  const edited = syntheticRun({ load: { ratePerSecond: 50, durationMs: 1000, seed: 3 } });
  for (const load of [edited.load, /** @type {any} */ (edited.plan).load]) load.ratePerSecond = null;
  assert.deepEqual(checkResult(edited, { isFile: true }), ['load.model is open, without a rate']);
});

describe('the merge block of a part', () => {
  const load = { ratePerSecond: 50, durationMs: 4000, seed: 3 };
  const parts = syntheticParts({ load, unsent: 3 }, [1, 2]);

  test('is accepted as runs write it, and need not exist for whole runs', () => {
    for (const part of parts) assert.deepEqual(checkResult(part, { isFile: true }), []);
    assert.deepEqual(checkMergeBlock(sampleResult(GROUPS)), []);
    const [alone] = syntheticParts({ load }, [1]);
    assert.equal(alone.merge?.lags[0], null);
    assert.deepEqual(checkMergeBlock(alone), []);
  });

  const none = { sent: [], succeeded: [], failed: [] };
  /** @param {Record<string, unknown>} changes @returns {(merge: MergeBlock) => unknown} */
  const inLags = (changes) => (merge) => Object.assign(Object(merge.lags[1]), changes);
  /** @param {MergeBlock} merge */
  const addOther = ({ operations }) => (operations.other = { ...operations.synthetic, perSecond: none });
  const own = String(latency([1, 2]).histogram);
  /** @type {Broken<MergeBlock>} */
  const BROKEN = [
    [addOther, /^merge has an operation other, which was not measured$/],
    [
      ({ operations: { synthetic } }) => synthetic.perSecond.succeeded[2]++,
      / \d+ succeeded in second 2, .* \d+$/,
    ],
    [({ operations: { synthetic } }) => (synthetic.perSecond.sent[9] = 1), / 1 sent in second 9, but .* 0$/],
    [({ watch }) => (watch.lag = 'HISTFAAAA'), /^merge\.watch\.lag cannot be read$/],
    [
      ({ operations: { synthetic } }) => Object.assign(Object(synthetic.own?.good), { service: own }),
      /^merge\.operations\.synthetic\.own\.good\.service has 2 values, not \d+$/,
    ],
    [({ watch }) => (watch.readLate = ''), /^merge\.watch\.readLate cannot be read$/],
    [inLags({ histogram: 'x' }), /^merge\.lags\.1\.histogram cannot be read$/],
    [inLags({ histogram: latency([1]).histogram }), /^merge\.lags\.1\.histogram has 1 values, not \d+$/],
    [inLags({ max: 5000 }), /^merge\.lags\.1\.max is 5000, but its histogram has/],
  ];
  for (const [spoil, complaint] of BROKEN) {
    test(`reports, for files only: ${complaint}`, () => {
      const part = structuredClone(parts[1]);
      spoil(/** @type {MergeBlock} */ (part.merge));
      const complaints = checkMergeBlock(part);
      assert.equal(complaints.length, 1, complaints.join('\n'));
      assert.match(complaints[0], /** @type {RegExp} */ (complaint));
      assert.deepEqual(checkResult(part), []);
    });
  }
});
