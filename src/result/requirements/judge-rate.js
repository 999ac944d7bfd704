/** Was a rate reached? Constant arrivals that all succeeded prove it; otherwise its error bar must (rate-bar.js). */
import { formatCount } from '../../common/units.js';
import { batchesOf, LEAST_SECONDS } from '../../verdict/rate-bar.js';
import { meanAndVariance, studentT95 } from '../../verdict/statistics.js';
import { rateMargin, rateTexter, sentence } from '../wording.js';
import { doubtOf } from './judge-common.js';

/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { Judgement, RunView } from './judge.js' */

/** Rates are quotients: equal within this relative error is equal. */
const TOLERANCE = 1e-12;

/** @param {Requirement} requirement @param {RunView} view @returns {Judgement} */
export function judgeRate(requirement, view) {
  const { ratePerSecond: actual, rateBar } = view;
  const text = rateTexter(requirement);
  const margin = rateMargin(requirement, actual);
  const bar = { low: rateBar.low, high: rateBar.high ?? Number.POSITIVE_INFINITY };
  if (offeredAndServed(requirement, view)) {
    const reason = sentence(margin, `all that was offered, ${offeredText(view, text)}, succeeded`);
    return { verdict: 'met', actual, ...bar, reason };
  }
  const bound = `at 95 % confidence it is at least ${text(Math.max(0, bar.low))}`;
  if (reaches(bar.low, requirement))
    return { verdict: 'met', actual, ...bar, reason: sentence(margin, bound) };
  const stage = unsureOfLevel(requirement, view, text);
  if (stage !== null)
    return { verdict: 'not proven', actual, ...bar, doubt: 'sample', reason: sentence(margin, stage) };
  if (!reaches(bar.high, requirement))
    return { verdict: 'not met', actual, ...bar, reason: sentence(margin) };
  const isShort = reaches(actual, requirement);
  // Had the tool not slowed it down, in so large a sample.
  const slowdown = rateBar.sampled > 0 ? bar.high / rateBar.sampled : Number.POSITIVE_INFINITY;
  const doubt = isShort
    ? 'sample'
    : doubtOf(reaches(rateBar.sampled, requirement), reaches(actual * slowdown, requirement));
  const why = isShort ? neededTime(requirement, view) : mayBeHigher(doubt, bar.high, text);
  return {
    verdict: 'not proven',
    actual,
    ...bar,
    doubt,
    reason: sentence(margin, isShort ? bound : '', why),
  };
}

/**
 * @param {'sample' | 'tool' | 'both'} doubt
 * @param {number} high
 * @param {(perSecond: number) => string} text
 */
function mayBeHigher(doubt, high, text) {
  const most = Number.isFinite(high) ? `it may be as high as ${text(high)}` : 'it may be higher';
  const tool = 'the tool was short of CPU and sent less than the target could have handled';
  if (doubt === 'tool') return `but ${tool}: ${most}; give the tool more CPU`;
  if (doubt === 'sample') return `with so few requests ${most} (95 % confidence); run longer`;
  return `but ${tool}, and with so few requests ${most} (95 % confidence); give the tool more CPU, and run longer`;
}

/** @param {Requirement} requirement @param {RunView} view */
function neededTime({ limit }, { completedPerSecond, ratePerSecond }) {
  if (completedPerSecond.length < LEAST_SECONDS) return `run it for at least ${LEAST_SECONDS} s`;
  const { size, means } = batchesOf(completedPerSecond);
  const gap = ratePerSecond - limit;
  if (gap <= limit * 1e-4) return 'it is too close to the limit for any duration to prove it';
  const t = studentT95(means.length - 1);
  const batches = Math.ceil((t ** 2 * meanAndVariance(means).variance) / gap ** 2);
  const seconds = Math.max(batches * size, Math.ceil(1 / gap));
  return `about ${formatCount(seconds)} s like these would prove it`;
}

/**
 * A target that has responded to all it was sent is not blamed for an arrival that fell into another stage.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @param {(perSecond: number) => string} text
 * @returns {string | null}
 */
function unsureOfLevel(requirement, view, text) {
  const { perhapsOfferedPerSecond: level = null, succeeded } = view;
  if (level === null || !offeredAndServed(requirement, { ...view, offeredPerSecond: level })) return null;
  return `all that was offered succeeded, but ${formatCount(succeeded)} arrivals are too few to tell whether its level of ${text(level)} was kept, 100 are enough`;
}

/** @param {RunView} view @param {(perSecond: number) => string} text */
function offeredText({ offeredPerSecond, offeredAs }, text) {
  const rate = text(Number(offeredPerSecond));
  if (offeredAs === 'level') return `its level of ${rate}`;
  return offeredAs === 'mean' ? `${rate} on average` : rate;
}

/** @param {Requirement} requirement @param {RunView} view */
function offeredAndServed(requirement, { model, arrivals, allOnTime, offeredPerSecond }) {
  const constant = model === 'open' && arrivals === 'constant' && allOnTime;
  return constant && offeredPerSecond !== null && reaches(offeredPerSecond, requirement);
}

/** @param {number} rate @param {Requirement} requirement */
function reaches(rate, { comparator, limit }) {
  return comparator === '>' ? rate > limit * (1 + TOLERANCE) : rate >= limit * (1 - TOLERANCE);
}
