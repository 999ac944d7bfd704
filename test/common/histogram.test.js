import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import {
  countBuckets,
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  isPacked,
  meanOf,
  packHistogram,
  recordMs,
  sumHistograms,
  valueAtRank,
  withoutDelay,
} from '../../src/common/histogram.js';

/** @import { Distribution } from '../../src/common/histogram.js' */

/** @param {number[]} latencies ms */
function histogramOf(latencies) {
  const histogram = createHistogram();
  for (const ms of latencies) recordMs(histogram, ms);
  return histogram;
}

/**
 * Counts by bucket: all that the text form holds. The exact maximum is not in it, only its bucket.
 *
 * @param {Distribution} histogram
 */
function buckets(histogram) {
  const whole = decodeHistogram(encodeHistogram(histogram));
  return Array.from({ length: whole.totalCount }, (_, i) => valueAtRank(whole, i + 1));
}

const DAY_MS = 86_400_000;
const latency = fc.oneof(
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.double({ min: 0, max: 1000, noNaN: true }),
  fc.double({ min: 0, max: DAY_MS, noNaN: true }),
);
const latencies = fc.array(latency, { minLength: 1, maxLength: 200 });

describe('a latency histogram', () => {
  test('is what hdr-histogram-js itself records', () => {
    const near = fc
      .nat(37)
      .chain((power) => fc.integer({ min: -2, max: 2 }).map((more) => 2 ** power + more));
    const us = fc.oneof(near, fc.nat(5000), fc.integer({ min: 0, max: 1000 * DAY_MS }));
    fc.assert(
      fc.property(fc.array(us, { minLength: 1, maxLength: 50 }), (list) => {
        const values = list.map((one) => Math.min(Math.max(one, 0), 1000 * DAY_MS));
        const [ours, theirs] = [histogramOf(values.map((one) => one / 1000)), createHistogram()];
        for (const value of values) theirs.recordValue(value);
        assert.equal(encodeHistogram(ours), encodeHistogram(theirs));
        for (const key of /** @type {const} */ (['maxValue', 'minNonZeroValue', 'totalCount', 'mean']))
          assert.equal(ours[key], theirs[key]);
      }),
    );
  });

  test('has the same text after it is packed and summed', () => {
    fc.assert(
      fc.property(fc.array(latency, { maxLength: 200 }), (list) => {
        const histogram = histogramOf(list);
        const packed = structuredClone(packHistogram(histogram));
        assert.equal(encodeHistogram(sumHistograms([packed])), encodeHistogram(histogram));
      }),
    );
  });

  test('a sparse one has the same buckets', () => {
    fc.assert(
      fc.property(fc.array(latency, { maxLength: 200 }), (list) => {
        const sparse = new Map();
        for (const ms of list) recordMs(sparse, ms);
        assert.deepEqual(packHistogram(sparse), packHistogram(histogramOf(list)));
      }),
    );
  });

  test('returns every rank within 0.1 % of the sorted samples (or within a microsecond)', () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const histogram = histogramOf(values);
        const sorted = [...values].sort((a, b) => a - b);
        for (const [i, exact] of sorted.entries()) {
          const found = valueAtRank(histogram, i + 1);
          assert.ok(
            Math.abs(found - exact) <= Math.max(0.00051, exact * 0.001),
            `rank ${i + 1}: ${found} for ${exact}`,
          );
        }
        assert.equal(histogram.totalCount, values.length);
        if (values.length > 0) assert.equal(meanOf(histogram), histogram.mean / 1000);
      }),
    );
  });

  test('survives encoding as text', () => {
    fc.assert(
      fc.property(fc.array(latency, { maxLength: 100 }), (values) => {
        const histogram = histogramOf(values);
        const text = encodeHistogram(histogram);
        assert.match(text, /^[A-Za-z0-9+/]+=*$/);
        const read = decodeHistogram(text);
        assert.equal(encodeHistogram(read), text);
        assert.equal(read.totalCount, values.length);
        for (let rank = 1; rank <= values.length; rank++) {
          const [before, after] = [valueAtRank(histogram, rank), valueAtRank(read, rank)];
          assert.ok(Math.abs(after - before) <= before * 0.001, `rank ${rank}: ${after} for ${before}`);
        }
      }),
    );
  });

  test('a sum of parts, as objects or text, equals the histogram of all samples, bucket for bucket', () => {
    fc.assert(
      fc.property(fc.array(fc.array(latency, { maxLength: 40 }), { maxLength: 6 }), (parts) => {
        const histograms = parts.map(histogramOf);
        const sum = sumHistograms(histograms.map((part, i) => (i % 2 === 0 ? part : encodeHistogram(part))));
        assert.deepEqual(buckets(sum), buckets(histogramOf(parts.flat())));
      }),
    );
  });

  /** @type {[string, number, number][]} sentence, given, counted as, both ms */
  const ODD = [
    ['below zero counts as zero', -3, 0],
    ['minus zero is zero', -0, 0],
    ['minus infinity counts as zero', Number.NEGATIVE_INFINITY, 0],
    ['less than half a microsecond is zero', 0.0004, 0],
    ['half a microsecond is one', 0.0005, 0.001],
    ['more than a day counts as a day', 10 * DAY_MS, DAY_MS],
    ['infinity counts as a day', Number.POSITIVE_INFINITY, DAY_MS],
  ];
  for (const [sentence, given, counted] of ODD) {
    test(sentence, () => {
      const found = valueAtRank(histogramOf([given]), 1);
      assert.ok(Math.abs(found - counted) <= counted * 0.001, `${found}`);
    });
  }

  test('rejects NaN and stays unchanged', () => {
    const histogram = createHistogram();
    assert.throws(() => recordMs(histogram, Number.NaN), RangeError);
    assert.equal(histogram.totalCount, 0);
  });
});

