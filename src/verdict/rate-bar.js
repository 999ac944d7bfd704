/** The error bar of a rate of successes. */
import { total } from '../common/sums.js';
import { meanAndVariance, poissonBounds, proportionLowerBound, studentT95 } from './statistics.js';

/** Fewer full seconds than this are judged by the number of successes. */
export const LEAST_SECONDS = 5;

/** Seconds are joined to about this many batches: enough for a bound, long enough to be nearly independent. */
const BATCHES = 20;

/** Responses come in clumps, as servers pause and connections wait for each other: so many count as one event of a Poisson process. */
const CLUMP = 4;

/**
 * @typedef {object} RateSample
 * @property {number} perSecond successes
 * @property {number} succeeded
 * @property {number} errors
 * @property {readonly number[]} completedPerSecond successes in each full second
 * @property {number | null} offeredPerSecond open loop: no more than that can succeed
 * @property {boolean} isServed open loop, constant arrivals: all that was offered succeeded, in time
 * @property {number} slowdown factor by which the tool may have lowered the rate: a closed loop, or a backlog, sends the next request
 *   when a response was read. Infinity: unknown
 */

/**
 * @param {RateSample} sample
 * @returns {{low: number, high: number | null, sampled: number}} per second; `sampled`: the upper end for the size of the sample alone
 */
export function rateBar(sample) {
  const { perSecond, succeeded, errors, offeredPerSecond, isServed, slowdown } = sample;
  if (isServed || succeeded === 0) {
    const high = Math.max(perSecond, isServed ? (offeredPerSecond ?? 0) : 0);
    return { low: perSecond, high, sampled: high };
  }
  const { low, high } = sampledBar(sample);
  const most =
    offeredPerSecond === null
      ? Number.POSITIVE_INFINITY
      : offeredPerSecond * (1 - proportionLowerBound(errors, succeeded + errors));
  const top = Math.max(perSecond, Math.min(high * slowdown, most));
  const sampled = Math.max(perSecond, Math.min(high, most));
  return { low: Math.max(0, low), high: Number.isFinite(top) ? top : null, sampled };
}

/** @param {RateSample} sample */
function sampledBar({ perSecond, succeeded, completedPerSecond }) {
  if (completedPerSecond.length < LEAST_SECONDS) {
    const { low, high } = poissonBounds(succeeded / CLUMP);
    const each = (perSecond * CLUMP) / succeeded;
    return { low: low * each, high: high * each };
  }
  const { means } = batchesOf(completedPerSecond);
  const { variance } = meanAndVariance(means);
  const half = studentT95(means.length - 1) * Math.sqrt(variance / means.length);
  // Equal counts in each batch do not mean that there is no spread: one more or less is not seen.
  const least = Math.max(half, 1 / completedPerSecond.length);
  return { low: perSecond - least, high: perSecond + least };
}

/**
 * Seconds that fill no batch are left out at the start.
 * @param {readonly number[]} perSecond
 * @returns {{size: number, means: number[]}}
 */
export function batchesOf(perSecond) {
  const size = Math.max(1, Math.floor(perSecond.length / BATCHES));
  const batches = Math.floor(perSecond.length / size);
  const first = perSecond.length - batches * size;
  const means = Array.from({ length: batches }, (_, i) => {
    const from = first + i * size;
    return total(perSecond.slice(from, from + size)) / size;
  });
  return { size, means };
}
