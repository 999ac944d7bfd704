/**
 * Binomial probabilities after C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000): the
 * saddle-point form keeps full precision where differences of log-factorials would cancel (n up to 1e9 and beyond).
 */

/** ln(n!) minus Stirling's approximation of it, for n = 0..15. */
const STIRLING_ERRORS = stirlingErrorTable(15);

/**
 * P(Bin(n, p) <= k). Sums outwards from k with a running ratio: all terms positive, about 10 standard deviations of them.
 *
 * @param {number} k
 * @param {number} n trials
 * @param {number} p success probability, 0..1
 * @returns {number}
 */
export function binomialCdf(k, n, p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  if (p <= 0) return 1;
  if (p >= 1) return 0;
  if (k <= n * p) return lowerTail(k, n, p);
  return 1 - lowerTail(n - k - 1, n, 1 - p);
}

/**
 * @param {number} k at most n p
 * @param {number} n
 * @param {number} p
 */
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

/**
 * @param {number} k
 * @param {number} n
 * @param {number} p
 */
function binomialPmf(k, n, p) {
  if (k === 0) return Math.exp(n * Math.log1p(-p));
  if (k === n) return Math.exp(n * Math.log(p));
  const corrections = stirlingError(n) - stirlingError(k) - stirlingError(n - k);
  const deviances = deviance(k, n * p) + deviance(n - k, n * (1 - p));
  return Math.exp(corrections - deviances) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

/**
 * x ln(x / m) + m - x, without cancellation where x is near m (Loader's bd0).
 *
 * @param {number} x
 * @param {number} m
 */
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

/** @param {number} last */
function stirlingErrorTable(last) {
  const table = [0];
  let logFactorial = 0;
  for (let n = 1; n <= last; n += 1) {
    logFactorial += Math.log(n);
    table.push(logFactorial - ((n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI)));
  }
  return table;
}
