/** Figures over runs as people read them: values, variances, differences, intervals and p-values. */
import { formatCount, formatLatency, formatRate } from '../units.js';
import { formatPercent } from './wording.js';

/** @typedef {import('./run-metrics.js').Unit} Unit */

/** Stands where there is no figure. */
const NONE = '–';

/**
 * @param {Unit} unit
 * @param {number | null} value
 * @returns {string} `12.3 ms`, `19.9/s`, `0.1 %`
 */
export function figureText(unit, value) {
  if (value === null) return NONE;
  if (unit === 'ms') return formatLatency(value);
  return unit === '/s' ? formatRate(value) : formatPercent(value);
}

/**
 * @param {Unit} unit
 * @param {number | null} variance in the square of the unit
 * @returns {string} `0.0123 ms²`, `0.25 (/s)²`, `0.01 %²`: three digits
 */
export function varianceText(unit, variance) {
  if (variance === null) return NONE;
  if (unit === 'fraction') return `${threeDigits(variance * 1e4)} %²`;
  return `${threeDigits(variance)} ${unit === 'ms' ? 'ms²' : '(/s)²'}`;
}

/**
 * @param {Unit} unit shares differ by percentage points, all else by percent
 * @param {number | null} difference
 * @returns {string} with its sign: `+10.3 %`, `-0.25 points`
 */
export function differenceText(unit, difference) {
  return difference === null ? NONE : `${signed(difference)} ${differenceUnit(unit)}`;
}

/**
 * @param {Unit} unit
 * @param {number} difference
 * @returns {string} its size: `10.3 %`, `0.25 points`
 */
export function sizeText(unit, difference) {
  return `${size(Math.abs(difference))} ${differenceUnit(unit)}`;
}

/**
 * @param {Unit} unit
 * @param {readonly number[] | null} interval
 * @returns {string} `+7.10 to +13.2 %`
 */
export function intervalText(unit, interval) {
  return interval === null ? NONE : `${interval.map(signed).join(' to ')} ${differenceUnit(unit)}`;
}

/**
 * @param {number | null} pValue
 * @returns {string} `0.0123`, `<0.0001`: three digits
 */
export function pText(pValue) {
  if (pValue === null) return NONE;
  return pValue < 0.0001 ? '<0.0001' : String(Number(pValue.toPrecision(3)));
}

/** @param {Unit} unit */
function differenceUnit(unit) {
  return unit === 'fraction' ? 'points' : '%';
}

/** @param {number} value */
function signed(value) {
  const text = size(Math.abs(value));
  if (text === '0') return text;
  return `${value < 0 ? '-' : '+'}${text}`;
}

/**
 * @param {number} value not negative
 * @returns {string} a number of decimals that fits its size
 */
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
