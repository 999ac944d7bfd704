/** A histogram's own buckets, and how many values lie below given bounds: for drawing and for exposition. */
/** @import { Histogram, JsHistogram } from 'hdr-histogram-js' */

/** @typedef {{fromUs: number, toUs: number, count: number}} Bucket both ends are in it; at most 0.1 % wide */

/** @param {Histogram} histogram @returns {Bucket[]} non-empty ones, ascending */
export function bucketsOf(histogram) {
  const own = /** @type {JsHistogram} */ (histogram);
  const values = own.recordedValuesIterator;
  values.reset();
  /** @type {Bucket[]} */
  const buckets = [];
  while (values.hasNext()) {
    const { valueIteratedTo: toUs, countAtValueIteratedTo: count } = values.next();
    buckets.push({ fromUs: own.lowestEquivalentValue(toUs), toUs, count });
  }
  return buckets;
}

/**
 * @param {Bucket[]} buckets ascending
 * @param {readonly number[]} boundsUs ascending
 * @returns {number[]} for each bound, the number of values up to it; a bucket that it cuts counts as longer
 */
export function countsUpTo(buckets, boundsUs) {
  let next = 0;
  let sum = 0;
  return boundsUs.map((boundUs) => {
    while (next < buckets.length && buckets[next].toUs <= boundUs) {
      sum += buckets[next].count;
      next++;
    }
    return sum;
  });
}

/**
 * A bucket that a bound cuts counts as longer.
 *
 * @param {Bucket[]} buckets ascending
 * @param {readonly number[]} boundsUs ascending, at least one; the first is no longer than the shortest value
 * @returns {number[]} for each bound, how many values are at least as long and shorter than the next one; the last is
 *   for values from the last bound upwards
 */
export function countsBetween(buckets, boundsUs) {
  const counts = boundsUs.map(() => 0);
  let at = 0;
  for (const { toUs, count } of buckets) {
    while (at + 1 < boundsUs.length && toUs >= boundsUs[at + 1]) at++;
    counts[at] += count;
  }
  return counts;
}
