/** A target that is simulated for a closed loop: so many workers, each of which takes a fixed time for a request. No time passes. */
import { judgeRequirement } from '../../src/results/requirements/judge.js';

/**
 * @param {import('../../src/plan.js').Plan} plan a closed loop
 * @param {{workers: number, serviceMs: number}} target
 * @returns {import('../../src/search/steps.js').StepEnd} as far as a search reads it
 */
export function simulateWorkers({ load, requirements }, { workers, serviceMs }) {
  const { concurrency, durationMs } = load;
  const perSecond = (Math.min(concurrency, workers) * 1000) / serviceMs;
  const responseMs = serviceMs * Math.max(1, concurrency / workers);
  const seconds = Number(durationMs) / 1000;
  const sent = Math.floor(perSecond * seconds);
  const until = (/** @type {number} */ second) => Math.floor(perSecond * second);
  const times = {
    count: sent,
    valueAtRank: () => responseMs,
    ...{ min: responseMs, mean: responseMs, max: responseMs },
  };
  const view = /** @type {any} */ ({
    series: { response: times },
    all: { response: times },
    ...{ succeeded: sent, failed: 0, dropped: 0, neverSentDue: 0 },
    ratePerSecond: perSecond,
    completedPerSecond: Array.from({ length: Math.floor(seconds) }, (_, i) => until(i + 1) - until(i)),
    model: 'closed',
    offeredPerSecond: null,
    arrivals: 'constant',
    allOnTime: false,
    measurementValid: true,
  });
  return {
    recovery: { waitedMs: 0, recovered: true },
    result: /** @type {any} */ ({
      startedAt: '2026-01-02T03:04:05.000Z',
      durationSeconds: seconds,
      target: { url: 'http://192.0.2.1:8200', product: null, version: null },
      load,
      totals: { planned: sent, sent, neverSent: 0 },
      verification: { unchecked: 0 },
      rates: { perSecond },
      errorShare: 0,
      latencyMs: { response: { p50: responseMs, p99: responseMs, max: responseMs } },
      requirements: requirements.map((requirement) => judgeRequirement(requirement, view)),
      measurement: { verdict: 'valid', reasons: [] },
    }),
  };
}
