/**
 * Seconds of a long run share histograms, to limit memory and file size: one per second in the first hour,
 * then one per ten seconds, and one per minute from the tenth hour on. A day has 7,680 histograms.
 */
import { encodeHistogram, sumHistograms } from '../../common/histogram.js';
/** @import { Distribution } from '../../common/histogram.js' */

/** Seconds with a histogram of their own. */
export const FINE_SECONDS = 3600;
const MEDIUM_SECONDS = 36_000;
const NOTHING = Object.freeze({ histogram: null, histogramSeconds: 1 });

/** @param {number} second from 0 @returns {number} seconds in its span; spans begin at multiples of it */
export function spanLength(second) {
  if (second < FINE_SECONDS) return 1;
  return second < MEDIUM_SECONDS ? 10 : 60;
}

/** Joins the histograms of consecutive seconds. */
export function createSpans() {
  /** Of the current span; null: no request completed in it. @type {Distribution | string | null} */
  let sum = null;
  let seconds = 0;

  /** @returns {{histogram: string | null, histogramSeconds: number}} encoded */
  function end() {
    const histogram = sum === null || typeof sum === 'string' ? sum : encodeHistogram(sum);
    const ended = histogram === null ? NOTHING : { histogram, histogramSeconds: seconds };
    sum = null;
    seconds = 0;
    return ended;
  }

  return {
    /**
     * @param {number} second @param {Distribution | string | null} histogram of the requests completed in it
     * @param {boolean} [isLast] @returns {ReturnType<typeof end>} for this second's row: null within a span
     */
    add(second, histogram, isLast = false) {
      seconds += 1;
      if (histogram !== null && (typeof histogram === 'string' || histogram.totalCount > 0)) {
        sum = sum === null ? histogram : sumHistograms([sum, histogram]);
      }
      return isLast || (second + 1) % spanLength(second) === 0 ? end() : NOTHING;
    },
    isOpen: () => sum !== null,
    end,
  };
}
