import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compactLabel,
  fit,
  linearAxis,
  logAxis,
  percentileAxis,
  percentLabel,
  timeAxis,
  valueAxis,
} from '../../../src/report/charts/axes.js';
import { textWidth } from '../../../src/report/charts/frame.js';

/** @import { Axis } from '../../../src/report/charts/axes.js' */

/** Milliseconds, over eight orders of magnitude. */
const anyMs = fc.double({ min: -3, max: 5, noNaN: true }).map((power) => 10 ** power);

/** @param {Axis} axis @param {number} [length] */
function labels(axis, length = 560) {
  return axis.ticks(length, (label) => textWidth(label) + 12).map(({ label }) => label);
}

/** @type {[string, Axis, string][]} */
const AXES = [
  ['a few seconds', timeAxis(20), '0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20'],
  ['half an hour', timeAxis(1800), '0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30'],
  [
    'similar latencies, from zero',
    valueAxis('ms', 't', [1, 4]),
    '0 ms, 0.5 ms, 1 ms, 1.5 ms, 2 ms, 2.5 ms, 3 ms, 3.5 ms, 4 ms',
  ],
  [
    'latencies of different magnitudes, on a log scale',
    valueAxis('ms', 't', [0.3, 900]),
    '0.1 ms, 1 ms, 10 ms, 100 ms, 1 s',
  ],
  [
    'fractions of a millisecond',
    valueAxis('ms', 't', [0.05, 0.4]),
    '0 ms, 0.05 ms, 0.1 ms, 0.15 ms, 0.2 ms, 0.25 ms, 0.3 ms, 0.35 ms, 0.4 ms',
  ],
  ['zeros only', valueAxis('ms', 't', [0]), '0 ms, 0.2 ms, 0.4 ms, 0.6 ms, 0.8 ms, 1 ms'],
  ['counts', linearAxis({ title: 'n', high: 3, label: compactLabel, isWhole: true }), '0, 1, 2, 3'],
  [
    'large counts',
    linearAxis({ title: 'n', high: 2_000_000, label: compactLabel }),
    '0, 500 k, 1 M, 1.5 M, 2 M',
  ],
  ['percentiles of 1000', percentileAxis(Math.log10(2000)), '0 %, 50 %, 90 %, 99 %, 99.9 %'],
];

for (const [why, axis, expected] of AXES) {
  test(`axis labels are round numbers: ${why}`, () => assert.equal(labels(axis).join(', '), expected));
}

test('larger values lie further along the axis, never beyond its end', () => {
  fc.assert(
    fc.property(fc.array(anyMs, { minLength: 2, maxLength: 50 }), (values) => {
      const axis = valueAxis('ms', 't', values);
      const places = [...values].sort((a, b) => a - b).map((value) => axis.at(value));
      for (const [i, at] of places.entries()) {
        assert.ok(at >= -1e-9 && at <= 1 + 1e-9 && (i === 0 || at >= places[i - 1]), `${values}`);
      }
      assert.equal(axis.at(0), 0);
    }),
  );
});

test('a log axis of any length has few steps', () => {
  for (const low of [0, Number.MIN_VALUE, 1]) {
    const axis = logAxis('n', low, 1e15, compactLabel);
    assert.ok(labels(axis, 100_000).length < 20);
    assert.deepEqual([axis.at(low), axis.at(1e15)], [0, 1]);
  }
});

test('if labels do not fit, the first ones stay', () => {
  const ticks = [0, 0.1, 0.5, 0.55, 1].map((at) => ({ at, label: String(at) }));
  assert.deepEqual(
    fit(ticks, 100, () => 20).map(({ at }) => at),
    [0, 0.5, 1],
  );
});

test('a label that the edge moves inwards is moved before its neighbours are chosen', () => {
  const ticks = [0, 0.7, 1].map((at) => ({ at, label: String(at) }));
  const middles = (/** @type {[number, number] | undefined} */ room) =>
    fit(ticks, 100, () => 30, room).map(({ middle }) => middle);
  assert.deepEqual(middles(undefined), [0, 70, 100]);
  assert.deepEqual(middles([0, 15]), [15, 70, 100]);
  assert.deepEqual(middles([15, 5]), [0, 70], 'at 90 the last one would touch');
});

test('nines are labelled as percentiles', () => {
  assert.deepEqual([Math.log10(2), 1, 2, 3, 5].map(percentLabel), [
    '50 %',
    '90 %',
    '99 %',
    '99.9 %',
    '99.999 %',
  ]);
});

const LINE = () => 20;

test('both ends of a log axis have a label, whatever the times', () => {
  fc.assert(
    fc.property(anyMs, anyMs, fc.constantFrom(200, 220), (a, b, length) => {
      const axis = valueAxis('ms', 't', [Math.min(a, b), Math.max(a, b)]);
      const ticks = axis.ticks(length, LINE);
      assert.ok(ticks[0].at < 0.02 && ticks[ticks.length - 1].at > 0.7, `${a} ${b}`);
      if (Math.max(a, b) > 30 * Math.min(a, b)) assert.ok(ticks[ticks.length - 1].at > 0.8, `${a} ${b}`);
    }),
  );
});

test('labels of a long log axis are evenly spaced', () => {
  for (const high of [4000, 90_000, 1e6, 1e8]) {
    const places = valueAxis('ms', 't', [0.03, high])
      .ticks(200, LINE)
      .map(({ at }) => at);
    const steps = places.slice(1).map((at, i) => at - places[i]);
    for (const step of steps) assert.ok(Math.abs(step - steps[0]) < 1e-9, `${high}: ${places}`);
  }
});

test('one very long response leaves labels for the others', () => {
  const axis = valueAxis('ms', 't', [2.4, 9_900]);
  assert.deepEqual(
    axis.ticks(220, LINE).map(({ label }) => label),
    ['1 ms', '10 ms', '100 ms', '1 s', '10 s'],
  );
});

/** @type {[string, number, number, string][]} requests, pixels, labels */
const PERCENTILES = [
  ['ten million requests on a wide chart', 10_000_000, 560, '50 %, 90 %, 99.9 %, 99.999 %, 99.99999 %'],
  ['ten million requests on a phone', 10_000_000, 260, '50 %, 99.9 %, 99.99999 %'],
  ['ten requests on a phone', 10, 260, '0 %, 50 %, 90 %'],
  ['one request', 1, 260, '0 %, 50 %'],
];

for (const [why, count, length, expected] of PERCENTILES) {
  test(`labels as many nines as fit: ${why}`, () => {
    const axis = percentileAxis(Math.log10(2 * count));
    const ticks = axis.ticks(length, (label) => textWidth(label) + 12);
    assert.equal(ticks.map(({ label }) => label).join(', '), expected);
  });
}
