/** Whether requests arrived when one schedule says, however many parts sent them. */
import assert from 'node:assert/strict';
import { median } from '../../src/common/sums.js';

/** Half of the requests may be later or earlier than this; a busy machine delays the others. */
const MAX_MEDIAN_MS = 5;

/** Share of gaps that are shorter than half of what they should be: parts that send at the same instants have N - 1 of N. */
const MAX_SHORT = 0.2;

/**
 * Arrival i is due at i / rate.
 *
 * @param {number[]} arrivals Unix times, ms
 * @param {{startedMs: number, rate: number, seconds: number}} schedule
 * @returns {{medianMs: number, shortShare: number}} median distance from the due time, and share of short gaps
 */
export function assertScheduled(arrivals, { startedMs, rate, seconds }) {
  const sorted = [...arrivals].sort((a, b) => a - b);
  assert.equal(sorted.length, rate * seconds);
  const gapMs = 1000 / rate;
  const medianMs = median(sorted.map((ms, i) => Math.abs(ms - startedMs - i * gapMs)));
  const short = sorted.filter((ms, i) => i > 0 && ms - sorted[i - 1] < gapMs / 2);
  const shortShare = short.length / (sorted.length - 1);
  assert.ok(shortShare < MAX_SHORT, `${short.length} gaps are too short`);
  assert.ok(medianMs < MAX_MEDIAN_MS, `the median distance from the due time is ${medianMs} ms`);
  return { medianMs, shortShare };
}
