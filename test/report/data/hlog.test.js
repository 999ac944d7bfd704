import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HistogramLogReader } from 'hdr-histogram-js';
import {
  decodeHistogram,
  encodeHistogram,
  sumHistograms,
  valueAtShare,
} from '../../../src/common/histogram.js';
import { renderDocument } from '../../../src/report/index.js';
import { sampleResult, spread, timelineOf } from '../../result/sample.js';
import { SAMPLES } from '../samples.js';

/** @import { Result } from '../../../src/result/schema.js' */

const NO_TAG = 'NO TAG';

/** @param {Result} result */
async function read(result) {
  const reader = new HistogramLogReader(await renderDocument('hlog', result));
  const intervals = [];
  for (let next = reader.nextIntervalHistogram(); next !== null; next = reader.nextIntervalHistogram()) {
    intervals.push(next);
  }
  return intervals;
}

for (const [name, result] of Object.entries(SAMPLES)) {
  test(`the log of ${name}: untagged intervals add up to the response times, tagged intervals are the other times`, async () => {
    const intervals = await read(result);
    const { response, service, sendLag } = result.latencyMs;
    for (const [tag, { count, histogram }] of /** @type {const} */ ([
      [NO_TAG, response],
      ['service', service],
      ['sendLag', sendLag],
    ])) {
      const parts = intervals.filter((one) => one.tag === tag);
      // As text both know their longest to the end of its bucket; a sum may know it to the beginning.
      const sum = decodeHistogram(encodeHistogram(sumHistograms(parts)));
      assert.equal(sum.totalCount, count, tag);
      if (histogram === null) continue;
      const own = decodeHistogram(histogram);
      for (const share of [0.001, 0.5, 0.9, 0.99, 0.999, 1]) {
        assert.equal(valueAtShare(sum, share), valueAtShare(own, share), `${tag} ${share}`);
      }
    }
  });

  test(`HistogramLogReader can parse the lines of the log of ${name}`, async () => {
    const lines = (await renderDocument('hlog', result)).split('\n');
    assert.equal(lines.pop(), '');
    const first = lines.findIndex((line) => !line.startsWith('#'));
    assert.equal(lines[1], '#[Histogram log format version 1.3]');
    assert.match(lines[2], /^#\[StartTime: \d+\.\d{3} \(seconds since epoch\), /);
    assert.match(lines[3], /^#\[BaseTime: \d+\.\d{3} \(seconds since epoch\)\]$/);
    assert.match(lines[first], /^"StartTimestamp","Interval_Length","Interval_Max",/);
    const starts = lines.slice(first + 1).map((line) => {
      const found = /^(?:Tag=(?:service|sendLag),)?(\d+\.\d{3}),\d+\.\d{3},\d+\.\d{3},HISTF[\w+/]+=*$/.exec(
        line,
      );
      assert.ok(found !== null, line);
      return Number(found[1]);
    });
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
      'starts never decrease',
    );
  });
}

test('each interval starts on a whole second, and its length is a whole number of seconds', async () => {
  const groups = [{ outcome: 'good', service: spread(40, 1, 2) }];
  const intervals = await read(sampleResult(groups, { timeline: timelineOf(groups, 2) }));
  const seconds = intervals.filter(({ tag }) => tag === NO_TAG);
  const start = Date.parse('2026-01-02T03:04:05.678Z');
  assert.deepEqual(
    seconds.map((one) => [
      Math.round(one.startTimeStampMsec) - start,
      Math.round(one.endTimeStampMsec) - start,
      one.totalCount,
    ]),
    [
      [0, 1000, 20],
      [1000, 2000, 20],
      [2000, 3000, 0],
    ],
  );
});

test('an older result without histograms per second is one interval', async () => {
  const [, , whole, ...more] = await read(SAMPLES['closed-loop-issue']);
  assert.equal(more.length, 0);
  assert.equal(whole.totalCount, 13_589);
  assert.equal(Math.round(whole.endTimeStampMsec - whole.startTimeStampMsec), 20_000);
});

test('requests that were never sent are an interval after the last second, with a comment', async () => {
  assert.equal((await read(SAMPLES.backlog)).at(-1)?.totalCount, 60);
  assert.match(
    await renderDocument('hlog', SAMPLES.backlog),
    /^#The last interval is not a second of the run: it has 60 requests /m,
  );
});

test('seconds that share a histogram are one interval of their total length', async () => {
  const groups = [{ outcome: 'good', service: spread(4, 1, 2) }];
  const [row] = timelineOf(groups, 1);
  const none = { second: 0, sent: 0, succeeded: 0, failed: 0, p50: null, p99: null, max: null };
  const timeline = Array.from({ length: 610 }, (_, second) => ({ ...none, second, histogram: null }));
  Object.assign(timeline[602], { ...row, second: 602, histogram: null });
  Object.assign(timeline[609], { histogram: row.histogram, histogramSeconds: 10 });
  const intervals = (await renderDocument('hlog', sampleResult(groups, { timeline })))
    .split('\n')
    .filter((line) => /^\d/.test(line));
  assert.equal(intervals.length, 601);
  assert.match(intervals[599], /^599\.000,1\.000,0\.000,/);
  const [start, length, max] = intervals[600].split(',');
  assert.deepEqual([start, length, Number(max)], ['600.000', '10.000', row.max]);
});
