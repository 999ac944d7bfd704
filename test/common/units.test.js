import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError } from '../../src/common/errors.js';
import {
  formatCount,
  formatDuration,
  formatLatency,
  formatRate,
  parseDuration,
  parseRate,
} from '../../src/common/units.js';

/** @type {[string, string | number, number][]} */
const DURATIONS = [
  ['a bare number is seconds', '20', 20_000],
  ['a number is seconds', 1.5, 1500],
  ['milliseconds', '500ms', 500],
  ['microseconds', '250us', 0.25],
  ['microseconds with the micro sign', '250 µs', 0.25],
  ['microseconds with the Greek letter', '250 μs', 0.25],
  ['seconds, with spaces', ' 30 s ', 30_000],
  ['minutes', '2m', 120_000],
  ['the long form of minutes', '2min', 120_000],
  ['a fraction', '1.5h', 5_400_000],
  ['no leading zero', '.5s', 500],
  ['composed', '1h30m', 5_400_000],
  ['composed, with spaces', '1 h 30 min 5 s', 5_405_000],
  ['a day', '1d', 86_400_000],
  ['digits in groups', '1_000ms', 1000],
  ['digits in several groups', '12_000_000us', 12_000],
  ['an exponent', '1e3ms', 1000],
  ['zero', '0', 0],
];
for (const [why, text, ms] of DURATIONS) {
  test(`a duration: ${why}`, () =>
    assert.ok(Math.abs(parseDuration(text) - ms) < 1e-9, String(parseDuration(text))));
}

const BAD_DURATIONS = [
  '',
  ' ',
  's',
  '5x',
  '-5s',
  '5s!',
  '5 5',
  '0x10',
  '1,5s',
  '1e999',
  'NaN',
  'Infinity',
  '5s-',
  '1..5s',
  '1_0s',
  '1_s',
  '1__000s',
  '1000_000s',
  '5S',
  '1h1h',
  '1ms2s1ms',
];
for (const text of BAD_DURATIONS) {
  test(`not a duration: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseDuration(text, '--duration'),
      (error) =>
        error instanceof PkiLoadError &&
        error.code === 'bad_duration' &&
        error.message.startsWith('--duration is '),
    );
  });
}

/** @type {[string, string | number, number][]} */
const RATES = [
  ['a bare number is per second', '20', 20],
  ['a number is per second', 0.5, 0.5],
  ['per second', '20/s', 20],
  ['the long form of per second', '20/sec', 20],
  ['per minute', '1200/min', 20],
  ['per hour', '1000/h', 1000 / 3600],
  ['blanks', ' 1000 / hour ', 1000 / 3600],
  ['per day', '86_400/d', 1],
  ['an exponent', '1e6/day', 1e6 / 86_400],
];
for (const [why, text, perSecond] of RATES) {
  test(`a rate: ${why}`, () => assert.equal(parseRate(text), perSecond));
}

for (const text of [
  '',
  '0',
  '-1',
  '0/s',
  '20/',
  '/s',
  '20/fortnight',
  '20 per s',
  '1e999',
  'Infinity',
  '1,000/h',
  '20/s/s',
  '1_0/s',
  '1_0000/h',
]) {
  test(`not a rate: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseRate(text, '--rate'),
      (error) =>
        error instanceof PkiLoadError && error.code === 'bad_rate' && error.message.startsWith('--rate is '),
    );
  });
}

/** @type {[number, string, string][]} milliseconds, in a sentence, in a column */
const TIMES = [
  [0, '0 ms', '0 ms'],
  [0.004, '4 µs', '4 µs'],
  [0.12, '120 µs', '0.12 ms'],
  [0.9996, '1 ms', '1.00 ms'],
  [3.4, '3.4 ms', '3.40 ms'],
  [9.999, '10 ms', '10.0 ms'],
  [12.34, '12.3 ms', '12.3 ms'],
  [99.96, '100 ms', '100 ms'],
  [812.4, '812 ms', '812 ms'],
  [999.7, '1 s', '1.00 s'],
  [1250, '1.25 s', '1.25 s'],
  [59_940, '59.9 s', '59.9 s'],
  [59_990, '1 min', '60.0 s'],
  [200_000, '3 min 20 s', '200 s'],
  [3_600_000, '1 h', '3,600 s'],
  [7_500_000, '2 h 5 min', '7,500 s'],
  [-3.4, '-3.4 ms', '-3.40 ms'],
  [Number.NaN, '–', '–'],
];
for (const [ms, sentence, column] of TIMES) {
  test(`${ms} ms is formatted as ${sentence} and ${column}`, () => {
    assert.equal(formatDuration(ms), sentence);
    assert.equal(formatLatency(ms), column);
  });
}

/** @type {[number, string][]} */
const WRITTEN_RATES = [
  [0, '0/s'],
  [20, '20/s'],
  [1.234, '1.23/s'],
  [1234.5, '1,235/s'],
  [1000 / 3600, '1,000/h'],
  [1 / 3600, '1/h'],
  [Number.POSITIVE_INFINITY, '–'],
];
for (const [perSecond, text] of WRITTEN_RATES) {
  test(`${perSecond} per second is formatted as ${text}`, () => assert.equal(formatRate(perSecond), text));
}

test('thousands are separated, decimals are not', () => {
  for (const [value, text] of /** @type {[number | string, string][]} */ ([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
    [-1234, '-1,234'],
    ['1234.5678', '1,234.5678'],
  ])) {
    assert.equal(formatCount(value), text);
  }
});

const positive = fc.double({ min: 1e-3, max: 1e10, noNaN: true });

test('a duration survives formatting and parsing, to three digits', () => {
  fc.assert(
    fc.property(positive, (ms) => {
      // From a minute on whole seconds are written, from an hour on whole minutes, always downwards.
      const error = ms < 59_950 ? Math.max(ms * 0.0051, 0.0005) : ms < 3_599_500 ? 500 : 60_000;
      assert.ok(Math.abs(parseDuration(formatDuration(ms)) - ms) <= error * 1.0001, formatDuration(ms));
    }),
  );
});

test('a rate survives formatting and parsing, to three digits', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-4, max: 1e9, noNaN: true }), (perSecond) => {
      const back = parseRate(formatRate(perSecond).replaceAll(',', ''));
      assert.ok(Math.abs(back - perSecond) <= perSecond * 0.0051, formatRate(perSecond));
    }),
  );
});

test('any text is a finite number or the expected error', () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom('1', '.', 'e', '_', 's', 'm', 'h', 'µs', '/', ' ', '-')).map((p) => p.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      for (const [parse, code] of /** @type {const} */ ([
        [parseDuration, 'bad_duration'],
        [parseRate, 'bad_rate'],
      ])) {
        try {
          const value = parse(source);
          assert.ok(Number.isFinite(value) && value >= 0);
        } catch (error) {
          assert.ok(error instanceof PkiLoadError, String(error));
          assert.equal(error.code, code);
        }
      }
    }),
    { numRuns: 200 },
  );
});
