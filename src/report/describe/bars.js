/** Figures with their error bars, in words. A file from before there were bars has none. */

import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { formatPercent, rateTexter } from '../../result/wording.js';

/** @import { LatencyBlock } from '../../result/schema.js' */
/** @import { Bar } from '../sections.js' */

/** @typedef {Omit<import('../../result/schema.js').RequirementVerdict, 'operation' | 'stage'>} RequirementVerdict */
/** @typedef {(value: number) => string} Format */

/** A bar is shown where it reaches further than this share of the value to either side. */
const WIDE = 0.1;

/**
 * @param {LatencyBlock} latency
 * @param {'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max'} key
 * @returns {Bar | undefined}
 */
export function latencyBar(latency, key) {
  const bar = latency.bars?.[key];
  return bar === undefined ? undefined : { value: latency[key], low: bar.low, high: bar.high };
}

/**
 * @param {RequirementVerdict} requirement
 * @returns {Bar | undefined} the one it was judged on, with its limit
 */
export function requirementBar(requirement) {
  const { actual, limit, low, high } = requirement;
  if (actual === null || (typeof low !== 'number' && typeof high !== 'number')) return undefined;
  return { value: actual, low: low ?? 0, high: high ?? null, limit };
}

/**
 * @param {Bar | undefined} bar
 * @param {Format} format
 * @returns {string | undefined} `5.1 to 12 ms`; `5.1 ms or more`; undefined where the bar is narrow
 */
export function rangeText(bar, format) {
  if (bar === undefined || bar.value === null) return undefined;
  const { value, low, high } = bar;
  if (high !== null && value - low <= WIDE * value && high - value <= WIDE * value) return undefined;
  if (high === null) return low > 0 ? `${format(low)} or more` : undefined;
  return spanText(low, high, format);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {Format} format
 * @returns {string} `5.1 to 12 ms`; one value where both read alike
 */
export function spanText(low, high, format) {
  const [from, to] = [format(low), format(high)];
  if (from === to) return to;
  const unit = /[^\d.,]+$/.exec(to)?.[0] ?? '';
  return `${unit !== '' && from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
}

/**
 * @param {RequirementVerdict} requirement
 * @returns {string} value, bar and margin: `9.6 ms (5.1 to 12 ms)`, `72,000/h, 72 times the limit`
 */
export function requirementClause(requirement) {
  const { actual, limit, unit } = requirement;
  if (actual === null) return 'no value';
  const format = formatOf(requirement);
  const range = rangeText(requirementBar(requirement), format);
  if (range !== undefined) return `${format(actual)} (${range})`;
  return unit === 'fraction' && actual === 0
    ? 'none'
    : `${format(actual)}, ${marginText(actual, limit, format)}`;
}

/** @param {number} actual @param {number} limit @param {Format} format */
function marginText(actual, limit, format) {
  if (Math.abs(actual - limit) <= limit * 1e-12) return 'exactly the limit';
  if (limit === 0) return `above the limit of ${format(0)}`;
  if (actual >= 2 * limit)
    return `${formatCount(Number((actual / limit).toPrecision(actual >= 100 * limit ? 3 : 2)))} times the limit`;
  return `${formatPercent(Math.abs(actual - limit) / limit)} ${actual > limit ? 'above' : 'below'} the limit`;
}

/** @param {RequirementVerdict} requirement @returns {Format} rates in the unit of the requirement's text */
function formatOf({ unit, text }) {
  if (unit === 'ms') return formatDuration;
  if (unit === 'fraction') return formatPercent;
  const [, rateUnit] = /\/\s*(s|min|h|d)/.exec(text) ?? [];
  if (rateUnit === undefined) return formatRate;
  return rateTexter({ rateUnit: /** @type {'s' | 'min' | 'h' | 'd'} */ (rateUnit) });
}
