/**
 * Durations and rates as people write them, and back. Inside the program durations are milliseconds and rates are
 * events per second; the text forms exist only at the boundary.
 */
import { usageError } from './errors.js';

const MS_PER_UNIT = Object.freeze({
  us: 0.001,
  µs: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
});
const SECONDS_PER_UNIT = Object.freeze({
  s: 1,
  sec: 1,
  m: 60,
  min: 60,
  h: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
});

/** A decimal number: no sign, no hex, no bare exponent; `1_000` and `1e6` are accepted. */
const NUMBER = '(?:\\d[\\d_]*(?:\\.\\d+)?|\\.\\d+)(?:e\\d+)?';

/**
 * `30s`, `500ms`, `2m`, `1h30m`, `1.5h`; a bare number is seconds.
 *
 * @param {string | number} text
 * @param {string} [name] what to call it in an error, e.g. `--duration`
 * @returns {number} milliseconds
 */
export function parseDuration(text, name = 'duration') {
  const source = String(text).trim().replaceAll('μ', 'µ');
  if (new RegExp(`^${NUMBER}$`).test(source)) return checkFinite(toNumber(source) * 1000, source, name);
  const part = new RegExp(`(${NUMBER})\\s*(us|µs|ms|min|s|m|h|d)\\s*`, 'y');
  let total = 0;
  while (part.lastIndex < source.length || source === '') {
    const match = part.exec(source);
    if (match === null)
      throw badUnit('bad_duration', name, source, 'a duration such as 30s, 500ms, 2m or 1h');
    total += toNumber(match[1]) * MS_PER_UNIT[/** @type {keyof typeof MS_PER_UNIT} */ (match[2])];
  }
  return checkFinite(total, source, name);
}

/**
 * `20`, `20/s`, `1200/min`, `1000/h`; a bare number is per second.
 *
 * @param {string | number} text
 * @param {string} [name] what to call it in an error, e.g. `--rate`
 * @returns {number} events per second, above zero
 */
export function parseRate(text, name = 'rate') {
  const source = String(text).trim();
  const match = new RegExp(`^(${NUMBER})(?:\\s*/\\s*(s|sec|min|m|hour|h|day|d))?$`).exec(source);
  const rate = match
    ? toNumber(match[1]) / SECONDS_PER_UNIT[/** @type {keyof typeof SECONDS_PER_UNIT} */ (match[2] ?? 's')]
    : Number.NaN;
  if (!Number.isFinite(rate) || rate <= 0) {
    throw badUnit('bad_rate', name, source, 'a rate above zero such as 20, 20/s or 1000/h');
  }
  return rate;
}

/**
 * @param {number} ms
 * @returns {string} the shortest text that reads well: `250 µs`, `12.3 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`
 */
export function formatDuration(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms === 0) return '0 ms';
  if (ms < 0.9995) return `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${significant(ms)} ms`;
  if (ms < 59_950) return `${significant(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
}

/**
 * @param {number} ms
 * @returns {string} for columns, at most seven characters: `12 µs`, `0.12 ms`, `3.40 ms`, `812 ms`, `1.25 s`
 */
export function formatLatency(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return `-${formatLatency(-ms)}`;
  if (ms < 0.0995) return ms === 0 ? '0 ms' : `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${threeDigits(ms)} ms`;
  return `${threeDigits(ms / 1000)} s`;
}

/**
 * @param {number} perSecond
 * @returns {string} per second where that is a readable number, else per minute or hour: `20/s`, `1,000/h`
 */
export function formatRate(perSecond) {
  if (!Number.isFinite(perSecond)) return '–';
  if (perSecond === 0 || perSecond >= 1) return `${formatCount(significant(perSecond))}/s`;
  return `${formatCount(significant(perSecond * 3600))}/h`;
}

/** @param {number | string} value @returns {string} with thousands separated by commas */
export function formatCount(value) {
  const [whole, fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * Three significant digits, trailing zeros and needless fractions left out; whole numbers stay whole.
 *
 * @param {number} value
 */
function significant(value) {
  if (value >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/**
 * @param {number} value
 * @returns {string} a fixed number of decimals for its size, so that columns line up
 */
function threeDigits(value) {
  if (value >= 99.95) return formatCount(value.toFixed(0));
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** @param {string} text */
function toNumber(text) {
  return Number(text.replaceAll('_', ''));
}

/** @param {number} ms @param {string} source @param {string} name */
function checkFinite(ms, source, name) {
  if (!Number.isFinite(ms)) throw badUnit('bad_duration', name, source, 'a finite duration such as 30s');
  return ms;
}

/**
 * @param {string} code
 * @param {string} name
 * @param {string} source
 * @param {string} wanted
 */
function badUnit(code, name, source, wanted) {
  return usageError(code, `${name} is ${JSON.stringify(source.slice(0, 80))}, which is not ${wanted}.`);
}
