import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { sumHistograms, valueAtShare } from '../../src/common/histogram.js';
import { createSpans } from '../../src/engine/recording/spans.js';
import { latencyBins } from '../../src/result/latency-spans.js';
import { latency, spread, timelineOf } from './sample.js';

/** @import { TimelineRow } from '../../src/result/schema.js' */

/** A row of a second in which so long was answered. @param {number} second @param {number[]} values */
function answered(second, values) {
  const { p50, p90, p99, max, histogram } = latency(values);
  const count = values.length;
  return { second, due: count, sent: count, succeeded: count, failed: 0, p50, p90, p99, max, histogram };
}

/** One answer every 3.6 s. @param {number} seconds @returns {TimelineRow[]} */
function thousandAnHour(seconds) {
  return Array.from({ length: seconds }, (_, second) => {
    const isDue = Math.floor((second * 10 + 9) / 36) !== Math.floor((second * 10 - 1) / 36);
    return answered(second, isDue ? [20 + ((second * 37) % 40)] : []);
  });
}

test('with enough responses, each second is a span', () => {
  const timeline = timelineOf([{ outcome: 'good', service: spread(400, 1, 40) }], 20);
  const spans = latencyBins(timeline);
  assert.equal(spans.length, 21);
  assert.deepEqual(
    spans.slice(0, 2).map(({ second, span, responses, p50, max }) => [second, span, responses, p50, max]),
    timeline.slice(0, 2).map(({ second, p50, max }) => [second, 1, 20, p50, max]),
  );
});

test('at 1000/h, spans are minutes, with figures from the histograms', () => {
  const timeline = thousandAnHour(360);
  const spans = latencyBins(timeline);
  const found = spans.map(({ second, span }) => [second, span]);
  assert.deepEqual(
    found,
    [0, 60, 120, 180, 240, 300].map((second) => [second, 60]),
  );
  for (const [i, { responses, p50, p90, p99, max, idle }] of spans.entries()) {
    const own = timeline.slice(i * 60, (i + 1) * 60).flatMap(({ histogram }) => histogram ?? []);
    const sum = sumHistograms(own);
    assert.equal(responses, own.length);
    assert.ok(responses >= 15);
    assert.deepEqual(
      [p50, p90, p99],
      [0.5, 0.9, 0.99].map((share) => valueAtShare(sum, share)),
    );
    assert.equal(max, sum.maxValue / 1000);
    assert.ok(Number(p50) < Number(max) && !idle);
  }
});

test('spans of a long run contain whole histograms that several seconds share', () => {
  const rows = thousandAnHour(4000);
  const join = createSpans();
  const timeline = rows.map((row, i) => {
    const { histogram, histogramSeconds } = join.add(
      row.second,
      row.histogram ?? null,
      i === rows.length - 1,
    );
    return histogramSeconds === 1 ? { ...row, histogram } : { ...row, histogram, histogramSeconds };
  });
  const expected = latencyBins(rows);
  assert.equal(expected[0].span, 60);
  assert.deepEqual(latencyBins(timeline), expected);
  assert.equal(timeline.filter(({ histogram }) => histogram !== null).length < 1200, true);
});

test('a long run has no more spans than a chart can show', () => {
  const spans = latencyBins(thousandAnHour(4 * 3600));
  assert.deepEqual([spans.length, spans[0].span, spans[0].responses], [240, 60, 17]);
});

test('without histograms, each second is a span', () => {
  const timeline = thousandAnHour(360).map((row) => ({ ...row, histogram: undefined }));
  assert.equal(latencyBins(timeline).length, 360);
  const half = thousandAnHour(360).map((row) => (row.second < 180 ? row : { ...row, histogram: null }));
  assert.equal(latencyBins(half).length, 360);
});

test('a short run keeps at least six spans', () => {
  const timeline = Array.from({ length: 20 }, (_, second) => answered(second, second % 2 === 0 ? [5] : []));
  const told = latencyBins(timeline).map(({ span }) => span);
  assert.deepEqual(
    told,
    Array.from({ length: 10 }, () => 2),
  );
});

test('a second is idle if nothing was due or waiting; any other second without a response is a gap', () => {
  const values = [[1, 2], [], [], [3, 4], []];
  const due = [2, 0, 2, 0, 0];
  const timeline = values.map((own, second) => ({ ...answered(second, own), due: due[second] }));
  const found = latencyBins(timeline).map(({ idle }) => idle);
  assert.deepEqual(found, [false, true, false, false, true]);
  const closed = timeline.map((row) => ({ ...row, due: undefined }));
  assert.ok(latencyBins(closed).every(({ idle }) => !idle));
});

test('accepts an empty timeline', () => {
  assert.deepEqual(latencyBins([]), []);
  assert.equal(latencyBins([answered(0, [])])[0].p50, null);
});

test('a timeline with more seconds has the same figures as a new one, but only new spans are decoded', (t) => {
  const { inflateSync } = zlib;
  let decoded = 0;
  t.mock.method(zlib, 'inflateSync', (/** @type {Parameters<typeof inflateSync>} */ ...given) => {
    decoded++;
    return inflateSync(...given);
  });
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  const all = thousandAnHour(3600);
  latencyBins([]);
  const first = latencyBins(all.slice(0, 3000));
  assert.ok(decoded > 800);
  decoded = 0;
  // As after a rewriting: other rows with the same texts.
  const grown = latencyBins(all.slice(0, 3120).map((row) => ({ ...row })));
  assert.ok(decoded < 60, `${decoded}`);
  assert.deepEqual(grown.slice(0, 50), first);
  latencyBins([]);
  assert.deepEqual(latencyBins(all.slice(0, 3120)), grown);
  const other = all.slice(0, 3120).map((row, i) => (i === 71 ? answered(71, [500]) : row));
  const changed = latencyBins(other);
  latencyBins([]);
  assert.deepEqual(changed, latencyBins(other));
  assert.equal(Math.round(Number(changed[1].max)), 500);
});
