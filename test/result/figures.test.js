import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  differenceText,
  formatDeviation,
  formatFigure,
  formatVariance,
  intervalText,
  pText,
  sizeText,
} from '../../src/result/runs/figures.js';

describe('figures over runs are formatted as', () => {
  /** @type {[string, string, string][]} what, as it reads, as it should */
  const TABLE = [
    ['a time', formatFigure('ms', 12.34), '12.3 ms'],
    ['a rate', formatFigure('/s', 19.87), '19.9/s'],
    ['a slow rate', formatFigure('/s', 1000 / 3600), '1,000/h'],
    ['a share', formatFigure('fraction', 0.001), '0.1 %'],
    ['no value', formatFigure('ms', null), '–'],
    ['a variance of times', formatVariance('ms', { mean: 9.9, variance: 0.012345 }), '0.0123 ms²'],
    ['a variance of seconds', formatVariance('ms', { mean: 2750, variance: 15_100_000 }), '15.1 s²'],
    ['a variance of microseconds', formatVariance('ms', { mean: 0.05, variance: 1.234e-4 }), '123 µs²'],
    ['a tiny variance', formatVariance('ms', { mean: 1, variance: 1.234e-9 }), '1.23e-9 ms²'],
    ['a variance of rates', formatVariance('/s', { mean: 20, variance: 0.25 }), '0.25 (/s)²'],
    ['a variance of rates an hour', formatVariance('/s', { mean: 0.2, variance: 1e-6 }), '13 (/h)²'],
    [
      'a variance of shares, in percent',
      formatVariance('fraction', { mean: 0.1, variance: 1e-6 }),
      '0.01 %²',
    ],
    ['no variance at all', formatVariance('fraction', { mean: 0, variance: 0 }), '0'],
    ['a deviation beside milliseconds', formatDeviation('ms', { mean: 9.9, variance: 0.0144 }), '0.120 ms'],
    ['a deviation beside seconds', formatDeviation('ms', { mean: 2750, variance: 14_400 }), '0.120 s'],
    ['a deviation beside microseconds', formatDeviation('ms', { mean: 0.05, variance: 1e-6 }), '1.00 µs'],
    ['a deviation beside a rate', formatDeviation('/s', { mean: 20, variance: 0.25 }), '0.500/s'],
    ['a deviation beside a rate an hour', formatDeviation('/s', { mean: 0.2, variance: 1e-6 }), '3.60/h'],
    ['a deviation beside a share', formatDeviation('fraction', { mean: 0.1, variance: 1e-6 }), '0.100 %'],
    ['a large deviation', formatDeviation('/s', { mean: 9000, variance: 1e6 }), '1,000/s'],
    ['a tiny deviation', formatDeviation('ms', { mean: 1, variance: 1e-14 }), '1e-7 ms'],
    ['no deviation', formatDeviation('/s', { mean: 5, variance: 0 }), '0/s'],
    ['the deviation of one run', formatDeviation('ms', { mean: 5, variance: null }), '–'],
    ['no variance', formatVariance('ms', { mean: 5, variance: null }), '–'],
    ['a rise', differenceText('ms', 10.345), '+10.3 %'],
    ['a fall', differenceText('/s', -5.125), '-5.13 %'],
    ['a small rise', differenceText('ms', 0.01234), '+0.012 %'],
    ['next to nothing', differenceText('ms', -0.000004), '0 %'],
    ['many times as much', differenceText('ms', 1234.5), '+1,235 %'],
    ['percentage points', differenceText('fraction', 0.25), '+0.25 points'],
    ['no difference', differenceText('ms', null), '–'],
    ['the size of a fall', sizeText('ms', -10.345), '10.3 %'],
    ['an interval', intervalText('ms', [-2, 13.25]), '-2.00 to +13.3 %'],
    ['an interval of points', intervalText('fraction', [0, 0.5]), '0 to +0.50 points'],
    ['no interval', intervalText('ms', null), '–'],
    ['a p-value', pText(0.012345), '0.0123'],
    ['a p-value just below the limit', pText(0.0496), '0.0496'],
    ['a tiny p-value', pText(0.0000123), '<0.0001'],
    ['a p-value of one', pText(1), '1'],
    ['no p-value', pText(null), '–'],
  ];
  for (const [why, text, expected] of TABLE) test(why, () => assert.equal(text, expected));
});
