/**
 * How late the tool read responses, as far as its looks at random bytes tell (load/watch): a share of looks, and so at most
 * a share of the responses, was later than so much.
 */
import { meanAndDeviationOf, valueAtRank } from '../histogram.js';
import { LATENESS_UNKNOWN } from '../results/bars.js';
import { NORMAL_95, proportionUpperBound } from '../results/statistics.js';

/** So many of the latest looks are left out in turn: each gives a pair of a share and a time. */
const LEFT_OUT = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/**
 * @param {import('../histogram.js').Histogram} reaction how late each look was noticed
 * @returns {import('../results/bars.js').Lateness}
 */
export function readingLateness(reaction) {
  const { totalCount: looks } = reaction;
  if (looks === 0) return LATENESS_UNKNOWN;
  const { mean, deviation } = meanAndDeviationOf(reaction);
  return {
    pairs: LEFT_OUT.filter((count) => count < looks).map((count) => ({
      share: proportionUpperBound(count, looks),
      ms: valueAtRank(reaction, looks - count),
    })),
    meanMs: mean + (NORMAL_95 * deviation) / Math.sqrt(looks),
  };
}
