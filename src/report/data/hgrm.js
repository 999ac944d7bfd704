/**
 * Response times by percentile, as HdrHistogram's outputPercentileDistribution(stream, 5, 1000.0) prints them in Java: 5 ticks
 * for each halving of the distance to 100 %, in milliseconds. Contains nothing else, since plotters parse every line.
 */
import { createHistogram, decodeHistogram } from '../../common/histogram.js';

/** @import { Result } from '../../result/schema.js' */

const TICKS_PER_HALF_DISTANCE = 5;
const US_PER_MS = 1000;

/** @param {Result} result @returns {string} ends with a newline */
export function render({ latencyMs: { response } }) {
  const histogram = response.histogram === null ? createHistogram() : decodeHistogram(response.histogram);
  return histogram.outputPercentileDistribution(TICKS_PER_HALF_DISTANCE, US_PER_MS);
}
