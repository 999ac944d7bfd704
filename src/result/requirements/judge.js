/**
 * A requirement is met if the whole error bar of its figure is within the limit, not met if the whole bar is beyond it,
 * and not proven if the limit lies inside the bar. A request without a good response never helps.
 */
import { formatCount } from '../../common/units.js';
import { METRICS } from '../../plan/requirements.js';
import { partName } from '../../plan/shard-part.js';
import { countErrors } from '../build.js';
import { judgeRate, judgeShare, judgeTime } from './judge-figures.js';

/** @import { PlannedRequirement as Requirement } from '../../plan/plan.js' */
/** @import { Requirement as ParsedRequirement, Series } from '../../plan/requirements.js' */
/** @import { ShardPart } from '../../plan/shard-part.js' */
/** @import { Times } from '../../verdict/bars.js' */
/** @import { RequirementVerdict } from '../schema.js' */

/**
 * @typedef {object} Facts of a run, to judge requirements
 * @property {Record<Series, Times>} series of the requests that succeeded
 * @property {Record<Series, Times>} [checked] of the requests that were also checked
 * @property {Record<Series, Times>} all of every due request; one without a response counts with its age at the end
 * @property {Record<Series, Times>} [certain] the same, without outcomes that may not be due to the target; `all` by default
 * @property {{low: number, high: number | null, sampled: number}} rateBar
 * @property {'open' | 'closed'} model
 * @property {number | null} offeredPerSecond
 * @property {'mean'} [offeredAs] of a rate that changes: the mean over its time
 * @property {'constant' | 'poisson'} arrivals
 * @property {boolean} allOnTime open loop: every planned arrival succeeded and there was no backlog at the end
 * @property {number} [unchecked] of `succeeded`: only the HTTP status shows success
 * @property {number} [rested] see Totals in ../schema.js
 * @property {number} [toolErrors] errors that the tool or its machine may have caused
 * @property {number} [timeoutMs] of requests
 * @property {boolean} measurementValid
 * @property {import('./judge-figures.js').Words} [words] for reasons, if the unit is not a request
 */
/** @typedef {Record<'succeeded' | 'failed' | 'dropped' | 'neverSentDue' | 'ratePerSecond', number> & Facts} RunView */
/**
 * `low`, `high`: the error bar; Infinity: beyond any limit
 * @typedef {Pick<RequirementVerdict, 'verdict' | 'actual' | 'doubt' | 'reason'> & {low?: number, high?: number}} Judgement
 */

/** @typedef {(requirement: Requirement, view: RunView) => Judgement} Judge */

/** By unit of the metric. @type {Record<RequirementVerdict['unit'], Judge>} */
const JUDGES = { '/s': judgeRate, fraction: judgeShare, ms: judgeTime };

/** @param {Requirement} requirement @param {RunView} view @returns {RequirementVerdict} */
export function judgeRequirement(requirement, view) {
  const { low, high, verdict, actual, reason, doubt } = judgeWithDoubts(requirement, view);
  const end = (/** @type {number | undefined} */ value) => (Number.isFinite(value) ? Number(value) : null);
  return {
    ...limitOf(requirement),
    ...scopeOf(requirement),
    ...{ verdict, actual, reason, low: end(low), high: end(high) },
    ...(doubt === undefined ? {} : { doubt }),
  };
}

/** @param {Requirement} requirement @param {Readonly<ShardPart>} shard @returns {RequirementVerdict} */
export function deferRequirement(requirement, shard) {
  const reason = `This is ${partName(shard)} of the plan: vault-pki-load merge judges the requirement on all parts.`;
  return { ...limitOf(requirement), ...scopeOf(requirement), verdict: 'not proven', actual: null, reason };
}

/** @param {Requirement} requirement @returns {Pick<RequirementVerdict, 'operation' | 'stage'>} if it is not the whole run */
const scopeOf = ({ operation, stage }) => {
  return { ...(operation === undefined ? {} : { operation }), ...(stage === undefined ? {} : { stage }) };
};

/** @param {ParsedRequirement} requirement @returns {Pick<RequirementVerdict, 'text' | 'limit' | 'unit'>} */
const limitOf = ({ text, limit, metric }) => ({ text, limit, unit: METRICS[metric].unit });

/**
 * Not proven if met on an invalid measurement, or only with all unchecked responses counted as correct, or without the requests that
 * resting connections did not send.
 * @type {Judge}
 */
function judgeWithDoubts(requirement, view) {
  const judged = judge(requirement, view);
  if (judged.verdict !== 'met') return judged;
  const notProven = (/** @type {Judgement['doubt']} */ doubt, /** @type {string} */ why) => {
    const reason = `${judged.reason} But ${why}`;
    return { ...judged, verdict: /** @type {const} */ ('not proven'), doubt, reason };
  };
  const { unchecked = 0, rested = 0, measurementValid } = view;
  if (!measurementValid) return notProven('invalid', 'the measurement is invalid, so this proves nothing.');
  const isMet = (/** @type {RunView} */ worst) => judge(requirement, worst).verdict === 'met';
  const ifSo = 'the requirement would not be met.';
  const checked = unchecked > 0 ? countUncheckedAsFailed(view, unchecked) : view;
  const wrong = `${formatCount(unchecked)} responses were not checked; if they were wrong, ${ifSo}`;
  if (unchecked > 0 && !isMet(checked)) return notProven('unchecked', wrong);
  const failed = `connections rested after failed connects, and would have sent about ${formatCount(rested)} further requests; if these had failed, ${ifSo}`;
  if (rested > 0 && !isMet({ ...checked, failed: checked.failed + rested }))
    return notProven('rested', failed);
  return judged;
}

/** @param {RunView} view @param {number} unchecked @returns {RunView} with unchecked responses as failures */
function countUncheckedAsFailed(view, unchecked) {
  const share = (view.succeeded - unchecked) / view.succeeded;
  return {
    ...view,
    series: view.checked ?? view.series,
    succeeded: view.succeeded - unchecked,
    failed: view.failed + unchecked,
    ratePerSecond: view.ratePerSecond * share,
    rateBar: { ...view.rateBar, low: view.rateBar.low * share },
    allOnTime: false,
  };
}

/** @type {Judge} */
function judge(requirement, view) {
  if (view.succeeded + countErrors(view) === 0)
    return { verdict: 'not proven', actual: null, doubt: 'sample', reason: 'Nothing was measured.' };
  return JUDGES[METRICS[requirement.metric].unit](requirement, view);
}
