/**
 * Is a requirement met? A request that failed, was dropped or was still waiting at the end never helps: for `<` it counts
 * as slower than any limit, for `>` as faster. What the sample is too small to show is `not proven`.
 */
import { formatCount } from '../units.js';
import { judgeRate } from './judge-rate.js';
import {
  binomialCdf,
  CONFIDENCE,
  firstTrue,
  lowerRank,
  proportionUpperBound,
  quantileRank,
  samplesToProve,
  upperRank,
} from './statistics.js';
import { formatPercent, sentence, timeMargin, timeText } from './wording.js';

/** @typedef {import('./requirements.js').Requirement} Requirement */
/** @typedef {import('./requirements.js').Series} Series */
/** @typedef {import('./schema.js').RequirementVerdict} RequirementVerdict */

/**
 * A recorded distribution of times.
 *
 * @typedef {object} Quantiles
 * @property {number} count
 * @property {(rank: number) => number} valueAtRank milliseconds of the rank-th smallest, rank from 1
 * @property {number | null} min milliseconds, of no meaning when count is 0; mean and max likewise
 * @property {number | null} mean
 * @property {number | null} max
 */
/**
 * What a run showed, as far as requirements are concerned.
 *
 * @typedef {object} RunView
 * @property {Record<Series, Quantiles>} series of the requests that succeeded
 * @property {Record<Series, Quantiles>} all of every request that was due, with the age it reached
 * @property {number} succeeded
 * @property {number} failed without dropped and never sent
 * @property {number} dropped
 * @property {number} neverSentDue due, and still waiting at the end
 * @property {number} ratePerSecond successes
 * @property {readonly number[]} completedPerSecond successes in each full second of the measured window
 * @property {'open' | 'closed'} model
 * @property {number | null} offeredPerSecond
 * @property {'constant' | 'poisson'} arrivals
 * @property {boolean} allOnTime open loop: every planned arrival succeeded and there was no backlog at the end
 * @property {boolean} measurementValid
 */
/** @typedef {{verdict: RequirementVerdict['verdict'], actual: number | null, reason: string}} Judgement */

/**
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {RequirementVerdict}
 */
export function judgeRequirement(requirement, view) {
  const { text, limit, metric } = requirement;
  const judgement = judge(requirement, view);
  if (judgement.verdict === 'met' && !view.measurementValid) {
    judgement.verdict = 'not proven';
    judgement.reason += ' But the measurement is invalid, so this proves nothing.';
  }
  const unit = metric === 'rate' ? '/s' : metric === 'errors' ? 'fraction' : 'ms';
  return {
    text,
    verdict: judgement.verdict,
    actual: judgement.actual,
    limit,
    unit,
    reason: judgement.reason,
  };
}

/**
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function judge(requirement, view) {
  if (view.succeeded + unanswered(view) === 0) {
    return { verdict: 'not proven', actual: null, reason: 'Nothing was measured.' };
  }
  switch (requirement.metric) {
    case 'rate':
      return judgeRate(requirement, view);
    case 'errors':
      return judgeErrors(requirement, view);
    case 'percentile':
      return judgePercentile(requirement, view);
    default:
      return judgeExtreme(requirement, view);
  }
}

/**
 * Distribution-free: q n requests may be on the wrong side of the limit; how many are is a binomial count.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function judgePercentile(requirement, view) {
  const { quantile = 0.5, comparator, limit } = requirement;
  const atMost = comparator[0] === '<';
  const lost = unanswered(view);
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
    const most = `at 95 % confidence it is at ${atMost ? 'most' : 'least'} ${timeText(Number(bound))}`;
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
      : `it could be as ${direction} as ${timeText(bound)}`;
  return sentence(margin, `with ${formatCount(n)} requests ${doubt} (95 % confidence)`, neededText(needed));
}

/**
 * min, mean and max are statements on this run. A request without a good answer would have taken longer than the age
 * it reached, nobody knows how long: it can break a limit but not keep it.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function judgeExtreme(requirement, view) {
  const { comparator, limit, series } = requirement;
  const metric = /** @type {'min' | 'mean' | 'max'} */ (requirement.metric);
  const atMost = comparator[0] === '<';
  /** One request is proof enough: the fastest was fast, the slowest was slow. */
  const byExample = metric === (atMost ? 'min' : 'max');
  const sources = byExample ? [view.series[series]] : [view.series[series], view.all[series]];
  const values = sources.filter((one) => one.count > 0).map((one) => Number(one[metric]));
  const lost = unanswered(view);
  const losses = `${formatCount(lost)} of ${formatCount(view.succeeded + lost)} requests had no good answer`;
  if (values.length === 0) return { verdict: 'not met', actual: null, reason: sentence(losses) };
  const actual = atMost ? Math.max(...values) : Math.min(...values);
  const margin = timeMargin(requirement, actual);
  if (!within(actual, comparator, limit)) return { verdict: 'not met', actual, reason: sentence(margin) };
  if (lost === 0 || byExample)
    return { verdict: 'met', actual, reason: sentence(`${margin}, as observed in this run`) };
  const reason = sentence(margin, `but ${losses}, and how long one would have taken is unknown`);
  return { verdict: 'not proven', actual, reason };
}

