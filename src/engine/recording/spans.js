/**
 * Seconds that share a histogram. One of each second would fill the memory of a long run, and its files: so the first hour
 * has one of each second, from then on ten seconds have one, and from the tenth hour on a minute has one. A day has 7,680.
 */
import { encodeHistogram, sumHistograms } from '../../common/histogram.js';
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * @typedef {object} SpanEnd fields of the row with which a span ends
 * @property {string | null} histogram encoded, of all its seconds; null: nothing was done in them, or the span goes on
 * @property {number} histogramSeconds how many seconds up to this one it covers
 */

/** Seconds with a histogram of their own. */
export const FINE_SECONDS = 3600;
const MEDIUM_SECONDS = 36_000;

const NOTHING = Object.freeze({ histogram: null, histogramSeconds: 1 });

/** @param {number} second from 0 @returns {number} the length of its span, in seconds; spans begin at multiples of it */
export function spanLength(second) {
  if (second < FINE_SECONDS) return 1;
  return second < MEDIUM_SECONDS ? 10 : 60;
}

/** Gathers the histograms of seconds, which come in order. */
export function createSpans() {
  /** Of the seconds of a span that goes on: one, however long the span is; null: none yet. @type {Histogram | string | null} */
  let sum = null;
  let seconds = 0;

  /** @returns {SpanEnd} */
  function end() {
    const histogram = sum === null || typeof sum === 'string' ? sum : encodeHistogram(sum);
    const ended = histogram === null ? NOTHING : { histogram, histogramSeconds: seconds };
    sum = null;
    seconds = 0;
    return ended;
  }

  return {
    /**
     * @param {number} second
     * @param {Histogram | string | null} histogram of the requests done in it; null or empty: none was
     * @param {boolean} [isLast] no other second follows
     * @returns {SpanEnd}
     */
    add(second, histogram, isLast = false) {
      seconds += 1;
      if (histogram !== null && (typeof histogram === 'string' || histogram.totalCount > 0)) {
        sum = sum === null ? histogram : sumHistograms([sum, histogram]);
      }
      return isLast || (second + 1) % spanLength(second) === 0 ? end() : NOTHING;
    },
    /** Something was done since the last span ended. */
    isOpen: () => sum !== null,
    end,
  };
}
