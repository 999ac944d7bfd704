/**
 * Error bars: where the target's true figure lies, at 95 % on either side, given the size of the sample and the tool's own
 * lateness.
 *
 * A request is sent late by s, which is known of each, and its response is read late by r, which is known as a distribution:
 * it is reported as t + s + r, with t the target's own time. Both are never negative, so a reported figure is an upper end of
 * the true one. For the lower end s is subtracted request by request (the histogram `onTime`), and where no more than a share
 * b of the responses was read late by more than y,
 *
 *   P(t <= x - y) <= P(t + r <= x) + b,
 *
 * so the q-quantile of t is at least the (q - b)-quantile of t + r, less y, for each such pair of b and y, and so for the best
 * of them. A request that waited for a connection has waited for late reading, too: of a wait at most the share of their time
 * by which late reading kept connections busy (`waitShare`) is the tool's.
 */
import { lowestAtRank, meanAndDeviationOf, meanOf, valueAtRank } from '../histogram.js';
import { lowerRank, NORMAL_95, quantileRank, upperRank } from './statistics.js';

/** @typedef {import('../histogram.js').Histogram} Histogram */
/** @typedef {{low: number, high: number | null, tool: number}} Bar see schema.js */
/**
 * @typedef {object} Lateness of reading
 * @property {readonly {share: number, ms: number}[]} pairs at most `share` of the responses were read late by more than `ms`;
 *   none: nothing is known of it
 * @property {number} meanMs at most, on average
 */
/**
 * @typedef {object} Times of some requests, one series
 * @property {Histogram} reported
 * @property {Histogram} onTime the same without the tool's lateness of sending
 * @property {Lateness} lateness of reading
 * @property {number} waitShare of the waits in it, that may be the tool's
 * @property {Histogram | null} service times of the same requests, where `reported` holds waits for a connection
 */

/** @type {Lateness} */
export const NOT_LATE = Object.freeze({ pairs: [{ share: 0, ms: 0 }], meanMs: 0 });

/** @type {Lateness} */
export const LATENESS_UNKNOWN = Object.freeze({ pairs: [], meanMs: Number.POSITIVE_INFINITY });

/**
 * @param {Lateness} lateness of a run
 * @param {number} part of its time, 0..1
 * @returns {Lateness} of that part, had all of it been in there
 */
export function concentrate({ pairs, meanMs }, part) {
  if (part >= 1) return { pairs, meanMs };
  return { pairs: pairs.map(({ share, ms }) => ({ share: share / part, ms })), meanMs: meanMs / part };
}

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
export function percentileBar(times, quantile, lost = NONE_LOST) {
  const { reported, onTime, lateness } = times;
  const n = reported.totalCount + lost.count;
  const value = valueAmong(lost, reported, quantileRank(n, quantile), valueAtRank);
  const upper = upperRank(n, quantile);
  const high = upper === null ? Number.POSITIVE_INFINITY : valueAmong(lost, reported, upper, valueAtRank);
  /** @param {(n: number, share: number) => number | null} rankOf @param {Lateness['pairs']} pairs */
  const least = (rankOf, pairs) => {
    let best = { ms: 0, pair: pairs[0] };
    for (const pair of pairs) {
      const rank = pair.share < quantile ? rankOf(n, quantile - pair.share) : null;
      if (rank === null) continue;
      const ms = lessWait(times, valueAmong(lost, onTime, rank, lowestAtRank), quantile) - pair.ms;
      if (ms > best.ms) best = { ms, pair };
    }
    return best;
  };
  const sampled = least(quantileRank, lateness.pairs);
  const { ms } = least(lowerRank, lateness.pairs.length === 0 ? [] : [sampled.pair]);
  const tool = Number.isFinite(value) ? Math.max(0, value - sampled.ms) : 0;
  return { value, low: Math.min(ms, high), high, tool };
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
 * @param {Times} times
 * @param {number} ms a quantile of `onTime`
 * @param {number} quantile which one
 */
function lessWait({ service, waitShare }, ms, quantile) {
  if (service === null || waitShare === 0 || !Number.isFinite(ms) || service.totalCount === 0) return ms;
  const served = valueAtRank(service, quantileRank(service.totalCount, quantile));
  return ms - waitShare * Math.max(0, ms - served);
}

/**
 * Of the mean over independent requests.
 *
 * @param {Times} times not empty
 * @returns {Bar & {value: number, high: number}} ms; `value` as reported
 */
export function meanBar({ reported, onTime, lateness, waitShare, service }) {
  const { mean, deviation } = meanAndDeviationOf(reported);
  const wait =
    service === null || service.totalCount === 0 ? 0 : Math.max(0, meanOf(onTime) - meanOf(service));
  const least = Math.max(0, meanOf(onTime) - waitShare * wait - lateness.meanMs);
  const sampling = (NORMAL_95 * deviation) / Math.sqrt(reported.totalCount);
  return {
    value: mean,
    low: Math.max(0, least - sampling),
    high: mean + sampling,
    tool: Math.max(0, mean - least),
  };
}

/**
 * The fastest or the slowest request of this run: there is no sampling in that.
 *
 * @param {Times} times not empty
 * @param {'min' | 'max'} which
 * @returns {Bar & {value: number, high: number}} ms; `value` as reported
 */
export function extremeBar(times, which) {
  const { reported, onTime, lateness } = times;
  const at = (/** @type {Histogram} */ histogram) =>
    which === 'max' ? histogram.maxValue / 1000 : valueAtRank(histogram, 1);
  const high = at(reported);
  const read = lateness.pairs[0]?.ms ?? Number.POSITIVE_INFINITY;
  const low = Math.min(high, Math.max(0, lessWait(times, at(onTime), 1) - read));
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