/**
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function judgeErrors(requirement, view) {
  const { comparator, limit } = requirement;
  const errors = unanswered(view);
  const n = view.succeeded + errors;
  const actual = errors / n;
  const observed = `${formatPercent(actual)} of requests failed (${formatCount(errors)} of ${formatCount(n)})`;
  const against = limit === 0 ? 'none may' : `the limit is ${formatPercent(limit)}`;
  if (!within(actual, comparator, limit))
    return { verdict: 'not met', actual, reason: sentence(observed, against) };
  if (limit === 0)
    return { verdict: 'met', actual, reason: `None of ${formatCount(n)} requests failed in this run.` };
  if (limit === 1) return { verdict: 'met', actual, reason: sentence(observed) };
  const bound = proportionUpperBound(errors, n);
  const confident = `at 95 % confidence it is at most ${formatPercent(bound)}`;
  if (within(bound, comparator, limit))
    return { verdict: 'met', actual, reason: sentence(observed, against, confident) };
  return {
    verdict: 'not proven',
    actual,
    reason: sentence(observed, against, confident, neededText(samplesNeeded(errors, n, limit))),
  };
}

/**
 * About how many requests would prove that no more than `allowed` of them miss, if the share of misses stays what it
 * is: none missing, ln(0.05)/ln(1 - allowed); else the normal approximation z^2 a (1 - a) / (a - share)^2.
 *
 * @param {number} misses
 * @param {number} n
 * @param {number} allowed
 * @returns {number | null} null when the share is at the limit itself, where no number is enough
 */
function samplesNeeded(misses, n, allowed) {
  const least = samplesToProve(allowed);
  if (misses === 0) return least;
  const gap = allowed - misses / n;
  if (gap <= allowed * 1e-3) return null;
  const guess = Math.max(least, n + 1, (2.71 * allowed * (1 - allowed)) / gap ** 2);
  const proven = (/** @type {number} */ size) =>
    binomialCdf(Math.ceil((misses / n) * size), size, allowed) <= 1 - CONFIDENCE;
  let size = roundUp(guess);
  for (let tries = 0; tries < 40 && !proven(size); tries += 1) size = roundUp(size * 1.1);
  return size;
}

/** @param {number} value two significant digits, upwards */
function roundUp(value) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** @param {number | null} needed */
function neededText(needed) {
  return needed === null
    ? 'it is too close to the limit for any number of requests to prove it'
    : `about ${formatCount(needed)} requests like these would prove it`;
}

/** @param {RunView} view */
function unanswered(view) {
  return view.failed + view.dropped + view.neverSentDue;
}

/**
 * @param {number} value
 * @param {Requirement['comparator']} comparator
 * @param {number} limit
 */
function within(value, comparator, limit) {
  switch (comparator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    default:
      return value >= limit;
  }
}
