/** The histograms of seconds, and of spans of them: what is done where a file is read. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHistogram, encodeHistogram, recordMs } from '../../src/histogram.js';
import { checkResult } from '../../src/results/check/check.js';
import { checkSeconds } from '../../src/results/check/check-seconds.js';
import { createRunSeconds } from '../../src/results/seconds.js';
import { sample, setUp } from '../load/recording.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { latency, sampleResult, spread, timelineOf } from './sample.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */
/** @typedef {Result['timeline']} Timeline */

const GROUPS = [
  { outcome: 'good', service: spread(90, 1, 50), lag: 0.2 },
  { outcome: 'timeout', success: false, service: spread(6, 1000, 1001), lag: 0.2 },
];

/** @param {number[]} ms */
function encoded(ms) {
  return latency(ms).histogram;
}

/**
 * Seconds with two answers each, but the third, with a histogram at the end of each span.
 *
 * @param {number[]} spans lengths in seconds
 * @returns {Timeline}
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

/** @param {number} second */
function busy(second) {
  const figures = { p50: 1 + second, p90: 10 + second, p99: 10 + second, max: 10 + second, lag99: 0.1 };
  return { second, sent: 2, succeeded: 1, failed: 1, failures: { timeout: 1 }, ...figures };
}

/** @param {number} second */
function empty(second) {
  const figures = { p50: null, p90: null, p99: null, max: null, lag99: null };
  return { second, sent: 0, succeeded: 0, failed: 0, failures: {}, ...figures };
}

describe('the histograms of seconds have no complaint', () => {
  /** @type {[string, Timeline, true | undefined][]} */
  const RIGHT = [
    ['where there are no seconds', [], undefined],
    ['where each second has one', timeline([1, 1, 1, 1]), undefined],
    ['where seconds share them', timeline([1, 1, 4, 3]), undefined],
    ['where all share one', timeline([7]), undefined],
    ['of an older version, which has none', timeline([1, 1]).map(({ histogram, ...row }) => row), undefined],
    ['of a run that goes on, whose last span is not over', timeline([1, 1, 1, 4]).slice(0, 5), true],
  ];
  for (const [what, rows, unfinished] of RIGHT) {
    test(what, () => assert.deepEqual(checkSeconds({ timeline: rows, unfinished }), []));
  }

  test('as a run writes them: whole, a part, and one that goes on', () => {
    const load = { ratePerSecond: 50, durationMs: 5000, seed: 3 };
    const results = [
      syntheticRun({ load }),
      syntheticRun({ load: { ...load, threads: 3 }, unsent: 3 }),
      syntheticRun({ load: { ...load, overflow: 'drop', warmupMs: 700 } }),
      ...syntheticParts({ load }, [1, 2]),
      sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) }),
    ];
    for (const result of results) assert.deepEqual(checkResult(result, { eachSecond: true }), []);
  });

  test('as recorders join them after the first hour, alone or together', () => {
    const doneMs = [3_599_500, 3_600_500, 3_605_500, 3_611_500, 3_620_100];
    for (const threads of [1, 2]) {
      const seconds = createRunSeconds(/** @type {any} */ ({ threads, shard: null }));
      for (let thread = 0; thread < threads; thread++) {
        const { recorder, rows } = setUp({ shards: threads });
        for (const ms of doneMs) recorder.record(sample(ms - 5 - thread, ms + thread, 'good'));
        recorder.finish();
        for (const row of rows) seconds.add(row);
      }
      seconds.closeAll();
      const rows = seconds.rows.map((row) => ({ ...row, sent: row.succeeded }));
      assert.deepEqual(checkSeconds({ timeline: rows }), []);
      assert.ok(rows.some(({ histogramSeconds }) => histogramSeconds === 10));
    }
  });
});

