/**
 * The statistics of a comparison. One run is one sample: requests of a run are not independent of each other.
 *
 * Mann-Whitney U test, two-sided, exact with ties; for more than about 30 runs of each, the normal approximation with correction
 * for ties and continuity (like scipy.stats.mannwhitneyu, method='asymptotic').
 *
 * The interval is the middle 95 % of the differences of the medians (if both are 0: the means) of resampled runs (percentile
 * bootstrap; not BCa, whose acceleration cannot be estimated for a median).
 */
import { normalUpperTail } from '../../common/normal.js';
import { uniform } from '../../common/random.js';
import { median, total } from '../../common/sums.js';

/** A difference is shown where the p-value is below this. */
export const ALPHA = 0.05;

export const CONFIDENCE = 0.95;

export const RESAMPLES = 10_000;

/** Exact up to at most this many additions, about 1 ms: 30 and 30 runs, or 2 and 788. Beyond that, an approximation. */
const MAX_ADDITIONS = 5e6;

/** Random-number streams of the two groups. */
const [BASE_STREAM, OTHER_STREAM] = [31, 32];

/**
 * @param {readonly number[]} a at least one value @param {readonly number[]} b at least one value
 * @param {'exact' | 'asymptotic'} [method] default: exact if affordable
 * @returns {{u: number, pValue: number, method: 'exact' | 'asymptotic'}} u: pairs in which `a`
 *   is larger; equal pairs count half
 */
export function mannWhitney(a, b, method = chooseMethod(a.length, b.length)) {
  const { doubledRanks, ties } = rank([...a, ...b]);
  const doubledSum = total(doubledRanks.slice(0, a.length));
  const u = (doubledSum - a.length * (a.length + 1)) / 2;
  // All equal, e.g. error shares of 0: every order is equally extreme.
  if (ties.length === 1) return { u, pValue: 1, method };
  const pValue =
    method === 'exact'
      ? exactPValue(doubledRanks, a.length, doubledSum)
      : asymptoticPValue(u, a.length, b.length, ties);
  return { u, pValue, method };
}

/** The smallest two-sided p-value: 2 / C(n + m, n), of groups without overlap. @param {number} n @param {number} m */
export const smallestPValue = (n, m) => Math.min(1, 2 / combinations(n + m, n));

/** @returns {number} minimum number of runs in each group to show a difference */
export function runsNeeded() {
  let each = 1;
  while (smallestPValue(each, each) >= ALPHA) each += 1;
  return each;
}

/** @param {number} n @param {number} k @returns {number} n choose k; exact below 2^53 */
export function combinations(n, k) {
  const fewer = Math.min(k, n - k);
  let ways = 1;
  for (let i = 1; i <= fewer; i += 1) ways = (ways * (n - fewer + i)) / i;
  return ways;
}

/** An exact count takes one addition per rank, number of chosen ranks, and sum. @param {number} n @param {number} m */
export function chooseMethod(n, m) {
  const [all, fewer] = [n + m, Math.min(n, m)];
  const largestSum = fewer * (2 * all - fewer + 1);
  return all * fewer * largestSum <= MAX_ADDITIONS ? 'exact' : 'asymptotic';
}

/**
 * Equal values share the mean of their ranks; twice that is a whole number.
 * @param {readonly number[]} values
 * @returns {{doubledRanks: number[], ties: number[]}} ranks in the order of the values; sizes of the groups of equal values
 */
function rank(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const places = sorted.map((value, i) => /** @type {const} */ ([value, i]));
  const [first, last] = [new Map([...places].reverse()), new Map(places)];
  const placesOf = (/** @type {number} */ value) => [Number(first.get(value)), Number(last.get(value))];
  return {
    doubledRanks: values.map((value) => total(placesOf(value)) + 2),
    ties: [...last].map(([value, end]) => end - placesOf(value)[0] + 1),
  };
}

/**
 * Of all ways to choose `size` of the ranks, the share whose sum is at least as extreme as the observed one: twice
 * the smaller tail. Counted by sum: ways[k][s] of choosing k of the ranks seen so far with sum s, only where a choice of
 * `size` with at most the observed sum can follow.
 * @param {number[]} doubledRanks @param {number} size @param {number} observed sum of the doubled ranks
 */
function exactPValue(doubledRanks, size, observed) {
  const { length } = doubledRanks;
  const others = length - size;
  if (others < size) return exactPValue(doubledRanks, others, total(doubledRanks) - observed);
  const turned = 2 * (length + 1);
  if (2 * observed > size * turned) {
    const fromAbove = doubledRanks.map((rank) => turned - rank);
    return exactPValue(fromAbove, size, size * turned - observed);
  }
  const ascending = [...doubledRanks].sort((a, b) => a - b);
  const sums = [0];
  for (const [i, one] of ascending.entries()) sums.push(sums[i] + one);
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(observed + 1));
  ways[0][0] = 1;
  for (const [i, one] of ascending.entries()) {
    const seen = i + 1;
    for (let k = Math.min(size, seen); k >= Math.max(1, size - (length - seen)); k -= 1) {
      const [without, chosen] = [ways[k - 1], ways[k]];
      const leastToCome = sums[seen + size - k] - sums[seen];
      const most = Math.min(observed - leastToCome, sums[seen] - sums[seen - k]);
      for (let s = one + sums[k - 1]; s <= most; s += 1) chosen[s] += without[s - one];
    }
  }
  const atMost = ways[size].reduce((all, one) => all + one, 0);
  const all = combinations(length, size);
  const atLeast = all - atMost + ways[size][observed];
  return Math.min(1, (2 * Math.min(atMost, atLeast)) / all);
}

/**
 * z = (U - nm/2 - 1/2) / s with U the larger of the two, s^2 = nm/12 (N + 1 - sum(t^3 - t) / (N (N - 1))).
 * @param {number} u @param {number} n @param {number} m @param {number[]} ties
 */
function asymptoticPValue(u, n, m, ties) {
  const all = n + m;
  const tied = total(ties.map((size) => size ** 3 - size));
  const variance = ((n * m) / 12) * (all + 1 - tied / (all * (all - 1)));
  const z = (Math.max(u, n * m - u) - (n * m) / 2 - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * normalUpperTail(z));
}

/**
 * The same values and the same seed give the same interval.
 * @param {readonly number[]} base at least one value @param {readonly number[]} other at least one value
 * @param {(base: number, other: number) => number | null} difference of the centers; null: undefined
 * @param {{seed: number, resamples?: number, center?: (values: readonly number[]) => number}} options
 * @returns {[number, number] | null} null if the difference of any resample is undefined
 */
export function bootstrapInterval(base, other, difference, { seed, resamples = RESAMPLES, center = median }) {
  const differences = new Float64Array(resamples);
  for (let i = 0; i < resamples; i += 1) {
    const [from, to] = [resample(base, i, seed, BASE_STREAM), resample(other, i, seed, OTHER_STREAM)];
    const found = difference(center(from), center(to));
    if (found === null) return null;
    differences[i] = found;
  }
  differences.sort();
  const outside = Math.floor(((1 - CONFIDENCE) / 2) * resamples);
  return [differences[outside], differences[resamples - 1 - outside]];
}

/** @param {readonly number[]} values @param {number} number @param {number} seed @param {number} stream */
function resample(values, number, seed, stream) {
  const n = values.length;
  return values.map((_, i) => values[Math.floor(uniform(seed, number * n + i, stream) * n)]);
}
