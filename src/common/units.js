/** Parses and formats durations (milliseconds) and rates (events per second). */
import { badValue } from './errors.js';
import { total } from './sums.js';

/** @type {Readonly<Record<string, number>>} */
const MS_PER_UNIT = {
  us: 0.001,
  µs: 0.001, // micro sign
  μs: 0.001, // Greek mu
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** @type {Readonly<Record<string, number>>} */
const SECONDS_PER_UNIT = { s: 1, sec: 1, m: 60, min: 60, h: 3600, hour: 3600, d: 86_400, day: 86_400 };

/** Allowed difference between two NTP-synchronised clocks; a larger one would hide stale responses. */
export const SKEW_MS = 5000;

/** Digits, optionally in groups of three: `1_000`. */
export const WHOLE_PATTERN = '(?:\\d{1,3}(?:_\\d{3})+|\\d+)';
/** A decimal number: no sign, no hex, no bare exponent; `1e6` is accepted. */
const NUMBER = `(?:${WHOLE_PATTERN}(?:\\.\\d+)?|\\.\\d+)(?:e\\d+)?`;
const BARE = new RegExp(`^${NUMBER}$`);
const PART = `(${NUMBER})\\s*(us|µs|μs|ms|min|s|m|h|d)\\s*`;
const DURATION_PART = new RegExp(PART, 'gy');

/** Regular expressions of durations and rates, also for JSON Schemas. */
export const DURATION_PATTERN = `(?:${PART})+|${NUMBER}`;
export const RATE_PATTERN = `(${NUMBER})(?:\\s*/\\s*(s|sec|min|m|hour|h|day|d))?`;
const RATE = new RegExp(`^${RATE_PATTERN}$`);

/**
 * `30s`, `500ms`, `2m`, `1h30m`, `1.5h`; a bare number is seconds.
 * @param {string | number} text @param {string} [name] of the option, for the error
 * @returns {number} milliseconds
 */
export function parseDuration(text, name = 'duration') {
  const source = String(text).trim();
  const parts = [...source.matchAll(DURATION_PART)];
  const isOnce = new Set(parts.map(([, , unit]) => unit)).size === parts.length;
  const isComposed = parts.length > 0 && isOnce && parts.map(([part]) => part).join('') === source;
  const ms = isComposed
    ? total(parts.map(([, number, unit]) => toNumber(number) * MS_PER_UNIT[unit]))
    : BARE.test(source) && toNumber(source) * 1000;
  if (Number.isFinite(ms)) return Number(ms);
  throw badValue(name, source, 'not a duration such as 30s, 500ms, 2m or 1h', undefined, 'bad_duration');
}

/**
 * `20`, `20/s`, `1200/min`, `1000/h`; a bare number is per second.
 * @param {string | number} text @param {string} [name] of the option, for the error @param {boolean} [canBeZero]
 * @returns {number} events per second
 */
export function parseRate(text, name = 'rate', canBeZero = false) {
  const source = String(text).trim();
  const match = RATE.exec(source);
  const rate = match === null ? Number.NaN : toNumber(match[1]) / SECONDS_PER_UNIT[match[2] ?? 's'];
  if (Number.isFinite(rate) && (canBeZero || rate > 0)) return rate;
  const example = canBeZero ? 'such as 0' : 'above zero, such as 20';
  throw badValue(name, source, `not a rate ${example}, 20/s or 1000/h`, undefined, 'bad_rate');
}

/** @param {string} text */
function toNumber(text) {
  return Number(text.replaceAll('_', ''));
}

/** @param {number} ms @returns {string} short: `250 µs`, `12.3 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min` */
export function formatDuration(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms === 0) return '0 ms';
  if (ms < 0.9995) return `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${significant(ms)} ms`;
  if (ms < 59_950) return `${significant(ms / 1000)} s`;
  const totalSeconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(totalSeconds / 3600), Math.floor((totalSeconds % 3600) / 60)];
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  const seconds = totalSeconds % 60;
  return seconds > 0 ? `${minutes} min ${seconds} s` : `${minutes} min`;
}

/** @param {number} ms @returns {string} for columns, at most seven characters: `12 µs`, `3.40 ms`, `812 ms` */
export function formatLatency(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return `-${formatLatency(-ms)}`;
  if (ms < 0.0995) return ms === 0 ? '0 ms' : `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${threeDigits(ms)} ms`;
  return `${threeDigits(ms / 1000)} s`;
}

/** @param {number} perSecond @returns {string} per second, or per hour if below one per second: `20/s`, `1,000/h` */
export function formatRate(perSecond) {
  if (!Number.isFinite(perSecond)) return '–';
  if (perSecond === 0 || perSecond >= 1) return `${formatCount(significant(perSecond))}/s`;
  return `${formatCount(significant(perSecond * 3600))}/h`;
}

/** @param {number | string} value @returns {string} with thousands separated by commas */
export function formatCount(value) {
  const [whole, ...fraction] = String(value).split('.');
  return [whole.replace(/\B(?=(?:\d{3}){1,7}$)/g, ','), ...fraction].join('.');
}

/** Three significant digits without trailing zeros; never rounds a whole number. @param {number} value */
function significant(value) {
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** At least three significant digits, zeros included, so that columns line up. @param {number} value */
function threeDigits(value) {
  if (value >= 99.95) return formatCount(value.toFixed(0));
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** @param {readonly string[]} texts @param {number} max @returns {string} `a, b and 3 more` */
export function listFirst(texts, max) {
  const more = texts.length > max ? ` and ${texts.length - max} more` : '';
  return `${texts.slice(0, max).join(', ')}${more}`;
}
