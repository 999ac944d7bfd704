/** Statistics behind error bars and verdicts: pure functions; bounds are one-sided at 95 % confidence. */
import { NORMAL_95 } from '../common/normal.js';

const CONFIDENCE = 0.95;

/**
 * The rank whose value is an upper confidence bound of the q-quantile for any distribution: the
 * smallest k with P(Bin(n, q) <= k - 1) >= 0.95.
 * @param {number} n samples @param {number} q quantile, 0..1
 * @returns {number | null} rank from 1, or null if n is too small for a bound
 */
export function upperRank(n, q) {
  if (n < 1 || binomialCdf(n - 1, n, q) < CONFIDENCE) return null;
  // Cornish and Fisher's expansion is nearly right, and far cheaper than bisection.
  const guess = n * q + NORMAL_95 * Math.sqrt(n * q * (1 - q)) + ((NORMAL_95 ** 2 - 1) * (1 - 2 * q)) / 6;
  let rank = Math.min(n, Math.max(1, Math.ceil(guess)));
  while (rank > 1 && binomialCdf(rank - 2, n, q) >= CONFIDENCE) rank--;
  while (binomialCdf(rank - 1, n, q) < CONFIDENCE) rank++;
  return rank;
}

/** For a lower bound: the largest k with P(Bin(n, q) >= k) >= 0.95. @param {number} n @param {number} q */
export function lowerRank(n, q) {
  const mirrored = upperRank(n, 1 - q);
  return mirrored === null ? null : n + 1 - mirrored;
}

/** Number of samples without a miss that proves a share of misses of at most `share`: ln(0.05) / ln(1 - share). @param {number} share */
export const samplesToProve = (share) => Math.ceil(Math.log(1 - CONFIDENCE) / Math.log1p(-share));

/**
 * Approximate number of samples to prove a share of misses of at most a, if misses / n stays the same:
 * without misses ln(0.05) / ln(1 - a), else the normal approximation z^2 a (1 - a) / (a - misses / n)^2.
 * @param {number} misses @param {number} n @param {number} allowed a
 * @returns {number | null} null if misses / n is not clearly below the limit: no number of samples is enough
 */
export function samplesNeeded(misses, n, allowed) {
  const minimum = samplesToProve(allowed);
  if (misses === 0) return minimum;
  const gap = allowed - misses / n;
  if (gap <= allowed * 1e-3) return null;
  const guess = Math.max(minimum, n + 1, (2.71 * allowed * (1 - allowed)) / gap ** 2);
  const proven = (/** @type {number} */ size) =>
    binomialCdf(Math.ceil((misses / n) * size), size, allowed) <= 1 - CONFIDENCE;
  let size = roundUp(guess);
  for (let tries = 0; tries < 40 && !proven(size); tries += 1) size = roundUp(size * 1.1);
  return size;
}

/** To two significant digits. @param {number} value */
function roundUp(value) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** Clopper-Pearson upper bound: the p at which P(Bin(n, p) <= x) falls to 0.05. @param {number} x @param {number} n */
export function proportionUpperBound(x, n) {
  if (x >= n) return 1;
  if (x === 0) return -Math.expm1(Math.log(1 - CONFIDENCE) / n);
  return bisect(x / n, 1, (p) => binomialCdf(x, n, p) <= 1 - CONFIDENCE);
}

/** Clopper-Pearson lower bound of a proportion. @param {number} x events @param {number} n trials */
export const proportionLowerBound = (x, n) => 1 - proportionUpperBound(n - x, n);

/**
 * Quantile of a gamma distribution, shifted and scaled to mean 0 and variance 1, by Wilson and Hilferty.
 * @param {number} skewness of either sign @param {number} z the same quantile of the normal distribution
 */
export function gammaQuantile(skewness, z) {
  if (Math.abs(skewness) < 1e-6) return z;
  return (2 / skewness) * (Math.max(0, 1 - skewness ** 2 / 36 + (skewness * z) / 6) ** 3 - 1);
}

/** Bounds of a Poisson mean: quantiles of gamma distributions. @param {number} count may be a fraction */
export function poissonBounds(count) {
  const at = (/** @type {number} */ n, /** @type {number} */ z) =>
    n <= 0 ? 0 : n + Math.sqrt(n) * gammaQuantile(2 / Math.sqrt(n), z);
  return { low: at(count, -NORMAL_95), high: at(count + 1, NORMAL_95) };
}

/**
 * 95 % quantile of Student's t: bisection of the exact finite sum up to 100 degrees of freedom
 * (Abramowitz & Stegun 26.7.3-4), above that the expansion about the normal quantile (26.7.5).
 * @param {number} df degrees of freedom, a whole number from 1
 */
