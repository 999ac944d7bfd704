/** Formats figures over runs: values, variances, differences, intervals and p-values. */
import { formatCount, formatLatency, formatRate } from '../../common/units.js';
import { formatPercent } from '../wording.js';

/** @import { Unit } from './run-set-schema.js' */

/** @typedef {{mean: number | null, variance: number | null}} Spread over runs; the variance in the square of the unit */

/** For a missing figure. */
const NONE = '–';

/** @param {Unit} unit @param {number | null} value @returns {string} `12.3 ms`, `19.9/s`, `0.1 %` */
export function formatFigure(unit, value) {
  if (value === null) return NONE;
  if (unit === 'ms') return formatLatency(value);
  return unit === '/s' ? formatRate(value) : formatPercent(value);
}

/** Standard deviation in the unit of the mean: `0.110 ms`, `12.5/h`. @param {Unit} unit @param {Spread} spread */
export function formatDeviation(unit, { mean, variance }) {
  if (mean === null || variance === null) return NONE;
  const { factor, sign } = writtenIn(unit, mean);
  const deviation = Math.sqrt(variance) * factor;
  const isPlain = deviation >= 0.001 && deviation < 99.95;
  return `${isPlain ? deviation.toPrecision(3) : threeDigits(deviation)}${sign}`;
}

/** In the square of that unit: `0.0123 ms²`, `0.25 (/s)²`, or `0`. @param {Unit} unit @param {Spread} spread */
export function formatVariance(unit, { mean, variance }) {
  if (mean === null || variance === null) return NONE;
  const { factor, square } = writtenIn(unit, mean);
  return variance === 0 ? '0' : `${threeDigits(variance * factor ** 2)} ${square}`;
}

/** @param {Unit} unit @param {number | null} difference @returns {string} with its sign: `+10.3 %`, `-0.25 points` */
export function differenceText(unit, difference) {
  return difference === null ? NONE : `${signed(difference)} ${differenceUnit(unit)}`;
}

/** @param {Unit} unit @param {number} difference @returns {string} its size: `10.3 %`, `0.25 points` */
export const sizeText = (unit, difference) => `${size(Math.abs(difference))} ${differenceUnit(unit)}`;

/** @param {Unit} unit @param {readonly number[] | null} interval @returns {string} `+7.10 to +13.2 %` */
export function intervalText(unit, interval) {
  return interval === null ? NONE : `${interval.map(signed).join(' to ')} ${differenceUnit(unit)}`;
}

/** @param {number | null} pValue @returns {string} `0.0123`, `<0.0001`: three digits */
export function pText(pValue) {
  if (pValue === null) return NONE;
  return pValue < 0.0001 ? '<0.0001' : String(Number(pValue.toPrecision(3)));
}

/** The unit in which formatFigure writes a value, and the conversion factor. @param {Unit} unit @param {number} value */
function writtenIn(unit, value) {
  if (unit === 'fraction') return { factor: 100, sign: ' %', square: '%²' };
  const isPlain = value === 0 || value >= (unit === '/s' ? 1 : 0.0995);
  if (unit === '/s') {
    const sign = isPlain ? '/s' : '/h';
    return { factor: isPlain ? 1 : 3600, sign, square: `(${sign})²` };
  }
  const [factor, name] = !isPlain ? [1000, 'µs'] : value < 999.5 ? [1, 'ms'] : [0.001, 's'];
  return { factor, sign: ` ${name}`, square: `${name}²` };
}

/** Shares differ by percentage points, all else by percent. @param {Unit} unit */
const differenceUnit = (unit) => (unit === 'fraction' ? 'points' : '%');

/** @param {number} value */
function signed(value) {
  const text = size(Math.abs(value));
  return text === '0' ? text : `${value < 0 ? '-' : '+'}${text}`;
}

/** @param {number} value not negative @returns {string} with decimals according to its size */
function size(value) {
  if (value >= 99.95) return formatCount(value.toFixed(0));
  if (value >= 9.995) return value.toFixed(1);
  if (value >= 0.0995) return value.toFixed(2);
  return value < 0.0001 ? '0' : String(Number(value.toPrecision(2)));
}

/** @param {number} value */
function threeDigits(value) {
  const text = String(Number(value.toPrecision(3)));
  return text.includes('e') ? text : formatCount(text);
}
