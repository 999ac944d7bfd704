/** The buckets of a histogram, and the number of values below given bounds. */
/** @import { Histogram, JsHistogram } from 'hdr-histogram-js' */

/** @typedef {{toUs: number, count: number}} Bucket up to `toUs`; at most 0.1 % wide */

/** @param {Histogram} histogram @returns {Bucket[]} non-empty ones, ascending */
export function bucketsOf(histogram) {
  const values = /** @type {JsHistogram} */ (histogram).recordedValuesIterator;
  values.reset();
  /** @type {Bucket[]} */
  const buckets = [];
  while (values.hasNext()) {
    const { valueIteratedTo: toUs, countAtValueIteratedTo: count } = values.next();
    buckets.push({ toUs, count });
  }
  return buckets;
}

/**
 * @param {Bucket[]} buckets ascending @param {readonly number[]} boundsUs ascending
 * @returns {number[]} for each bound, the number of values up to it; a bucket that straddles it counts as above
 */
export function countsUpTo(buckets, boundsUs) {
  let [next, sum] = [0, 0];
  return boundsUs.map((boundUs) => {
    for (; next < buckets.length && buckets[next].toUs <= boundUs; next++) sum += buckets[next].count;
    return sum;
  });
}
