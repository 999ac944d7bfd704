/** Is a percentile within its limit, and do so many samples prove it? */
import { formatCount, formatLatency } from '../../units.js';
import { countErrors } from '../errors.js';
import { firstTrue, lowerRank, quantileRank, samplesNeeded, upperRank } from '../statistics.js';
import { sentence, timeMargin } from '../wording.js';
import { neededText, within } from './judge-common.js';

/** @typedef {import('./requirements.js').Requirement} Requirement */
/** @typedef {import('./judge.js').RunView} RunView */
/** @typedef {import('./judge.js').Judgement} Judgement */

/**
 * Distribution-free: q n requests may be on the wrong side of the limit; how many are is a binomial count.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
export function judgePercentile(requirement, view) {
  const { quantile = 0.5, comparator, limit } = requirement;
  const atMost = comparator[0] === '<';
  const lost = countErrors(view);
  const n = view.succeeded + lost;
  const series = view.series[requirement.series];
  /** @param {number} rank among all n @returns {number | null} null where that rank has no good answer */
  const valueAt = (rank) => {
    const own = atMost ? rank : rank - lost;
    return own >= 1 && own <= view.succeeded ? series.valueAtRank(own) : null;
  };
  /** @param {number | null} value */
  const good = (value) => value !== null && within(value, comparator, limit);
  const actual = valueAt(quantileRank(n, quantile));
  if (!good(actual))
    return { verdict: 'not met', actual, reason: percentileMissed(requirement, actual, lost, n) };

  const boundRank = atMost ? upperRank(n, quantile) : lowerRank(n, quantile);
  const bound = boundRank === null ? null : valueAt(boundRank);
  if (good(bound)) {
    const most = `at 95 % confidence it is at ${atMost ? 'most' : 'least'} ${formatLatency(Number(bound))}`;
    return { verdict: 'met', actual, reason: sentence(timeMargin(requirement, Number(actual)), most) };
  }
  const misses = countMisses(n, atMost, (rank) => good(valueAt(rank)));
  const needed = samplesNeeded(misses, n, atMost ? 1 - quantile : quantile);
  return {
    verdict: 'not proven',
    actual,
    reason: percentileUnproven(requirement, Number(actual), bound, n, needed, boundRank),
  };
}

/**
 * Requests on the wrong side: they hold the top ranks for `<`, the bottom ranks for `>`.
 *
 * @param {number} n
 * @param {boolean} atMost
 * @param {(rank: number) => boolean} good
 */
function countMisses(n, atMost, good) {
  return atMost
    ? n - (firstTrue(1, n + 1, (k) => k > n || !good(k)) - 1)
    : firstTrue(1, n + 1, (k) => k > n || good(k)) - 1;
}

/**
 * @param {Requirement} requirement
 * @param {number | null} actual
 * @param {number} lost
 * @param {number} n
 */
function percentileMissed(requirement, actual, lost, n) {
  const than = requirement.comparator[0] === '<' ? 'slower' : 'faster';
  const losses = `${formatCount(lost)} of ${formatCount(n)} requests had no good answer and count as ${than} than any limit`;
  if (actual === null) return sentence(losses);
  return lost === 0
    ? sentence(timeMargin(requirement, actual))
    : sentence(timeMargin(requirement, actual), losses);
}

/**
 * @param {Requirement} requirement
 * @param {number} actual
 * @param {number | null} bound
 * @param {number} n
 * @param {number | null} needed
 * @param {number | null} boundRank
 */
function percentileUnproven(requirement, actual, bound, n, needed, boundRank) {
  const margin = timeMargin(requirement, actual);
  if (boundRank === null && needed !== null) {
    return sentence(
      margin,
      `${formatCount(n)} requests are too few to prove it, at least ${formatCount(needed)} are needed`,
    );
  }
  const direction = requirement.comparator[0] === '<' ? 'high' : 'low';
  const doubt =
    bound === null
      ? 'it could fall on a request without a good answer'
      : `it could be as ${direction} as ${formatLatency(bound)}`;
  return sentence(margin, `with ${formatCount(n)} requests ${doubt} (95 % confidence)`, neededText(needed));
}
