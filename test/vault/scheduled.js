/** Whether requests arrived when one schedule says, however many parts sent them. */
import assert from 'node:assert/strict';
import { maxOf } from '../../src/common/sums.js';

/** Largest difference between the shares of requests arrived and due by any time. */
const MAX_DISTANCE = 0.02;

/**
 * Arrival i is due at i / rate.
 *
 * @param {number[]} arrivals Unix times, ms
 * @param {{startedMs: number, rate: number, seconds: number}} schedule
 * @returns {number} the Kolmogorov distance
 */
export function assertScheduled(arrivals, { startedMs, rate, seconds }) {
  const sorted = [...arrivals].sort((a, b) => a - b);
  assert.equal(sorted.length, rate * seconds);
  const due = (/** @type {number} */ ms) => Math.min(1, Math.max(0, (ms - startedMs) / 1000 / seconds));
  const distance = maxOf(sorted.map((ms, i) => Math.abs((i + 1) / sorted.length - due(ms))));
  assert.ok(distance < MAX_DISTANCE, String(distance));
  return distance;
}
