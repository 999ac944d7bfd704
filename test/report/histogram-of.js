/** A histogram as a report meets it: encoded and decoded. */
import { createHistogram, decodeHistogram, encodeHistogram, recordMs } from '../../src/common/histogram.js';
/** @import { Histogram } from 'hdr-histogram-js' */

/** @param {number[]} values ms @returns {Histogram} */
export function histogramOf(values) {
  const histogram = createHistogram();
  for (const value of values) recordMs(histogram, value);
  return decodeHistogram(encodeHistogram(histogram));
}
