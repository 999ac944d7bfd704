/** Rates, and what a second says of itself beyond its counts: its failures, arrivals, send lag and whether it has a histogram. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkResult } from '../../src/results/check/check.js';
import { sampleResult, spread, timelineOf } from './sample.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

const GROUPS = [
  { outcome: 'good', service: spread(90, 1, 50), lag: 0.2 },
  { outcome: 'timeout', success: false, service: spread(6, 1000, 1001), lag: 0.2 },
];

/** Three seconds with something in them, and an empty one. @returns {Result} */
const sample = () => sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) });

test('a timeline as runs write it has no complaint, nor one without what is optional', () => {
  assert.deepEqual(checkResult(sample()), []);
  const older = sample().timeline.map(({ second, sent, succeeded, failed, p50, p99, max }) => ({
    second,
    sent,
    succeeded,
    failed,
    p50,
    p99,
    max,
  }));
  assert.deepEqual(checkResult({ ...sample(), timeline: older }), []);
});

/** @type {[string, (result: Result) => void, RegExp][]} what is wrong, how, and the complaint */
const BROKEN = [
  [
    'more was due than planned',
    (r) => (r.timeline[0].due = 900),
    /the timeline has \d+ arrivals due, but only 96 were planned/,
  ],
  [
    'a failure without a name',
    (r) => (r.timeline[0].failures = {}),
    /second 0's failures, together, is 0, but those that failed in it is 2/,
  ],
  [
    'a failure that nobody counted',
    (r) => (r.timeline[3].failures = { timeout: 1 }),
    /second 3's failures, together, is 1, but those that failed in it is 0/,
  ],
  ['a p90 below p50', (r) => (r.timeline[0].p90 = 0.1), /second 0 of the timeline has 32 answers with/],
  ['a p90 above p99', (r) => (r.timeline[0].p90 = 5000), /second 0 of the timeline has 32 answers with/],
  ['a p90 of nothing', (r) => (r.timeline[3].p90 = 1), /second 3 of the timeline has 0 answers with/],
  ['a histogram of nothing', (r) => (r.timeline[3].histogram = 'HISTFA'), /second 3 .*its histogram or/],
  ['no histogram of something', (r) => (r.timeline[1].histogram = null), /second 1 .*its histogram or/],
  ['a send lag of nothing', (r) => (r.timeline[3].lag99 = 1), /second 3 .*or its send lag denies/],
];

for (const [why, spoil, complaint] of BROKEN) {
  test(`complains of ${why}`, () => {
    const result = sample();
    spoil(result);
    const complaints = checkResult(result);
    assert.ok(
      complaints.some((text) => complaint.test(text)),
      complaints.join('\n') || 'no complaint',
    );
  });
}

test('a send lag that is not known is no contradiction', () => {
  const result = sample();
  result.timeline[0].lag99 = null;
  assert.deepEqual(checkResult(result), []);
});

/** 90 successes in 20 s; as read, so that the whole and its operation share nothing. @returns {Result} */
const rated = () => JSON.parse(JSON.stringify({ ...sample(), windowSeconds: 20 }));

test('rates over the window have no complaint, rounded or not, nor those of an older version, without a window', () => {
  assert.deepEqual(checkResult(rated()), []);
  assert.deepEqual(checkResult({ ...rated(), rates: { ...rated().rates, perSecond: 4.500001 } }), []);
  const doubled = { perSecond: 9, perHour: 32_400, peakOneSecond: 90 };
  assert.deepEqual(checkResult({ ...sample(), rates: doubled }), []);
});

/** @param {Result['rates']} rates @param {number} factor */
function scale(rates, factor) {
  rates.perSecond *= factor;
  rates.perHour *= factor;
}

/** @type {[string, (result: Result) => void, RegExp][]} what is wrong, how, and the complaint */
const RATES = [
  [
    'a rate that was doubled, by the second and by the hour',
    (r) => scale(r.rates, 2),
    /^rates\.perSecond is 9, but 90 successes in 20 s are 4\.5\/s$/,
  ],
  [
    "an operation's rate that was doubled",
    (r) => scale(r.operations.ocsp.rates, 2),
    /^operation ocsp: rates\.perSecond is 9, but 90 successes in 20 s are 4\.5\/s$/,
  ],
  [
    'a rate of no time at all',
    (r) => (r.windowSeconds = 0),
    /rates\.perSecond is 4\.5, but 90 successes in 0 s/,
  ],
  [
    'a window that was halved with it, and ends before the last success',
    (r) => {
      r.windowSeconds = 1;
      for (const { rates } of [r, r.operations.ocsp]) scale(rates, 20);
      for (const row of r.timeline.slice(0, 3)) row.max = 200;
      r.latencyMs.response.max = 200;
    },
    /^windowSeconds is 1, but second 2 had a success, and none took longer than 200 ms$/,
  ],
];

for (const [why, spoil, complaint] of RATES) {
  test(`complains of ${why}`, () => {
    const result = rated();
    spoil(result);
    const complaints = checkResult(result);
    assert.ok(
      complaints.some((text) => complaint.test(text)),
      complaints.join('\n') || 'no complaint',
    );
  });
}

test('a success may come after the window, as late as the longest took', () => {
  const result = rated();
  for (const { rates } of [result, result.operations.ocsp]) scale(rates, 20);
  assert.deepEqual(checkResult({ ...result, windowSeconds: 1 }), []);
});
