/**
 * How large may the difference be? A percentile bootstrap: the runs of both groups are drawn anew, with replacement, and the
 * difference of the medians is taken each time; the middle 95 % of these are the interval. The run is drawn, never the
 * request: requests of one run are not independent of each other. (Not BCa: its acceleration comes from leaving out one
 * run at a time, which is no estimate for a median.)
 */

import { median } from '../../common/median.js';
import { uniform } from '../../common/random.js';

/** Confidence of the interval; both sides leave out the same share. */
export const INTERVAL_CONFIDENCE = 0.95;

/** Resamples: the ends of the interval are the 251st from either side. */
export const RESAMPLES = 10_000;

/** Keeps the draws of the two groups apart. */
const STREAMS = Object.freeze({ base: 31, other: 32 });

/**
 * The same values and the same seed give the same interval.
 *
 * @param {readonly number[]} base at least one value
 * @param {readonly number[]} other at least one value
 * @param {(base: number, other: number) => number | null} difference of the medians; null where there is none
 * @param {{seed: number, resamples?: number}} options
 * @returns {[number, number] | null} null where some resample has no difference
 */
export function bootstrapInterval(base, other, difference, { seed, resamples = RESAMPLES }) {
  const differences = new Float64Array(resamples);
  for (let i = 0; i < resamples; i += 1) {
    const found = difference(
      median(resample(base, seed, i, STREAMS.base)),
      median(resample(other, seed, i, STREAMS.other)),
    );
    if (found === null) return null;
    differences[i] = found;
  }
  differences.sort();
  const outside = Math.floor(((1 - INTERVAL_CONFIDENCE) / 2) * resamples);
  return [differences[outside], differences[resamples - 1 - outside]];
}

/**
 * @param {readonly number[]} values
 * @param {number} seed
 * @param {number} number of the resample
 * @param {number} stream
 * @returns {Float64Array} as many, drawn with replacement
 */
function resample(values, seed, number, stream) {
  const n = values.length;
  const drawn = new Float64Array(n);
  for (let i = 0; i < n; i += 1) drawn[i] = values[Math.floor(uniform(seed, number * n + i, stream) * n)];
  return drawn;
}