export function studentT95(df) {
  if (df <= 100) return bisect(0, 7, (t) => studentCentral(t, df) >= 2 * CONFIDENCE - 1);
  const z = NORMAL_95;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  const g4 = (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160;
  return z + g1 / df + g2 / df ** 2 + g3 / df ** 3 + g4 / df ** 4;
}

/** @param {number} low @param {number} high @param {(x: number) => boolean} holds monotone */
function bisect(low, high, holds) {
  let [from, to] = [low, high];
  while (to - from > from * 1e-13) {
    const middle = (from + to) / 2;
    if (middle === from || middle === to) break;
    if (holds(middle)) to = middle;
    else from = middle;
  }
  return to;
}

/** Mean, NaN without values, and unbiased variance or 0 (Welford). @param {ArrayLike<number>} values */
export function meanAndVariance(values) {
  const count = values.length;
  let mean = 0;
  let squares = 0;
  for (let i = 0; i < count; i += 1) {
    const delta = values[i] - mean;
    mean += delta / (i + 1);
    squares += delta * (values[i] - mean);
  }
  return { count, mean: count === 0 ? Number.NaN : mean, variance: count < 2 ? 0 : squares / (count - 1) };
}

/**
 * Weighted least squares; y has the variance s²/weight.
 * @param {readonly {x: number, y: number, weight: number}[]} points
 * @returns {{slope: {low: number, high: number}, at: (x: number) => number}} bounds of the slope, infinite with fewer
 *   than three points or if all x are equal, and the line
 */
export function lineThrough(points) {
  const sum = (/** @type {(point: typeof points[number]) => number} */ of) =>
    points.reduce((all, point) => all + point.weight * of(point), 0);
  const weight = sum(() => 1);
  const [meanX, meanY] = [sum(({ x }) => x) / weight, sum(({ y }) => y) / weight];
  const spread = sum(({ x }) => (x - meanX) ** 2);
  const slope = spread > 0 ? sum(({ x, y }) => (x - meanX) * (y - meanY)) / spread : 0;
  const at = (/** @type {number} */ x) => meanY + slope * (x - meanX);
  const df = points.length - 2;
  if (df < 1 || spread === 0)
    return { slope: { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }, at };
  const half = studentT95(df) * Math.sqrt(sum(({ x, y }) => (y - at(x)) ** 2) / df / spread);
  return { slope: { low: slope - half, high: slope + half }, at };
}

/** P(|T| < t). @param {number} t @param {number} df */
function studentCentral(t, df) {
  const angle = Math.atan(t / Math.sqrt(df));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = df % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = df === 1 ? 0 : term;
  for (let i = odd ? 3 : 2; i < df; i += 2) {
    term *= (cosine * cosine * (i - 1)) / i;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/** ln(n!) minus Stirling's approximation of it, for n = 0..15. */
const STIRLING_ERRORS = [0];
for (let n = 1, logFactorial = 0; n <= 15; n += 1) {
  logFactorial += Math.log(n);
  STIRLING_ERRORS.push(logFactorial - ((n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI)));
}

/**
 * P(Bin(n, p) <= k). Sums outwards from k with a running ratio: positive terms, about 10 standard deviations
 * of them.
 * @param {number} k @param {number} n trials @param {number} p success probability, 0..1
 */
export function binomialCdf(k, n, p) {
  if (k < 0) return 0;
  if (k >= n || p <= 0) return 1;
  if (p >= 1) return 0;
  if (k <= n * p) return lowerTail(k, n, p);
  return 1 - lowerTail(n - k - 1, n, 1 - p);
}

/** @param {number} k at most n p @param {number} n @param {number} p */
function lowerTail(k, n, p) {
  if (k < 0) return 0;
  const odds = (1 - p) / p;
  let [term, sum] = [1, 1];
  for (let i = k; i > 0 && term > sum * 1e-18; i -= 1) {
    term *= (i / (n - i + 1)) * odds;
    sum += term;
  }
  return Math.min(1, binomialPmf(k, n, p) * sum);
}

/** @param {number} k @param {number} n @param {number} p */
function binomialPmf(k, n, p) {
  if (k === 0) return Math.exp(n * Math.log1p(-p));
  if (k === n) return Math.exp(n * Math.log(p));
  const corrections = stirlingError(n) - stirlingError(k) - stirlingError(n - k);
  const deviances = deviance(k, n * p) + deviance(n - k, n * (1 - p));
  return Math.exp(corrections - deviances) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

/** x ln(x / m) + m - x, without cancellation near m (Loader's bd0). @param {number} x @param {number} m */
function deviance(x, m) {
  const difference = x - m;
  if (Math.abs(difference) >= 0.1 * (x + m)) return x * Math.log(x / m) - difference;
  const v = difference / (x + m);
  let sum = difference * v;
  let term = 2 * x * v;
  for (let j = 3; ; j += 2) {
    term *= v * v;
    const next = sum + term / j;
    if (next === sum) return sum;
    sum = next;
  }
}

/** @param {number} n */
function stirlingError(n) {
  if (n < STIRLING_ERRORS.length) return STIRLING_ERRORS[n];
  const n2 = n * n;
  return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / n2) / n2) / n2) / n2) / n;
}
