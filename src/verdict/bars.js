/**
 * Error bars of times and rates: one-sided 95 % confidence bounds of the target's true figure, given the size of
 * the sample and the tool's own lateness.
 *
 * A request sent late by s and read late by r takes t + s + r, with t the target's own time. s is known, r has an
 * upper bound (engine/watch/sender.js); a request that waited for a connection inherits both from the requests
 * before it. How many of the requests may have woken a sleeping sender late, and by how much, has a bound too
 * (engine/watch/wakes.js). So reported times are an upper bound of the target's, and times minus all of this a lower bound.
 */
import { averageOf, lowestAtRank, meanOf, quantileRank, valueAtRank } from '../common/histogram.js';
import { NORMAL_95 } from '../common/normal.js';
import { total } from '../common/sums.js';
import {
  gammaQuantile,
  lowerRank,
  meanAndVariance,
  poissonBounds,
  proportionLowerBound,
  proportionUpperBound,
  studentT95,
  upperRank,
} from './statistics.js';

/** @import { Distribution } from '../common/histogram.js' */

/** @typedef {{value: number, low: number, high: number, tool: number}} ValueBar ms; `value` as reported */
/** @typedef {{reported: Distribution, target: Distribution}} Times one series; `target`: minus the tool's part */
/**
 * Requests without a good response count as slower or faster than any limit, whichever is worse for a requirement.
 * @typedef {object} ErrorsInBar
 * @property {number} count in addition to the requests in the histograms
 * @property {number} tool upper bound of the errors that the tool caused: excluded from the better end of the bar
 * @property {'slow' | 'fast'} as
 */

/** @type {ErrorsInBar} */
const NO_ERRORS = Object.freeze({ count: 0, tool: 0, as: 'slow' });

/**
 * @param {Times} times of the good responses @param {number} quantile 0..1, both excluded @param {ErrorsInBar} [errors]
 * @returns {ValueBar} `value` is Infinity if it falls on an error; `high` also with too few requests
 */
export function percentileBar({ reported, target }, quantile, errors = NO_ERRORS) {
  const better = { ...errors, count: errors.count - errors.tool };
  const [lowEnd, highEnd] = errors.as === 'slow' ? [better, errors] : [errors, better];
  const lowCount = target.totalCount + lowEnd.count;
  const highCount = reported.totalCount + highEnd.count;
  const n = reported.totalCount + errors.count;
  const value = valueAmong(errors, reported, quantileRank(n, quantile), valueAtRank);
  const targetMs =
    lowCount === 0 ? 0 : valueAmong(lowEnd, target, quantileRank(lowCount, quantile), valueAtRank);
  const [lower, upper] = [lowerRank(lowCount, quantile), upperRank(highCount, quantile)];
  const high = upper === null ? Number.POSITIVE_INFINITY : valueAmong(highEnd, reported, upper, valueAtRank);
  const low = lower === null ? 0 : valueAmong(lowEnd, target, lower, lowestAtRank);
  return { value, low: Math.min(low, high), high, tool: toolPart(value, targetMs) };
}

/** @param {number} value as reported; Infinity: an error @param {number} targetMs minus the tool's part */
const toolPart = (value, targetMs) => (Number.isFinite(value) ? Math.max(0, value - targetMs) : 0);

/** @param {ErrorsInBar} errors @param {Distribution} histogram @param {number} rank @param {typeof valueAtRank} at */
function valueAmong({ count, as }, histogram, rank, at) {
  if (as === 'fast') return rank <= count ? 0 : at(histogram, rank - count);
  return rank > histogram.totalCount ? Number.POSITIVE_INFINITY : at(histogram, rank);
}

/**
 * Bar of the mean over independent requests, whatever the distribution of their times from 0 to `longestMs`.
 * @param {Times} times not empty @param {number} [longestMs] how long requests may take that are so rare that none was seen
 * @returns {ValueBar}
 */
export function meanBar({ reported, target }, longestMs = 0) {
  const value = meanOf(reported);
  const tool = Math.max(0, value - meanOf(target));
  const moments = {
    n: reported.totalCount,
    mean: value,
    second: averageOf(reported, (us) => (us / 1000 - value) ** 2),
    third: averageOf(reported, (us) => (us / 1000 - value) ** 3),
  };
  const low = meanBound(moments, 0, -NORMAL_95) - tool;
  const high = meanBound(moments, Math.max(longestMs, reported.maxValue / 1000), NORMAL_95);
  return { value, low: Math.max(0, low), high, tool };
}

/**
 * Bound of a mean by Gaffke (2005): a quantile of the mean with random weights, all equally likely, of the measured
 * times and one more, the most extreme one possible. The weighted mean is nearly gamma distributed: for times that take
 * only two values, the bound is Clopper and Pearson's.
 * @param {{n: number, mean: number, second: number, third: number}} times their central moments, n >= 1
 * @param {number} extremeMs @param {number} z
 */
