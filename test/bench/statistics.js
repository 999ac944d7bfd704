/** What the benches compute from what they measured. */

/**
 * @param {number[]} values at least one
 * @returns {number}
 */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {(number | null)[]} values
 * @returns {number | null} null where none of them is a number
 */
export function medianOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/**
 * @param {(number | null)[]} values a figure of each run
 * @returns {number | null} null where no more than half of the runs have it: that would be the median of a few
 */
export function medianOfMost(values) {
  const known = values.filter((value) => value !== null);
  return 2 * known.length > values.length ? median(known) : null;
}

/**
 * @param {ArrayLike<number>} values
 * @returns {number}
 */
export function mean(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/**
 * By nearest rank: the smallest value that at least `share` of them do not exceed.
 *
 * @param {Float64Array} sorted at least one, ascending
 * @param {number} share 0..1
 */
export function quantile(sorted, share) {
  const rank = Math.ceil(share * sorted.length - 1e-9);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1];
}

/**
 * Kolmogorov's distance between a sample and the exponential distribution of a known mean.
 *
 * @param {Float64Array} sorted ascending
 * @param {number} meanValue
 * @returns {number} D
 */
export function ksDistance(sorted, meanValue) {
  const n = sorted.length;
  let distance = 0;
  for (let i = 0; i < n; i++) {
    const expected = -Math.expm1(-sorted[i] / meanValue);
    distance = Math.max(distance, (i + 1) / n - expected, expected - i / n);
  }
  return distance;
}

/**
 * Probability of a distance of at least this if the sample does come from the distribution. Kolmogorov's limit with
 * Stephens' correction for finite n (M. A. Stephens, J. R. Stat. Soc. B 32, 1970), good from n = 5.
 *
 * @param {number} distance
 * @param {number} n
 */
export function ksPValue(distance, n) {
  const root = Math.sqrt(n);
  const x = distance * (root + 0.12 + 0.11 / root);
  if (x < 0.2) return 1;
  let sum = 0;
  for (let k = 1; k <= 100; k++) sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * x * x);
  return Math.min(1, Math.max(0, sum));
}

/**
 * Anderson and Darling's statistic against the exponential distribution of a known mean: it weighs the tails, where the
 * smallest gaps are.
 *
 * @param {Float64Array} sorted ascending, above zero
 * @param {number} meanValue
 * @returns {number} A squared
 */
export function adStatistic(sorted, meanValue) {
  const n = sorted.length;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const logBelow = Math.log(-Math.expm1(-sorted[i] / meanValue));
    const logAbove = -sorted[n - 1 - i] / meanValue;
    sum += (2 * i + 1) * (logBelow + logAbove);
  }
  return -n - sum / n;
}

/**
 * Probability of a statistic of at least this if the sample does come from the distribution, which is known in full.
 * The limit for large n in the approximation of G. and J. Marsaglia (J. Stat. Softw. 9(2), 2004), good to 2e-6.
 *
 * @param {number} a2
 */
export function adPValue(a2) {
  if (a2 <= 0) return 1;
  if (a2 < 2) {
    const poly =
      2.00012 + (0.247105 - (0.0649821 - (0.0347962 - (0.011672 - 0.00168691 * a2) * a2) * a2) * a2) * a2;
    return 1 - (Math.exp(-1.2337141 / a2) / Math.sqrt(a2)) * poly;
  }
  const inner = 1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * a2) * a2) * a2) * a2) * a2;
  return -Math.expm1(-Math.exp(inner));
}
