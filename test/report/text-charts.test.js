import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHistogram } from '../../src/common/histogram.js';
import { binsOf, textHistogram } from '../../src/report/text-charts.js';
import { histogramOf } from './histogram-of.js';

test('an empty histogram draws nothing', () => assert.deepEqual(textHistogram(createHistogram()), []));

/** @type {[string, number[], [string, number][]][]} what, milliseconds, bins: label and count */
const TABLE = [
  ['one request', [12.345], [['12.3 ms to 12.4 ms', 1]]],
  ['equal times below a microsecond', [0, 0, 0], [['0 ms to 1 µs', 3]]],
  [
    'a tail above p99: an open-ended bin',
    [...Array(300).fill(1), 50, 900],
    [
      ['1.00 ms to 1.01 ms', 300],
      ['1.01 ms or more', 2],
    ],
  ],
  ['timeouts, slightly after their limit', [10_000, 10_000.9, 10_001], [['10.0 s to 10.1 s', 3]]],
  [
    'widely spread times, in equal steps on a log scale',
    [1, 2, 3, 5, 10_000],
    [
      ['1.00 ms to 2.51 ms', 2],
      ['2.51 ms to 6.30 ms', 2],
      ['6.30 ms to 15.8 ms', 0],
      ['15.8 ms to 39.8 ms', 0],
      ['39.8 ms to 100 ms', 0],
      ['100 ms to 251 ms', 0],
      ['251 ms to 631 ms', 0],
      ['631 ms to 1.58 s', 0],
      ['1.58 s to 3.98 s', 0],
      ['3.98 s to 10.1 s', 1],
    ],
  ],
];

for (const [what, values, expected] of TABLE) {
  test(`bins of ${what}`, () => {
    const lines = textHistogram(histogramOf(values));
    assert.match(lines[0], /^Response time +count +share$/);
    const found = lines.slice(1).map((line) => {
      const [, label, count] = /^(\S+ \S+ (?:to \S+ \S+|or more)) +([\d,]+) /.exec(line) ?? [];
      return [label, Number(count)];
    });
    assert.deepEqual(found, expected);
  });
}

test('the longest bar fills the line, the shortest is half a block, and an empty bin has none', () => {
  const tail = textHistogram(histogramOf([...Array(100_000).fill(1), 1000]));
  assert.equal(tail[1].length, 80);
  assert.match(tail[1], /█$/);
  assert.match(tail[2], /[^█]▌$/);
  const gap = textHistogram(histogramOf([1, 2, 3, 5, 10_000]));
  assert.match(gap[3], / 0 %$/);
});

test('for arbitrary times, every time is in a bin, bins are few, and lines fit', () => {
  const ms = fc.oneof(
    fc.double({ min: 0, max: 3, noNaN: true }),
    fc.double({ min: 99, max: 101, noNaN: true }),
    fc.double({ min: 0, max: 86_400_000, noNaN: true }),
    fc.constantFrom(0, 0.001, 0.002, 1, 10_000),
  );
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 60 }), (values) => {
      const histogram = histogramOf(values);
      const bins = binsOf(histogram);
      const sum = bins.reduce((total, { count }) => total + count, 0);
      assert.equal(sum, values.length);
      assert.ok(bins.length <= 11, `${bins.length} bins`);
      assert.ok(bins.every(({ fromUs, toUs }) => toUs === null || toUs > fromUs));
      for (const line of textHistogram(histogram)) assert.ok(line.length <= 80, line);
    }),
    { numRuns: 200 },
  );
});

test('bins have distinct labels', () => {
  const ms = fc.double({ min: 0.001, max: 100_000, noNaN: true });
  const factors = fc.array(fc.double({ min: 1, max: 2, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(ms, factors, (base, times) => {
      const lines = textHistogram(histogramOf(times.map((factor) => factor * base))).slice(1);
      const starts = lines.map((line) => line.split(/ to | or more/)[0]);
      assert.equal(new Set(starts).size, starts.length, starts.join());
    }),
  );
});
