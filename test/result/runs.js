/** Runs for tests of run sets and comparisons: the latencies of each are a multiple of the same ones. */
import { uniform } from '../../src/common/random.js';
import { START, sampleResult, spread } from './sample.js';
/** @import { NamedRun } from '../../src/result/runs/run-set.js' */
/** @import { Result } from '../../src/result/schema.js' */

/**
 * @param {number} seed
 * @param {number} i
 * @param {number} stream
 * @returns {number} standard normal, by Box and Muller
 */
export function normal(seed, i, stream) {
  const [a, b] = [uniform(seed, i, 100 + 2 * stream), uniform(seed, i, 101 + 2 * stream)];
  return Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b);
}

/**
 * A figure of several runs: log-normal about `typical`, as far apart as `spreadShare` says.
 *
 * @param {number} count
 * @param {{typical: number, spreadShare: number, seed: number, stream: number}} options
 * @returns {number[]}
 */
export function noisy(count, { typical, spreadShare, seed, stream }) {
  return Array.from({ length: count }, (_, i) => typical * Math.exp(spreadShare * normal(seed, i, stream)));
}

/**
 * @param {number} factor of latencies from 1 to 10 ms
 * @param {number} minute when it was started
 * @param {Parameters<typeof sampleResult>[1]} [changes]
 * @returns {Result}
 */
export function runOf(factor, minute, changes = {}) {
  const group = { outcome: 'good', service: spread(100, factor, 10 * factor) };
  const startedAt = new Date(START + minute * 60_000).toISOString();
  return sampleResult([group], { startedAt, ...changes });
}

/**
 * Of two groups that take turns, one has the even minutes and the other the odd ones.
 *
 * @param {readonly number[]} factors one for each run
 * @param {number} first minute
 * @param {Parameters<typeof sampleResult>[1]} [changes]
 * @returns {NamedRun[]}
 */
export function runsOf(factors, first, changes) {
  return factors.map((factor, i) => ({
    name: `run-${i + 1}.json`,
    result: runOf(factor, first + 2 * i, changes),
  }));
}

/** Ten runs that differ by a few percent, of which no two are equal. */
export const TEN = Object.freeze([1, 1.02, 0.99, 1.01, 0.97, 1.03, 0.98, 1.015, 0.995, 1.005]);

/** @param {number} by @returns {number[]} the same, so many times slower */
export function slower(by) {
  return TEN.map((factor, i) => factor * by * (1 + i * 1e-4));
}

/** Runs that the test of ranks tells apart, though the interval of the difference of medians includes 0. */
export const BY_RANK = Object.freeze({
  base: [0.961, 1.007, 1.008, 1.009, 0.971, 1.05, 1.041, 0.985, 1.024, 1.015],
  other: [1.019, 1.058, 1.013, 1.039, 1.053, 1.014, 1.052, 1.079, 0.975, 1.088],
});

/** Runs that it does not tell apart, though the interval leaves 0 out. */
export const BY_INTERVAL = Object.freeze({
  base: [1.023, 1.002, 1.05, 0.959],
  other: [1.077, 1.133, 1.161, 1.05],
});
