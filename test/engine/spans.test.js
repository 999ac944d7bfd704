import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  recordMs,
  sumHistograms,
} from '../../src/common/histogram.js';
import { createSpans, FINE_SECONDS, spanLength } from '../../src/engine/recording/spans.js';
import { sample, setUp } from './recording.js';

/** @param {number[]} ms */
function histogramOf(ms) {
  const histogram = createHistogram();
  for (const one of ms) recordMs(histogram, one);
  return histogram;
}

describe('histogram spans', () => {
  test('last a second, ten seconds or a minute, and a day has 4,980', () => {
    const ends = Array.from({ length: 86_400 }, (_, second) => second).filter(
      (second) => (second + 1) % spanLength(second) === 0,
    );
    assert.equal(ends.length, 600 + 3540 + 840);
    assert.deepEqual([0, 599, 600, 35_999, 36_000, 86_399].map(spanLength), [1, 1, 10, 10, 60, 60]);
  });

  test('in the first ten minutes each second has its own histogram, or none if empty', () => {
    const spans = createSpans();
    const own = histogramOf([1, 2]);
    assert.deepEqual(spans.add(0, own), { histogram: encodeHistogram(own), histogramSeconds: 1 });
    assert.deepEqual(spans.add(1, createHistogram()), { histogram: null, histogramSeconds: 1 });
    assert.equal(spans.isOpen(), false);
  });

  test('later, the last second of a span has the sum of all its seconds', () => {
    const spans = createSpans();
    const ended = Array.from({ length: 10 }, (_, i) =>
      spans.add(FINE_SECONDS + i, i % 3 === 0 ? histogramOf([i + 1]) : null),
    );
    const told = ended.map(({ histogram, histogramSeconds }) => [histogram !== null, histogramSeconds]);
    assert.deepEqual(told, [...Array(9).fill([false, 1]), [true, 10]]);
    assert.equal(ended[9].histogram, encodeHistogram(histogramOf([1, 4, 7, 10])));
  });

  test('the last span may be short', () => {
    const spans = createSpans();
    spans.add(FINE_SECONDS, histogramOf([5]));
    assert.equal(spans.isOpen(), true);
    const { histogram, histogramSeconds } = spans.add(FINE_SECONDS + 1, histogramOf([7]), true);
    assert.deepEqual([decodeHistogram(String(histogram)).totalCount, histogramSeconds], [2, 2]);
    assert.equal(spans.isOpen(), false);
  });

  test('together contain all seconds, encoded beforehand or not', () => {
    const seconds = fc.array(fc.array(fc.double({ min: 0, max: 20_000, noNaN: true }), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(seconds, fc.nat(30), fc.boolean(), (all, before, isText) => {
        const first = FINE_SECONDS - before;
        const spans = createSpans();
        const ended = all.map((ms, i) => {
          const histogram = histogramOf(ms);
          return spans.add(first + i, isText ? encodeHistogram(histogram) : histogram, i === all.length - 1);
        });
        const there = ended.flatMap(({ histogram }) => histogram ?? []);
        assert.equal(encodeHistogram(sumHistograms(there)), encodeHistogram(histogramOf(all.flat())));
      }),
    );
  });
});

test('a single recorder joins seconds after ten minutes; one of several does not', () => {
  const doneMs = [500, 599_500, 600_500, 605_500, 611_500];
  const [alone, part] = [setUp(), setUp({ shards: 2 })];
  for (const { recorder } of [alone, part]) {
    for (const ms of doneMs) recorder.record(sample(ms - 5, ms, 'good'));
    recorder.finish();
  }
  const told = (/** @type {typeof alone.rows} */ rows) =>
    rows.flatMap(({ second, histogram, histogramSeconds }) =>
      histogram === null ? [] : [`${second},${histogramSeconds},${decodeHistogram(histogram).totalCount}`],
    );
  assert.deepEqual(told(alone.rows), ['0,1,1', '599,1,1', '609,10,2', '611,2,1']);
  const each = doneMs.map((ms) => `${Math.floor(ms / 1000)},1,1`);
  assert.deepEqual(told(part.rows), each);
});

test('a run that ends after a pause still emits the open span', () => {
  const { recorder, rows } = setUp();
  recorder.record(sample(600_495, 600_500, 'good'));
  recorder.advance(603_000);
  recorder.finish();
  const last = rows[rows.length - 1];
  assert.deepEqual([last.second, last.succeeded, last.histogramSeconds], [603, 0, 4]);
  assert.equal(decodeHistogram(String(last.histogram)).totalCount, 1);
});
