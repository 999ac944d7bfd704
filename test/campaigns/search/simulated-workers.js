/**
 * A target that is simulated for a closed loop: so many workers, each of which takes a fixed time for a request, or one that is drawn.
 * No time passes.
 */

import { judgeRequirement } from '../../../src/result/requirements/judge.js';
import { rateBar } from '../../../src/verdict/bars.js';
import { timesOf } from '../../result/view.js';
import { perSecondOf, quantilesOf } from './simulated-server.js';
/** @import { StepEnd } from '../../../src/campaigns/search/steps.js' */
/** @import { Plan } from '../../../src/plan/plan.js' */

/** @typedef {{perSecond: number, sent: number, times: ReturnType<typeof quantilesOf>, completed: number[]}} Worked */

/**
 * @param {Plan} plan a closed loop
 * @param {object} target
 * @param {number} target.workers
 * @param {number} target.serviceMs the mean, where it is drawn
 * @param {() => number} [target.draw] a service time, in means
 * @returns {StepEnd} as far as a search reads it
 */
export function simulateWorkers({ load, requirements }, { workers, serviceMs, draw }) {
  const durationMs = Number(load.durationMs);
  const seconds = durationMs / 1000;
  const { perSecond, sent, times, completed } =
    draw === undefined
      ? evenly({ workers, serviceMs, concurrency: load.concurrency, seconds })
      : atRandom({ workers, concurrency: load.concurrency, durationMs, next: () => serviceMs * draw() });
  const at = (/** @type {number} */ share) => times.valueAtRank(Math.max(1, Math.ceil(share * times.count)));
  const recorded = timesOf(Array.from({ length: times.count }, (_, i) => times.valueAtRank(i + 1)));
  const view = /** @type {any} */ ({
    series: { response: recorded },
    all: { response: recorded },
    ...{ succeeded: sent, failed: 0, dropped: 0, neverSentDue: 0 },
    ratePerSecond: perSecond,
    completedPerSecond: completed,
    rateBar: rateBar({
      perSecond,
      succeeded: sent,
      errors: 0,
      completedPerSecond: completed,
      offeredPerSecond: null,
      isServed: false,
      slowdown: 1,
    }),
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
      totals: { planned: sent, sent, succeeded: sent, neverSent: 0 },
      verification: { unchecked: 0, notes: [] },
      rates: { perSecond },
      errorShare: 0,
      latencyMs: { response: { p50: at(0.5), p99: at(0.99), max: times.max } },
      requirements: requirements.map((requirement) => judgeRequirement(requirement, view)),
      measurement: { verdict: 'valid', reasons: [] },
    }),
  };
}

/**
 * @param {{workers: number, serviceMs: number, concurrency: number, seconds: number}} step
 * @returns {Worked}
 */
function evenly({ workers, serviceMs, concurrency, seconds }) {
  const perSecond = (Math.min(concurrency, workers) * 1000) / serviceMs;
  const ms = serviceMs * Math.max(1, concurrency / workers);
  const until = (/** @type {number} */ second) => Math.floor(perSecond * second);
  const count = until(seconds);
  return {
    perSecond,
    sent: count,
    times: { count, valueAtRank: () => ms, min: ms, mean: ms, max: ms },
    completed: Array.from({ length: Math.floor(seconds) }, (_, i) => until(i + 1) - until(i)),
  };
}

/**
 * First come, first served; what is answered is asked again at once, and what is under way at the end does not count.
 *
 * @param {{workers: number, concurrency: number, durationMs: number, next: () => number}} step `next`: a service time, ms
 * @returns {Worked}
 */
function atRandom({ workers, concurrency, durationMs, next }) {
  const waiting = new Array(concurrency).fill(0);
  const busyUntil = new Array(Math.min(workers, concurrency)).fill(0);
  /** @type {number[]} */
  const done = [];
  /** @type {number[]} */
  const response = [];
  for (let taken = 0; ; taken++) {
    const freeAt = Math.min(...busyUntil);
    if (freeAt >= durationMs) break;
    if (taken >= busyUntil.length) waiting.push(freeAt);
    const end = freeAt + next();
    busyUntil[busyUntil.indexOf(freeAt)] = end;
    if (end > durationMs) continue;
    done.push(end);
    response.push(end - waiting[taken]);
  }
  return {
    perSecond: (done.length * 1000) / durationMs,
    sent: done.length,
    times: quantilesOf(response),
    completed: perSecondOf(done, durationMs),
  };
}
