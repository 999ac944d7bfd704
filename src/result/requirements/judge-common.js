/** What the judges of times, rates and errors share: a requirement is met or not by the whole error bar. */
import { formatCount, formatLatency } from '../../common/units.js';
/** @import { Comparator, Requirement } from '../../plan/requirements.js' */

/** @typedef {'met' | 'not met' | 'not proven'} Verdict */

/**
 * @param {Pick<Requirement, 'comparator' | 'limit'>} requirement
 * @param {{low: number, high: number}} bar Infinity: no bound, or beyond any limit
 * @returns {Verdict}
 */
export function verdictOn({ comparator, limit }, { low, high }) {
  const [best, worst] = comparator[0] === '<' ? [low, high] : [high, low];
  if (within(worst, comparator, limit)) return 'met';
  return within(best, comparator, limit) ? 'not proven' : 'not met';
}

/**
 * What keeps a requirement from being decided.
 *
 * @param {boolean} sample more requests would decide it
 * @param {boolean} tool less lateness of the tool would
 * @returns {'sample' | 'tool' | 'both'}
 */
export function doubtOf(sample, tool) {
  // Where neither alone would leave it open, both together do.
  if (sample === tool) return 'both';
  return tool ? 'tool' : 'sample';
}

/** @param {number | null} needed requests, see samplesNeeded */
export function neededText(needed) {
  return needed === null
    ? 'it is too close to the limit for any number of requests to prove it'
    : `about ${formatCount(needed)} requests like these would prove it`;
}

const REMEDY = 'give it more CPU, or lower the load';

/** @param {number} ms of a time, that this tool may have added */
export function toolText(ms) {
  const most = Number.isFinite(ms) ? `up to ${formatLatency(ms)}` : 'all';
  return `${most} of it may be this tool's own: ${REMEDY}`;
}

/** @param {number} count of errors, that may be this tool's fault */
export function ownLossesText(count) {
  return `up to ${formatCount(count)} of them may be this tool's: ${REMEDY}`;
}

/** @param {number} value @param {Comparator} comparator @param {number} limit */
export function within(value, comparator, limit) {
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
