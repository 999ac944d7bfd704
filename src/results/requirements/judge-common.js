/** What the judges of times and of errors share. */
import { formatCount } from '../../units.js';

/** @param {number | null} needed requests, see samplesNeeded */
export function neededText(needed) {
  return needed === null
    ? 'it is too close to the limit for any number of requests to prove it'
    : `about ${formatCount(needed)} requests like these would prove it`;
}

/**
 * @param {number} value
 * @param {import('./requirements.js').Comparator} comparator
 * @param {number} limit
 */
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