/** @type {[string, Timeline, (rows: Timeline) => void, RegExp][]} what is wrong, of which seconds, how, and the complaint */
const BROKEN = [
  [
    'garbage',
    timeline([1, 1]),
    (rows) => (rows[1].histogram = 'HISTFAAAAgarbage'),
    /^the histogram of second 1 cannot be read$/,
  ],
  ['no text at all', timeline([1, 1]), (rows) => (rows[0].histogram = ''), /second 0 cannot be read/],
  [
    'one too many',
    timeline([1, 1]),
    (rows) => (rows[1].histogram = encoded([2, 5, 11])),
    /^the histogram of second 1 holds 3, not 2$/,
  ],
  [
    'none of what was done',
    timeline([1, 1]),
    (rows) => (rows[1].histogram = encodeHistogram(createHistogram())),
    /second 1 holds 0, not 2/,
  ],
  [
    'one where nothing was done',
    timeline([1, 1, 1]),
    (rows) => (rows[2].histogram = encoded([3])),
    /second 2 holds 1, not 0/,
  ],
  [
    'as many others, longer',
    timeline([1, 1]),
    (rows) => (rows[1].histogram = encoded([2, 12])),
    /second 1 says its max is 12(\.\d+)?, but that stands as 11$/,
  ],
  [
    'as many others, no longer',
    timeline([1, 1]),
    (rows) => (rows[1].histogram = encoded([3, 11])),
    /second 1 says its p50 is 3(\.\d+)?, but that stands as 2$/,
  ],
  [
    'another p90, and an older version told none',
    timeline([1, 1]),
    (rows) => {
      delete rows[0].p90;
      rows[1].p90 = 5;
    },
    /^the histogram of second 1 says its p90 is 11(\.\d+)?, but that stands as 5$/,
  ],
  [
    'a span of which one second is missing',
    timeline([1, 1, 4]),
    (rows) => (rows[5].histogram = encoded([4, 13, 5, 14])),
    /second 5 holds 4, not 6/,
  ],
  [
    'a span whose longest is another',
    timeline([1, 1, 4]),
    (rows) => (rows[5].histogram = encoded([4, 13, 5, 14, 6, 99])),
    /second 5 says its max is 99(\.\d+)?, but that stands as 15$/,
  ],
  [
    'a span that is told too short',
    timeline([1, 1, 4]),
    (rows) => (rows[5].histogramSeconds = 2),
    /what was done in second 3 is in no histogram/,
  ],
  [
    'a span that reaches into the one before',
    timeline([1, 1, 4]),
    (rows) => (rows[5].histogramSeconds = 5),
    /^the histogram of second 5 says it covers 5 seconds$/,
  ],
  [
    'a span that begins before the run',
    timeline([4]),
    (rows) => (rows[3].histogramSeconds = 5),
    /second 3 says it covers 5 seconds/,
  ],
  [
    'a span of no second',
    timeline([1, 1]),
    (rows) => (rows[1].histogramSeconds = 0),
    /says it covers 0 seconds/,
  ],
  [
    'a last span that is missing',
    timeline([1, 1, 4]),
    (rows) => (rows[5].histogram = null),
    /^what was done in second 3 is in no histogram$/,
  ],
];

describe('the histograms of seconds: complains of', () => {
  for (const [why, rows, spoil, complaint] of BROKEN) {
    test(why, () => {
      const timeline = structuredClone(rows);
      spoil(timeline);
      const complaints = checkSeconds({ timeline });
      assert.ok(
        complaints.some((text) => complaint.test(text)),
        complaints.join('\n') || 'no complaint',
      );
    });
  }

  test('nothing where a run ends, which does not look at them: only a reader does', () => {
    const result = sampleResult(GROUPS, { timeline: timelineOf(GROUPS, 3) });
    const longer = createHistogram();
    for (let i = 0; i < 32; i++) recordMs(longer, 5);
    result.timeline[0].histogram = encodeHistogram(longer);
    assert.deepEqual(checkResult(result), []);
    assert.match(checkResult(result, { eachSecond: true })[0], /^the histogram of second 0 says its max/);
  });
});
