import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  differenceText,
  figureText,
  intervalText,
  pText,
  sizeText,
  varianceText,
} from '../../src/results/figures.js';

describe('figures over runs read', () => {
  /** @type {[string, string, string][]} what, as it reads, as it should */
  const TABLE = [
    ['a time', figureText('ms', 12.34), '12.3 ms'],
    ['a rate', figureText('/s', 19.87), '19.9/s'],
    ['a slow rate', figureText('/s', 1000 / 3600), '1,000/h'],
    ['a share', figureText('fraction', 0.001), '0.1 %'],
    ['no value', figureText('ms', null), '–'],
    ['a variance of times', varianceText('ms', 0.012345), '0.0123 ms²'],
    ['a large variance', varianceText('ms', 123456), '123,000 ms²'],
    ['a tiny variance', varianceText('ms', 1.234e-9), '1.23e-9 ms²'],
    ['a variance of rates', varianceText('/s', 0.25), '0.25 (/s)²'],
    ['a variance of shares, in percent', varianceText('fraction', 1e-6), '0.01 %²'],
    ['no variance', varianceText('ms', null), '–'],
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