function meanBound({ n, mean, second, third }, extremeMs, z) {
  // The moments with one more time (Pebay 2008, equations 2.1 and 2.5).
  const step = (extremeMs - mean) / (n + 1);
  const variance = (n / (n + 1)) * (second + (n + 1) * step ** 2);
  if (variance === 0) return mean;
  const cubes = (n / (n + 1)) * (third - 3 * step * second + (n * n - 1) * step ** 3);
  const skewness = cubes / variance ** 1.5;
  const weighted = (2 * skewness * Math.sqrt(n + 2)) / (n + 3);
  return mean + step + Math.sqrt(variance / (n + 2)) * gammaQuantile(weighted, z);
}

/** Bar of the min or max, without a sampling error. @param {Times} times not empty @param {'min' | 'max'} which */
export function extremeBar({ reported, target }, which) {
  const at = (/** @type {Distribution} */ histogram) =>
    which === 'max' ? histogram.maxValue / 1000 : valueAtRank(histogram, 1);
  const high = at(reported);
  const low = Math.min(high, lowestAtRank(target, which === 'max' ? target.totalCount : 1));
  return { value: high, low, high, tool: toolPart(high, at(target)) };
}

/** Fewer requests do not prove the offered rate, even if all of them succeeded in time. More do: a rate is about this run, and what would fail is for a requirement on errors. */
const MIN_SERVED = 5;
/** With fewer full seconds, the bar follows from the number of successes. */
const MIN_SECONDS = 5;
/** Numbers of batches of seconds: enough for a bound; and the fewest, if each is to last so many times as long as a request delays the next. */
const [BATCHES, MIN_BATCHES, MEMORIES] = [20, 6, 3];
/** Responses come in clumps because servers pause: at least this many count as one event of a Poisson process. */
const MIN_CLUMP = 4;

/**
 * @typedef {{perSecond: number, least?: number, most?: number, succeeded: number, completedPerSecond: readonly number[], failedPerSecond?: readonly number[], fullSeconds?: number,
 *   clump?: number, memorySeconds?: number, byTimes?: {low: number, high: number}}} Successes
 *   `completedPerSecond`, `failedPerSecond`: in each full second; shorter than `fullSeconds` if the last had none; `clump`: how many may come at once; `memorySeconds`:
 *   of a closed loop, how long the request in flight at a random moment takes; `byTimes`: bounds that follow from the times of its requests;
 *   `least`, `most`: the rate may count those in flight at the end in several ways
 */
/**
 * @param {Successes & {errors: number, waited?: number, offeredPerSecond: number | null, isServed: boolean, slowdown: number, isOnTime?: boolean, errorsPerSecond?: number,
 *   lostPerSecond?: number, unseenPerSecond?: number}} sample
 *   `waited`: errors that were never sent, which show no more than the rate itself; `offeredPerSecond`: in an open loop, no more can succeed; `isServed`: arrivals are constant and all succeeded
 *   in time; `isOnTime`: all that succeeded did so in time, and the others failed; `slowdown`: the factor by which the tool may have lowered the rate, as a closed loop or a backlog
 *   sends the next request only after reading a response; Infinity: unknown; `errorsPerSecond`: certainly the target's;
 *   `lostPerSecond`: may be the tool's, or were cut off: these requests might have succeeded; `unseenPerSecond`:
 *   of random arrivals, the highest rate at which none may come
 * @returns {{low: number, high: number | null, sampled: number, tool: number | null}} per second; `sampled`: upper end of the sampling error; `tool`: by how
 *   much the tool may have lowered the rate; null: unknown
 */
export function rateBar(sample) {
  const { perSecond, succeeded, errors, offeredPerSecond, isServed, slowdown } = sample;
  const { waited = 0, errorsPerSecond = 0, lostPerSecond = 0, unseenPerSecond = 0 } = sample;
  if (succeeded === 0) {
    const sampled = Math.max(errorsPerSecond * proportionUpperBound(0, errors), unseenPerSecond);
    return { low: 0, high: sampled + lostPerSecond, sampled, tool: lostPerSecond };
  }
  if (isServed && succeeded >= MIN_SERVED) {
    const high = Math.max(perSecond, offeredPerSecond ?? 0);
    return { low: perSecond, high, sampled: high, tool: 0 };
  }
  const { byTimes = { low: perSecond, high: perSecond } } = sample;
  const counted = sampledBar(sample);
  const [low, high] = [Math.min(counted.low, byTimes.low), Math.max(counted.high, byTimes.high)];
  const failed = Math.max(0, errors - waited);
  const maxRate =
    offeredPerSecond === null
      ? Number.POSITIVE_INFINITY
      : offeredPerSecond - leastFailed(sample, failed, offeredPerSecond);
  const possible = (/** @type {number} */ rate) => Math.max(perSecond, Math.min(rate, maxRate));
  const known = (/** @type {number} */ rate) => (Number.isFinite(rate) ? rate : null);
  return {
    low: Math.max(0, low),
    high: known(possible(high * slowdown + lostPerSecond)),
    sampled: possible(high),
    tool: known(possible(perSecond * slowdown + lostPerSecond) - perSecond),
  };
}

