import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHistogram, encodeHistogram, recordMs, sumHistograms } from '../../src/histogram.js';
import { buildLatency } from '../../src/results/build.js';
import { checkResult } from '../../src/results/check/check.js';
import { checkLatencies, checkSums } from '../../src/results/check/check-latency.js';
import { block, latency, sampleResult, spread } from './sample.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

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
  one.latencyMs.response = latency([
    ...GROUPS.flatMap(({ service, lag }) => service.map((ms) => ms + lag)),
    ...WAITING,
  ]);
  Object.assign(one.outcomes, { dropped: 4, never_sent: 2 });
  const none = { response: latency([]), service: latency([]), sendLag: latency([]) };
  one.outcomeDetails.dropped = { count: 4, success: false, latencyMs: none };
  one.outcomeDetails.never_sent = {
    count: 2,
    success: false,
    latencyMs: { ...none, response: latency(WAITING) },
  };
  const whole = structuredClone(one);
  return { ...sampleResult(GROUPS), ...whole, operations: { ocsp: one } };
}

test('what adds up has no complaint', () => {
  assert.deepEqual(checkResult(sample()), []);
  assert.deepEqual(checkResult(sampleResult(GROUPS)), []);
  assert.deepEqual(checkResult(sampleResult([], { counts: { neverSent: 7 } })), []);
});

