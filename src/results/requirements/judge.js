/**
 * Is a requirement met? A request that failed, was dropped or was still waiting at the end never helps: for `<` it counts
 * as slower than any limit, for `>` as faster. What the sample is too small to show is `not proven`.
 */
import { formatCount } from '../../units.js';
import { countErrors, shareOfErrors } from '../errors.js';
import { proportionUpperBound, samplesNeeded } from '../statistics.js';
import { formatPercent, sentence, timeMargin } from '../wording.js';
import { neededText, within } from './judge-common.js';
import { judgePercentile } from './judge-percentile.js';
import { judgeRate } from './judge-rate.js';

/** @typedef {import('../../plan.js').PlannedRequirement} Requirement */
/** @typedef {import('./requirements.js').Series} Series */
/** @typedef {import('../schema.js').RequirementVerdict} RequirementVerdict */

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
 * @property {'mean' | 'level'} [offeredAs] of stages: the mean over their time, or the level that one of them keeps
 * @property {number} [perhapsOfferedPerSecond] the level of a stage of which fewer than 100 arrivals, less than one short, do not tell
 *   whether it was kept
 * @property {'constant' | 'poisson'} arrivals
 * @property {boolean} allOnTime open loop: every planned arrival succeeded and there was no backlog at the end
 * @property {number} [unchecked] of `succeeded`: counted as successes by their HTTP status alone
 * @property {boolean} measurementValid
 */
/** @typedef {{verdict: RequirementVerdict['verdict'], actual: number | null, reason: string}} Judgement */

/** Would be met, had all answers been checked and found good. @type {WeakSet<RequirementVerdict>} */
const unmetForUnchecked = new WeakSet();

/**
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {RequirementVerdict}
 */
export function judgeRequirement(requirement, view) {
  const { text, limit, metric, operation, stage } = requirement;
  const judgement = judge(requirement, view);
  const { unchecked = 0 } = view;
  let isMetButUnchecked = false;
  if (
    judgement.verdict === 'met' &&
    unchecked > 0 &&
    judge(requirement, atWorst(view, unchecked)).verdict !== 'met'
  ) {
    isMetButUnchecked = view.measurementValid;
    judgement.verdict = 'not proven';
    judgement.reason += ` But ${formatCount(unchecked)} answers were not checked, and it would not hold were they wrong.`;
  }
  if (judgement.verdict === 'met' && !view.measurementValid) {
    judgement.verdict = 'not proven';
    judgement.reason += ' But the measurement is invalid, so this proves nothing.';
  }
  const unit = metric === 'rate' ? '/s' : metric === 'errors' ? 'fraction' : 'ms';
  /** @type {RequirementVerdict} */
  const told = {
    text,
    ...(operation === undefined ? {} : { operation }),
    ...(stage === undefined ? {} : { stage }),
    verdict: judgement.verdict,
    actual: judgement.actual,
    limit,
    unit,
    reason: judgement.reason,
  };
  if (isMetButUnchecked) unmetForUnchecked.add(told);
  return told;
}

/**
 * Does only the tool, which left answers unchecked, keep it from being met? A verdict that was read from a file does not tell.
 *
 * @param {RequirementVerdict} verdict as judgeRequirement gave it
 */
export function lacksChecks(verdict) {
  return unmetForUnchecked.has(verdict);
}

/**
 * @param {RunView} view
 * @param {number} unchecked
 * @returns {RunView} as if every unchecked answer had been a wrong one
 */
function atWorst(view, unchecked) {
  const share = (view.succeeded - unchecked) / view.succeeded;
  return {
    ...view,
    succeeded: view.succeeded - unchecked,
    failed: view.failed + unchecked,
    ratePerSecond: view.ratePerSecond * share,
    completedPerSecond: view.completedPerSecond.map((count) => count * share),
    allOnTime: false,
  };
}

/**
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function judge(requirement, view) {
  if (view.succeeded + countErrors(view) === 0) {
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
  const lost = countErrors(view);
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
  const errors = countErrors(view);
  const n = view.succeeded + errors;
  const actual = Number(shareOfErrors(view));
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
