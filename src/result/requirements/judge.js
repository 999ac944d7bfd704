/**
 * Is a requirement met? It is where the whole error bar of its figure keeps the limit, and not met where the whole bar breaks it;
 * where the limit lies in the bar it is not proven. A request that failed, was dropped or was still waiting at the end never helps.
 */
import { formatCount } from '../../common/units.js';
import { partName } from '../../plan/shard-part.js';
import { proportionLowerBound, samplesNeeded } from '../../verdict/statistics.js';
import { countErrors, errorBar } from '../errors.js';
import { formatPercent, sentence } from '../wording.js';
import { neededText, ownLossesText, verdictOn, within } from './judge-common.js';
import { judgeRate } from './judge-rate.js';
import { judgeExtreme, judgePercentile } from './judge-times.js';
/** @import { Series } from '../../plan/requirements.js' */
/** @import { ShardPart } from '../../plan/shard-part.js' */
/** @import { Times } from '../../verdict/bars.js' */
/** @import { RequirementVerdict } from '../schema.js' */

/** @typedef {import('../../plan/plan.js').PlannedRequirement} Requirement */

/**
 * The run, as far as requirements are concerned.
 *
 * @typedef {object} RunView
 * @property {Record<Series, Times>} series of the requests that succeeded
 * @property {Record<Series, Times>} [checked] the same without those that were not checked
 * @property {Record<Series, Times>} all of every request that was due, with the age it reached
 * @property {number} succeeded
 * @property {number} failed without dropped and never sent
 * @property {number} dropped
 * @property {number} neverSentDue due, and still waiting at the end
 * @property {number} ratePerSecond successes
 * @property {{low: number, high: number | null, sampled: number}} rateBar
 * @property {readonly number[]} completedPerSecond successes in each full second of the measured part
 * @property {'open' | 'closed'} model
 * @property {number | null} offeredPerSecond
 * @property {'mean' | 'level'} [offeredAs] of stages: the mean over their time, or the level that one of them keeps
 * @property {number} [perhapsOfferedPerSecond] the level of a stage of which fewer than 100 arrivals, less than one short, cannot show it
 *   whether it was kept
 * @property {'constant' | 'poisson'} arrivals
 * @property {boolean} allOnTime open loop: every planned arrival succeeded and there was no backlog at the end
 * @property {number} [unchecked] of `succeeded`: counted as successes by their HTTP status alone
 * @property {number} [ownLosses] of the errors, those that may be the tool's or its machine's
 * @property {boolean} measurementValid
 */
/**
 * @typedef {object} Judgement
 * @property {RequirementVerdict['verdict']} verdict
 * @property {number | null} actual
 * @property {number} [low] the bar; Infinity: beyond any limit
 * @property {number} [high]
 * @property {RequirementVerdict['doubt']} [doubt]
 * @property {string} reason
 */

/** @param {Requirement} requirement @param {RunView} view @returns {RequirementVerdict} */
export function judgeRequirement(requirement, view) {
  const { text, limit, metric, operation, stage } = requirement;
  const judged = doubted(requirement, view);
  const unit = metric === 'rate' ? '/s' : metric === 'errors' ? 'fraction' : 'ms';
  const end = (/** @type {number | undefined} */ value) => (Number.isFinite(value) ? Number(value) : null);
  return {
    text,
    ...(operation === undefined ? {} : { operation }),
    ...(stage === undefined ? {} : { stage }),
    verdict: judged.verdict,
    actual: judged.actual,
    limit,
    unit,
    reason: judged.reason,
    low: end(judged.low),
    high: end(judged.high),
    ...(judged.doubt === undefined ? {} : { doubt: judged.doubt }),
  };
}

/**
 * A requirement that was met, but would not be had the unchecked responses been wrong, or on an invalid measurement, is not proven.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
function doubted(requirement, view) {
  const judged = judge(requirement, view);
  const { unchecked = 0 } = view;
  if (judged.verdict !== 'met') return judged;
  if (!view.measurementValid) {
    const reason = `${judged.reason} But the measurement is invalid, so this proves nothing.`;
    return { ...judged, verdict: 'not proven', doubt: 'invalid', reason };
  }
  if (unchecked === 0 || judge(requirement, atWorst(view, unchecked)).verdict === 'met') return judged;
  const reason = `${judged.reason} But ${formatCount(unchecked)} responses were not checked; if they were wrong, the requirement would not be met.`;
  return { ...judged, verdict: 'not proven', doubt: 'unchecked', reason };
}

/**
 * @param {RunView} view
 * @param {number} unchecked
 * @returns {RunView} as if every unchecked response had been a wrong one
 */
function atWorst(view, unchecked) {
  const share = (view.succeeded - unchecked) / view.succeeded;
  return {
    ...view,
    series: view.checked ?? view.series,
    succeeded: view.succeeded - unchecked,
    failed: view.failed + unchecked,
    ratePerSecond: view.ratePerSecond * share,
    rateBar: { ...view.rateBar, low: view.rateBar.low * share },
    completedPerSecond: view.completedPerSecond.map((count) => count * share),
    allOnTime: false,
  };
}

/** @param {Requirement} requirement @param {RunView} view @returns {Judgement} */
function judge(requirement, view) {
  if (view.succeeded + countErrors(view) === 0) {
    return { verdict: 'not proven', actual: null, doubt: 'sample', reason: 'Nothing was measured.' };
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

/** @param {Requirement} requirement @param {RunView} view @returns {Judgement} */
function judgeErrors(requirement, view) {
  const { comparator, limit } = requirement;
  const errors = countErrors(view);
  const due = view.succeeded + errors;
  const actual = errors / due;
  const { ownLosses = 0 } = view;
  const bar = errorBar(view, ownLosses);
  const observed = `${formatPercent(actual)} of requests failed (${formatCount(errors)} of ${formatCount(due)})`;
  const against = limit === 0 ? 'none may' : `the limit is ${formatPercent(limit)}`;
  if (limit === 0 && errors === 0)
    return {
      verdict: 'met',
      actual,
      ...bar,
      reason: `None of ${formatCount(due)} requests failed in this run.`,
    };
  const verdict = limit === 1 && within(actual, comparator, limit) ? 'met' : verdictOn(requirement, bar);
  if (verdict === 'not met') return { verdict, actual, ...bar, reason: sentence(observed, against) };
  const isKept = within(actual, comparator, limit);
  const side = isKept ? `most ${formatPercent(bar.high)}` : `least ${formatPercent(bar.low)}`;
  const confident = `at 95 % confidence it is at ${side}`;
  if (verdict === 'met') return { verdict, actual, ...bar, reason: sentence(observed, against, confident) };
  const isTool = !within(proportionLowerBound(errors, due), comparator, limit);
  const more = isTool
    ? ownLossesText(ownLosses)
    : isKept
      ? neededText(samplesNeeded(errors, due, limit))
      : 'more requests would decide it';
  const doubt = isTool ? 'tool' : 'sample';
  return { verdict, actual, ...bar, doubt, reason: sentence(observed, against, confident, more) };
}

/**
 * @param {import('../../plan/requirements.js').Requirement} requirement
 * @param {Readonly<ShardPart>} shard
 * @returns {RequirementVerdict}
 */
export function deferRequirement({ text, metric, limit }, shard) {
  return {
    text,
    verdict: 'not proven',
    actual: null,
    limit,
    unit: metric === 'rate' ? '/s' : metric === 'errors' ? 'fraction' : 'ms',
    reason: `This is ${partName(shard)} of the plan: vault-pki-load merge judges it on all of them.`,
  };
}