/** @type {[string, (result: Result) => void, RegExp][]} what is wrong, how, and the complaint */
const BROKEN = [
  [
    'a planned request vanished',
    (r) => r.totals.planned++,
    /^sent \+ dropped \+ neverSent is 103, but planned is 104$/,
  ],
  [
    'a request neither succeeded nor failed',
    (r) => r.totals.failed--,
    /^succeeded \+ failed is 95, but sent is 96$/,
  ],
  [
    'more were waiting than were never sent',
    (r) => (r.totals.neverSentDue = 4),
    /neverSentDue \(4\) is more than neverSent \(3\)/,
  ],
  [
    'those never sent are no errors',
    (r) => (r.totals.errors -= r.totals.neverSentDue),
    /^failed \+ dropped \+ neverSentDue is 12, but errors is 10$/,
  ],
  [
    'errors are reckoned as a share of those sent',
    (r) => (r.errorShare = r.totals.failed / r.totals.sent),
    /^errors \/ \(succeeded \+ errors\) is 0\.1176\d*, but errorShare is 0\.0625$/,
  ],
  ['the hourly rate is another', (r) => (r.rates.perHour *= 1.001), /rates\.perHour .* is not 3600 times/],
  ['an outcome was lost', (r) => r.outcomes.good--, /the outcomes of sent requests is 95, but sent is 96/],
  [
    'an outcome and its details differ',
    (r) => r.outcomes.timeout++,
    /outcomes\.timeout is 7, but outcomeDetails\.timeout\.count is 6/,
  ],
  [
    'an outcome has no details',
    (r) => delete r.outcomeDetails.timeout,
    /outcomes\.timeout is 6, but .* is missing/,
  ],
  [
    'a failure passes for a success',
    (r) => (r.outcomeDetails.timeout.success = true),
    /the successful outcomes is 96, but succeeded is 90/,
  ],
  ['dropped is counted two ways', (r) => r.outcomes.dropped++, /outcome dropped is 5, but dropped is 4/],
  [
    'never sent is counted two ways',
    (r) => r.outcomes.never_sent--,
    /outcome never_sent is 1, but neverSentDue is 2/,
  ],
  [
    'a response time is missing',
    (r) => (r.latencyMs.response = latency(spread(97, 1, 2))),
    /^latencyMs\.response\.count is 97, not 98$/,
  ],
  [
    'the waiting ones are left out',
    (r) => (r.latencyMs.response = latency(spread(96, 1, 2))),
    /^latencyMs\.response\.count is 96, not 98$/,
  ],
  [
    'a service time is one too many',
    (r) => (r.latencyMs.service = latency(spread(97, 1, 2))),
    /^latencyMs\.service\.count is 97, not 96$/,
  ],
  [
    'a send lag is missing',
    (r) => (r.latencyMs.sendLag = latency([])),
    /^latencyMs\.sendLag\.count is 0, not 96$/,
  ],
  [
    "an outcome's times are not its own",
    (r) => (r.outcomeDetails.good.latencyMs.response = latency([1])),
    /outcomeDetails\.good\.latencyMs\.response\.count is 1, not 90/,
  ],
  [
    'a dropped request has a time',
    (r) => (r.outcomeDetails.dropped.latencyMs.service = latency([1])),
    /outcomeDetails\.dropped\.latencyMs\.service\.count is 1, not 0/,
  ],
  [
    'a histogram of other requests',
    (r) => (r.latencyMs.service.histogram = latency([1, 2]).histogram),
    /latencyMs\.service\.histogram holds 2, not 96/,
  ],
  [
    'a histogram that is none',
    (r) => (r.latencyMs.service.histogram = 'AAAA'),
    /histogram holds something unreadable, not 96/,
  ],
  ['no histogram', (r) => (r.latencyMs.service.histogram = null), /histogram holds 0, not 96/],
  [
    'a percentile below a lower one',
    (r) => (r.latencyMs.service.p90 = 0.5),
    /latencyMs\.service: min, percentiles and max are not in ascending order/,
  ],
  [
    'a figure of nothing',
    (r) => (r.outcomeDetails.dropped.latencyMs.service.p50 = 3),
    /has 0 values but numbers among its figures/,
  ],
  [
    'no figure of something',
    (r) => (r.latencyMs.service.mean = null),
    /has 96 values but nulls among its figures/,
  ],
  [
    'more passed than were checked',
    (r) => (r.verification.passed = 91),
    /passed \(91\) is more than verification\.checked \(90\)/,
  ],
  [
    'failures without a rule',
    (r) => (r.verification.passed = 89),
    /verification\.failures, together, is 0, but checked less passed is 1/,
  ],
  [
    'rules broken by answers that passed',
    (r) => (r.verification.failures = { expired: 1 }),
    /verification\.failures, together, is 1, but checked less passed is 0/,
  ],
  [
    'a sample that is not called one',
    (r) => (r.verification.unchecked = 6),
    /left 6 unchecked, but does not say it is sampled/,
  ],
  [
    'a rule that no outcome is named after',
    (r) => {
      r.verification.checked = 91;
      r.verification.failures = { expired: 1 };
    },
    /verification\.failures\.expired is 1, but outcomes\.expired is missing/,
  ],
  [
    'all that was checked is called a sample',
    (r) => (r.verification.sampled = true),
    /left 0 unchecked, but says it is sampled/,
  ],
  [
    'an outcome unchecked that the verification does not know',
    (r) => (r.outcomes.unchecked = 2),
    /outcome unchecked is 2, but verification\.unchecked is 0/,
  ],
  [
    'more passed than succeeded',
    (r) => (r.verification.unchecked = 1),
    /says 90 passed and 1 unchecked, but only 90 succeeded/,
  ],
  [
    'the histogram of as many others',
    (r) => (r.latencyMs.service.histogram = latency(spread(96, 3, 4)).histogram),
    /latencyMs\.service\.p50 is .*, but its histogram says 3\.495/,
  ],
  [
    'a mean of others',
    (r) => (r.latencyMs.service.mean = Number(r.latencyMs.service.mean) * 1.01),
    /latencyMs\.service\.mean is .*, but its histogram says/,
  ],
  [
    'a longest of others',
    (r) => (r.latencyMs.service.max = 1100),
    /latencyMs\.service\.max is 1100, but its histogram says 1001/,
  ],
  [
    'the outcomes are not what the whole is made of',
    (r) => (r.latencyMs.service = latency([...spread(90, 1, 49), ...spread(6, 1000, 1001)])),
    /^latencyMs\.service\.histogram is not the sum of those in outcomeDetails$/,
  ],
  [
    'the peak is more than all',
    (r) => (r.rates.peakOneSecond = 91),
    /peakOneSecond is 91, which 90 successes in 2 seconds cannot have/,
  ],
  [
    'the peak is less than the mean second',
    (r) => (r.rates.peakOneSecond = 44),
    /peakOneSecond is 44, which 90 successes in 2 seconds cannot have/,
  ],
  [
    'the seconds are not in order',
    (r) => r.timeline.reverse(),
    /row 0 of the timeline is 1, but its second is 0/,
  ],
  [
    'a second without answers has a percentile',
    (r) => (r.timeline[1].p50 = 1),
    /second 1 of the timeline has 0 answers with p50 1,/,
  ],
  [
    'a second has a p99 below its p50',
    (r) => (r.timeline[0].p99 = 0.1),
    /second 0 of the timeline has 96 answers with/,
  ],
  [
    'a second is longer than the run',
    (r) => (r.timeline[0].max = 2000),
    /the timeline's longest is 2000, but latencyMs\.response\.max is 1001\.2/,
  ],
  [
    'a second is missing from the timeline',
    (r) => r.timeline.shift(),
    /the timeline's sent is 0, but totals\.sent is 96/,
  ],
  [
    'a failure is missing from the timeline',
    (r) => r.timeline[0].failed--,
    /the timeline's failed is 5, but totals\.failed is 6/,
  ],
  [
    'an operation counts otherwise',
    (r) => r.operations.ocsp.totals.planned++,
    /the operations' totals\.planned is 104, but totals\.planned is 103/,
  ],
  [
    'an operation is broken in itself',
    (r) => r.operations.ocsp.totals.sent--,
    /^operation ocsp: succeeded \+ failed is 96, but sent is 95$/,
  ],
  [
    'an operation stands twice',
    (r) => (r.operations.again = r.operations.ocsp),
    /the operations' outcomes\.good is 180, but outcomes\.good is 90/,
  ],
  [
    "the operations' checks do not add up",
    (r) => (r.operations.ocsp.verification.checked = 95),
    /verification\.checked is 95, but verification\.checked is 90/,
  ],
  ['no operations', (r) => (r.operations = {}), /there are no operations/],
];

