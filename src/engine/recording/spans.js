/**
 * Seconds of a long run share histograms, to limit memory and file size: one per second in the first ten minutes,
 * then one per ten seconds, and one per minute from the tenth hour on. A day has 4,980 histograms.
 */
import { encodeHistogram, sumHistograms } from '../../common/histogram.js';
/** @import { Distribution } from '../../common/histogram.js' */

/** @typedef {{histogram: string | null, histogramSeconds: number}} Span for the row of its last second; null: empty */
/**
 * @typedef {object} Spans
 * @property {(second: number, histogram: Distribution | string | null, isLast?: boolean) => Span} add the requests
 *   completed in this second; null within a span
 * @property {() => boolean} isOpen
 * @property {() => Spans} copy to see the current span as if it ended now
 * @property {() => Span} end
 */

/** Seconds with a histogram of their own. */
export const FINE_SECONDS = 600;
const MEDIUM_SECONDS = 36_000;
const NOTHING = Object.freeze({ histogram: null, histogramSeconds: 1 });

/** @param {number} second from 0 @returns {number} seconds in its span; spans begin at multiples of it */
export function spanLength(second) {
  if (second < FINE_SECONDS) return 1;
  return second < MEDIUM_SECONDS ? 10 : 60;
}

/**
 * Joins the histograms of consecutive seconds.
 * @param {Distribution | string | null} [sum] of the current span; null: no request completed in it
 * @param {number} [seconds] of the current span
 * @returns {Spans}
 */
export function createSpans(sum = null, seconds = 0) {
  function end() {
    const histogram = sum === null || typeof sum === 'string' ? sum : encodeHistogram(sum);
    const ended = histogram === null ? NOTHING : { histogram, histogramSeconds: seconds };
    sum = null;
    seconds = 0;
    return ended;
  }

  return {
    add(second, histogram, isLast = false) {
      seconds += 1;
      if (histogram !== null && (typeof histogram === 'string' || histogram.totalCount > 0)) {
        sum = sum === null ? histogram : sumHistograms([sum, histogram]);
      }
      return isLast || (second + 1) % spanLength(second) === 0 ? end() : NOTHING;
    },
    isOpen: () => sum !== null,
    copy: () => createSpans(sum, seconds),
    end,
  };
}
