/**
 * Error bars: where the target's true figure lies, at 95 % on either side, given the size of the sample and the tool's own
 * lateness.
 *
 * A request is sent late by s, and its response is read late by r: it is reported as t + s + r, with t the target's own time.
 * s is known of each request, and so is an upper bound of r (load/watch/reading.js); a request that waited for a connection
 * has waited for both of the requests before it, too. All of it is subtracted request by request: so the reported times are
 * an upper end of the target's, the times less the tool's part a lower end.
 */
import { lowestAtRank, meanAndDeviationOf, meanOf, valueAtRank } from '../histogram.js';
import { lowerRank, NORMAL_95, quantileRank, upperRank } from './statistics.js';

/** @typedef {import('../histogram.js').Histogram} Histogram */
/** @typedef {{low: number, high: number | null, tool: number}} Bar see schema.js */
/**
 * @typedef {object} Times of some requests, one series
 * @property {Histogram} reported
 * @property {Histogram} own the same less what the tool may have added: the target's own, at least
 */

/** The percentiles of a latency block. */
export const QUANTILES = Object.freeze({ p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 });

/**
 * Requests without a good response count as slower than any limit, or as faster: whichever is worse for a requirement.
 *
 * @typedef {object} Lost
 * @property {number} count beside those in the histograms
 * @property {number} unchecked of those in the histograms, any
 * @property {'slow' | 'fast'} as
 */

/** @type {Lost} */
const NONE_LOST = Object.freeze({ count: 0, unchecked: 0, as: 'slow' });

/**
 * @param {Times} times of the good ones
 * @param {number} quantile 0..1, both excluded
 * @param {Lost} [lost]
 * @returns {{value: number, low: number, high: number, tool: number}} ms; `value` as reported. Infinity where it falls on a
 *   request without a good response, and for `high` where there are too few requests to tell
 */
export function percentileBar({ reported, own }, quantile, lost = NONE_LOST) {
  const n = reported.totalCount + lost.count;
  const rank = quantileRank(n, quantile);
  const [lower, upper] = [lowerRank(n, quantile), upperRank(n, quantile)];
  const value = valueAmong(lost, reported, rank, valueAtRank);
  const least = valueAmong(lost, own, rank, lowestAtRank);
  const high = upper === null ? Number.POSITIVE_INFINITY : valueAmong(lost, reported, upper, valueAtRank);
  const low = lower === null ? 0 : valueAmong(lost, own, lower, lowestAtRank);
  return {
    value,
    low: Math.min(low, high),
    high,
    tool: Number.isFinite(value) ? Math.max(0, value - least) : 0,
  };
}

/**
 * @param {Times} times of the good ones
 * @param {number} rank among all, from 1
 * @param {Lost} lost
 * @returns {number} ms, as reported; Infinity and 0: of a request without a good response
 */
export function reportedAt({ reported }, rank, lost) {
  return valueAmong(lost, reported, rank, valueAtRank);
}

/**
 * @param {Lost} lost
 * @param {Histogram} histogram of the good ones
 * @param {number} rank among all
 * @param {(histogram: Histogram, rank: number) => number} at
 * @returns {number} ms
 */
function valueAmong({ count, unchecked, as }, histogram, rank, at) {
  if (as === 'fast') return rank <= count + unchecked ? 0 : at(histogram, rank - count);
  return rank > histogram.totalCount - unchecked ? Number.POSITIVE_INFINITY : at(histogram, rank);
}

/**
 * Of the mean over independent requests.
 *
 * @param {Times} times not empty
 * @returns {Bar & {value: number, high: number}} ms; `value` as reported
 */
export function meanBar({ reported, own }) {
  const { mean, deviation } = meanAndDeviationOf(reported);
  const least = Math.min(mean, meanOf(own));
  const sampling = (NORMAL_95 * deviation) / Math.sqrt(reported.totalCount);
  return { value: mean, low: Math.max(0, least - sampling), high: mean + sampling, tool: mean - least };
}

/**
 * The fastest or the slowest request of this run: there is no sampling in that.
 *
 * @param {Times} times not empty
 * @param {'min' | 'max'} which
 * @returns {Bar & {value: number, high: number}} ms; `value` as reported
 */
export function extremeBar({ reported, own }, which) {
  const high = which === 'max' ? reported.maxValue / 1000 : valueAtRank(reported, 1);
  const low = Math.min(high, lowestAtRank(own, which === 'max' ? own.totalCount : 1));
  return { value: high, low, high, tool: high - low };
}

/**
 * @param {Times} times
 * @returns {Record<'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max', Bar> | undefined} undefined: there are none
 */
export function barsOf(times) {
  if (times.reported.totalCount === 0) return undefined;
  const percentiles = Object.entries(QUANTILES).map(([key, quantile]) => [
    key,
    plain(percentileBar(times, quantile)),
  ]);
  return {
    min: plain(extremeBar(times, 'min')),
    mean: plain(meanBar(times)),
    ...Object.fromEntries(percentiles),
    max: plain(extremeBar(times, 'max')),
  };
}

/** @param {{low: number, high: number, tool: number}} bar @returns {Bar} */
function plain({ low, high, tool }) {
  return { low, high: Number.isFinite(high) ? high : null, tool };
}