for (const [why, spoil, complaint] of BROKEN) {
  test(`complains when ${why}`, () => {
    const result = sample();
    spoil(result);
    const complaints = checkResult(result);
    assert.ok(
      complaints.some((text) => complaint.test(text)),
      complaints.join('\n') || 'no complaint',
    );
  });
}

test('whatever the latencies, their figures are borne out by their histogram, before and after it was encoded', () => {
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
      assert.deepEqual(checkLatencies(all, { response: length, service: length, sendLag: length }, ''), []);
    }),
    { numRuns: 60 },
  );
});

test('however latencies are shared out, and in whatever order they are added up, the sum is the whole', () => {
  const ms = fc.integer({ min: 0, max: 3_000_000_000 }).map((us) => us / 1000);
  fc.assert(
    fc.property(fc.array(fc.array(ms, { maxLength: 20 }), { minLength: 1, maxLength: 4 }), (shares) => {
      const histograms = shares.map(histogramOf);
      const parts = histograms.map((histogram) => blocksOf(buildLatency(histogram)));
      const whole = blocksOf(buildLatency(sumHistograms(histograms.toReversed())));
      assert.deepEqual(checkSums(whole, parts), []);
      assert.equal(checkSums(whole, [...parts, blocksOf(latency([1]))]).length, 3);
    }),
    { numRuns: 40 },
  );
});

/** @param {number[]} values ms */
function histogramOf(values) {
  const histogram = createHistogram();
  for (const value of values) recordMs(histogram, value);
  return histogram;
}

/** @param {import('../../src/results/schema.js').LatencyBlock} block */
function blocksOf(block) {
  return { response: block, service: block, sendLag: block };
}