/** @param {number[]} numbers bytes @returns {string} a histogram with these counts */
function textOf(numbers) {
  const data = Buffer.alloc(40 + numbers.length);
  data.writeInt32BE(numbers.length, 4);
  data.writeInt32BE(3, 12);
  data.writeBigInt64BE(1n, 16);
  data.writeBigInt64BE(86_400_000_000n, 24);
  data.set(numbers, 40);
  const deflated = deflateSync(data);
  const head = Buffer.alloc(8);
  head.writeInt32BE(deflated.length, 4);
  return Buffer.concat([head, deflated]).toString('base64');
}

describe('a text', () => {
  /** @type {[string, number[], number | null][]} sentence, bytes of its numbers, buckets */
  const TEXTS = [
    ['may have a count', [2], 1],
    ['may have an empty bucket before a count', [0, 4], 1],
    ['may have a run of empty buckets before a count, and one after it', [5, 4, 5], 1],
    ['may have a count of 31 bits', [0xfe, 0xff, 0xff, 0xff, 0x0f], 1],
    ['has no higher count', [0x80, 0x80, 0x80, 0x80, 0x10], null],
    ['has no number in more bytes than it needs', [0x82, 0x00], null],
    ['has no zero in more bytes than it needs', [...Array(8).fill(0x80), 0, 2], null],
    ['has no number of six bytes', [0x82, 0x80, 0x80, 0x80, 0x80, 0x01], null],
    ['has no empty buckets one by one', [0, 0, 2], null],
    ['has no run of empty buckets after another', [5, 5, 2], null],
    ['has no unfinished number', [2, 0x82], null],
  ];
  for (const [sentence, numbers, buckets] of TEXTS)
    test(sentence, () => assert.equal(countBuckets(textOf(numbers)), buckets));
});

describe('times without a delay', () => {
  test('are at no rank above the true times, whichever requests were delayed', () => {
    const delayed = fc.array(fc.tuple(latency, fc.double({ min: 0, max: 20, noNaN: true })), {
      minLength: 1,
      maxLength: 100,
    });
    fc.assert(
      fc.property(delayed, fc.array(fc.double({ min: 0, max: 20, noNaN: true })), (pairs, limits) => {
        const delays = [20, ...limits.sort((a, b) => b - a)].map((ms) => {
          return { ms, count: pairs.filter(([, delay]) => delay > ms).length };
        });
        const bounds = sumHistograms([withoutDelay(histogramOf(pairs.map(([a, b]) => a + b)), () => delays)]);
        const truth = pairs.map(([ms]) => Math.min(ms, DAY_MS)).sort((a, b) => a - b);
        assert.equal(bounds.totalCount, pairs.length);
        assert.ok(isPacked(bounds.packed));
        // To the histogram's three digits.
        for (const [i, ms] of truth.entries())
          assert.ok(
            valueAtRank(bounds, i + 1) <= 1.002 * (ms + 0.002),
            `${valueAtRank(bounds, i + 1)} > ${ms}`,
          );
      }),
    );
  });

  test('are the times without the delay that only one can have had more of', () => {
    const histogram = histogramOf([5, 5.2, 5.4, 6, 20]);
    const without = withoutDelay(histogram, () => [
      { ms: 6, count: 0 },
      { ms: 1, count: 1 },
    ]);
    assert.deepEqual(buckets(sumHistograms([without])), buckets(histogramOf([0, 4, 4.2, 4.4, 14])));
  });

  test('are the same times if no delay is known', () => {
    const histogram = histogramOf([1, 2, 1000]);
    const without = withoutDelay(histogram, () => []);
    assert.deepEqual(buckets(sumHistograms([without])), buckets(histogram));
  });
});