/** @param {Successes & {offeredPerSecond: number | null, isOnTime?: boolean, errorsPerSecond?: number, lostPerSecond?: number}} sample */
function sampledBar({ perSecond, least = perSecond, most = perSecond, ...sample }) {
  const { offeredPerSecond, isOnTime = false, errorsPerSecond = 0, lostPerSecond = 0, ...counts } = sample;
  const { succeeded, completedPerSecond, failedPerSecond = [], memorySeconds = 0 } = counts;
  const { fullSeconds = completedPerSecond.length } = counts;
  const clump = Math.max(MIN_CLUMP, counts.clump ?? 0);
  if (fullSeconds < MIN_SECONDS) {
    const { low, high } = poissonBounds(succeeded / clump);
    const scale = clump / succeeded;
    return { low: low * scale * least, high: high * scale * most };
  }
  const margin = marginOf(completedPerSecond, { fullSeconds, memorySeconds });
  const byBatches = { low: least - margin, high: most * growth(margin, perSecond) };
  const isRandom = offeredPerSecond === null;
  const isByFailures = isOnTime && succeeded >= MIN_SERVED;
  if (isRandom && !isByFailures) return byBatches;
  // What fails does not succeed: both show how the failures vary. Successes also vary by plan, and as responses are late.
  const spread = Math.min(margin, marginOf(failedPerSecond, { fullSeconds, memorySeconds }));
  const seen = total(failedPerSecond) / fullSeconds;
  // Dropped requests, and failures after the end, are in no second: at worst, all had one cause.
  const unseen = Math.max(0, errorsPerSecond - Math.max(0, seen - lostPerSecond));
  const moreErrors =
    seen * (growth(spread, seen) - 1) +
    unseen * (Math.min(growth(margin, unseen), poissonBounds(1).high) - 1);
  if (isRandom) {
    // How many came due is by chance, too.
    const { low, high } = poissonBounds(succeeded);
    const [fewer, more] = [succeeded - low, high - succeeded].map((count) => (count * perSecond) / succeeded);
    return {
      low: least - Math.hypot(fewer, moreErrors),
      high: most + Math.hypot(more, Math.min(spread, seen) + Math.min(margin, unseen)),
    };
  }
  return { ...byBatches, low: least - (isByFailures ? moreErrors : Math.max(margin, moreErrors)) };
}

/**
 * The spread of a count grows with the count, so with few events a higher rate explains them better than a margin on either
 * side (as in Wilson's score interval); the margin if that is small.
 * @param {number} margin @param {number} rate @returns {number} factor of the upper end
 */
const growth = (margin, rate) => (rate > 0 ? Math.exp(2 * Math.asinh(margin / (2 * rate))) : 1);

/**
 * Of an open loop. Failures come in clumps. Those in no second (dropped requests, and failures after the end) vary as the successes do.
 * @param {Successes} sample @param {number} failed @param {number} offered per second @returns {number} lower bound of the failures per second
 */
function leastFailed(
  { succeeded, completedPerSecond, failedPerSecond = [], memorySeconds = 0, ...sample },
  failed,
  offered,
) {
  if (failed === 0) return 0;
  const { fullSeconds = completedPerSecond.length } = sample;
  const all = (offered * failed) / (succeeded + failed);
  const byNumber = offered * proportionLowerBound(failed, succeeded + failed);
  if (fullSeconds < MIN_SECONDS) {
    const clumps = failed / Math.max(MIN_CLUMP, sample.clump ?? 0);
    return Math.min(byNumber, (all * poissonBounds(clumps).low) / clumps);
  }
  const least = (/** @type {number} */ rate, /** @type {readonly number[]} */ perSecond) =>
    rate / growth(marginOf(perSecond, { fullSeconds, memorySeconds }), rate);
  const seen = Math.min(all, total(failedPerSecond) / fullSeconds);
  return Math.min(byNumber, least(seen, failedPerSecond) + least(all - seen, completedPerSecond));
}

/** @param {readonly number[]} perSecond @param {{fullSeconds: number, memorySeconds: number}} times @returns {number} of the mean, by batches of seconds */
function marginOf(perSecond, { fullSeconds, memorySeconds }) {
  const short = Math.max(1, Math.floor(fullSeconds / BATCHES));
  const long = Math.min(Math.ceil(MEMORIES * memorySeconds), Math.floor(fullSeconds / MIN_BATCHES));
  const halfOf = (/** @type {number} */ size) => {
    const means = batchMeans(perSecond, fullSeconds, size);
    return studentT95(means.length - 1) * Math.sqrt(meanAndVariance(means).variance / means.length);
  };
  // Equal counts in every batch do not rule out a spread: counts hide differences below one request.
  return Math.max(halfOf(short), halfOf(Math.max(short, long)), 1 / fullSeconds);
}

/** Omits seconds at the start that do not fill a batch. @param {readonly number[]} perSecond @param {number} seconds @param {number} size of a batch, seconds */
function batchMeans(perSecond, seconds, size) {
  const batches = Math.floor(seconds / size);
  const first = seconds - batches * size;
  return Array.from({ length: batches }, (_, i) => {
    const from = first + i * size;
    return total(perSecond.slice(from, from + size)) / size;
  });
}
