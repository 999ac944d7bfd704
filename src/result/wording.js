/** Values, margins and sentences in the user's units. */
import { formatCount, formatLatency } from '../common/units.js';

/** @import { RateUnit, Requirement } from '../plan/requirements.js' */

/** @type {Record<RateUnit, number>} */
const SECONDS = { s: 1, min: 60, h: 3600, d: 86_400 };

const SERIES_NAMES = { response: '', service: ' of the service time', sendLag: ' of the send lag' };

/** @param {...string} parts @returns {string} joined by `; `, capitalised (except `p99`), with a full stop */
export function sentence(...parts) {
  const text = parts.filter((part) => part !== '').join('; ');
  return `${/^p\d/.test(text) ? text[0] : text[0].toUpperCase()}${text.slice(1)}.`;
}

/** @param {number} fraction @returns {string} `12.3 %`: three digits; `100 %` and `0 %` only if exact */
export function formatPercent(fraction) {
  const percent = fraction * 100;
  const text = String(Number(percent.toPrecision(3)));
  if (text === '100' && fraction < 1) return '>99.9 %';
  return `${text.includes('e') ? '<0.0001' : formatCount(text)} %`;
}

/** `p99 is 180 ms, 20.0 ms (10 %) below the limit`. @param {Requirement} requirement @param {number} actual ms */
export function timeMargin(requirement, actual) {
  const { metric, quantile = 0, series, limit } = requirement;
  const name = metric === 'percentile' ? `p${Number((quantile * 100).toPrecision(8))}` : metric;
  return `${name}${SERIES_NAMES[series]} is ${formatLatency(actual)}, ${margin(actual, limit, formatLatency)}`;
}

/** `the rate is 900/h, 100/h (10 %) below the limit`. @param {Requirement} requirement @param {number} actual 1/s */
export function rateMargin(requirement, actual) {
  const format = rateFormatter(requirement);
  return `the rate is ${format(actual)}, ${margin(actual, requirement.limit, format)}`;
}

/** @param {Pick<Requirement, 'rateUnit'>} requirement @returns {(perSecond: number) => string} in its unit */
export function rateFormatter({ rateUnit = 's' }) {
  return (perSecond) => {
    const rate = perSecond * SECONDS[rateUnit];
    const digits = rate >= 100 ? String(Math.round(rate)) : String(Number(rate.toPrecision(3)));
    return `${digits.includes('e') ? digits : formatCount(digits)}/${rateUnit}`;
  };
}

/** @param {number} actual @param {number} limit @param {(value: number) => string} format */
function margin(actual, limit, format) {
  const distance = Math.abs(actual - limit);
  if (distance <= limit * 1e-12) return `exactly the limit of ${format(limit)}`;
  const side = actual > limit ? 'above' : 'below';
  if (actual >= limit * 2)
    return `${formatCount(Number((actual / limit).toPrecision(3)))} times the limit of ${format(limit)}`;
  return `${format(distance)} (${formatPercent(distance / limit)}) ${side} the limit of ${format(limit)}`;
}
