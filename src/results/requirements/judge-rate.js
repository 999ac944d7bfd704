/** Was a rate reached? Constant arrivals that all succeeded prove it; otherwise the batches of the run must. */
import { formatCount } from '../../units.js';
import { meanAndVariance, studentT95 } from '../statistics.js';
import { rateMargin, rateTexter, sentence } from '../wording.js';

/** Fewer full seconds than this prove no rate. */
const LEAST_SECONDS = 5;

/** Seconds are joined to about this many batches: enough for a bound, long enough to be nearly independent. */
const BATCHES = 20;

/** Rates are quotients: equal within this relative error is equal. */
const TOLERANCE = 1e-12;

/**
 * @param {import('./requirements.js').Requirement} requirement
 * @param {import('./judge.js').RunView} view
 * @returns {import('./judge.js').Judgement}
 */
export function judgeRate(requirement, view) {
  const actual = view.ratePerSecond;
  const text = rateTexter(requirement);
  const margin = rateMargin(requirement, actual);
  const seconds = view.completedPerSecond.length;
  if (seconds >= LEAST_SECONDS && offeredAndServed(requirement, view)) {
    return {
      verdict: 'met',
      actual,
      reason: sentence(margin, `all that was offered, ${offeredText(view, text)}, succeeded`),
    };
  }
  if (!reaches(actual, requirement)) return missed(requirement, view, { actual, margin, text });
  if (seconds < LEAST_SECONDS) {
    const few = `${seconds} full ${seconds === 1 ? 'second is' : 'seconds are'} too few to prove it`;
    return {
      verdict: 'not proven',
      actual,
      reason: sentence(margin, `${few}, at least ${LEAST_SECONDS} are needed`),
    };
  }
  const { lowest, secondsNeeded } = lowerBound(view.completedPerSecond, requirement.limit);
  const bound = `at 95 % confidence it is at least ${text(Math.max(0, lowest))}`;
  if (reaches(lowest, requirement)) return { verdict: 'met', actual, reason: sentence(margin, bound) };
  const needed =
    secondsNeeded === null
      ? 'it is too close to the limit for any duration to prove it'
      : `about ${formatCount(secondsNeeded)} s like these would prove it`;
  return { verdict: 'not proven', actual, reason: sentence(margin, bound, needed) };
}

/**
 * A target that has answered all it was sent is not blamed for an arrival that fell into another stage.
 *
 * @param {import('./requirements.js').Requirement} requirement
 * @param {import('./judge.js').RunView} view
 * @param {{actual: number, margin: string, text: (perSecond: number) => string}} said
 * @returns {import('./judge.js').Judgement}
 */
function missed(requirement, view, { actual, margin, text }) {
  const { perhapsOfferedPerSecond: level = null, succeeded } = view;
  if (level === null || !offeredAndServed(requirement, { ...view, offeredPerSecond: level }))
    return { verdict: 'not met', actual, reason: sentence(margin) };
  const few = `all that was offered succeeded, but ${formatCount(succeeded)} arrivals are too few to tell whether its level of ${text(level)} was kept, 100 are enough`;
  return { verdict: 'not proven', actual, reason: sentence(margin, few) };
}

/**
 * @param {import('./judge.js').RunView} view
 * @param {(perSecond: number) => string} text
 */
function offeredText({ offeredPerSecond, offeredAs }, text) {
  const rate = text(Number(offeredPerSecond));
  if (offeredAs === 'level') return `its level of ${rate}`;
  return offeredAs === 'mean' ? `${rate} on average` : rate;
}

/**
 * @param {import('./requirements.js').Requirement} requirement
 * @param {import('./judge.js').RunView} view
 */
function offeredAndServed(requirement, view) {
  const { model, arrivals, allOnTime, offeredPerSecond } = view;
  const constant = model === 'open' && arrivals === 'constant' && allOnTime;
  return constant && offeredPerSecond !== null && reaches(offeredPerSecond, requirement);
}

/**
 * Batch means: lower = mean - t s / sqrt(b), one-sided 95 %. Seconds that fill no batch are left out at the start.
 *
 * @param {readonly number[]} perSecond
 * @param {number} limit
 */
function lowerBound(perSecond, limit) {
  const size = Math.max(1, Math.floor(perSecond.length / BATCHES));
  const batches = Math.floor(perSecond.length / size);
  const first = perSecond.length - batches * size;
  const means = Array.from({ length: batches }, (_, b) => {
    const from = first + b * size;
    return perSecond.slice(from, from + size).reduce((sum, count) => sum + count, 0) / size;
  });
  const { mean, variance } = meanAndVariance(means);
  const t = studentT95(batches - 1);
  const gap = mean - limit;
  const needed = gap > limit * 1e-4 ? Math.ceil((t ** 2 * variance) / gap ** 2) * size : null;
  return { lowest: mean - t * Math.sqrt(variance / batches), secondsNeeded: needed };
}

/**
 * @param {number} rate
 * @param {import('./requirements.js').Requirement} requirement
 */
function reaches(rate, { comparator, limit }) {
  return comparator === '>' ? rate > limit * (1 + TOLERANCE) : rate >= limit * (1 - TOLERANCE);
}
