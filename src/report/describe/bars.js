/** Figures with their error bars, and verdicts on them, in words. Older files have no bars. */
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { invalidReasonOf } from '../../result/document.js';
import { formatPercent, rateFormatter } from '../../result/wording.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Figure, VerdictItem } from '../sections.js' */

/** @typedef {Omit<Result['requirements'][number], 'operation' | 'stage'>} RequirementVerdict */
/** @typedef {(value: number) => string} Format */
/** @typedef {{low: number, high: number | null}} Span null: no upper end */

/** A bar is shown if it extends further than this share of the value. */
const WIDE = 0.1;

/** @param {string} name @param {Format} format @param {number | null} value @param {Span} [bar] @returns {Figure} */
export function keyFigure(name, format, value, bar) {
  if (value === null || bar === undefined) return { name, value: value === null ? '–' : format(value) };
  const { low, high } = bar;
  return { name, value: format(value), range: rangeText(value, bar, format), bar: { value, low, high } };
}

/** A cell of a table. @param {string} verdict */
export const verdictCell = (verdict) => ({ text: verdict, verdict });

/** @param {readonly {verdict: string}[]} items @param {readonly string[]} [order] the worst first */
export function worstVerdict(items, order = ['not met', 'not proven', 'met']) {
  return order.find((one) => items.some(({ verdict }) => verdict === one));
}

/** @param {RequirementVerdict} requirement @returns {VerdictItem} with its error bar and limit */
export function requirementItem(requirement) {
  const { text, verdict, reason, doubt, actual: value, limit, low, high } = requirement;
  const isMeasured = value !== null && (typeof low === 'number' || typeof high === 'number');
  return {
    verdict,
    name: text,
    text: requirementClause(requirement),
    reason: verdict === 'met' ? undefined : doubt === 'invalid' ? 'The measurement is invalid.' : reason,
    bar: isMeasured ? { value, low: low ?? 0, high: high ?? null, limit } : undefined,
  };
}

/** @param {Pick<Result, 'measurement' | 'unfinished'>} result @returns {VerdictItem[]} why no verdict counts */
export function invalidItem({ measurement, unfinished }) {
  const { verdict } = measurement;
  if (verdict !== 'invalid' || unfinished) return [];
  const { text, remedy } = invalidReasonOf(measurement) ?? { text: 'no reason is given' };
  return [{ verdict, name: 'measurement', text, reason: remedy }];
}

/** `5.1 to 12 ms`, `5.1 ms or more`; none if narrow. @param {number} value @param {Span} bar @param {Format} format */
function rangeText(value, { low, high }, format) {
  if (high === null) return low > 0 ? `${format(low)} or more` : undefined;
  const isNarrow = value - low <= WIDE * value && high - value <= WIDE * value;
  return isNarrow ? undefined : spanText(low, high, format);
}

/** @param {number} low @param {number} high @param {Format} format @returns `5.1 to 12 ms`; `12 ms` if equal */
export function spanText(low, high, format) {
  const [from, to] = [format(low), format(high)];
  if (from === to) return to;
  const unit = /[^\d.,]+$/.exec(to)?.[0] ?? '';
  return `${unit !== '' && from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
}

/** `9.6 ms (5.1 to 12 ms)`; `72,000/h, 72 times the limit`. @param {RequirementVerdict} requirement */
export function requirementClause(requirement) {
  const { actual, limit, unit, low, high } = requirement;
  if (actual === null) return 'no value';
  const format = formatOf(requirement);
  const hasBar = typeof low === 'number' || typeof high === 'number';
  const range = hasBar ? rangeText(actual, { low: low ?? 0, high: high ?? null }, format) : undefined;
  if (range !== undefined) return `${format(actual)} (${range})`;
  if (unit === 'fraction' && actual === 0) return 'none';
  return `${format(actual)}, ${marginText(actual, limit, format)}`;
}

/** @param {number} actual @param {number} limit @param {Format} format */
function marginText(actual, limit, format) {
  if (Math.abs(actual - limit) <= limit * 1e-12) return 'exactly the limit';
  if (limit === 0) return `above the limit of ${format(0)}`;
  const times = Number((actual / limit).toPrecision(actual >= 100 * limit ? 3 : 2));
  if (actual >= 2 * limit) return `${formatCount(times)} times the limit`;
  return `${formatPercent(Math.abs(actual - limit) / limit)} ${actual > limit ? 'above' : 'below'} the limit`;
}

/** @param {RequirementVerdict} requirement @returns {Format} rates in the unit of the requirement's text */
function formatOf({ unit, text }) {
  if (unit !== '/s') return unit === 'ms' ? formatDuration : formatPercent;
  const [, letter] = /\/\s*([smhd])[a-z]*\s*$/.exec(text) ?? [];
  if (letter === undefined) return formatRate;
  const rateUnit = /** @type {'s' | 'min' | 'h' | 'd'} */ (letter === 'm' ? 'min' : letter);
  return rateFormatter({ rateUnit });
}
